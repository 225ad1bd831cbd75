// From the engine to Python: tensors, dtypes, shapes, values and errors.
#include <map>

#include "core/bindings/forget_error.h"
#include "core/bindings/recording.h"

namespace dragon::python {

namespace {

std::vector<const Frontend*>& Frontends() {
  static auto* frontends = new std::vector<const Frontend*>;
  return *frontends;
}

}  // namespace

void RegisterFrontend(const Frontend* frontend) { Frontends().push_back(frontend); }

const Frontend* FrontendOf(PyTypeObject* type) {
  for (PyTypeObject* base = type; base; base = base->tp_base) {
    for (const Frontend* frontend : Frontends()) {
      if (frontend->tensor_class == base) return frontend;
    }
  }
  return Frontends().empty() ? nullptr : Frontends().front();
}

PyObject* Wrap(const Tensor& tensor, const Frontend* frontend) {
  if (!tensor.defined()) Py_RETURN_NONE;
  PyTensor* living = FaceOf(tensor);
  if (living && living->frontend == frontend) {
    Py_INCREF(living);
    return Upcast(living);
  }
  PyTypeObject* type = frontend ? frontend->tensor_class : &TensorType;
  if (DRAGON_UNLIKELY(tensor.impl()->parts != nullptr) && frontend && frontend->parts_class) {
    type = frontend->parts_class;
  }
  auto* object = NewInstance<PyTensor>(type);
  if (!object) return nullptr;
  tensor.impl()->Retain();
  object->impl = tensor.impl();
  object->frontend = frontend;
  if (!living) tensor.impl()->python.store(object, std::memory_order_relaxed);
  return Upcast(object);
}

PyObject* WrapAll(const Tensors& tensors, const Operator& op, const Frontend* frontend, PyObject* named) {
  if (tensors.size() == 1 && !op.schema.returns_list()) return Wrap(tensors[0], frontend);
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(tensors.size()));
  if (!tuple) return nullptr;
  for (size_t i = 0; i < tensors.size(); ++i) {
    PyObject* item = Wrap(tensors[i], frontend);
    if (!item) {
      Py_DECREF(tuple);
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), item);
  }
  if (!named) return tuple;
  PyObject* result = PyObject_CallOneArg(named, tuple);
  Py_DECREF(tuple);
  return result;
}

PyObject* WrapDType(DType dtype, const Frontend* frontend) {
  PyObject* object = frontend ? frontend->dtypes[static_cast<int>(dtype)] : nullptr;
  if (!object) {
    PyErr_SetString(PyExc_RuntimeError, "dtype: this frontend has no dtype objects");
    return nullptr;
  }
  return Py_NewRef(object);
}

PyObject* WrapDevice(Device device, const Frontend* frontend) {
  if (frontend && frontend->device_class) {
    const int place = static_cast<int>(device.type);
    const bool kept = device.index == 0 && place < static_cast<int>(std::size(frontend->devices));
    if (kept && frontend->devices[place]) return Py_NewRef(frontend->devices[place]);
    PyObject* made =
        PyObject_CallFunction(frontend->device_class, "si", Name(device.type), static_cast<int>(device.index));
    if (kept && made) frontend->devices[place] = Py_NewRef(made);
    return made;
  }
  return PyUnicode_FromString(device.str().c_str());
}

PyObject* WrapShape(const Dims& shape, const Frontend* frontend) {
  PyTypeObject* type = frontend ? frontend->shape_class : nullptr;
  PyObject* tuple = type ? type->tp_alloc(type, shape.size()) : PyTuple_New(shape.size());
  if (!tuple) return nullptr;
  for (int i = 0; i < shape.size(); ++i) {
    PyObject* size = PyLong_FromLongLong(shape[i]);
    if (!size) return Py_DECREF(tuple), nullptr;
    PyTuple_SET_ITEM(tuple, i, size);
  }
  return tuple;
}

