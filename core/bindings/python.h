// The Python side of tensors and operators: raw CPython types where calls are hot, shared by the files of this room.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <string>
#include <vector>

#include "core/bindings/gil.h"
#include "core/bindings/objects.h"
#include "core/framework/apply.h"
#include "core/framework/op.h"
#include "core/framework/sizes.h"

PYBIND11_DECLARE_HOLDER_TYPE(T, dragon::Ref<T>, true)

namespace dragon::python {

/// One way of showing tensors: the classes its results have and the names its arguments go by.
struct Frontend {
  PyTypeObject* tensor_class = nullptr;
  PyObject* dtypes[kDTypeCount] = {};
  PyObject* device_class = nullptr;     ///< called with (type name, index)
  PyTypeObject* shape_class = nullptr;  ///< a tuple subclass, or null for tuple
  PyObject* names = nullptr;            ///< dict: schema's argument name, or "op.argument" -> the guest's
  PyObject* results = nullptr;          ///< dict: operator -> the class of its tuple of results, called with that tuple
  PyObject* override_handler = nullptr;    ///< called with (function, args, kwargs) when a class answers for itself
  PyObject* override_attribute = nullptr;  ///< what such a class has
  PyObject* override_disabled = nullptr;   ///< the value of that attribute which says: treat me as a plain tensor
  PyObject* refusal_handler = nullptr;     ///< called with (function, args, kwargs, error): the error to raise instead
  bool resizes_destinations = false;       ///< an `out=` of another shape takes on the result's
  bool waits_to_be_asked = false;          ///< its users expect calls to be recorded only where a scope says so
  bool places_calls = false;               ///< operands that lie on several devices are brought to one (placing.h)
  mutable PyObject* devices[8] = {};       ///< objects of the first host and accelerator devices, made once
  PyTypeObject* parts_class = nullptr;     ///< of tensors that are made of others; a subclass of `tensor_class`
  PyObject* describer = nullptr;           ///< makes docstrings, as `set_describer` tells
};

/// The operators as one frontend sees them.
struct Ops {
  Frontend frontend;
};
using OpsClass = py::class_<Ops, std::unique_ptr<Ops, py::nodelete>>;

/// The frontend of a tensor class (the nearest registered base), or the first one registered.
const Frontend* FrontendOf(PyTypeObject* type);
void RegisterFrontend(const Frontend* frontend);

/// A new reference to the Python object of a tensor: the one that lives already, or a fresh one of the frontend's
/// class.
PyObject* Wrap(const Tensor& tensor, const Frontend* frontend);
/// One tensor, or a tuple of them, handed to the class `named` if there is one. A list result is always a tuple.
PyObject* WrapAll(const Tensors& tensors, const Operator& op, const Frontend* frontend, PyObject* named = nullptr);
PyObject* WrapDType(DType dtype, const Frontend* frontend);
PyObject* WrapDevice(Device device, const Frontend* frontend);
PyObject* WrapShape(const Dims& shape, const Frontend* frontend);

/// Whose argument is being read.
struct Place {
  const char* op;
  const Argument* argument;
  bool strict = false;  ///< a bool is no integer
};

// --- sizes.cc: sizes as ints, or as what they are while a recorder writes down what they decide
PyObject* WrapShapeOf(const Tensor& tensor, const Frontend* frontend);
PyObject* WrapStridesOf(const Tensor& tensor);
PyObject* WrapSizeOf(const Tensor& tensor, int axis);
PyObject* WrapCountOf(const Tensor& tensor, int64_t times = 1);
/// The same for who must have an int or a bool.
Py_ssize_t LengthOf(const Tensor& tensor);
bool IsDenseTold(const Tensor& tensor);
/// A number that is told in another way, which cannot be followed.
void FixSizes(const Tensor& tensor);
/// How many threads write calls down. As a rule none does, and nobody has to look for his own.
extern std::atomic<int> g_scribes;
inline bool IsAnyWrittenDown() { return DRAGON_UNLIKELY(g_scribes.load(std::memory_order_relaxed) != 0); }
NumberId FollowedNumberOf(PyObject* object);
/// Whether it is one of those numbers, of this thread's scribe: which one. -1 if it is none.
inline NumberId NumberOf(PyObject* object) { return IsAnyWrittenDown() ? FollowedNumberOf(object) : -1; }
/// An element of a tensor made of such numbers as one of them; nothing where it is an ordinary number.
PyObject* WrapElementOf(const Tensor& tensor, int64_t place);
/// The int or float that it is at the moment.
py::object HintOf(NumberId number);
/// Attribute `attr` of the next call (or element `element` of its list) is that number.
void FollowNumber(NumberId number, const Place& place, int element);
void RegisterSizes(py::module_& m);
/// Numbers, strings, lists, None.
PyObject* WrapValue(const Value& value);

/// The Python class of an engine's error.
PyObject* ErrorClass(ErrorKind kind);
/// Turn the C++ exception in flight into a Python one. Call it inside a catch block.
void SetPythonError();
/// Run `body`, which returns a new reference; C++ exceptions become Python's.
template <typename Body>
PyObject* Guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (abi::__forced_unwind&) {
    Park();
  } catch (...) {
    SetPythonError();
    return nullptr;
  }
}
template <typename Body>
int GuardedInt(Body&& body) noexcept {
  try {
    return body();
  } catch (abi::__forced_unwind&) {
    Park();
  } catch (...) {
    SetPythonError();
    return -1;
  }
}

// --- override.cc: classes that answer calls themselves (PyTorch's `__torch_function__`)

