// Attributes of tensors that classes and modes may answer: they are handed the attribute's `__get__` or `__set__`.
#include "core/bindings/python.h"

namespace dragon::python {

namespace {

/// An attribute, of C or Python, that looks at its tensor's class before it is read or written.
struct PyAskingField {
  PyObject_HEAD PyObject* field;
  PyObject* name;
  const Frontend* frontend;
};

PyTypeObject FieldType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyAskingField* MyField(PyObject* self) { return Self<PyAskingField>(self); }

/// As Python does it: a class may have lost its `__get__` since.
PyObject* ReadField(const PyAskingField* me, PyObject* tensor, PyObject* type) {
  const descrgetfunc read = Py_TYPE(me->field)->tp_descr_get;
  return read ? read(me->field, tensor, type) : Py_NewRef(me->field);
}

PyObject* GetField(PyObject* self, PyObject* tensor, PyObject* type) {
  if (!tensor || tensor == Py_None) return Py_NewRef(self);
  const PyAskingField* me = MyField(self);
  const FieldAnswer who = WhoAnswersField(me->frontend, tensor);
  if (DRAGON_LIKELY(who == FieldAnswer::kNobody)) return ReadField(me, tensor, type);
  if (who == FieldAnswer::kBaseClass) {  // whose answer is what is there, of the tensor's class if it is a tensor
    PyObject* result = ReadField(me, tensor, type);
    if (!result || !IsTensor(result)) return result;
    Py_DECREF(result);
  }
  PyObject* function = PyObject_GetAttrString(self, "__get__");
  if (!function) return nullptr;
  PyObject* result = CallOverride(me->frontend, function, &tensor, 1, nullptr);
  Py_DECREF(function);
  return result;
}

/// The class or mode is asked for the result of `__set__` or `__delete__`, which counts for nothing.
int SetField(PyObject* self, PyObject* tensor, PyObject* value) {
  const PyAskingField* me = MyField(self);
  const descrsetfunc write = Py_TYPE(me->field)->tp_descr_set;
  if (!write) {
    PyErr_Format(PyExc_AttributeError, "got a value for an attribute of '%s' that can only be read",
                 Py_TYPE(tensor)->tp_name);
    return -1;
  }
  const FieldAnswer who = WhoAnswersField(me->frontend, tensor);
  if (DRAGON_LIKELY(who != FieldAnswer::kSomebody)) return write(me->field, tensor, value);
  PyObject* function = PyObject_GetAttrString(self, value ? "__set__" : "__delete__");
  if (!function) return -1;
  PyObject* args[] = {tensor, value};
  PyObject* result = CallOverride(me->frontend, function, args, value ? 2 : 1, nullptr);
  Py_DECREF(function);
  Py_XDECREF(result);
  return result ? 0 : -1;
}

/// `fget` and whatever else is asked are the attribute's own.
PyObject* FieldAttribute(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError) || !MyField(self)->field) return found;
  PyErr_Clear();
  return PyObject_GetAttr(MyField(self)->field, name);
}

int TraverseField(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(MyField(self)->field);
  return 0;
}

void DeallocField(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Py_CLEAR(MyField(self)->field);
  Py_CLEAR(MyField(self)->name);
  PyObject_GC_Del(self);
}

PyGetSetDef field_fields[] = {
    {"__name__", [](PyObject* self, void*) -> PyObject* { return Py_NewRef(MyField(self)->name); }, nullptr, nullptr,
     nullptr},
    {"__doc__",
     [](PyObject* self, void*) -> PyObject* { return PyObject_GetAttrString(MyField(self)->field, "__doc__"); },
     nullptr, nullptr, nullptr},
    {"__wrapped__", [](PyObject* self, void*) -> PyObject* { return Py_NewRef(MyField(self)->field); }, nullptr,
     nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyObject* MakeAskingField(const Frontend* frontend, PyObject* name, PyObject* field) {
  if (!Py_TYPE(field)->tp_descr_get) {
    PyErr_Format(PyExc_TypeError, "asking_field: got '%s', expected an attribute of a class, such as a property",
                 Py_TYPE(field)->tp_name);
    return nullptr;
  }
  auto* object = PyObject_GC_New(PyAskingField, &FieldType);
  if (!object) return nullptr;
  object->field = Py_NewRef(field);
  object->name = Py_NewRef(name);
  object->frontend = frontend;
  PyObject_GC_Track(Upcast(object));
  return Upcast(object);
}

void RegisterOverrideFields(py::module_& m) {
  FieldType.tp_name = "dragon._C.AskingField";
  FieldType.tp_doc = "An attribute that classes and modes may answer.";
  FieldType.tp_basicsize = sizeof(PyAskingField);
  FieldType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC;
  FieldType.tp_descr_get = GetField;
  FieldType.tp_descr_set = SetField;
  FieldType.tp_dealloc = DeallocField;
  FieldType.tp_traverse = TraverseField;
  FieldType.tp_getattro = FieldAttribute;
  FieldType.tp_getset = field_fields;
  if (PyType_Ready(&FieldType) < 0) throw py::error_already_set();
  m.attr("AskingField") = py::reinterpret_borrow<py::object>(Upcast(&FieldType));
}

}  // namespace dragon::python
