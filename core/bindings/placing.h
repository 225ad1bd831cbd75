// Where the calls of a frontend run that places them itself, as TensorFlow does: on the device that a scope of this
// thread names, or else on the first accelerator that a program may use; operands that lie elsewhere are brought there.
#pragma once

#include <atomic>
#include <optional>

#include "core/bindings/python.h"

namespace dragon::python {

/// How many reasons there are to look where a call runs: threads that named a device, and a usual device that is not
/// the host, or that nobody has looked for yet.
extern std::atomic<int> g_reasons_to_place;
inline bool MayPlace() { return g_reasons_to_place.load(std::memory_order_relaxed) != 0; }

/// The device of this thread's new tensors for which none is named, if a scope says so.
const std::optional<Device>& NamedDevice();

/// The arguments of a call as they were parsed, to be changed.
struct PlacedCall {
  const Operator& op;
  InlineVector<Tensor, 4>& inputs;
  InlineVector<Value, 6>& attrs;
  std::span<const Tensor> outs;
  bool device_given;  ///< the program itself said where
};

/// Bring the operands to where the call runs, recorded like any other call; say where new numbers are made.
void PlaceCall(const PlacedCall& call, const Frontend* recorder);

/// Have the usual device looked for again: a library may have brought one.
void ForgetUsualDevice();

void RegisterPlacing(py::module_& m);

}  // namespace dragon::python