PyObject* WrapValue(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kBool:
      return PyBool_FromLong(value.boolean());
    case Value::Kind::kInt:
      return PyLong_FromLongLong(value.integer());
    case Value::Kind::kDouble:
      return PyFloat_FromDouble(value.real());
    case Value::Kind::kComplex:
      return PyComplex_FromDoubles(value.complex().re, value.complex().im);
    case Value::Kind::kString:
      return PyUnicode_FromString(value.string().c_str());
    case Value::Kind::kInts:
      return WrapShape(value.ints(), nullptr);
    case Value::Kind::kDType:
      return PyUnicode_FromString(Name(value.dtype()));
    case Value::Kind::kDevice:
      return PyUnicode_FromString(value.device().str().c_str());
    case Value::Kind::kDoubles: {
      py::list list;
      for (double number : value.doubles()) list.append(number);
      return list.release().ptr();
    }
    default:
      Py_RETURN_NONE;
  }
}

void ForgetError() {
  if (!PyErr_Occurred()) return;
  for (PyObject* own : {PyExc_AttributeError, PyExc_TypeError, PyExc_ValueError, PyExc_LookupError, PyExc_RuntimeError,
                        PyExc_ArithmeticError, PyExc_BufferError, PyExc_AssertionError, PyExc_NameError}) {
    if (PyErr_ExceptionMatches(own)) return PyErr_Clear();
  }
  throw py::error_already_set();
}

void SetPythonError() {
  try {
    throw;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const Error& error) {
    PyErr_SetString(ErrorClass(error.kind()), error.what());
  } catch (const py::cast_error& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "an exception of unknown type left the engine");
  }
}

Tensors ApplyFromPython(const Call& call, const Frontend* frontend, std::span<const Tensor> outs) {
  const HeldBack held(frontend, call.inputs, outs);
  constexpr int64_t kWorthReleasing = 1 << 15;
  int64_t elements = 0;
  for (const Tensor& x : call.inputs) elements += x.defined() ? x.numel() : 0;
  if (elements < kWorthReleasing) return Apply(call, outs);
  WithoutGil outside;
  return Apply(call, outs);
}

// --- dtype objects

