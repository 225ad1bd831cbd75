// Python's objects as what the engine takes them for: each is looked at first, and an error says who was called, what
// came, and what would do. Nobody else casts (tests/house/test_casts.py).
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "core/framework/tensor.h"

namespace dragon::python {

namespace py = pybind11;

struct Frontend;

/// A dtype as Python sees it; frontends subclass it to give their own names.
struct PyDType {
  PyObject_HEAD DType dtype;
};

struct PyTensor {
  PyObject_HEAD PyObject* dict;
  PyObject* weakrefs;
  TensorImpl* impl;  ///< owned
  const Frontend* frontend;

  const Tensor& tensor() const { return *reinterpret_cast<const Tensor*>(&impl); }
};
static_assert(sizeof(Tensor) == sizeof(TensorImpl*), "a Tensor is its pointer, so a PyTensor can lend it");

extern PyTypeObject TensorType;
extern PyTypeObject DTypeType;

// --- what Python has looked at already

/// The `self` of a slot, a method or an attribute that C gives a class: Python calls it with instances alone.
template <typename T>
T* Self(PyObject* self) {
  return reinterpret_cast<T*>(self);
}
inline const Tensor& SelfTensor(PyObject* self) { return Self<PyTensor>(self)->tensor(); }
/// A new instance of a class of that form; null, with Python's error set, where there is no memory.
template <typename T>
T* NewInstance(PyTypeObject* type) {
  return reinterpret_cast<T*>(type->tp_alloc(type, 0));
}
/// The object that shows a tensor already, or null.
inline PyTensor* FaceOf(const Tensor& tensor) {
  return static_cast<PyTensor*>(tensor.impl()->python.load(std::memory_order_relaxed));
}
template <typename T>
PyObject* Upcast(T* object) {
  return reinterpret_cast<PyObject*>(object);
}
/// The engine's object behind an instance of a class of pybind11's; null before it is begun and after it has ended.
template <typename T>
T* Behind(PyObject* self) {
  const auto face = Self<py::detail::instance>(self)->get_value_and_holder();
  return face.holder_constructed() ? face.template value_ptr<T>() : nullptr;
}
/// One of the names that the interpreter hands to a C function together with the values: a tuple of str.
inline PyObject* KeywordAt(PyObject* keywords, Py_ssize_t place) { return PyTuple_GET_ITEM(keywords, place); }

// --- what may be anything

inline bool IsTensor(PyObject* object) { return PyObject_TypeCheck(object, &TensorType); }
/// The tensor's object that it is, or null.
inline PyTensor* FaceIf(PyObject* object) { return IsTensor(object) ? Self<PyTensor>(object) : nullptr; }
/// The tensor that an object is, or null.
inline const Tensor* TensorIf(PyObject* object) { return IsTensor(object) ? &SelfTensor(object) : nullptr; }
inline const Tensor* TensorIf(py::handle object) { return TensorIf(object.ptr()); }
/// The dtype's object that it is, or null.
inline const PyDType* DTypeIf(PyObject* object) {
  return PyObject_TypeCheck(object, &DTypeType) ? Self<PyDType>(object) : nullptr;
}

/// A str for people: halves of surrogate pairs are shown as such.
std::string TextIn(PyObject* text);
/// How errors tell what came: None, or its class in quotes.
std::string ClassOf(py::handle object);
[[noreturn]] void RefuseObject(py::handle object, const std::string& who, const std::string& expected);

/// The tensor that an object is; a TypeError in the name of `who` where it is none.
inline const Tensor& TensorIn(py::handle object, const char* who) {
  if (const Tensor* tensor = TensorIf(object)) return *tensor;
  RefuseObject(object, who, "a tensor");
}
/// The same, where None stands for no tensor.
Tensor TensorOrNone(py::handle object, const char* who);
/// The tensors of a list, a tuple or another sequence.
std::vector<Tensor> TensorsIn(py::handle objects, const char* who);
/// The items of a sequence, which nobody changes any more: its own methods may answer otherwise another time.
py::tuple TupleOf(py::handle sequence, const char* who);
/// A tuple of at least so many items.
py::tuple TupleIn(py::handle object, const char* who, size_t least);
/// An item of a tuple or list, borrowed; an IndexError beyond its end.
PyObject* ItemAt(PyObject* sequence, Py_ssize_t place);
/// A class that is `base` or one of its subclasses.
PyTypeObject* SubclassIn(py::handle object, PyTypeObject* base, const char* who, const char* expected);
/// A class of tensors.
PyTypeObject* TensorClassIn(py::handle object, const char* who);
/// A class of tuples that are made as the engine makes them: of places that are filled from C.
PyTypeObject* ShapeClassIn(py::handle object, const char* who);
/// The frontend that a class of tensors belongs to.
const Frontend* FrontendIn(py::handle tensor_class, const char* who);

/// The engine's own object that it is, or null.
template <typename T>
T* EngineObjectIf(py::handle object) {
  try {
    if (!object.is_none()) return &object.cast<T&>();
  } catch (const py::cast_error&) {  // another class, or one that was made without being begun
  }
  return nullptr;
}
/// An object of the engine's own.
template <typename T>
T& EngineObject(py::handle object, const char* who, const char* expected) {
  if (T* found = EngineObjectIf<T>(object)) return *found;
  RefuseObject(object, who, expected);
}
/// What pybind11 has turned None into where it takes a pointer.
template <typename Pointer>
const Pointer& Present(const Pointer& pointer, const char* who, const char* expected) {
  if (!pointer) RefuseObject(py::none(), who, expected);
  return pointer;
}

/// Python's bound on how deep calls lie in one another, for what walks structures that may be as deep as anybody likes.
class Deeper {
 public:
  explicit Deeper(const char* where) {
    if (Py_EnterRecursiveCall(where)) throw py::error_already_set();
  }
  Deeper(const Deeper&) = delete;
  ~Deeper() { Py_LeaveRecursiveCall(); }
};

/// Whether a list or tuple has an item for which `holds(item)` is true; who runs code of Python's holds the item first.
template <typename Holds>
bool AnyItem(PyObject* sequence, Holds&& holds) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    if (holds(PySequence_Fast_GET_ITEM(sequence, i))) return true;
  }
  return false;
}

/// Call `visit(item)` with the items of a list or tuple. An item's own methods may change the list meanwhile: each one
/// is held while it is looked at, and the length is asked anew.
template <typename Visitor>
void EachItem(PyObject* sequence, Visitor&& visit) {
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(sequence); ++i) {
    visit(py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(sequence, i)).ptr());
  }
}

/// Have no method of the module's classes be called for None, which pybind11 would take for an object without address.
void RefuseNoneAsSelf(const py::module_& m);

}  // namespace dragon::python
