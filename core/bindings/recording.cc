// Who records unasked, and what Python's scopes say.
#include "core/bindings/recording.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/framework/autograd/meta.h"

namespace dragon::python {

namespace {

thread_local int64_t t_times_asked = 0;

py::object Told(GradSaid said) { return said == kGradUnsaid ? py::object(py::none()) : py::bool_(said == kGradOn); }

py::object Say(const py::object& enabled) {
  const GradSaid said = enabled.is_none() ? kGradUnsaid : enabled.cast<bool>() ? kGradOn : kGradOff;
  return Told(std::exchange(Door().grad_enabled, said));
}

bool RecordsCalls(const py::args& objects) {
  std::vector<Tensor> tensors;
  for (py::handle object : objects) {
    if (const Tensor* tensor = TensorIf(object)) tensors.push_back(*tensor);
  }
  return IsAsked(tensors);
}

}  // namespace

bool IsAsked(std::span<const Tensor> inputs, std::span<const Tensor> outs) {
  const GradSaid said = Door().grad_enabled;
  if (said == kGradOff) return false;
  ++t_times_asked;
  return said == kGradOn || std::any_of(inputs.begin(), inputs.end(), RecordsUnasked) ||
         std::any_of(outs.begin(), outs.end(), RecordsUnasked);
}

const Frontend* RecorderAmong(const Frontend* own, std::span<PyObject* const> operands) {
  for (PyObject* operand : operands) {
    const PyTensor* face = operand ? FaceIf(operand) : nullptr;
    if (!face) continue;
    const Frontend* frontend = face->frontend;
    if (frontend && !frontend->waits_to_be_asked) return frontend;
  }
  return own;
}

int64_t TimesAsked() { return t_times_asked; }

void RegisterRecording(py::module_& m) {
  m.def(
      "is_grad_enabled", [] { return Door().grad_enabled != kGradOff; },
      "Whether this thread records the calls of frontends that record unasked.");
  m.def("set_grad_enabled", &Say,
        "Say for this thread whether to record, or that frontends decide (None); returns what was said before.",
        py::arg("enabled"));
  m.def("records", &RecordsCalls,
        "Whether calls on these objects are recorded, were they of a frontend that waits to be asked.");
}

}  // namespace dragon::python
