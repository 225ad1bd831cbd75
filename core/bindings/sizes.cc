// Sizes as Python sees them. As a rule they are ints. While a scribe writes down what the program asks for, those that
// may be others another time are objects that know how they came about; they tell the scribe what is decided by them.
#include <pybind11/stl.h>

#include <map>

#include "core/bindings/items.h"
#include "core/framework/known.h"
#include "core/framework/scribe.h"

namespace dragon::python {

namespace {

PyObject* g_whole = nullptr;  ///< the classes of such numbers
PyObject* g_real = nullptr;
thread_local PyObject* t_face = nullptr;  ///< this thread's scribe as Python sees it, owned

/// Whether this thread's calls are written down.
bool IsWritten() { return IsAnyWrittenDown() && t_face; }

PyObject* MakeNumber(NumberId id, const Value& hint) {
  const bool real = hint.kind() == Value::Kind::kDouble;
  py::object now = py::reinterpret_steal<py::object>(WrapValue(hint));
  return PyObject_CallFunction(real ? g_real : g_whole, "OiO", t_face, static_cast<int>(id), now.ptr());
}

PyObject* Wrapped(const Tensor& tensor, NumberKind kind, int axis, int64_t now) {
  const NumberId id = Scribe::Current()->NumberOf(tensor, kind, axis, now);
  return id < 0 ? PyLong_FromLongLong(now) : MakeNumber(id, Value(now));
}

PyObject* WrappedList(const Tensor& tensor, NumberKind kind, const Dims& dims, const Frontend* frontend) {
  PyTypeObject* type = frontend ? frontend->shape_class : nullptr;
  PyObject* tuple = type ? type->tp_alloc(type, dims.size()) : PyTuple_New(dims.size());
  if (!tuple) return nullptr;
  for (int i = 0; i < dims.size(); ++i) {
    PyObject* size = Wrapped(tensor, kind, i, dims[i]);
    if (!size) return Py_DECREF(tuple), nullptr;
    PyTuple_SET_ITEM(tuple, i, size);
  }
  return tuple;
}

}  // namespace

std::atomic<int> g_scribes{0};

PyObject* WrapShapeOf(const Tensor& tensor, const Frontend* frontend) {
  if (DRAGON_LIKELY(!IsWritten())) return WrapShape(tensor.shape(), frontend);
  return WrappedList(tensor, NumberKind::kSize, tensor.shape(), frontend);
}

PyObject* WrapStridesOf(const Tensor& tensor) {
  if (DRAGON_LIKELY(!IsWritten())) return WrapShape(tensor.strides(), nullptr);
  return WrappedList(tensor, NumberKind::kStride, tensor.strides(), nullptr);
}

PyObject* WrapSizeOf(const Tensor& tensor, int axis) {
  const int64_t size = tensor.shape()[axis];
  return DRAGON_LIKELY(!IsWritten()) ? PyLong_FromLongLong(size) : Wrapped(tensor, NumberKind::kSize, axis, size);
}

PyObject* WrapCountOf(const Tensor& tensor, int64_t times) {
  const int64_t count = tensor.numel();
  if (DRAGON_LIKELY(!IsWritten())) return PyLong_FromLongLong(count * times);
  Scribe& scribe = *Scribe::Current();
  const NumberId id = scribe.NumberOf(tensor, NumberKind::kCount, -1, count);
  if (id < 0) return PyLong_FromLongLong(count * times);
  if (times == 1) return MakeNumber(id, Value(count));
  return MakeNumber(scribe.Combine(NumberKind::kMul, id, scribe.Constant(Value(times))), Value(count * times));
}

Py_ssize_t LengthOf(const Tensor& tensor) {
  const int64_t length = tensor.shape()[0];
  if (DRAGON_UNLIKELY(IsWritten())) Scribe::Current()->FixNumberOf(tensor, NumberKind::kSize, 0, length);
  return length;
}

bool IsDenseTold(const Tensor& tensor) {
  const bool dense = tensor.is_contiguous();
  if (DRAGON_UNLIKELY(IsWritten())) Scribe::Current()->FixNumberOf(tensor, NumberKind::kDense, -1, dense);
  return dense;
}

void FixSizes(const Tensor& tensor) {
  if (DRAGON_LIKELY(!IsWritten())) return;
  for (int axis = 0; axis < tensor.ndim(); ++axis) {
    Scribe::Current()->FixNumberOf(tensor, NumberKind::kSize, axis, tensor.shape()[axis]);
  }
}

namespace {

/// A number of 64 bits without a sign, which may be more than a value holds.
PyObject* WrapValueOf64(const Tensor& tensor) {
  const uint64_t word = static_cast<uint64_t>(Op<"view_dtype">(tensor.Detach(), DType::kInt64).Item().integer());
  return PyLong_FromUnsignedLongLong(word);
}

}  // namespace

PyObject* WrapItemOf(const Tensor& tensor) {
  if (DRAGON_UNLIKELY(tensor.dtype() == DType::kUInt64 && tensor.numel() == 1 && !tensor.is_meta())) {
    return WrapValueOf64(tensor);
  }
  if (DRAGON_LIKELY(!IsWritten())) return WrapValue(tensor.Item());
  if (PyObject* followed = tensor.numel() == 1 ? WrapElementOf(tensor, 0) : nullptr) return followed;
  const auto [id, number] = Scribe::Current()->ReadNumber(tensor);
  return id < 0 || number.kind() == Value::Kind::kBool ? WrapValue(number) : MakeNumber(id, number);
}

Value TruthOf(const Tensor& tensor) {
  if (DRAGON_LIKELY(!IsWritten())) return tensor.Item();
  Scribe& scribe = *Scribe::Current();
  const auto [id, number] = scribe.ReadNumber(tensor);
  if (id >= 0 && number.kind() != Value::Kind::kBool) {
    scribe.Decide(Relation::kEqual, id, scribe.Constant(Value(0)));
  }
  return number;
}

NumberId FollowedNumberOf(PyObject* object) {
  if (!t_face) return -1;
  if (const Tensor* tensor = TensorIf(object)) {
    return tensor->numel() == 1 && tensor->dtype() != DType::kBool ? Scribe::Current()->ElementOf(*tensor, 0) : -1;
  }
  PyObject* type = Upcast(Py_TYPE(object));
  if (type != g_whole && type != g_real) return -1;
  py::object scribe = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object, "scribe"));
  py::object number = py::reinterpret_steal<py::object>(PyObject_GetAttrString(object, "number"));
  if (!scribe || !number) throw py::error_already_set();
  if (scribe.ptr() != t_face) return -1;
  const int count = Scribe::Current()->sizes().count();
  const int64_t id = ParseInt(number.ptr(), {"size", nullptr});
  if (id >= 0 && id < count) return static_cast<NumberId>(id);
  throw ValueError("size").Got("number ", id).Expected("one of the ", count, " that are known");
}

