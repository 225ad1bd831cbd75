// Classes that answer calls themselves: what PyTorch calls `__torch_function__`, for any frontend that asks for it.
//
// The question is put at every call, so it must cost next to nothing: plain tensors and Python's own types are passed
// by a comparison, other classes by one lookup in the interpreter's method cache.
#include <pybind11/stl.h>

#include "core/bindings/python.h"

namespace dragon::python {

namespace {

/// How many modes hear this thread's calls, how many of them its attributes too, and whether nobody is to be asked.
thread_local int t_modes = 0;
thread_local int t_field_modes = 0;
thread_local bool t_disabled = false;

}  // namespace

bool ClassAnswers(const Frontend* frontend, PyObject* argument) {
  PyTypeObject* type = Py_TYPE(argument);
  if (type == frontend->tensor_class || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) return false;
  PyObject* found = _PyType_Lookup(type, frontend->override_attribute);
  return found && found != frontend->override_disabled;
}

namespace {

/// An argument that refuses some of Python's own classes: a flag all but bool, an integer bool.
struct StrictArgument {
  Py_ssize_t place;  ///< among the positional ones; -1 where it is given by name alone
  PyObject* name;
  bool is_flag;
  bool takes_none;

  bool Refuses(PyObject* value) const {
    if (!is_flag) return PyBool_Check(value);
    if (value == Py_None) return !takes_none;
    return PyLong_CheckExact(value) || PyFloat_CheckExact(value) || PyComplex_CheckExact(value) ||
           PyUnicode_CheckExact(value) || PyList_CheckExact(value) || PyTuple_CheckExact(value);
  }
};

/// A Python function that looks at its arguments' classes first.
struct PyOverridable {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* dict;
  PyObject* function;
  const Frontend* frontend;
  bool of_tensor;                             ///< no number stands for the first argument
  const std::vector<StrictArgument>* strict;  ///< owned; null where there are none
};

PyTypeObject OverridableType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyOverridable* Me(PyObject* self) { return Self<PyOverridable>(self); }

/// What was called with, as a tuple and a dictionary.
struct Collected {
  py::tuple positional;
  py::dict named;

  Collected(PyObject* const* args, Py_ssize_t count, PyObject* keywords) : positional(count) {
    for (Py_ssize_t i = 0; i < count; ++i) positional[i] = py::handle(args[i]);
    for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); ++k) {
      named[py::handle(KeywordAt(keywords, k))] = py::handle(args[count + k]);
    }
  }
};

/// Have the frontend say what an AttributeError, which names something inside, means to the caller.
void ReplaceError(const PyOverridable* me, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  py::error_already_set error;
  error.value().attr("__traceback__") = error.trace() ? error.trace() : py::none();
  const Collected call(args, count, keywords);
  PyObject* better = PyObject_CallFunctionObjArgs(me->frontend->refusal_handler, me->function, call.positional.ptr(),
                                                  call.named.ptr(), error.value().ptr(), nullptr);
  if (!better) return;
  if (!PyExceptionInstance_Check(better)) {
    PyErr_Format(PyExc_TypeError, "set_refusal: got '%s' from the handler, expected an exception",
                 Py_TYPE(better)->tp_name);
    Py_DECREF(better);
    return;
  }
  PyErr_SetObject(Upcast(Py_TYPE(better)), better);
  Py_DECREF(better);
}

PyObject* RefuseArgument(const PyOverridable* me, const std::string& argument, PyObject* value, const char* expected) {
  return Guarded([&]() -> PyObject* {
    const py::object name = py::getattr(me->function, "__name__", py::str("call"));
    throw TypeError(py::cast<std::string>(py::str(name)))
        .Got("'", Py_TYPE(value)->tp_name, "' for argument '", argument, "'")
        .Expected(expected);
  });
}

/// What was given for an argument, borrowed, or null.
PyObject* GivenFor(const StrictArgument& argument, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (argument.place >= 0 && argument.place < count) return args[argument.place];
  for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); ++k) {
    PyObject* name = KeywordAt(keywords, k);
    if (name == argument.name || PyUnicode_Compare(name, argument.name) == 0) return args[count + k];
  }
  return nullptr;
}

