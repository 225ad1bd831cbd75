// From Python to the engine: what a schema asks for, or an error that names the operator and the argument.
#include <cmath>

#include "core/bindings/forget_error.h"
#include "core/bindings/python.h"
#include "core/framework/generator.h"
#include "core/framework/graph_body.h"
#include "core/framework/number.h"
#include "core/framework/promotion.h"
#include "core/framework/scribe.h"
#include "core/framework/trace.h"

namespace dragon::python {

namespace {

/// "an int" for 3: how an argument that came is told.
std::string Kind(PyObject* object) {
  if (object == Py_None) return "None";
  if (const Tensor* tensor = TensorIf(object)) {
    std::ostringstream out;
    out << "a tensor of shape " << tensor->shape();
    return out.str();
  }
  return std::string("'") + Py_TYPE(object)->tp_name + "'";
}

[[noreturn]] void Refuse(PyObject* object, const Place& place, const char* expected = nullptr) {
  ForgetError();
  std::string wanted = expected ? expected : place.argument ? place.argument->type_name() : "something else";
  throw TypeError(place.op)
      .Got(Kind(object), place.argument ? " for argument '" + place.argument->name + "'" : std::string())
      .Expected(wanted);
}

std::string ForArgument(const Place& place) {
  return place.argument ? " for argument '" + place.argument->name + "'" : std::string();
}

/// A str as UTF-8; half a surrogate pair, which has none, is refused.
std::string TextOf(PyObject* object, const Place& place) {
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object, &size);
  if (!text) {
    PyErr_Clear();
    throw ValueError(place.op).Got("text with half a pair of surrogates", ForArgument(place)).Expected("whole letters");
  }
  return {text, static_cast<size_t>(size)};
}

bool IsInteger(PyObject* object) { return PyLong_Check(object) || (PyIndex_Check(object) && !IsTensor(object)); }

double ParseReal(PyObject* object, const Place& place) {
  if (PyFloat_Check(object)) return PyFloat_AS_DOUBLE(object);
  if (PyUnicode_Check(object) || PyComplex_Check(object)) Refuse(object, place);
  if (const Tensor* tensor = TensorIf(object); tensor && tensor->numel() != 1) Refuse(object, place);
  const double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) Refuse(object, place);
    PyErr_Clear();
    throw ValueError(place.op).Got("a number beyond float64", ForArgument(place)).Expected("one below 1.8e308");
  }
  return value;
}

/// The number of a tensor of one.
Value NumberIn(const Tensor& tensor, const Place& place) {
  if (!tensor.device().is_meta()) return tensor.Item();
  throw NotImplementedError(place.op).Got("a meta tensor", ForArgument(place)).Expected("one with numbers");
}

bool IsNumPyBool(PyObject* object) {
  const char* name = Py_TYPE(object)->tp_name;
  return std::strcmp(name, "numpy.bool") == 0 || std::strcmp(name, "numpy.bool_") == 0;
}

bool IsNumPyScalar(PyObject* object) {
  return std::strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) == 0 && !PyObject_CheckBuffer(object)
             ? true
             : std::strncmp(Py_TYPE(object)->tp_name, "numpy.", 6) == 0 &&
                   std::strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") != 0 && PyNumber_Check(object);
}

}  // namespace

int64_t ParseInt(PyObject* object, const Place& place) {
  if (const Tensor* tensor = TensorIf(object)) {
    if (tensor->numel() == 1 && !IsInexact(tensor->dtype())) return NumberIn(*tensor, place).integer();
    Refuse(object, place);
  }
  if (!PyIndex_Check(object) || (place.strict && PyBool_Check(object))) Refuse(object, place);
  const long long value = PyLong_Check(object) ? PyLong_AsLongLong(object) : [&] {  // NOLINT: Python's own width
    py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(object));
    return index ? PyLong_AsLongLong(index.ptr()) : -1;
  }();
  if (value == -1 && PyErr_Occurred()) {
    // NumPy arrays say they are indices and then refuse.
    if (PyErr_ExceptionMatches(PyExc_TypeError)) Refuse(object, place);
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw py::error_already_set();
    PyErr_Clear();
    throw ValueError(place.op).Got("an integer beyond 64 bits", ForArgument(place)).Expected("-2**63 to 2**63 - 1");
  }
  return value;
}