PyObject* WrapElementOf(const Tensor& tensor, int64_t place) {
  if (DRAGON_LIKELY(!IsWritten()) || tensor.dtype() == DType::kBool) return nullptr;
  const NumberId id = Scribe::Current()->ElementOf(tensor, place);
  return id < 0 ? nullptr : MakeNumber(id, Scribe::Current()->sizes()[id].hint);
}

py::object HintOf(NumberId number) {
  return py::reinterpret_steal<py::object>(WrapValue(Scribe::Current()->sizes()[number].hint));
}

void FollowNumber(NumberId number, const Place& place, int element) {
  Scribe::Current()->Follow(place.op, place.argument->slot, element, number);
}

namespace {

NumberId Known(const Scribe& scribe, NumberId number) {
  const int count = scribe.sizes().count();
  if (number >= 0 && number < count) return number;
  throw ValueError("size").Got("number ", number).Expected("one of the ", count, " that are known");
}

NumberKind KindNamed(const std::string& name) {
  static const std::map<std::string, NumberKind> kinds = {
      {"add", NumberKind::kAdd},           {"sub", NumberKind::kSub},    {"mul", NumberKind::kMul},
      {"truediv", NumberKind::kDiv},       {"mod", NumberKind::kMod},    {"pow", NumberKind::kPow},
      {"floordiv", NumberKind::kFloorDiv}, {"whole", NumberKind::kWhole}};
  const auto found = kinds.find(name);
  if (found == kinds.end())
    throw ValueError("size").Got("operation '", name, "'").Expected("one of Python's on numbers");
  return found->second;
}

void Start(const py::object& self) {
  self.cast<Scribe&>().Start();
  t_face = self.inc_ref().ptr();  // who starts and is forgotten goes on until it is stopped
  ++g_scribes;
}

void Stop(Scribe& self) {
  if (!self.is_running()) return;
  self.Stop();
  --g_scribes;
  Py_CLEAR(t_face);
}

void RegisterNumbers(py::module_& m) {
  m.def(
      "set_size_classes",
      [](const py::type& whole, const py::type& real) {
        g_whole = py::object(whole).release().ptr();
        g_real = py::object(real).release().ptr();
      },
      "Say what sizes are made of that may be others another time: classes called with (scribe, number, value).",
      py::arg("whole"), py::arg("real"));
  m.def(
      "exchange_size_by_numbers",
      [](int64_t size, bool asked) {
        const UnknownSize before = std::exchange(SizeByNumbers(), UnknownSize{size, asked});
        return py::make_tuple(before.size, before.asked);
      },
      "Say what stands for sizes that depend on numbers while shapes are worked out (-1: nothing does); returns what "
      "did, and whether it was asked for.",
      py::arg("size"), py::arg("asked") = false);
}

}  // namespace

