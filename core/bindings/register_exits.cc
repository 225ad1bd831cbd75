// Context managers without gaps. Python looks for signals when a Python function begins and after calls of C functions:
// an `__exit__` in Python may be left before its first line, and what a setter returned may be lost before it is kept.
// Here a change and the note of how to undo it are one call, and all is undone within one call.
#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "core/base/inline_vector.h"
#include "core/bindings/python.h"

namespace dragon::python {

namespace {

/// How one change is undone.
struct Exit {
  enum Kind { kCall, kSwitch, kSetAttribute, kDeleteAttribute, kRemove, kAppend };
  Kind kind;
  PyObject* object;    ///< what is called, or what has the attribute, or a list; owned
  PyObject* argument;  ///< the arguments, or the only one, or the attribute's name, or an item; owned, or null
  PyObject* value;     ///< of the attribute; owned, or null

  void Release() {
    Py_CLEAR(object);
    Py_CLEAR(argument);
    Py_CLEAR(value);
  }
};

struct PyExitStack {
  PyObject_HEAD InlineVector<Exit, 4> exits;
  InlineVector<size_t, 2> marks;  ///< how many exits there were at each `__enter__`
};

/// What is entered by `with`: what there is for each block that it is in, the innermost last. Threads that share an
/// object leave what they have entered themselves.
struct PyScope {
  struct Block {
    PyObject* object;  ///< an ExitStack or a generator; owned
    unsigned long thread;
  };
  PyObject_HEAD InlineVector<Block, 2> blocks;
  bool was_entered = false;
};

PyTypeObject ExitStackType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject ScopeType = {PyVarObject_HEAD_INIT(nullptr, 0)};
PyTypeObject GeneratorScopeType = {PyVarObject_HEAD_INIT(nullptr, 0)};

PyExitStack* Stack(PyObject* self) { return Self<PyExitStack>(self); }
void Mark(PyObject* self) { Stack(self)->marks.push_back(Stack(self)->exits.size()); }
bool IsEntered(PyObject* self) { return !Stack(self)->marks.empty(); }

/// An exception that is put away while others may come.
class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  ~Kept() {
    Py_XDECREF(type_);
    Py_XDECREF(value_);
    Py_XDECREF(trace_);
  }
  explicit operator bool() const { return type_ != nullptr; }
  /// Take the exception in flight, if there is none yet; drop it otherwise.
  void Take() {
    if (type_) return PyErr_Clear();
    PyErr_Fetch(&type_, &value_, &trace_);
  }
  void Restore() {
    PyErr_Restore(std::exchange(type_, nullptr), std::exchange(value_, nullptr), std::exchange(trace_, nullptr));
  }

