// Operators as Python callables: arguments are read by the schema, straight from the vectorcall stack.
#include <optional>

#include "core/bindings/forget_error.h"
#include "core/bindings/placing.h"
#include "core/bindings/recording.h"
#include "core/bindings/shared_places.h"
#include "core/bindings/words.h"
#include "core/framework/scribe.h"

namespace dragon::python {

namespace {
constexpr int kMostArguments = 32;

struct PyOp {
  PyObject_HEAD vectorcallfunc vectorcall;
  const Operator* op;
  const Frontend* frontend;
  bool in_place;       ///< the first tensor argument is also the destination
  bool strict;         ///< no bool stands for an integer, no number for a tensor that is the first argument
  int positional;      ///< arguments that may be given by position
  GuestNames* names;   ///< as the guest calls the arguments
  PyObject* named;     ///< the class of its tuple of results, or null
  PyObject* fallback;  ///< called with the same arguments if the schema refuses them, or null
  PyObject* refusal;   ///< called with (args, kwargs) where numbers stand for tensors, or null
  int numbers;         ///< where `refusal` is called: 1, 2 for one as the first, second argument, 4 for both
};

PyTypeObject OpType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyObject* g_out_name = nullptr;

/// Find a keyword among the argument names; interned strings compare by identity first.
int FindName(const PyOp* me, PyObject* keyword) {
  const auto& names = *me->names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == keyword) return static_cast<int>(i);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (PyUnicode_Compare(names[i], keyword) == 0) return static_cast<int>(i);
  }
  // Guests speak NumPy's dialect too: `axis` and `keepdims` are understood everywhere.
  const auto& arguments = me->op->schema.arguments();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (PyUnicode_CompareWithASCIIString(keyword, arguments[i].name.c_str()) == 0) return static_cast<int>(i);
  }
  return -1;
}

std::string NameOf(const PyOp* me) { return me->op->name() + (me->in_place ? "_" : ""); }

[[noreturn]] void RefuseKeyword(const PyOp* me, PyObject* keyword) {
  std::string known;
  for (PyObject* name : *me->names) known += std::string(known.empty() ? "" : ", ") + TextIn(name);
  throw TypeError(NameOf(me)).Got("keyword '", TextIn(keyword), "'").Expected("one of {", known, ", out}");
}

/// x.permute(0, 2, 1) and x.reshape(2, 3): trailing integers are one list, if the schema's next argument is one.
/// Returns the position of that list, or -1.
int SpreadList(const PyOp* me, PyObject* const* args, Py_ssize_t count) {
  const auto& arguments = me->op->schema.arguments();
  for (int i = 0; i < me->positional && i < count; ++i) {
    if (arguments[i].type != ArgumentType::kInts) continue;
    for (Py_ssize_t k = i; k < count; ++k) {
      if (!PyIndex_Check(args[k])) return -1;
    }
    return i;
  }
  return -1;
}

struct Arguments {
  PyObject* slots[kMostArguments] = {};
  PyObject* out = nullptr;
  Value spread;  ///< a list that was given as loose integers, and which argument it is
  int spread_at = -1;
};

void Collect(const PyOp* me, PyObject* const* args, Py_ssize_t count, PyObject* keywords, Arguments* into) {
  if (DRAGON_UNLIKELY(count > me->positional)) {
    const int list = SpreadList(me, args, count);
    if (list < 0) {
      throw TypeError(NameOf(me)).Got(count, " positional arguments").Expected("at most ", me->positional);
    }
    const Place place{me->op->name().c_str(), &me->op->schema.arguments()[list], me->strict};
    Dims spread;
    for (Py_ssize_t i = list; i < count; ++i) spread.push_back(ParseElement(args[i], place, spread.size()));
    into->spread = Value(std::move(spread));
    into->spread_at = list;
    for (int i = 0; i <= list; ++i) into->slots[i] = args[i];
  } else {
    for (Py_ssize_t i = 0; i < count; ++i) into->slots[i] = args[i];
  }
  if (!keywords) return;
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(keywords); ++k) {
    PyObject* keyword = KeywordAt(keywords, k);
    PyObject* value = args[count + k];
    if (keyword == g_out_name || PyUnicode_Compare(keyword, g_out_name) == 0) {
      if (value != Py_None) into->out = value;
      continue;
    }
    const int at = FindName(me, keyword);
    if (at < 0) RefuseKeyword(me, keyword);
    if (into->slots[at]) {
      throw TypeError(NameOf(me)).Got("argument '", TextIn(keyword), "' twice").Expected("it once");
    }
    into->slots[at] = value;
  }
}

