// Whether calls from Python are recorded for gradients: a scope says so, or else the frontend of the tensors.
#pragma once

#include <optional>

#include "core/bindings/python.h"

namespace dragon::python {

/// Whether calls of a frontend that waits to be asked are to be recorded: a scope of this thread asks for it, or one of
/// the tensors is of those whose calls are recorded unasked.
bool IsAsked(std::span<const Tensor> inputs, std::span<const Tensor> outs = {});
/// How often this thread had to find that out. Captures in which it had to, hold only where scopes say the same again.
int64_t TimesAsked();

/// The frontend that says whether a call is recorded: one that waits to be asked leaves it to those of the operands.
const Frontend* RecorderAmong(const Frontend* own, std::span<PyObject* const> operands);
inline const Frontend* Recorder(const Frontend* own, std::span<PyObject* const> operands) {
  return DRAGON_LIKELY(!own || !own->waits_to_be_asked) ? own : RecorderAmong(own, operands);
}

/// Keeps the calls of a frontend that waits to be asked from being recorded, where nobody asks.
class HeldBack {
 public:
  HeldBack(const Frontend* frontend, std::span<const Tensor> inputs, std::span<const Tensor> outs = {}) {
    if (DRAGON_UNLIKELY(frontend && frontend->waits_to_be_asked) && !IsAsked(inputs, outs)) off_.emplace(false);
  }

 private:
  std::optional<GradMode> off_;
};

}  // namespace dragon::python