 private:
  PyObject *type_ = nullptr, *value_ = nullptr, *trace_ = nullptr;
};

/// A new object of a struct whose members behind the head are C++'s.
template <typename Struct>
PyObject* New(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = type->tp_alloc(type, 0);
  if (!self) return nullptr;
  const PyObject head = *self;
  auto* made = new (self) Struct;
  made->ob_base = head;
  return self;
}

/// Take the last item out of a list that is this one.
int RemoveLast(PyObject* list, PyObject* item) {
  for (Py_ssize_t i = PyList_GET_SIZE(list) - 1; i >= 0; --i) {
    if (ItemAt(list, i) == item) return PyList_SetSlice(list, i, i + 1, nullptr);
  }
  return 0;
}

int Undo(const Exit& exit) {
  switch (exit.kind) {
    case Exit::kCall: {
      PyObject* result = PyObject_Call(exit.object, exit.argument, nullptr);
      Py_XDECREF(result);
      return result ? 0 : -1;
    }
    case Exit::kSwitch: {
      PyObject* result = PyObject_CallOneArg(exit.object, exit.argument);
      Py_XDECREF(result);
      return result ? 0 : -1;
    }
    case Exit::kSetAttribute:
      return PyObject_SetAttr(exit.object, exit.argument, exit.value);
    case Exit::kDeleteAttribute:
      if (PyObject_DelAttr(exit.object, exit.argument) == 0) return 0;
      if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
      return PyErr_Clear(), 0;  // it is gone already
    case Exit::kRemove:
      return RemoveLast(exit.object, exit.argument);
    case Exit::kAppend:
      return PyList_Append(exit.object, exit.argument);
  }
  return 0;
}

/// Undo the changes since the last `__enter__`, the last one first. What an interrupt ends is done a second time. The
/// first exception is raised when all is done.
int UndoAll(PyObject* self) {
  if (!IsEntered(self)) return 0;
  PyExitStack& stack = *Stack(self);
  const size_t mark = stack.marks.back();
  stack.marks.resize(stack.marks.size() - 1);
  Kept error;
  while (stack.exits.size() > mark) {
    Exit exit = stack.exits.back();
    stack.exits.resize(stack.exits.size() - 1);
    if (Undo(exit) < 0) {
      error.Take();
      if (Undo(exit) < 0) PyErr_Clear();
    }
    exit.Release();
  }
  if (!error) return 0;
  error.Restore();
  return -1;
}

void Add(PyObject* self, Exit::Kind kind, PyObject* object, PyObject* argument, PyObject* value = nullptr) {
  Py_INCREF(object);
  Py_XINCREF(argument);
  Py_XINCREF(value);
  Stack(self)->exits.push_back({kind, object, argument, value});
}

bool RequireCount(const char* who, Py_ssize_t count, Py_ssize_t expected) {
  if (count == expected) return true;
  PyErr_Format(PyExc_TypeError, "ExitStack.%s: got %zd arguments, expected %zd", who, count, expected);
  return false;
}

bool RequireEntered(PyObject* self, const char* who) {
  if (IsEntered(self)) return true;
  PyErr_Format(PyExc_RuntimeError, "ExitStack.%s: got a call outside of a `with` block, expected one within", who);
  return false;
}

bool RequireList(const char* who, PyObject* object) {
  if (PyList_Check(object)) return true;
  PyErr_Format(PyExc_TypeError, "ExitStack.%s: got '%s', expected a list", who, Py_TYPE(object)->tp_name);
  return false;
}

PyObject* Switch(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (!RequireCount("switch", count, 2) || !RequireEntered(self, "switch")) return nullptr;
  PyObject* before = PyObject_CallOneArg(args[0], args[1]);
  if (!before) return nullptr;
  Add(self, Exit::kSwitch, args[0], before);
  return before;
}

PyObject* Set(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (!RequireCount("set", count, 3) || !RequireEntered(self, "set")) return nullptr;
  PyObject* before = PyObject_GetAttr(args[0], args[1]);
  if (before) {
    Add(self, Exit::kSetAttribute, args[0], args[1], before);
  } else {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return nullptr;
    PyErr_Clear();
    Add(self, Exit::kDeleteAttribute, args[0], args[1]);
    before = Py_NewRef(Py_None);
  }
  if (PyObject_SetAttr(args[0], args[1], args[2]) < 0) return Py_DECREF(before), nullptr;
  return before;
}

PyObject* Push(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (!RequireCount("push", count, 2) || !RequireList("push", args[0]) || !RequireEntered(self, "push")) return nullptr;
  if (PyList_Append(args[0], args[1]) < 0) return nullptr;
  Add(self, Exit::kRemove, args[0], args[1]);
  Py_RETURN_NONE;
}

PyObject* Take(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (!RequireCount("take", count, 1) || !RequireList("take", args[0]) || !RequireEntered(self, "take")) return nullptr;
  const Py_ssize_t size = PyList_GET_SIZE(args[0]);
  if (!size) return PyErr_SetString(PyExc_IndexError, "ExitStack.take: got an empty list, expected an item"), nullptr;
  PyObject* item = Py_NewRef(ItemAt(args[0], size - 1));
  if (PyList_SetSlice(args[0], size - 1, size, nullptr) < 0) return Py_DECREF(item), nullptr;
  Add(self, Exit::kAppend, args[0], item);
  return item;
}

PyObject* Callback(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (count < 1)
    return PyErr_SetString(PyExc_TypeError, "ExitStack.callback: got nothing, expected a callable"), nullptr;
  if (!RequireEntered(self, "callback")) return nullptr;
  PyObject* arguments = PyTuple_New(count - 1);
  if (!arguments) return nullptr;
  for (Py_ssize_t i = 1; i < count; ++i) PyTuple_SET_ITEM(arguments, i - 1, Py_NewRef(args[i]));
  Add(self, Exit::kCall, args[0], arguments);
  Py_DECREF(arguments);
  return Py_NewRef(args[0]);
}

PyObject* EnterOther(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  if (!RequireCount("enter", count, 1) || !RequireEntered(self, "enter")) return nullptr;
  PyObject* leave = PyObject_GetAttrString(args[0], "__exit__");
  if (!leave) return nullptr;
  PyObject* arguments = PyTuple_Pack(3, Py_None, Py_None, Py_None);
  PyObject* result = arguments ? PyObject_CallMethod(args[0], "__enter__", nullptr) : nullptr;
  if (result) Add(self, Exit::kCall, leave, arguments);
  Py_XDECREF(arguments);
  Py_DECREF(leave);
  return result;
}

PyObject* Enter(PyObject* self, PyObject*) {
  Mark(self);
  return Py_NewRef(self);
}

/// Takes over the reference to a block.
void AddBlock(PyObject* self, PyObject* block) {
  Self<PyScope>(self)->was_entered = true;
  Self<PyScope>(self)->blocks.push_back({block, PyThread_get_thread_ident()});
}

/// The innermost block of this thread; of another one, which has handed the object over, where there is none.
py::object TakeBlock(PyObject* self) {
  auto& blocks = Self<PyScope>(self)->blocks;
  if (blocks.empty()) return {};
  const unsigned long thread = PyThread_get_thread_ident();
  size_t place = blocks.size();
  while (place > 0 && blocks[place - 1].thread != thread) --place;
  place = place > 0 ? place - 1 : blocks.size() - 1;
  const auto block = py::reinterpret_steal<py::object>(blocks[place].object);
  std::move(blocks.begin() + place + 1, blocks.end(), blocks.begin() + place);
  blocks.resize(blocks.size() - 1);
  return block;
}

/// A stack that nobody has any more: blocks are entered and left millions of times.
PyObject* g_spare = nullptr;

PyObject* TakeStack() {
  if (g_spare) return std::exchange(g_spare, nullptr);
  return New<PyExitStack>(&ExitStackType, nullptr, nullptr);
}

void GiveBack(py::object stack) {
  if (!g_spare && Py_REFCNT(stack.ptr()) == 1 && !IsEntered(stack.ptr())) g_spare = stack.release().ptr();
}

PyObject* EnterScope(PyObject* self, PyObject*) {
  static PyObject* const name = PyUnicode_InternFromString("_enter_scope");
  PyObject* stack = TakeStack();
  if (!stack) return nullptr;
  Mark(stack);
  PyObject* result = PyObject_CallMethodOneArg(self, name, stack);
  if (result) return AddBlock(self, stack), result;
  Kept error;
  error.Take();
  if (UndoAll(stack) < 0) PyErr_Clear();
  Py_DECREF(stack);
  error.Restore();
  return nullptr;
}

PyObject* LeaveScope(PyObject* self, PyObject* const*, Py_ssize_t) {
  py::object stack = TakeBlock(self);
  if (!stack) {
    if (Self<PyScope>(self)->was_entered) Py_RETURN_NONE;  // what it had entered was left within the block
    PyErr_Format(PyExc_IndexError, "%s.__exit__: got no block that was entered, expected one", Py_TYPE(self)->tp_name);
    return nullptr;
  }
  if (UndoAll(stack.ptr()) < 0) return nullptr;
  GiveBack(std::move(stack));
  Py_RETURN_NONE;
}

PyObject* Leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  if (UndoAll(self) < 0) return nullptr;
  Py_RETURN_NONE;
}