InlineVector<Tensor, 2> ParseOut(const PyOp* me, PyObject* out) {
  InlineVector<Tensor, 2> outs;
  const size_t results = me->op->schema.returns().size();
  if (const Tensor* tensor = TensorIf(out)) {
    if (results > 1) {
      throw TypeError(NameOf(me)).Got("one tensor for argument 'out'").Expected("a tuple of ", results, " tensors");
    }
    outs.push_back(*tensor);
    return outs;
  }
  if (!PyTuple_Check(out) && !PyList_Check(out)) {
    throw TypeError(NameOf(me))
        .Got("'", Py_TYPE(out)->tp_name, "' for argument 'out'")
        .Expected("a tensor or a tuple of tensors");
  }
  for (Py_ssize_t i = 0; i < PySequence_Size(out); ++i) {
    py::object item = py::reinterpret_steal<py::object>(PySequence_GetItem(out, i));
    if (!item) throw py::error_already_set();
    const Tensor* tensor = TensorIf(item);
    if (!tensor) throw TypeError(NameOf(me)).Got(ClassOf(item), " in argument 'out'").Expected("tensors");
    outs.push_back(*tensor);
  }
  if (outs.size() != results) {
    throw ValueError(NameOf(me)).Got(outs.size(), " tensors for argument 'out'").Expected(results);
  }
  return outs;
}

/// In a dialect whose `out=` takes on the result's shape, with a warning if it had another that was not empty.
PyObject* ApplyInto(Call call, const Frontend* frontend, std::span<const Tensor> outs, PyObject* out) {
  bool resized = false;
  call.resized = &resized;
  ApplyFromPython(call, frontend, outs);
  const char* text =
      "%s: an output with one or more elements was resized since it had another shape than the result; "
      "give an empty tensor, or one of the result's shape";
  if (resized && PyErr_WarnFormat(PyExc_UserWarning, 1, text, call.op->name().c_str()) < 0) return nullptr;
  return Py_NewRef(out);
}

/// What a call's arguments came to.
struct ParsedCall {
  Arguments given;
  InlineVector<Tensor, 4> inputs;
  InlineVector<Value, 6> attrs;
  InlineVector<int32_t, 2> list_sizes;
  InlineVector<Tensor, 2> outs;
};

[[noreturn]] void RefuseNumber(const PyOp* me, PyObject* number) {
  throw TypeError(NameOf(me))
      .Got("'", Py_TYPE(number)->tp_name, "' for argument '", TextIn((*me->names)[0]), "'")
      .Expected("Tensor");
}

[[noreturn]] void RefuseAbsence(const PyOp* me, size_t i) {
  throw TypeError(NameOf(me))
      .Got("no argument '", TextIn((*me->names)[i]), "'")
      .Expected(me->op->schema.arguments()[i].type_name());
}