bool IsNumber(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object) || IsNumPyScalar(object);
}

Value ParseNumber(PyObject* object, const Place& place) {
  if (PyBool_Check(object)) return Value(object == Py_True);
  if (PyLong_Check(object)) return Value(ParseInt(object, place));
  if (PyFloat_Check(object)) return Value(PyFloat_AS_DOUBLE(object));
  if (PyComplex_Check(object)) return Value(complex128(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)));
  if (const Tensor* tensor = TensorIf(object)) {
    if (tensor->numel() != 1) Refuse(object, place);
    return NumberIn(*tensor, place);
  }
  if (IsNumPyBool(object)) return Value(PyObject_IsTrue(object) == 1);
  if (PyIndex_Check(object)) return Value(ParseInt(object, place));
  if (IsNumPyScalar(object)) {
    if (PyObject_HasAttrString(object, "imag") && std::strstr(Py_TYPE(object)->tp_name, "complex")) {
      const Py_complex z = PyComplex_AsCComplex(object);
      if (PyErr_Occurred()) throw py::error_already_set();
      return Value(complex128(z.real, z.imag));
    }
    return Value(ParseReal(object, place));
  }
  Refuse(object, place, "a number");
}

Tensor NumberLike(PyObject* object, const Tensor* like, const Place& place) {
  if (const NumberId number = NumberOf(object); DRAGON_UNLIKELY(number >= 0)) {
    const Tensor tensor = NumberLike(HintOf(number).ptr(), like, place);
    Scribe::Current()->NoteNumber(tensor, number);
    return tensor;
  }
  Value value;
  if (PyLong_Check(object) && !PyBool_Check(object) && like && like->defined() && IsInexact(like->dtype())) {
    value = Value(ParseReal(object, place));  // integers beyond 64 bits are fine beside floats
    Tensor tensor = Tensor::Scalar(value, like->dtype());
    tensor.impl()->weak = true;
    return tensor;
  }
  value = ParseNumber(object, place);
  DType dtype = value.number_dtype();
  if (like && like->defined() && CanCast(dtype, like->dtype()) &&
      !(dtype == DType::kInt64 && like->dtype() == DType::kBool)) {
    dtype = like->dtype();
    if (!HasNumber(dtype, value)) dtype = DType::kInt64;  // wraps, or is refused, where the operator's dtype is known
  } else if (dtype == DType::kFloat64) {
    // Beside integers the operator may yet cut the number to one of them, which takes all its digits.
    const bool exact = static_cast<float>(value.real()) == value.real() || std::isnan(value.real());
    dtype = like && like->defined() && IsIntegral(like->dtype()) && !exact ? DType::kFloat64 : DefaultDType();
  } else if (dtype == DType::kComplex128) {
    dtype = ComplexDType(like && like->defined() && IsFloating(like->dtype()) ? like->dtype() : DefaultDType());
  }
  Tensor tensor = Tensor::Scalar(value, dtype);
  tensor.impl()->weak = true;
  return tensor;
}

Tensor ParseTensor(PyObject* object, const Place& place, const Tensor* like) {
  if (const Tensor* tensor = TensorIf(object)) return *tensor;
  if (object == Py_None && place.argument && place.argument->optional) return {};
  if (IsNumber(object) || NumberOf(object) >= 0) return NumberLike(object, like, place);
  if (PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object)) {
    return FromBuffer(object, place.op);
  }
  Refuse(object, place);
}

py::object ItemsOf(PyObject* object, const Place& place) {
  auto items = py::reinterpret_steal<py::object>(PySequence_Fast(object, ""));
  if (items) return items;
  // What the sequence's own methods raise is the caller's, but for a length that no list has.
  for (PyObject* kind : {PyExc_TypeError, PyExc_ValueError, PyExc_MemoryError, PyExc_OverflowError}) {
    if (!PyErr_ExceptionMatches(kind)) continue;
    PyErr_Clear();
    Refuse(object, place);
  }
  throw py::error_already_set();
}