void RegisterSizes(py::module_& m) {
  RegisterNumbers(m);
  py::class_<Scribe>(m, "Scribe", "Writes down what the program asks for, so that it can be done for other sizes.")
      .def(py::init<>())
      .def(
          "add_argument",
          [](Scribe& self, const py::object& tensor, const std::vector<int>& axes) {
            const Tensor& x = TensorIn(tensor, "scribe");
            for (int axis : axes) {
              if (axis < 0 || axis >= x.ndim())
                throw IndexError("scribe").Got("axis ", axis).Expected("one of ", x.ndim());
            }
            self.AddArgument(x, axes);
          },
          "An argument of the call, and those of its axes that may have other sizes.", py::arg("tensor"),
          py::arg("axes"))
      .def("add_symbol", &Scribe::AddSymbol, "A number that is asked for anew before each run.", py::arg("name"))
      .def("start", &Start)
      .def("stop", &Stop)
      .def(
          "set_place", [](Scribe& self, py::function place) { self.place = Asking(std::move(place)); },
          py::arg("place"))
      .def_property_readonly("failure",
                             [](const Scribe& self) -> py::object {
                               return self.failure().empty() ? py::object(py::none()) : py::str(self.failure());
                             })
      .def(
          "constant",
          [](Scribe& self, const py::object& number) {
            return self.Constant(ParseNumber(number.ptr(), {"size", nullptr}));
          },
          "A number that is always this one.", py::arg("number"))
      .def(
          "combine",
          [](Scribe& self, const std::string& how, NumberId a, NumberId b) {
            const NumberKind kind = KindNamed(how);
            const bool one = kind == NumberKind::kWhole;
            const NumberId id = self.Combine(kind, Known(self, a), one ? -1 : Known(self, b));
            return py::make_tuple(id, py::reinterpret_steal<py::object>(WrapValue(self.sizes()[id].hint)));
          },
          "(number, its value) of an operation of Python's on two numbers.", py::arg("how"), py::arg("a"), py::arg("b"))
      .def(
          "decide",
          [](Scribe& self, const std::string& how, NumberId a, NumberId b) {
            return self.Decide(how == "eq"   ? Relation::kEqual
                               : how == "lt" ? Relation::kLess
                                             : Relation::kLessEqual,
                               Known(self, a), Known(self, b));
          },
          "Note what a comparison says; returns it.", py::arg("how"), py::arg("a"), py::arg("b"))
      .def(
          "fix", [](Scribe& self, NumberId number) { self.Fix(Known(self, number)); },
          "The number is what it is now, for all that follows.", py::arg("number"));
}

}  // namespace dragon::python
