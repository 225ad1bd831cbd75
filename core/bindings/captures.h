// Captured calls as Python holds them.
#pragma once

#include <memory>
#include <vector>

#include "core/bindings/python.h"
#include "core/framework/trace.h"
#include "core/runtime/program.h"

namespace dragon::python {

inline py::object Wrapped(const Tensor& tensor, const Frontend* frontend) {
  return py::reinterpret_steal<py::object>(Wrap(tensor, frontend));
}

/// The object that shows the tensor already, whatever its class.
inline py::object Shown(const Tensor& tensor) {
  const PyTensor* face = FaceOf(tensor);
  return Wrapped(tensor, face ? face->frontend : FrontendOf(&TensorType));
}

/// A trace as Python holds it.
struct TraceFace {
  std::shared_ptr<Trace> trace;
};

/// A captured call made ready to run, and the classes of its results.
struct ProgramFace {
  std::shared_ptr<Program> program;
  std::vector<const Frontend*> frontends;

  /// None where an input was moved since guards looked at it.
  py::object Run(const py::object& arguments, const std::vector<double>& symbols) const {
    const std::vector<Tensor> inputs = TensorsIn(arguments, "compiled");
    std::vector<Tensor> results;
    try {
      WithoutGil outside;
      results = program->Run(inputs, symbols);
    } catch (const InputMoved&) {
      return py::none();
    }
    py::list list(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), Wrap(results[i], frontends[i]));
    }
    return list;
  }
};

/// A capture, and what Python knows of it.
struct CaptureFace {
  std::shared_ptr<Trace> trace;
  Capture capture;
  std::vector<Tensor> outputs;
  std::vector<const Frontend*> frontends;
  bool differentiated = false;

  /// The capture with its backward pass.
  const Capture& Differentiated() {
    if (!differentiated) capture.backward = trace->Differentiate(outputs, capture);
    differentiated = true;
    if (!capture.backward.failure.empty()) throw RuntimeError("backward").Says(capture.backward.failure);
    return capture;
  }
  Capture With(bool differentiate) {
    if (differentiate) return Differentiated();
    Capture plain = capture;
    plain.backward = {};
    return plain;
  }
  /// Let go of what the traced call has computed.
  void Forget() {
    Differentiated();
    Drop();
  }
  void Drop() {
    trace.reset();
    outputs.clear();
    for (CapturedInput& input : capture.inputs) {
      if (input.source == CapturedInput::Source::kArgument) input.tensor = Tensor();
    }
  }
};

}  // namespace dragon::python