void ParseTensorList(PyObject* object, const Place& place, InlineVector<Tensor, 4>* inputs,
                     InlineVector<int32_t, 2>* list_sizes) {
  if (IsTensor(object) || (!PyList_Check(object) && !PyTuple_Check(object))) {
    if (IsTensor(object) || !PySequence_Check(object)) {
      throw TypeError(place.op)
          .Got("'", Py_TYPE(object)->tp_name, "' for argument '", place.argument->name, "'")
          .Expected("a list or tuple of tensors");
    }
  }
  const py::object fast = ItemsOf(object, place);
  int32_t size = 0;
  EachItem(fast.ptr(), [&](PyObject* item) {
    inputs->push_back(ParseTensor(item, place, nullptr));
    ++size;
  });
  list_sizes->push_back(size);
}

int64_t ParseElement(PyObject* object, const Place& place, int element) {
  const NumberId number = place.argument ? NumberOf(object) : -1;
  if (DRAGON_LIKELY(number < 0)) return ParseInt(object, place);
  FollowNumber(number, place, element);
  return ParseInt(HintOf(number).ptr(), place);
}

Dims ParseDims(PyObject* object, const Place& place) {
  Dims dims;
  const int repeat = place.argument ? place.argument->repeat : 0;
  const Tensor* tensor = TensorIf(object);
  if (IsInteger(object) || (tensor && tensor->ndim() == 0)) {
    for (int i = 0; i < std::max(repeat, 1); ++i) dims.push_back(ParseElement(object, place, i));
    return dims;
  }
  if (!PySequence_Check(object) || PyUnicode_Check(object) || PyBytes_Check(object)) Refuse(object, place);
  const py::object fast = ItemsOf(object, place);
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(fast.ptr());
  EachItem(fast.ptr(), [&](PyObject* item) {
    if (!PyIndex_Check(item) && !IsTensor(item)) Refuse(item, place, "integers");
    dims.push_back(ParseElement(item, place, dims.size()));
    for (int i = 1; repeat > 1 && i < repeat && count == 1; ++i) dims.push_back(ParseElement(item, place, i));
  });
  return dims;
}

DType ParseDType(PyObject* object, const Place& place) {
  if (const PyDType* given = DTypeIf(object)) {
    const DType dtype = given->dtype;
    if (static_cast<int>(dtype) < kDTypeCount) return dtype;
    const std::string name = py::cast<std::string>(py::handle(object).attr("name"));
    throw TypeError(place.op).Got("dtype ", name).Expected("one that tensors have; this one is known by name only");
  }
  // As NumPy and PyTorch have it: a class names its own width, whatever the default dtype is.
  if (object == Upcast(&PyFloat_Type)) return DType::kFloat64;
  if (object == Upcast(&PyLong_Type)) return DType::kInt64;
  if (object == Upcast(&PyBool_Type)) return DType::kBool;
  if (object == Upcast(&PyComplex_Type)) return DType::kComplex128;
  std::string name;
  if (PyUnicode_Check(object)) {
    name = TextOf(object, place);
  } else {
    // A NumPy dtype has a name; a NumPy scalar class (np.float32) is called like one.
    for (const char* attribute : {"name", "__name__"}) {
      py::object found = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object, attribute));
      if (!found) {
        ForgetError();
      } else if (PyUnicode_Check(found.ptr())) {
        name = TextOf(found.ptr(), place);
        break;
      }
    }
  }
  for (int i = 0; i < kDTypeCount; ++i) {
    if (name == kDTypeNames[i]) return static_cast<DType>(i);
  }
  Refuse(object, place, "a dtype");
}

/// A device by name, or an error in the name of the operator.
Device DeviceNamed(PyObject* name, const Place& place) {
  try {
    return Device::Parse(TextOf(name, place));
  } catch (const Error& error) {
    throw Error(error.kind(), std::string(place.op) + ": " + error.what());
  }
}

Device ParseDevice(PyObject* object, const Place& place) {
  if (PyUnicode_Check(object)) return DeviceNamed(object, place);
  py::object type = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object, "type"));
  ForgetError();
  py::object index = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object, "index"));
  ForgetError();
  if (!type || !index || !PyUnicode_Check(type.ptr())) Refuse(object, place, "a device or its name");
  Device device = DeviceNamed(type.ptr(), place);
  if (PyLong_Check(index.ptr())) {
    const int64_t number = ParseInt(index.ptr(), place);
    if (number != static_cast<int16_t>(number)) {
      throw ValueError(place.op).Got("device index ", number, ForArgument(place)).Expected("-1 to 32767");
    }
    // There is one host, and one place without numbers, whatever number it is asked for by.
    if (!device.is_cpu() && !device.is_meta()) device.index = static_cast<int16_t>(number);
  }
  return device;
}

