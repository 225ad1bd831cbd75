// What is no tensor, no class of tensors and no sequence is refused here.
#include "core/bindings/objects.h"

#include "core/bindings/python.h"

namespace dragon::python {

std::string TextIn(PyObject* text) {
  const auto bytes = py::reinterpret_steal<py::bytes>(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (!bytes) throw py::error_already_set();
  return bytes;
}

std::string ClassOf(py::handle object) {
  if (object.is_none()) return "None";
  return std::string("'") + Py_TYPE(object.ptr())->tp_name + "'";
}

void RefuseObject(py::handle object, const std::string& who, const std::string& expected) {
  throw TypeError(who).Got(ClassOf(object)).Expected(expected);
}

Tensor TensorOrNone(py::handle object, const char* who) {
  if (object.is_none()) return {};
  if (const Tensor* tensor = TensorIf(object)) return *tensor;
  RefuseObject(object, who, "a tensor or None");
}

std::vector<Tensor> TensorsIn(py::handle objects, const char* who) {
  if (!PyTuple_Check(objects.ptr()) && !PyList_Check(objects.ptr())) return TensorsIn(TupleOf(objects, who), who);
  std::vector<Tensor> tensors;
  tensors.reserve(PySequence_Fast_GET_SIZE(objects.ptr()));
  EachItem(objects.ptr(), [&](PyObject* object) {
    const Tensor* tensor = TensorIf(object);
    if (!tensor) throw TypeError(who).Got(ClassOf(object), " at ", tensors.size()).Expected("a tensor");
    tensors.push_back(*tensor);
  });
  return tensors;
}

py::tuple TupleOf(py::handle sequence, const char* who) {
  if (!PySequence_Check(sequence.ptr()) || PyUnicode_Check(sequence.ptr()) || PyBytes_Check(sequence.ptr())) {
    RefuseObject(sequence, who, "a list or tuple");
  }
  PyObject* items = PySequence_Tuple(sequence.ptr());
  if (!items) throw py::error_already_set();
  return py::reinterpret_steal<py::tuple>(items);
}

py::tuple TupleIn(py::handle object, const char* who, size_t least) {
  if (!PyTuple_Check(object.ptr())) RefuseObject(object, who, "a tuple");
  auto tuple = py::reinterpret_borrow<py::tuple>(object);
  if (tuple.size() < least) {
    throw ValueError(who).Got("a tuple of ", tuple.size()).Expected("at least ", least, " items");
  }
  return tuple;
}

PyObject* ItemAt(PyObject* sequence, Py_ssize_t place) {
  const bool is_list = PyList_Check(sequence);
  if (!is_list && !PyTuple_Check(sequence)) RefuseObject(sequence, "item", "a list or tuple");
  if (place < 0 || place >= Py_SIZE(sequence)) {
    throw IndexError("item").Got(place).Expected("one of ", Py_SIZE(sequence));
  }
  return PySequence_Fast_GET_ITEM(sequence, place);
}

PyTypeObject* SubclassIn(py::handle object, PyTypeObject* base, const char* who, const char* expected) {
  if (!PyType_Check(object.ptr())) RefuseObject(object, who, expected);
  auto* type = Self<PyTypeObject>(object.ptr());
  if (PyType_IsSubtype(type, base)) return type;
  throw TypeError(who).Got("class '", type->tp_name, "'").Expected(expected);
}

PyTypeObject* TensorClassIn(py::handle object, const char* who) {
  return SubclassIn(object, &TensorType, who, "a class of tensors");
}

PyTypeObject* ShapeClassIn(py::handle object, const char* who) {
  return SubclassIn(object, &PyTuple_Type, who, "a class of tuples");
}

const Frontend* FrontendIn(py::handle tensor_class, const char* who) {
  return FrontendOf(TensorClassIn(tensor_class, who));
}

namespace {

/// The record behind a function that pybind11 made, or null.
py::detail::function_record* RecordOf(py::handle found) {
  const py::handle function = py::detail::get_function(found);
  if (!function || !PyCFunction_Check(function.ptr())) return nullptr;
  const py::handle self = PyCFunction_GET_SELF(function.ptr());
  return self ? py::detail::function_record_ptr_from_PyObject(self.ptr()) : nullptr;
}

void RefuseNone(py::handle found) {
  for (auto* record = RecordOf(found); record; record = record->next) {
    if (!record->is_method || record->is_constructor) continue;
    if (!record->args.empty()) continue;  // named arguments brought a `self` that is not None
    for (uint16_t place = 0; place < record->nargs; ++place) {
      record->args.emplace_back(nullptr, nullptr, py::handle(), /*convert=*/true, /*none=*/place != 0);
    }
  }
}

/// The class above all that pybind11 makes has no instances of its own: it would end the process, asked for one, as
/// `__reduce__` asks it.
PyObject* NewInstanceOfClass(PyTypeObject* type, PyObject*, PyObject*) {
  return Guarded([&] {
    if (py::detail::all_type_info(type).empty()) {
      throw TypeError(type->tp_name).Says("there are no instances of this class, and none that can be pickled");
    }
    return py::detail::make_new_instance(type);
  });
}

}  // namespace

void RefuseNoneAsSelf(const py::module_& m) {
  Self<PyTypeObject>(py::detail::get_internals().instance_base)->tp_new = &NewInstanceOfClass;
  for (const auto& [name, found] : py::reinterpret_borrow<py::dict>(m.attr("__dict__"))) {
    if (!PyType_Check(found.ptr())) continue;
    const py::dict fields(found.attr("__dict__"));
    for (const auto& [field, member] : fields) {
      if (Py_TYPE(member.ptr()) != &PyProperty_Type) {
        RefuseNone(member);
        continue;
      }
      for (const char* part : {"fget", "fset"}) {
        if (const py::object function = member.attr(part); !function.is_none()) RefuseNone(function);
      }
    }
  }
}

}  // namespace dragon::python