// --- a generator as a context manager

/// The next item of a generator; its own first item is what `with` binds.
PyObject* EnterGenerator(PyObject* self, PyObject*) {
  static PyObject* const name = PyUnicode_InternFromString("_make_generator");
  PyObject* generator = PyObject_CallMethodNoArgs(self, name);
  if (!generator) return nullptr;
  if (!PyIter_Check(generator)) {
    PyErr_Format(PyExc_TypeError, "contextmanager: got '%s', expected a generator", Py_TYPE(generator)->tp_name);
    return Py_DECREF(generator), nullptr;
  }
  PyObject* item = Py_TYPE(generator)->tp_iternext(generator);
  if (item) return AddBlock(self, generator), item;
  Py_DECREF(generator);
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "generator didn't yield");
  return nullptr;
}

/// Whether what a generator raised is what was thrown into it, which `with` raises by itself.
bool IsThrown(PyObject* raised, PyObject* thrown) {
  if (raised == thrown) return true;
  if (!PyErr_GivenExceptionMatches(thrown, PyExc_StopIteration) ||
      !PyErr_GivenExceptionMatches(raised, PyExc_RuntimeError)) {
    return false;
  }
  PyObject* cause = PyException_GetCause(raised);  // generators make such errors of a StopIteration
  Py_XDECREF(cause);
  return cause == thrown;
}