void Parse(const PyOp* me, PyObject* const* args, Py_ssize_t count, PyObject* keywords, ParsedCall* call) {
  Arguments& given = call->given;
  if (Scribe* scribe = IsAnyWrittenDown() ? Scribe::Current() : nullptr) scribe->ForgetFollowed();
  Collect(me, args, count, keywords, &given);
  const auto& arguments = me->op->schema.arguments();
  const Tensor* like = nullptr;
  for (size_t i = 0; i < arguments.size() && !like; ++i) {
    if (given.slots[i] && arguments[i].type == ArgumentType::kTensor) like = TensorIf(given.slots[i]);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    PyObject* object = given.slots[i];
    const Place place{me->op->name().c_str(), &argument, me->strict};
    if (!object && argument.type == ArgumentType::kDevice && NamedDevice() && call->inputs.empty()) {
      call->attrs.push_back(Value(*NamedDevice()));
    } else if (argument.type == ArgumentType::kTensor) {
      if (!object && !argument.optional) RefuseAbsence(me, i);
      if (i == 0 && me->strict && object && IsPlainNumber(object)) RefuseNumber(me, object);
      call->inputs.push_back(object ? ParseTensor(object, place, like) : Tensor());
    } else if (argument.type == ArgumentType::kTensorList) {
      if (object) {
        ParseTensorList(object, place, &call->inputs, &call->list_sizes);
      } else if (argument.has_default || argument.optional) {
        call->list_sizes.push_back(0);
      } else {
        RefuseAbsence(me, i);
      }
    } else if (static_cast<int>(i) == given.spread_at) {
      call->attrs.push_back(std::move(given.spread));
    } else if (object) {
      call->attrs.push_back(ParseAttribute(object, place));
    } else if (argument.has_default || argument.optional) {
      call->attrs.push_back(argument.default_value);
    } else {
      RefuseAbsence(me, i);
    }
  }
  if (DRAGON_UNLIKELY(given.out != nullptr)) call->outs = ParseOut(me, given.out);
  if (!me->in_place) return;
  if (call->inputs.empty() || !given.slots[0] || !IsTensor(given.slots[0])) {
    throw TypeError(NameOf(me)).Got("no tensor to write").Expected("a tensor as first argument");
  }
  call->outs.clear();
  call->outs.push_back(call->inputs[0]);
}

/// Read the arguments by the schema; false if it refuses them and the operator has a fallback to be asked instead.
bool ParseOrFallBack(const PyOp* me, PyObject* const* args, Py_ssize_t count, PyObject* keywords, ParsedCall* call) {
  if (DRAGON_LIKELY(!me->fallback)) {
    Parse(me, args, count, keywords, call);
    return true;
  }
  // A keyword of the guest's alone is common enough to be noticed without the price of an exception.
  for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); ++k) {
    PyObject* keyword = KeywordAt(keywords, k);
    if (FindName(me, keyword) < 0) return false;
  }
  try {
    Parse(me, args, count, keywords, call);
    return true;
  } catch (const Error&) {
    ForgetError();
    return false;
  }
}

/// Have the call run where a frontend that places calls wants it.
void Place(const PyOp* me, const Frontend* recorder, ParsedCall* call) {
  const auto& arguments = me->op->schema.arguments();
  bool device_given = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    device_given |= arguments[i].type == ArgumentType::kDevice && call->given.slots[i];
  }
  PlaceCall({*me->op, call->inputs, call->attrs, call->outs, device_given}, recorder);
}