/// False, with Python's error set, where an argument refuses what was given.
bool TakesArguments(const PyOverridable* me, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  for (const StrictArgument& argument : *me->strict) {
    PyObject* value = GivenFor(argument, args, count, keywords);
    if (!value || DRAGON_LIKELY(!argument.Refuses(value))) continue;
    RefuseArgument(me, TextIn(argument.name), value, argument.is_flag ? "bool" : "int");
    return false;
  }
  return true;
}

PyObject* CallOverridable(PyObject* self, PyObject* const* args, size_t nargsf, PyObject* keywords) {
  const PyOverridable* me = Me(self);
  if (DRAGON_UNLIKELY(WantsOverride(me->frontend, args, PyVectorcall_NARGS(nargsf), keywords))) {
    return CallOverride(me->frontend, self, args, PyVectorcall_NARGS(nargsf), keywords);
  }
  if (me->of_tensor && PyVectorcall_NARGS(nargsf) > 0 && DRAGON_UNLIKELY(IsPlainNumber(args[0]))) {
    return RefuseArgument(me, "input", args[0], "Tensor");
  }
  if (me->strict && DRAGON_UNLIKELY(!TakesArguments(me, args, PyVectorcall_NARGS(nargsf), keywords))) return nullptr;
  PyObject* result = PyObject_Vectorcall(me->function, args, nargsf, keywords);
  if (DRAGON_LIKELY(result != nullptr) || !PyErr_ExceptionMatches(PyExc_AttributeError)) return result;
  if (me->frontend->refusal_handler) ReplaceError(me, args, PyVectorcall_NARGS(nargsf), keywords);
  return nullptr;
}

PyObject* Bind(PyObject* self, PyObject* instance, PyObject*) {
  if (!instance || !IsTensor(instance)) return Py_NewRef(self);
  return PyMethod_New(self, instance);
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Me(self)->dict);
  Py_VISIT(Me(self)->function);
  return 0;
}

/// The function stays, for whoever calls while a cycle is being taken apart: functions let go of what they hold.
int Clear(PyObject* self) {
  Py_CLEAR(Me(self)->dict);
  return 0;
}

void Dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  Py_CLEAR(Me(self)->dict);
  Py_CLEAR(Me(self)->function);
  if (Me(self)->strict) {
    for (const StrictArgument& argument : *Me(self)->strict) Py_DECREF(argument.name);
    delete Me(self)->strict;
  }
  PyObject_GC_Del(self);
}

/// `__name__`, `__doc__`, `__module__` and whatever else is asked are the function's.
PyObject* GetAttribute(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError) || !Me(self)->function) return found;
  PyErr_Clear();
  return PyObject_GetAttr(Me(self)->function, name);
}

PyObject* FunctionField(PyObject* self, void* name) {
  return PyObject_GetAttrString(Me(self)->function, static_cast<const char*>(name));
}

/// What the frontend says of the function, or else the function itself.
PyObject* Docstring(PyObject* self, void*) {
  PyObject* describer = Me(self)->frontend->describer;
  if (!describer) return FunctionField(self, const_cast<char*>("__doc__"));
  return PyObject_CallMethod(describer, "describe_function", "O", Me(self)->function);
}