namespace {

/// A float with an attribute `symbol` is asked for anew whenever the graph that is being traced runs.
void NoteSymbol(PyObject* object, const Place& place) {
  py::object symbol = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object, "symbol"));
  ForgetError();
  auto* trace = dynamic_cast<Trace*>(Door().tracer);
  if (!trace || !symbol || !PyLong_Check(symbol.ptr())) return;
  const int64_t entry = ParseInt(symbol.ptr(), place);
  if (entry < 0 || entry >= trace->symbol_count()) Refuse(object, place, "a number of which the trace knows");
  trace->NoteSymbol(place.argument->slot, -1, Expression::Of(static_cast<int32_t>(entry)));
  if (Scribe* scribe = Scribe::Current()) {
    const NumberId number = scribe->sizes().Note(NumberKind::kSymbol, static_cast<int32_t>(entry), -1,
                                                 scribe->Position(), Value(PyFloat_AsDouble(object)));
    FollowNumber(number, place, -1);
  }
}

/// The number as it is now, which the next call is to follow.
py::object Followed(NumberId number, const Place& place) {
  FollowNumber(number, place, -1);
  return HintOf(number);
}

}  // namespace

Value ParseAttribute(PyObject* object, const Place& place) {
  const Argument& argument = *place.argument;
  if (object == Py_None) {
    if (argument.optional) return Value();
    Refuse(object, place);
  }
  const bool one = argument.type == ArgumentType::kInt || argument.type == ArgumentType::kFloat ||
                   argument.type == ArgumentType::kScalar;
  if (const NumberId number = one ? NumberOf(object) : -1; DRAGON_UNLIKELY(number >= 0)) {
    return ParseAttribute(Followed(number, place).ptr(), place);
  }
  switch (argument.type) {
    case ArgumentType::kInt:
      return Value(ParseInt(object, place));
    case ArgumentType::kFloat:
      if (DRAGON_UNLIKELY(Door().tracer != nullptr) && !PyFloat_CheckExact(object)) NoteSymbol(object, place);
      return Value(ParseReal(object, place));
    case ArgumentType::kBool:
      if (PyBool_Check(object)) return Value(object == Py_True);
      if (IsNumPyBool(object)) return Value(PyObject_IsTrue(object) == 1);
      if (const Tensor* x = TensorIf(object); x && x->numel() == 1 && x->dtype() == DType::kBool) {
        return NumberIn(*x, place);
      }
      Refuse(object, place);
    case ArgumentType::kScalar:
      return ParseNumber(object, place);
    case ArgumentType::kString:
      if (!PyUnicode_Check(object)) Refuse(object, place);
      return Value(TextOf(object, place));
    case ArgumentType::kDType:
      return Value(ParseDType(object, place));
    case ArgumentType::kDevice:
      return Value(ParseDevice(object, place));
    case ArgumentType::kInts:
      return Value(ParseDims(object, place));
    case ArgumentType::kFloats: {
      if (PyFloat_Check(object) || PyLong_Check(object)) return Value(std::vector<double>{ParseReal(object, place)});
      if (!PySequence_Check(object) || PyUnicode_Check(object)) Refuse(object, place);
      const py::object fast = ItemsOf(object, place);
      std::vector<double> numbers;
      EachItem(fast.ptr(), [&](PyObject* item) { numbers.push_back(ParseReal(item, place)); });
      return Value(std::move(numbers));
    }
    case ArgumentType::kGenerator:
      if (auto* generator = EngineObjectIf<Generator>(object)) return Value(Ref<Object>(generator));
      Refuse(object, place, "a Generator");
    case ArgumentType::kGraph:
      if (auto* graph = EngineObjectIf<GraphBody>(object)) return Value(Ref<Object>(graph));
      Refuse(object, place, "a graph");
    default:
      Refuse(object, place);
  }
}

}  // namespace dragon::python