namespace {

/// Types that files and libraries speak of, though no tensor can have them.
struct NamedDType {
  const char* name;
  int item_size;
  bool floating, is_signed;
};
constexpr NamedDType kNamedOnly[] = {{"float8_e8m0fnu", 1, true, false}, {"float4_e2m1fn_x2", 1, true, true},
                                     {"qint8", 1, false, true},          {"quint8", 1, false, false},
                                     {"qint32", 4, false, true},         {"quint4x2", 1, false, false},
                                     {"quint2x4", 1, false, false},      {"bits8", 1, false, false},
                                     {"bits16", 2, false, false},        {"int1", 1, false, true},
                                     {"int2", 1, false, true},           {"int4", 1, false, true},
                                     {"uint1", 1, false, false},         {"uint2", 1, false, false},
                                     {"uint3", 1, false, false},         {"uint4", 1, false, false},
                                     {"uint5", 1, false, false},         {"uint6", 1, false, false},
                                     {"uint7", 1, false, false},         {"int3", 1, false, true},
                                     {"int5", 1, false, true},           {"int6", 1, false, true},
                                     {"int7", 1, false, true},           {"bits1x8", 1, false, false},
                                     {"bits2x4", 1, false, false},       {"bits4x2", 1, false, false}};

PyObject* DTypeNew(PyTypeObject* type, PyObject* args, PyObject*) {
  const char* name;
  if (!PyArg_ParseTuple(args, "s:dtype", &name)) return nullptr;
  int found = -1;
  for (int i = 0; i < kDTypeCount; ++i) {
    if (std::strcmp(name, kDTypeNames[i]) == 0) found = i;
  }
  for (size_t i = 0; i < std::size(kNamedOnly); ++i) {
    if (std::strcmp(name, kNamedOnly[i].name) == 0) found = kDTypeCount + static_cast<int>(i);
  }
  if (found < 0) {
    std::string known;
    for (const char* each : kDTypeNames) known += (known.empty() ? "" : ", ") + std::string(each);
    PyErr_Format(PyExc_ValueError, "dtype: got '%s', expected one of %s", name, known.c_str());
    return nullptr;
  }
  auto* object = NewInstance<PyDType>(type);
  if (object) object->dtype = static_cast<DType>(found);
  return Upcast(object);
}

DType Of(PyObject* self) { return Self<PyDType>(self)->dtype; }
const NamedDType* NamedOnly(PyObject* self) {
  const int place = static_cast<int>(Of(self)) - kDTypeCount;
  return place >= 0 ? &kNamedOnly[place] : nullptr;
}
const char* NameOf(PyObject* self) { return NamedOnly(self) ? NamedOnly(self)->name : Name(Of(self)); }

PyObject* DTypeRepr(PyObject* self) { return PyUnicode_FromFormat("dragon.%s", NameOf(self)); }
Py_hash_t DTypeHash(PyObject* self) { return static_cast<Py_hash_t>(Of(self)) + 7001; }

PyObject* DTypeCompare(PyObject* a, PyObject* b, int how) {
  if (how != Py_EQ && how != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  const PyDType *left = DTypeIf(a), *right = DTypeIf(b);
  if (!left || !right) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((left->dtype == right->dtype) == (how == Py_EQ));
}

PyGetSetDef dtype_fields[] = {
    {"name", [](PyObject* self, void*) { return PyUnicode_FromString(NameOf(self)); }, nullptr, "the NumPy name",
     nullptr},
    {"itemsize",
     [](PyObject* self, void*) {
       return PyLong_FromLongLong(NamedOnly(self) ? NamedOnly(self)->item_size : ItemSize(Of(self)));
     },
     nullptr, "bytes per element", nullptr},
    {"is_floating_point",
     [](PyObject* self, void*) {
       return PyBool_FromLong(NamedOnly(self) ? NamedOnly(self)->floating : IsFloating(Of(self)));
     },
     nullptr, "a real float", nullptr},
    {"is_complex", [](PyObject* self, void*) { return PyBool_FromLong(!NamedOnly(self) && IsComplex(Of(self))); },
     nullptr, "a complex number", nullptr},
    {"is_signed",
     [](PyObject* self, void*) {
       return PyBool_FromLong(NamedOnly(self) ? NamedOnly(self)->is_signed
                                              : Of(self) != DType::kBool && !IsUnsigned(Of(self)));
     },
     nullptr, "has negative numbers", nullptr},
    {"is_named_only", [](PyObject* self, void*) { return PyBool_FromLong(NamedOnly(self) != nullptr); }, nullptr,
     "a name that no tensor can have", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyTypeObject DTypeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

// --- shape objects

namespace {

/// A slice of a shape is a shape.
PyObject* ShapeSubscript(PyObject* self, PyObject* key) {
  PyObject* found = PyTuple_Type.tp_as_mapping->mp_subscript(self, key);
  if (!found || !PySlice_Check(key)) return found;
  PyObject* shape = PyObject_CallOneArg(Upcast(Py_TYPE(self)), found);
  Py_DECREF(found);
  return shape;
}

PyTypeObject ShapeType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyMappingMethods shape_mapping = {};

}  // namespace

void RegisterShape(py::module_& m) {
  shape_mapping.mp_length = PyTuple_Type.tp_as_mapping->mp_length;
  shape_mapping.mp_subscript = ShapeSubscript;
  ShapeType.tp_name = "dragon._C.Shape";
  ShapeType.tp_doc = "A tuple of sizes of which slices are of its own class; frontends subclass it.";
  ShapeType.tp_base = &PyTuple_Type;
  ShapeType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  ShapeType.tp_as_mapping = &shape_mapping;
  if (PyType_Ready(&ShapeType) < 0) throw py::error_already_set();
  m.add_object("Shape", py::handle(Upcast(&ShapeType)));
}

void RegisterDType(py::module_& m) {
  DTypeType.tp_name = "dragon._C.dtype";
  DTypeType.tp_doc = "The type of a tensor's elements.";
  DTypeType.tp_basicsize = sizeof(PyDType);
  DTypeType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE;
  DTypeType.tp_new = DTypeNew;
  DTypeType.tp_repr = DTypeRepr;
  DTypeType.tp_hash = DTypeHash;
  DTypeType.tp_richcompare = DTypeCompare;
  DTypeType.tp_getset = dtype_fields;
  if (PyType_Ready(&DTypeType) < 0) throw py::error_already_set();
  m.add_object("dtype", py::handle(Upcast(&DTypeType)));
}

}  // namespace dragon::python
