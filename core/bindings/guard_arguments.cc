// Comparing the arguments of a call with those of a captured one.
#include "core/bindings/guard_arguments.h"

#include "core/bindings/forget_error.h"

namespace dragon::python {

uint64_t OpenAxesOf(const Axes& axes, size_t number, int ndim) {
  uint64_t open = 0;
  for (const auto& [tensor, axis] : axes) {
    if (axis < 0 || axis >= kMaxDims) throw IndexError("Guards").Got("axis ", axis).Expected("0 to ", kMaxDims - 1);
    if (tensor >= 0 && static_cast<size_t>(tensor) == number && axis < ndim) open |= uint64_t{1} << axis;
  }
  return open;
}

bool Arguments::Say(const Watched& argument, const std::string& text) {
  if (explains && difference.empty()) difference = argument.path + ": " + text;
  return false;
}

bool Arguments::Take(const Watched& argument, PyObject* now) {
  switch (argument.kind) {
    case Watched::kTensor:
      if (!IsTensor(now) || !Fits(*argument.form, now)) {
        return Say(argument, explains ? argument.form->Difference(now) : "");
      }
      tensors.push_back(py::reinterpret_borrow<py::object>(now));
      return true;
    case Watched::kConstant:
      if (Matches(argument.check, now)) return true;
      return Say(argument, explains ? "was " + Text(argument.check.expected) + ", now " + Text(now) : "");
    default:
      break;
  }
  if (Py_TYPE(now) != argument.type) {
    if (argument.kind == Watched::kFields) return Say(argument, "is of another class");
    return Say(argument,
               explains ? std::string("was ") + argument.type->tp_name + ", now " + Py_TYPE(now)->tp_name : "");
  }
  const auto held = py::reinterpret_borrow<py::object>(now);
  if (argument.kind == Watched::kTuple || argument.kind == Watched::kList) return TakeItems(argument, now);
  if (argument.kind == Watched::kDict) return TakeEntries(argument, now);
  const py::object fields = py::reinterpret_steal<py::object>(PyObject_GetAttrString(now, "__dict__"));
  if (!fields || !PyDict_Check(fields.ptr())) return ForgetError(), Say(argument, "has no fields");
  return TakeEntries(argument, fields.ptr());
}

bool Arguments::Fits(const ObjectForm& form, PyObject* now) const {
  if (!axes) return form.Fits(now);
  ObjectForm opened = form;
  opened.open_axes = OpenAxesOf(*axes, tensors.size(), form.shape.size());
  return opened.Fits(now);
}

std::string Arguments::Text(PyObject* object) {
  py::object text = py::reinterpret_steal<py::object>(PyObject_Repr(object));
  if (!text) return ForgetError(), Py_TYPE(object)->tp_name;
  return text.cast<std::string>().substr(0, 200);
}

bool Arguments::SaySize(const Watched& argument, Py_ssize_t size) {
  return Say(argument, "had " + std::to_string(argument.children.size()) + " entries, now " + std::to_string(size));
}

bool Arguments::TakeItems(const Watched& argument, PyObject* now) {
  const auto count = static_cast<Py_ssize_t>(argument.children.size());
  for (Py_ssize_t i = 0; i < count && Py_SIZE(now) == count; ++i) {
    const auto item = py::reinterpret_borrow<py::object>(ItemAt(now, i));
    if (!Take(argument.children[i], item.ptr())) return false;
  }
  return Py_SIZE(now) == count || SaySize(argument, Py_SIZE(now));
}

bool Arguments::TakeEntries(const Watched& argument, PyObject* now) {
  const auto count = static_cast<Py_ssize_t>(argument.children.size());
  if (PyDict_GET_SIZE(now) != count) return SaySize(argument, PyDict_GET_SIZE(now));
  PyObject *name, *entry;
  Py_ssize_t position = 0, i = 0;
  for (; i < count && PyDict_Next(now, &position, &name, &entry); ++i) {
    const auto key = py::reinterpret_borrow<py::object>(name), value = py::reinterpret_borrow<py::object>(entry);
    if (!Equal(key.ptr(), argument.keys[i])) {
      return Say(argument, explains ? "had key " + Text(argument.keys[i]) + ", now " + Text(key.ptr()) : "");
    }
    if (!Take(argument.children[i], value.ptr())) return false;
  }
  return (i == count && PyDict_GET_SIZE(now) == count) || SaySize(argument, PyDict_GET_SIZE(now));
}

}  // namespace dragon::python