void SetOverride(Frontend* frontend, PyObject* handler, const char* attribute, PyObject* disabled);
bool WantsOverride(const Frontend* frontend, PyObject* argument);
bool WantsOverride(const Frontend* frontend, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* CallOverride(const Frontend* frontend, PyObject* function, PyObject* const* args, Py_ssize_t count,
                       PyObject* keywords);
/// Python's own numbers.
inline bool IsPlainNumber(PyObject* x) { return PyLong_Check(x) || PyFloat_CheckExact(x) || PyComplex_CheckExact(x); }
/// Call `refusal(args, kwargs)`, which may raise, where numbers stand as the first (1) or second (2) argument, or as
/// both (4), and where one of these is named.
void RefuseNumbers(PyObject* refusal, int where, PyObject* const* args, Py_ssize_t count, PyObject* keywords);
PyObject* MakeOverridable(Frontend* frontend, PyObject* function, bool of_tensor);
/// What the operators of a frontend are told of classes that answer.
void RegisterOverride(OpsClass& ops);
/// Does the class of an object answer calls?
bool ClassAnswers(const Frontend* frontend, PyObject* argument);
/// Who answers when an attribute is read; a class may just have what it inherits from the frontend's class.
enum class FieldAnswer { kNobody, kBaseClass, kSomebody };
FieldAnswer WhoAnswersField(const Frontend* frontend, PyObject* tensor);
// --- override_slots.cc: the same for slots of the tensor class, by the method's or the operator's name
PyObject* CallSlotOverride(const Frontend* frontend, const char* name, std::initializer_list<PyObject*> args);
/// What a class or mode answers for a slot without arguments; nothing where nobody is asked.
py::object AskedSlot(PyObject* self, const char* name);
PyObject* CallUnaryOverride(const Frontend* frontend, const std::string& op, PyObject* self);
PyObject* CallBinaryOverride(const Frontend* frontend, const std::string& op, PyObject* a, PyObject* b);
PyObject* CallInPlaceOverride(const Frontend* frontend, const std::string& op, PyObject* a, PyObject* b);
// --- override_fields.cc: the same for attributes
PyObject* MakeAskingField(const Frontend* frontend, PyObject* name, PyObject* field);
void RegisterOverrideFields(py::module_& m);

/// Go through the door, as a call of a frontend; large work lets other Python threads run meanwhile.
Tensors ApplyFromPython(const Call& call, const Frontend* frontend, std::span<const Tensor> outs = {});

// --- parse.cc: Python objects to what a schema asks for. Errors name the operator and the argument.

/// The items of a sequence as a list or tuple.
py::object ItemsOf(PyObject* object, const Place& place);
/// True if a Python number (bool, int, float, complex, or a NumPy scalar of those).
bool IsNumber(PyObject* object);
Value ParseNumber(PyObject* object, const Place& place);
Tensor ParseTensor(PyObject* object, const Place& place, const Tensor* like);
void ParseTensorList(PyObject* object, const Place& place, InlineVector<Tensor, 4>* inputs,
                     InlineVector<int32_t, 2>* list_sizes);
Value ParseAttribute(PyObject* object, const Place& place);
int64_t ParseInt(PyObject* object, const Place& place);
/// An element of a list of integers.
int64_t ParseElement(PyObject* object, const Place& place, int element);
Dims ParseDims(PyObject* object, const Place& place);
DType ParseDType(PyObject* object, const Place& place);
Device ParseDevice(PyObject* object, const Place& place);
/// A bare number as a 0-d tensor beside `like`: in its dtype if that can hold the kind of number.
Tensor NumberLike(PyObject* object, const Tensor* like, const Place& place);

/// A tensor over an object's buffer, sharing memory. `who` speaks in errors.
Tensor FromBuffer(PyObject* object, const char* who);
/// Copy numbers, nested sequences, arrays or tensors into a new tensor; dtype inferred when `dtype` is null.
Tensor FromData(PyObject* data, const DType* dtype, Device device, const char* who);
/// Nested Python lists of numbers.
PyObject* ToList(const Tensor& tensor);
/// A new NumPy array over the tensor's memory.
PyObject* ToNumPy(PyObject* tensor);
int GetBuffer(PyObject* self, Py_buffer* view, int flags);
void ReleaseBuffer(PyObject* self, Py_buffer* view);

PyObject* GetItem(PyObject* self, PyObject* key);
int SetItem(PyObject* self, PyObject* key, PyObject* value);

// --- one register function per noun
void RegisterTensor(py::module_& m);
void RegisterOps(py::module_& m);
void RegisterSchema(py::module_& m);
void RegisterOverride(py::module_& m);
void RegisterDType(py::module_& m);
void RegisterShape(py::module_& m);
void RegisterAutograd(py::module_& m);
void RegisterRecording(py::module_& m);
void RegisterDevice(py::module_& m);
void RegisterMemory(py::module_& m);
void RegisterRecords(py::module_& m);
void RegisterPictures(py::module_& m);
void RegisterRecordFiles(py::module_& m);
void RegisterRecordBuffer(py::module_& m);
void RegisterDLPack(py::module_& m);
void RegisterRandom(py::module_& m);
void RegisterDoor(py::module_& m);
void RegisterGraph(py::module_& m);
void RegisterShared(py::module_& m);
void RegisterWorld(py::module_& m);
void RegisterTrace(py::module_& m);
void RegisterProcedure(py::module_& m);
void RegisterPasses(py::module_& m);
void RegisterTensorParts(py::module_& m);
extern PyNumberMethods TensorNumber;
extern PyMappingMethods TensorMapping;
PyObject* RichCompare(PyObject* a, PyObject* b, int how);

}  // namespace dragon::python