PyObject* CallOpPlainly(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* keywords) {
  const auto* me = Self<PyOp>(self);
  const Py_ssize_t count = PyVectorcall_NARGS(nargsf);
  if (DRAGON_UNLIKELY(WantsOverride(me->frontend, args, count, keywords))) {
    return CallOverride(me->frontend, self, args, count, keywords);
  }
  if (DRAGON_UNLIKELY(me->refusal != nullptr)) RefuseNumbers(me->refusal, me->numbers, args, count, keywords);
  ParsedCall parsed;
  if (DRAGON_UNLIKELY(!ParseOrFallBack(me, args, count, keywords, &parsed))) {
    return PyObject_Vectorcall(me->fallback, args, nargsf, keywords);
  }
  const Arguments& given = parsed.given;
  const Frontend* recorder = Recorder(me->frontend, {given.slots, me->names->size()});
  if (DRAGON_UNLIKELY(me->frontend->places_calls) && DRAGON_UNLIKELY(MayPlace())) Place(me, recorder, &parsed);
  const Call call{me->op, parsed.inputs, parsed.attrs, parsed.list_sizes};
  if (DRAGON_UNLIKELY(!parsed.outs.empty())) RefuseSharedPlaces(me->frontend, call, parsed.outs);
  if (DRAGON_UNLIKELY(given.out && me->frontend->resizes_destinations)) {
    return ApplyInto(call, recorder, parsed.outs, given.out);
  }
  const Tensors results = ApplyFromPython(call, recorder, parsed.outs);
  if (me->in_place) return Py_NewRef(given.slots[0]);
  if (given.out) return Py_NewRef(given.out);
  return WrapAll(results, *me->op, me->frontend, me->named);
}

PyObject* CallOp(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* keywords) {
  return Guarded([&]() -> PyObject* {
    try {
      return CallOpPlainly(self, args, nargsf, keywords);
    } catch (const Error& error) {
      const auto* me = Self<PyOp>(self);
      throw Error(error.kind(), InWordsOf(me->frontend, me->op, *me->names, error.what()));
    }
  });
}

/// A method of tensors only: in any other class an operator is a plain attribute, as builtin functions are.
PyObject* OpBind(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || !IsTensor(instance)) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

void OpDealloc(PyObject* self) {
  auto* me = Self<PyOp>(self);
  for (PyObject* name : *me->names) Py_DECREF(name);
  delete me->names;
  Py_XDECREF(me->named);
  Py_XDECREF(me->fallback);
  Py_XDECREF(me->refusal);
  PyObject_Free(self);
}

PyObject* OpRepr(PyObject* self) {
  const auto* me = Self<PyOp>(self);
  return PyUnicode_FromFormat("<operator %s%s>", LineFor(*me->op, *me->names).c_str(), me->in_place ? " in place" : "");
}

PyObject* NameAsText(PyObject* self, void*) { return PyUnicode_FromString(NameOf(Self<PyOp>(self)).c_str()); }

PyObject* OpDoc(PyObject* self, void*) {
  const auto* me = Self<PyOp>(self);
  if (me->fallback) return PyObject_GetAttrString(me->fallback, "__doc__");
  const std::string sentence = InWordsOf(me->frontend, me->op, *me->names, me->op->doc);
  if (me->frontend->describer) {
    PyObject* names = PyTuple_New(static_cast<Py_ssize_t>(me->names->size()));
    if (!names) return nullptr;
    for (size_t i = 0; i < me->names->size(); ++i) PyTuple_SET_ITEM(names, i, Py_NewRef((*me->names)[i]));
    return PyObject_CallMethod(me->frontend->describer, "describe_operator", "sONs", me->op->name().c_str(),
                               me->in_place ? Py_True : Py_False, names, sentence.c_str());
  }
  return PyUnicode_FromFormat("%s\n\n%s", LineFor(*me->op, *me->names).c_str(), sentence.c_str());
}

PyObject* OpSignature(PyObject* self, void*) {
  const auto* me = Self<PyOp>(self);
  const bool takes_out = !me->in_place && !me->op->view && !me->op->schema.mutates();
  return PyUnicode_FromString(SignatureFor(*me->op, *me->names, takes_out).c_str());
}

/// The function that knows every form of the call, which `inspect.signature` then describes.
PyObject* OpWrapped(PyObject* self, void*) {
  const auto* me = Self<PyOp>(self);
  if (me->fallback) return Py_NewRef(me->fallback);
  PyErr_SetString(PyExc_AttributeError, "__wrapped__");
  return nullptr;
}

PyObject* OpSchema(PyObject* self, void*) { return PyUnicode_FromString(Self<PyOp>(self)->op->schema.line().c_str()); }