/// Throw the block's exception into the generator; true if it has taken it.
PyObject* ThrowInto(PyObject* generator, PyObject* thrown, PyObject* trace) {
  PyObject* item = PyObject_CallMethod(generator, "throw", "O", thrown);
  if (item) {
    Py_DECREF(item);
    PyErr_SetString(PyExc_RuntimeError, "generator didn't stop after throw()");
    return nullptr;
  }
  PyObject *type, *value, *raised_trace;
  PyErr_Fetch(&type, &value, &raised_trace);
  PyErr_NormalizeException(&type, &value, &raised_trace);
  const bool stopped = PyErr_GivenExceptionMatches(value, PyExc_StopIteration) && value != thrown;
  if (stopped || IsThrown(value, thrown)) {
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(raised_trace);
    if (!stopped && PyTraceBack_Check(trace) && PyException_SetTraceback(thrown, trace) < 0) return nullptr;
    return PyBool_FromLong(stopped);
  }
  PyErr_Restore(type, value, raised_trace);
  return nullptr;
}

PyObject* LeaveGenerator(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  const py::object generator = TakeBlock(self);
  if (!generator) Py_RETURN_FALSE;
  const bool raised = count > 1 && args[0] != Py_None;
  PyObject* thrown = raised && args[1] != Py_None ? Py_NewRef(args[1])
                     : raised                     ? PyObject_CallNoArgs(args[0])
                                                  : nullptr;
  if (raised && !thrown) return nullptr;
  if (raised) {
    PyObject* taken = ThrowInto(generator.ptr(), thrown, count > 2 ? args[2] : Py_None);
    Py_DECREF(thrown);
    return taken;
  }
  PyObject* item = Py_TYPE(generator.ptr())->tp_iternext(generator.ptr());
  if (item) {
    Py_DECREF(item);
    PyErr_SetString(PyExc_RuntimeError, "generator didn't stop");
    return nullptr;
  }
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_StopIteration)) return nullptr;
  PyErr_Clear();
  Py_RETURN_FALSE;
}

// --- the types

/// What copies of an object, and pickles, have of it: its attributes, no blocks that it is in.
PyObject* GetState(PyObject* self, PyObject*) {
  PyObject* fields = PyObject_GetAttrString(self, "__dict__");
  if (fields || !PyErr_ExceptionMatches(PyExc_AttributeError)) return fields;
  PyErr_Clear();
  Py_RETURN_NONE;
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  for (const Exit& exit : Stack(self)->exits) {
    Py_VISIT(exit.object);
    Py_VISIT(exit.argument);
    Py_VISIT(exit.value);
  }
  return 0;
}

int Clear(PyObject* self) {
  auto exits = std::exchange(Stack(self)->exits, InlineVector<Exit, 4>());
  Stack(self)->marks.clear();
  for (Exit& exit : exits) exit.Release();
  return 0;
}