PyGetSetDef overridable_fields[] = {
    {"__doc__", Docstring, nullptr, nullptr, nullptr},
    {"__module__", FunctionField, nullptr, nullptr, const_cast<char*>("__module__")},
    {"__wrapped__", [](PyObject* self, void*) -> PyObject* { return Py_NewRef(Me(self)->function); }, nullptr, nullptr,
     nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyObject* Repr(PyObject* self) { return PyObject_Repr(Me(self)->function); }

/// Pickled by name, as functions are.
PyObject* Reduce(PyObject* self, PyObject*) { return FunctionField(self, const_cast<char*>("__qualname__")); }

PyMethodDef overridable_methods[] = {{"__reduce__", Reduce, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};

}  // namespace

void SetOverride(Frontend* frontend, PyObject* handler, const char* attribute, PyObject* disabled) {
  frontend->override_handler = handler;
  frontend->override_attribute = PyUnicode_InternFromString(attribute);
  frontend->override_disabled = disabled;
}

bool WantsOverride(const Frontend* frontend, PyObject* argument) {
  if (!frontend || !frontend->override_handler || t_disabled) return false;
  return t_modes > 0 || (argument && ClassAnswers(frontend, argument));
}

bool WantsOverride(const Frontend* frontend, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (!frontend || !frontend->override_handler || t_disabled) return false;
  if (t_modes > 0) return true;
  const Py_ssize_t total = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  for (Py_ssize_t i = 0; i < total; ++i) {
    PyObject* argument = args[i];
    if (ClassAnswers(frontend, argument)) return true;
    if (!PyList_CheckExact(argument) && !PyTuple_CheckExact(argument)) continue;
    if (AnyItem(argument, [&](PyObject* item) { return ClassAnswers(frontend, item); })) return true;
  }
  return false;
}

FieldAnswer WhoAnswersField(const Frontend* frontend, PyObject* tensor) {
  if (!frontend->override_handler || t_disabled) return FieldAnswer::kNobody;
  if (t_field_modes > 0) return FieldAnswer::kSomebody;
  if (!ClassAnswers(frontend, tensor)) return FieldAnswer::kNobody;
  PyObject* attribute = frontend->override_attribute;
  const bool inherits = _PyType_Lookup(Py_TYPE(tensor), attribute) == _PyType_Lookup(frontend->tensor_class, attribute);
  return inherits ? FieldAnswer::kBaseClass : FieldAnswer::kSomebody;
}

PyObject* CallOverride(const Frontend* frontend, PyObject* function, PyObject* const* args, Py_ssize_t count,
                       PyObject* keywords) {
  PyObject* positional = PyTuple_New(count);
  PyObject* named = PyDict_New();
  if (!positional || !named) {
    Py_XDECREF(positional);
    Py_XDECREF(named);
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
  for (Py_ssize_t k = 0; keywords && k < PyTuple_GET_SIZE(keywords); ++k) {
    PyDict_SetItem(named, KeywordAt(keywords, k), args[count + k]);
  }
  PyObject* result = PyObject_CallFunctionObjArgs(frontend->override_handler, function, positional, named, nullptr);
  Py_DECREF(positional);
  Py_DECREF(named);
  return result;
}

void RefuseNumbers(PyObject* refusal, int where, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  const bool first = count > 0 && IsPlainNumber(args[0]), second = count > 1 && IsPlainNumber(args[1]);
  const bool asks = (first && where & 1) || (second && where & 2) || (first && second && where & 4) || count < 2;
  if (!asks) return;
  const Collected call(args, count, keywords);
  py::reinterpret_borrow<py::object>(refusal)(call.positional, call.named);
}

PyObject* MakeOverridable(Frontend* frontend, PyObject* function, bool of_tensor) {
  auto* object = PyObject_GC_New(PyOverridable, &OverridableType);
  if (!object) return nullptr;
  object->vectorcall = CallOverridable;
  object->dict = nullptr;
  object->function = Py_NewRef(function);
  object->frontend = frontend;
  object->of_tensor = of_tensor;
  object->strict = nullptr;
  PyObject_GC_Track(Upcast(object));
  return Upcast(object);
}

void RegisterOverride(py::module_& m) {
  OverridableType.tp_name = "dragon._C.Overridable";
  OverridableType.tp_basicsize = sizeof(PyOverridable);
  OverridableType.tp_dictoffset = offsetof(PyOverridable, dict);
  OverridableType.tp_vectorcall_offset = offsetof(PyOverridable, vectorcall);
  OverridableType.tp_call = PyVectorcall_Call;
  OverridableType.tp_flags =
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_HAVE_GC;
  OverridableType.tp_descr_get = Bind;
  OverridableType.tp_dealloc = Dealloc;
  OverridableType.tp_traverse = Traverse;
  OverridableType.tp_clear = Clear;
  OverridableType.tp_repr = Repr;
  OverridableType.tp_getattro = GetAttribute;
  OverridableType.tp_getset = overridable_fields;
  OverridableType.tp_methods = overridable_methods;
  if (PyType_Ready(&OverridableType) < 0) throw py::error_already_set();
  RegisterOverrideFields(m);
  m.def(
      "set_override_modes",
      [](int count, int of_fields) {
        t_field_modes = of_fields;
        return std::exchange(t_modes, count);
      },
      "Say how many modes want to see every call of this thread, and how many of these its reads and writes of "
      "attributes; returns the previous count of the former.",
      py::arg("count"), py::arg("of_fields") = 0);
  m.def(
      "override_state", [] { return py::make_tuple(t_modes, t_field_modes, t_disabled); },
      "This thread's counts of modes, as `set_override_modes` takes them, and whether its calls ask no class.");
  m.def(
      "set_override_disabled", [](bool disabled) { return std::exchange(t_disabled, disabled); },
      "Have this thread's calls ask no class; returns the previous state.", py::arg("disabled"));
}

/// (place or -1, name, "int", "bool" or "bool?") of each strict argument.
using StrictRows = std::vector<std::tuple<Py_ssize_t, std::string, std::string>>;

const std::vector<StrictArgument>* StrictOf(const StrictRows& rows) {
  if (rows.empty()) return nullptr;
  auto* made = new std::vector<StrictArgument>;
  for (const auto& [place, name, kind] : rows) {
    made->push_back({place, PyUnicode_InternFromString(name.c_str()), kind != "int", kind == "bool?"});
  }
  return made;
}

void RegisterOverride(OpsClass& ops) {
  ops.def(
         "set_override",
         [](Ops& self, py::object handler, const std::string& attribute, py::object disabled) {
           SetOverride(&self.frontend, handler.release().ptr(), attribute.c_str(), disabled.release().ptr());
         },
         "Have `handler(function, args, kwargs)` answer calls with arguments whose class has this attribute.",
         py::arg("handler"), py::arg("attribute"), py::arg("disabled"))
      .def(
          "set_refusal", [](Ops& self, py::object handler) { self.frontend.refusal_handler = handler.release().ptr(); },
          "Have `handler(function, args, kwargs, error)` say what is raised instead of an AttributeError from inside.",
          py::arg("handler"))
      .def(
          "set_describer", [](Ops& self, py::object handler) { self.frontend.describer = handler.release().ptr(); },
          "Have `handler.describe_operator(operator, in_place, names, sentence)` make the docstrings of operators, and "
          "`handler.describe_function(function)` those of overridable functions.",
          py::arg("handler"))
      .def(
          "overridable",
          [](Ops& self, py::object function, bool of_tensor, const StrictRows& strict) {
            auto made = py::reinterpret_steal<py::object>(MakeOverridable(&self.frontend, function.ptr(), of_tensor));
            Me(made.ptr())->strict = StrictOf(strict);
            return made;
          },
          "Return a Python function as one that classes with the override attribute may answer. `of_tensor`: it "
          "refuses a number as its first argument. `strict`: (place or -1, name, kind) of arguments; one of kind 'int' "
          "refuses bool, one of kind 'bool' all of Python's own classes but bool, one of kind 'bool?' takes None, too.",
          py::arg("function"), py::arg("of_tensor") = false, py::arg("strict") = StrictRows())
      .def(
          "asking_field",
          [](const Ops& self, const py::str& name, const py::object& field) {
            py::object made =
                py::reinterpret_steal<py::object>(MakeAskingField(&self.frontend, name.ptr(), field.ptr()));
            if (!made) throw py::error_already_set();
            return made;
          },
          "Return an attribute of the tensor class as one that such classes may answer.", py::arg("name"),
          py::arg("field"));
}

}  // namespace dragon::python