PyGetSetDef op_fields[] = {{"__name__", NameAsText, nullptr, nullptr, nullptr},
                           {"__qualname__", NameAsText, nullptr, nullptr, nullptr},
                           {"__doc__", OpDoc, nullptr, nullptr, nullptr},
                           {"__text_signature__", OpSignature, nullptr, nullptr, nullptr},
                           {"__wrapped__", OpWrapped, nullptr, nullptr, nullptr},
                           {"schema", OpSchema, nullptr, "the line that tells the operator", nullptr},
                           {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyOp* MakeOp(const std::string& name, const Frontend* frontend) {
  const Operator* op = FindOp(name);
  const bool in_place = !op && name.size() > 1 && name.back() == '_';
  if (!op) op = &GetOp(in_place ? name.substr(0, name.size() - 1) : name);
  const auto& arguments = op->schema.arguments();
  if (arguments.size() > kMostArguments)
    throw RuntimeError(name).Got(arguments.size(), " arguments").Expected("at most ", kMostArguments);
  PyOp* object = PyObject_New(PyOp, &OpType);
  if (!object) throw py::error_already_set();
  object->vectorcall = CallOp;
  object->op = op;
  object->frontend = frontend;
  object->in_place = in_place;
  object->strict = false;
  object->positional = 0;
  object->fallback = nullptr;
  object->refusal = nullptr;
  object->numbers = 0;
  object->named = frontend->results ? PyDict_GetItemString(frontend->results, op->name().c_str()) : nullptr;
  Py_XINCREF(object->named);
  object->names = new GuestNames(NamesFor(*op, frontend));
  for (const Argument& argument : arguments) object->positional += !argument.keyword_only;
  return object;
}

py::object Steal(PyOp* op) { return py::reinterpret_steal<py::object>(Upcast(op)); }

/// What calls will take for granted: dtypes by name, a class of tuples, names that are text.
void CheckFrontend(const py::dict& dtypes, const py::object& device_class, const py::object& shape_class,
                   const py::object& names, const py::object& results) {
  for (const char* name : kDTypeNames) {
    if (!dtypes.contains(name)) throw ValueError("Ops").Got("dtypes without '", name, "'").Expected("one for each");
  }
  if (!device_class.is_none() && !PyCallable_Check(device_class.ptr())) {
    RefuseObject(device_class, "Ops", "something that makes a device of (type, index), or None");
  }
  if (!shape_class.is_none()) ShapeClassIn(shape_class, "Ops");
  for (const py::object& table : {names, results}) {
    if (!table.is_none() && !PyDict_Check(table.ptr())) RefuseObject(table, "Ops", "a dict or None");
  }
  if (names.is_none()) return;
  for (const auto& [engine, guest] : py::dict(names)) {
    if (!PyUnicode_Check(guest.ptr())) RefuseObject(guest, "Ops", "names that are text");
  }
}

Ops* MakeOps(py::object tensor_class, py::dict dtypes, py::object device_class, py::object shape_class,
             py::object names, py::object results, bool waits_to_be_asked) {
  CheckFrontend(dtypes, device_class, shape_class, names, results);
  PyTypeObject* type = TensorClassIn(tensor_class, "Ops");
  auto* ops = new Ops;  // lives for ever: tensors point at its frontend
  Py_INCREF(type);
  ops->frontend.tensor_class = type;
  for (int i = 0; i < kDTypeCount; ++i) {
    ops->frontend.dtypes[i] = py::object(dtypes[kDTypeNames[i]]).release().ptr();
  }
  if (!device_class.is_none()) ops->frontend.device_class = device_class.release().ptr();
  if (!shape_class.is_none()) {
    ops->frontend.shape_class = ShapeClassIn(shape_class, "Ops");
    shape_class.release();  // kept
  }
  if (!names.is_none()) ops->frontend.names = names.release().ptr();
  if (!results.is_none()) ops->frontend.results = results.release().ptr();
  ops->frontend.waits_to_be_asked = waits_to_be_asked;
  RegisterFrontend(&ops->frontend);
  return ops;
}

/// The operator of a name, kept among the attributes for the next time.
py::object AnswerName(py::object self, const std::string& name) {
  if (name.empty()) throw py::attribute_error("ops: got an empty name, expected an operator's");
  if (name.starts_with("__")) throw py::attribute_error(name);
  const Ops& ops = self.cast<const Ops&>();
  if (!FindOp(name) && !(name.back() == '_' && FindOp(name.substr(0, name.size() - 1)))) {
    try {
      GetOp(name);
    } catch (const Error& error) {
      throw py::attribute_error(error.what());
    }
  }
  py::object op = Steal(MakeOp(name, &ops.frontend));
  self.attr(name.c_str()) = op;
  return op;
}

void ReadyOpType() {
  OpType.tp_name = "dragon._C.Op";
  OpType.tp_basicsize = sizeof(PyOp);
  OpType.tp_vectorcall_offset = offsetof(PyOp, vectorcall);
  OpType.tp_call = PyVectorcall_Call;
  OpType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
  OpType.tp_descr_get = OpBind;
  OpType.tp_dealloc = OpDealloc;
  OpType.tp_repr = OpRepr;
  OpType.tp_getset = op_fields;
  if (PyType_Ready(&OpType) < 0) throw py::error_already_set();
  g_out_name = PyUnicode_InternFromString("out");
}

void RegisterFrontends(py::module_& m) {
  OpsClass ops(m, "Ops", py::dynamic_attr(), "The operators, giving results of one tensor class.");
  ops.def(py::init(&MakeOps), py::arg("tensor_class"), py::arg("dtypes"), py::arg("device_class") = py::none(),
          py::arg("shape_class") = py::none(), py::arg("names") = py::none(), py::arg("results") = py::none(),
          py::arg("waits_to_be_asked") = false)
      .def(
          "with_fallback",
          [](const Ops& self, const std::string& name, py::object fallback) {
            PyOp* op = MakeOp(name, &self.frontend);
            op->fallback = fallback.release().ptr();
            return Steal(op);
          },
          "Return an operator that hands arguments its schema refuses to a Python function.", py::arg("name"),
          py::arg("fallback"))
      .def(
          "tensors_only",
          [](const Ops& self, const std::string& name, int numbers, py::object refusal) {
            PyOp* op = MakeOp(name, &self.frontend);
            op->refusal = refusal.release().ptr();
            op->numbers = numbers;
            return Steal(op);
          },
          "Return an operator that asks `refusal(args, kwargs)`, which may raise, where a number is its first (1) or "
          "second (2) argument, or both are (4), and where arguments are named.",
          py::arg("name"), py::arg("numbers"), py::arg("refusal"))
      .def(
          "strict",
          [](const Ops& self, const std::string& name) {
            PyOp* op = MakeOp(name, &self.frontend);
            op->strict = true;
            return Steal(op);
          },
          "Return an operator for which no bool is an integer, and no number its first tensor.", py::arg("name"))
      .def(
          "resize_destinations", [](Ops& self, bool enabled) { self.frontend.resizes_destinations = enabled; },
          "Say whether an `out=` of another shape takes on the result's.", py::arg("enabled"))
      .def(
          "place_calls", [](Ops& self) { self.frontend.places_calls = true; },
          "Bring operands that lie on several devices to one, that of a scope or the usual one.")
      .def("__getattr__", &AnswerName)
      .def("__dir__", [](const Ops&) {
        py::list names;
        for (const std::string& name : OpNames()) names.append(name);
        return names;
      });
  RegisterOverride(ops);
}

}  // namespace

void RegisterOps(py::module_& m) {
  ReadyOpType();
  RegisterFrontends(m);
  RegisterPlacing(m);
}

}  // namespace dragon::python