int TraverseScope(PyObject* self, visitproc visit, void* arg) {
  for (const PyScope::Block& block : Self<PyScope>(self)->blocks) Py_VISIT(block.object);
  return 0;
}

int ClearScope(PyObject* self) {
  while (TakeBlock(self)) {
  }
  return 0;
}

template <typename Struct, inquiry kClear>
void Dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  kClear(self);
  Self<Struct>(self)->~Struct();
  type->tp_free(self);  // who derives from this lets go of the class itself
}

PyCFunction Fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef stack_methods[] = {
    {"__enter__", &Enter, METH_NOARGS, "Begin a block, at whose end changes are undone."},
    {"__exit__", Fast(&Leave), METH_FASTCALL, "Undo the changes of the block, the last one first."},
    {"switch", Fast(&Switch), METH_FASTCALL,
     "Call `setter(value)`, which returns what was, and have `setter` called with that at the end; return what was."},
    {"set", Fast(&Set), METH_FASTCALL, "Set an attribute (object, name, value) until the end; return what it was."},
    {"push", Fast(&Push), METH_FASTCALL, "Append to a list (list, item) until the end."},
    {"take", Fast(&Take), METH_FASTCALL, "Take a list's last item out until the end; return it."},
    {"callback", Fast(&Callback), METH_FASTCALL,
     "Call a function (function, *args) at the end; a second time if an interrupt ended it. Return the function."},
    {"enter", Fast(&EnterOther), METH_FASTCALL,
     "Enter another context manager until the end, which does not hear of exceptions; return what it gives."},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef scope_methods[] = {
    {"__getstate__", &GetState, METH_NOARGS, nullptr},
    {"__enter__", &EnterScope, METH_NOARGS, "Return what `_enter_scope` does, which is given an ExitStack."},
    {"__exit__", Fast(&LeaveScope), METH_FASTCALL, "Undo the changes of the block, the last one first."},
    {nullptr, nullptr, 0, nullptr}};
PyMethodDef generator_methods[] = {
    {"__getstate__", &GetState, METH_NOARGS, nullptr},
    {"__enter__", &EnterGenerator, METH_NOARGS, "Run the generator that `_make_generator` returns up to its `yield`."},
    {"__exit__", Fast(&LeaveGenerator), METH_FASTCALL, "Run the rest of the generator."},
    {nullptr, nullptr, 0, nullptr}};

void Ready(py::module_& m, PyTypeObject* type, const char* name, const char* doc, PyMethodDef* methods) {
  type->tp_name = name;
  type->tp_doc = doc;
  type->tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  type->tp_methods = methods;
  if (PyType_Ready(type) < 0) throw py::error_already_set();
  m.add_object(std::strrchr(name, '.') + 1, py::handle(Upcast(type)));
}

void BeScope(PyTypeObject* type) {
  type->tp_basicsize = sizeof(PyScope);
  type->tp_new = &New<PyScope>;
  type->tp_traverse = &TraverseScope;
  type->tp_clear = &ClearScope;
  type->tp_dealloc = &Dealloc<PyScope, &ClearScope>;
}

}  // namespace

void RegisterExits(py::module_& m) {
  ExitStackType.tp_basicsize = sizeof(PyExitStack);
  ExitStackType.tp_new = &New<PyExitStack>;
  ExitStackType.tp_traverse = &Traverse;
  ExitStackType.tp_clear = &Clear;
  ExitStackType.tp_dealloc = &Dealloc<PyExitStack, &Clear>;
  Ready(m, &ExitStackType, "dragon._C.ExitStack",
        "Undoes, at the end of a `with` block, the changes that it made; no interrupt comes between.", stack_methods);
  BeScope(&ScopeType);
  Ready(m, &ScopeType, "dragon._C.Scope",
        "A context manager whose method `_enter_scope(exits)` makes changes by the methods of an ExitStack.",
        scope_methods);
  BeScope(&GeneratorScopeType);
  Ready(m, &GeneratorScopeType, "dragon._C.GeneratorScope",
        "A context manager made of the generator that its method `_make_generator()` returns.", generator_methods);
}

}  // namespace dragon::python
