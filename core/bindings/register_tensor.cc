// The tensor type: number slots, attributes and methods that need C.
#include "core/bindings/collect.h"
#include "core/bindings/items.h"
#include "core/bindings/other_memory.h"
#include "core/bindings/recording.h"
#include "core/bindings/shared_places.h"
#include "core/framework/autograd/backward.h"
#include "core/framework/autograd/meta.h"
#include "core/framework/batching.h"
#include "core/framework/scribe.h"
#include "core/framework/trace.h"

namespace dragon::python {

namespace {

/// Default attributes of an operator called by a slot.
template <OpName name>
const std::vector<Value>& Defaults() {
  static const std::vector<Value> defaults = [] {
    std::vector<Value> values;
    const Schema& schema = OpNamed<name>().schema;
    for (int i = 0; i < schema.attr_count(); ++i) values.push_back(schema.attr(i).default_value);
    return values;
  }();
  return defaults;
}

/// The tensor for one side of a binary operator, which is `given` if that is there; false if this type is none of ours.
bool Operand(PyObject* object, const Tensor* given, const Tensor* other, const Place& place, Tensor* tensor) {
  if (given) {
    *tensor = *given;
    return true;
  }
  if (!IsNumber(object) && NumberOf(object) < 0) {
    // An array on the right of a tensor is read as one; on the left, NumPy decides.
    if (!other || std::strcmp(Py_TYPE(object)->tp_name, "numpy.ndarray") != 0) return false;
    *tensor = FromBuffer(object, place.op);
    return true;
  }
  *tensor = NumberLike(object, other, place);
  return true;
}

template <OpName name>
PyObject* Binary(PyObject* a, PyObject* b) {
  return Guarded([&]() -> PyObject* {
    const Operator& op = OpNamed<name>();
    const Place place{op.name().c_str(), nullptr};
    const PyTensor *left = FaceIf(a), *right = FaceIf(b);
    if (DRAGON_UNLIKELY(!left && !right)) Py_RETURN_NOTIMPLEMENTED;
    const Frontend* frontend = (left ? left : right)->frontend;
    if (DRAGON_UNLIKELY(WantsOverride(frontend, a) || WantsOverride(frontend, b))) {
      return CallBinaryOverride(frontend, op.name(), a, b);
    }
    Tensor inputs[2];
    const Tensor *x = left ? &left->tensor() : nullptr, *y = right ? &right->tensor() : nullptr;
    if ((!x && !IsNumber(a) && NumberOf(a) < 0) || !Operand(a, x, y, place, &inputs[0]) ||
        !Operand(b, y, x, place, &inputs[1])) {
      Py_RETURN_NOTIMPLEMENTED;
    }
    const Tensors results = ApplyFromPython(Call{&op, inputs, Defaults<name>(), {}}, Recorder(frontend, {&b, 1}));
    return Wrap(results[0], frontend);
  });
}

template <OpName name>
PyObject* InPlace(PyObject* self, PyObject* b) {
  return Guarded([&]() -> PyObject* {
    const Operator& op = OpNamed<name>();
    const Place place{op.name().c_str(), nullptr};
    const Frontend* frontend = Self<PyTensor>(self)->frontend;
    if (DRAGON_UNLIKELY(WantsOverride(frontend, self) || WantsOverride(frontend, b))) {
      return CallInPlaceOverride(frontend, op.name(), self, b);
    }
    Tensor inputs[2] = {SelfTensor(self), {}};
    if (!Operand(b, TensorIf(b), &inputs[0], place, &inputs[1])) Py_RETURN_NOTIMPLEMENTED;
    const Tensor out = inputs[0];
    const Call call{&op, inputs, Defaults<name>(), {}};
    RefuseSharedPlaces(frontend, call, {&out, 1});
    ApplyFromPython(call, Recorder(frontend, {&b, 1}), std::span<const Tensor>(&out, 1));
    return Py_NewRef(self);
  });
}

template <OpName name>
PyObject* Unary(PyObject* self) {
  return Guarded([&] {
    const Operator& op = OpNamed<name>();
    const Frontend* frontend = Self<PyTensor>(self)->frontend;
    if (DRAGON_UNLIKELY(WantsOverride(frontend, self))) {
      return CallUnaryOverride(frontend, op.name(), self);
    }
    const Tensors results =
        ApplyFromPython(Call{&op, std::span<const Tensor>(&SelfTensor(self), 1), Defaults<name>(), {}}, frontend);
    return Wrap(results[0], frontend);
  });
}

PyObject* Power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow: got a modulus, expected none");
    return nullptr;
  }
  return Binary<"pow">(a, b);
}

PyObject* InPlacePower(PyObject* a, PyObject* b, PyObject*) { return InPlace<"pow">(a, b); }

PyObject* Positive(PyObject* self) {
  return Guarded([&] {
    py::object answer = AskedSlot(self, "positive");
    return answer ? answer.release().ptr() : Py_NewRef(self);
  });
}

int Truth(PyObject* self) {
  return GuardedInt([&] {
    if (const py::object answer = AskedSlot(self, "__bool__")) return PyObject_IsTrue(answer.ptr());
    const Tensor& tensor = SelfTensor(self);
    if (tensor.numel() != 1) {
      throw RuntimeError("bool").Got("a tensor of shape ", tensor.shape()).Expected("one element; use any() or all()");
    }
    const Value value = TruthOf(tensor);
    return static_cast<int>(value.kind() == Value::Kind::kComplex ? value.complex() != complex128(0, 0)
                                                                  : value.boolean());
  });
}

PyObject* Item(PyObject* self, PyObject*) {
  return Guarded([&] { return WrapItemOf(SelfTensor(self)); });
}

/// The only element by a converter of Python's, or what a class says for it.
PyObject* ToNumber(PyObject* self, const char* name, PyObject* (*convert)(PyObject*)) {
  return Guarded([&]() -> PyObject* {
    if (py::object answer = AskedSlot(self, name)) return answer.release().ptr();
    const py::object item = py::reinterpret_steal<py::object>(Item(self, nullptr));
    return item ? convert(item.ptr()) : nullptr;
  });
}

PyObject* ToInt(PyObject* self) { return ToNumber(self, "__int__", PyNumber_Long); }
PyObject* ToFloat(PyObject* self) { return ToNumber(self, "__float__", PyNumber_Float); }

PyObject* ToIndex(PyObject* self) {
  return Guarded([&]() -> PyObject* {
    if (py::object answer = AskedSlot(self, "__index__")) return answer.release().ptr();
    const Tensor& tensor = SelfTensor(self);
    if (IsInexact(tensor.dtype()) || tensor.numel() != 1) {
      throw TypeError("index").Got("a ", tensor.dtype(), " tensor of shape ", tensor.shape()).Expected("one integer");
    }
    return PyLong_FromLongLong(tensor.Item().integer());
  });
}

PyObject* ToComplex(PyObject* self, PyObject*) {
  return Guarded([&] {
    const complex128 value = SelfTensor(self).Item().complex();
    return PyComplex_FromDoubles(value.re, value.im);
  });
}

/// Have a leaf want gradients or not, on behalf of somebody who sees it through a frontend.
void Ask(const Tensor& leaf, const Frontend* frontend, bool wanted) {
  const bool fresh = wanted && !leaf.requires_grad();
  leaf.set_requires_grad(wanted);
  if (fresh) AutogradMeta::Of(leaf).when_asked = frontend && frontend->waits_to_be_asked;
}

// --- lifetime

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return Guarded([&]() -> PyObject* {
    PyObject* data = nullptr;
    int requires_grad = 0;
    static const char* names[] = {"data", "requires_grad", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|p:Tensor", const_cast<char**>(names), &data, &requires_grad)) {
      return nullptr;
    }
    const Tensor* given = TensorIf(data);
    const Tensor tensor = given ? given->Detach() : FromData(data, nullptr, Device{}, "Tensor");
    if (requires_grad) Ask(tensor, FrontendOf(type), true);
    auto* object = NewInstance<PyTensor>(type);
    if (!object) return nullptr;
    tensor.impl()->Retain();
    object->impl = tensor.impl();
    object->frontend = FrontendOf(type);
    tensor.impl()->python.store(object, std::memory_order_relaxed);
    return Upcast(object);
  });
}

int Init(PyObject*, PyObject*, PyObject*) { return 0; }

int TraverseTensor(PyObject* self, visitproc visit, void* arg) {
  const auto* me = Self<PyTensor>(self);
  Py_VISIT(me->dict);
  return VisitHeld(me->impl, visit, arg);
}

int ClearTensor(PyObject* self) {
  Py_CLEAR(Self<PyTensor>(self)->dict);
  ClearHeld(Self<PyTensor>(self)->impl);
  return 0;
}

void DeallocTensor(PyObject* self) {
  auto* me = Self<PyTensor>(self);
  PyObject_GC_UnTrack(self);
  if (me->impl) {
    // First of all: code run by the clearing below must not be handed this dying object again.
    void* expected = self;
    me->impl->python.compare_exchange_strong(expected, nullptr);
  }
  if (me->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(me->dict);
  if (me->impl) std::exchange(me->impl, nullptr)->Release();
  Py_TYPE(self)->tp_free(self);
}

// --- attributes

template <typename F>
PyObject* Field(PyObject* self, F&& read) {
  return Guarded([&] { return read(SelfTensor(self), Self<PyTensor>(self)->frontend); });
}

#define DRAGON_FIELD(expression)                                             \
  [](PyObject* self, void*) {                                                \
    return Field(self, [](const Tensor& x, const Frontend* f) -> PyObject* { \
      (void)f;                                                               \
      return expression;                                                     \
    });                                                                      \
  }

int SetRequiresGrad(PyObject* self, PyObject* value, void*) {
  return GuardedInt([&] {
    const int wanted = value ? PyObject_IsTrue(value) : -1;
    if (wanted < 0) throw TypeError("requires_grad").Got("no truth value").Expected("a bool");
    RefuseHistory(SelfTensor(self), "requires_grad");
    Ask(SelfTensor(self), Self<PyTensor>(self)->frontend, wanted == 1);
    return 0;
  });
}

int SetGrad(PyObject* self, PyObject* value, void*) {
  return GuardedInt([&] {
    SelfTensor(self).set_grad(TensorOrNone(value ? value : Py_None, "grad"));
    return 0;
  });
}

PyObject* GradFn(const Tensor& tensor) {
  if (const Ref<Node> node = GradNode(tensor)) return py::cast(node).release().ptr();
  Py_RETURN_NONE;
}

/// The same memory without history; `unversioned`: writes are none of autograd's business either.
Tensor DetachedAlias(const Tensor& tensor, bool unversioned) {
  tensor.Settle();
  Tensor alias = tensor.Detach();
  if (unversioned) alias.impl()->own_version = MakeRef<VersionCounter>();
  if (Scribe* scribe = IsAnyWrittenDown() ? Scribe::Current() : nullptr)
    scribe->NoteDetached(tensor, alias, unversioned);
  return alias;
}

/// Is there memory to have an address? An emptied storage gets some when somebody writes to it.
bool HasBytes(const Tensor& x) {
  const Storage* storage = x.impl()->storage.get();
  if (!storage) return true;  // whoever looks for it gets null or an error
  return storage->bytes || !storage->memory.bytes() || storage->memory.state() != UnifiedMemory::State::kUninitialized;
}

void* AddressOf(const Tensor& x) { return HasBytes(x) ? x.mutable_data() : nullptr; }

/// What is asked of tensors: a view that was made where nothing was recorded wants gradients as its base does, unless
/// that is one whose calls are recorded only where a scope asks for it.
bool SaysRequiresGrad(const Tensor& x) {
  if (RequiresGrad(x)) return true;
  if (!x.impl()->base || !IsInexact(x.dtype())) return false;
  const Tensor base(x.impl()->base);
  return RequiresGrad(base) && RecordsUnasked(base);
}

PyGetSetDef fields[] = {
    {"shape", DRAGON_FIELD(WrapShapeOf(x, f)), nullptr, "Sizes of the axes.", nullptr},
    {"strides", DRAGON_FIELD((x.Settle(), WrapStridesOf(x))), nullptr, "Steps of the axes, in elements.", nullptr},
    {"storage_offset", DRAGON_FIELD((NotePlace(x), PyLong_FromLongLong(x.offset()))), nullptr,
     "Place of the first element.", nullptr},
    {"ndim", DRAGON_FIELD(PyLong_FromLong(x.ndim())), nullptr, "Number of axes.", nullptr},
    {"size", DRAGON_FIELD(WrapCountOf(x)), nullptr, "Number of elements.", nullptr},
    {"dtype", DRAGON_FIELD(WrapDType(x.dtype(), f)), nullptr, "Type of the elements.", nullptr},
    {"device", DRAGON_FIELD(WrapDevice(DeviceOfNumbers(x), f)), nullptr, "Where the elements are.", nullptr},
    {"itemsize", DRAGON_FIELD(PyLong_FromLongLong(x.item_size())), nullptr, "Bytes per element.", nullptr},
    {"nbytes", DRAGON_FIELD(WrapCountOf(x, x.item_size())), nullptr, "Bytes of all elements.", nullptr},
    {"requires_grad", DRAGON_FIELD(PyBool_FromLong(SaysRequiresGrad(x))), SetRequiresGrad, "Gradients are wanted.",
     nullptr},
    {"is_leaf", DRAGON_FIELD((RefuseHistory(x, "is_leaf"), PyBool_FromLong(x.is_leaf()))), nullptr,
     "Not the result of a recorded call.", nullptr},
    {"grad", DRAGON_FIELD((RefuseHistory(x, "grad"), Wrap(x.grad(), f))), SetGrad, "The accumulated gradient, or None.",
     nullptr},
    {"grad_fn", DRAGON_FIELD((RefuseHistory(x, "grad_fn"), GradFn(x))), nullptr,
     "The node that made the tensor, or None.", nullptr},
    {"data", DRAGON_FIELD(Wrap(DetachedAlias(x, true), f)), SetData, "The same memory without autograd.", nullptr},
    {"is_view", DRAGON_FIELD(PyBool_FromLong(static_cast<bool>(x.impl()->base))), nullptr,
     "Shares another tensor's memory.", nullptr},
    {"base", DRAGON_FIELD(Wrap(Tensor(x.impl()->base), f)), nullptr, "The tensor that this is a view of, or None.",
     nullptr},
    {"retains_grad", DRAGON_FIELD(PyBool_FromLong(x.impl()->autograd && x.impl()->autograd->retain_grad)), nullptr,
     "Keeps its gradient.", nullptr},
    {"has_own_memory", DRAGON_FIELD(PyBool_FromLong(x.impl()->storage && x.impl()->storage->is_resizable())), nullptr,
     "Memory that nobody lent, and that is lent to nobody.", nullptr},
    {"storage_nbytes", DRAGON_FIELD((FixSizes(x), PyLong_FromSize_t(x.impl()->storage ? x.impl()->storage->bytes : 0))),
     nullptr, "Bytes of the memory that the tensor looks at.", nullptr},
    {"storage_ptr",
     DRAGON_FIELD(
         (x.Settle(), PyLong_FromVoidPtr(HasBytes(x) && x.impl()->storage ? x.impl()->storage->Write() : nullptr))),
     nullptr, "Address of that memory.", nullptr},
    {"is_weak", DRAGON_FIELD(PyBool_FromLong(x.impl()->weak)), nullptr, "Stands for a bare number.", nullptr},
    {"_version", DRAGON_FIELD(PyLong_FromLong(x.impl()->version_value())), nullptr, "Writes to the memory so far.",
     nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

#define DRAGON_METHOD(expression)                                            \
  [](PyObject* self, PyObject*) {                                            \
    return Field(self, [](const Tensor& x, const Frontend* f) -> PyObject* { \
      (void)f;                                                               \
      return expression;                                                     \
    });                                                                      \
  }

/// `x.extent()` and `x.extent(axis)`: the shape, or the size of one axis.
PyObject* Extent(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return Guarded([&]() -> PyObject* {
    const auto* me = Self<PyTensor>(self);
    const Tensor& x = me->tensor();
    const Py_ssize_t total = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
    if (total > 1) throw TypeError("size").Got(total, " arguments").Expected("one axis or none");
    if (total == 0 || args[0] == Py_None) return WrapShapeOf(x, me->frontend);
    const int64_t axis = ParseInt(args[0], Place{"size", nullptr});
    if (axis < -x.ndim() || axis >= x.ndim()) {
      throw IndexError("size").Got("axis ", axis).Expected(-x.ndim(), " to ", x.ndim() - 1, " for ", x.ndim(), " axes");
    }
    return WrapSizeOf(x, static_cast<int>(axis < 0 ? axis + x.ndim() : axis));
  });
}

PyMethodDef methods[] = {
    {"extent", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Extent)), METH_FASTCALL | METH_KEYWORDS,
     "extent($self, dim=None)\n--\n\n"
     "Return the shape, or the size of one axis.\n\n"
     "Parameters\n----------\ndim : int, optional\n    The axis; the shape is returned without it.\n\n"
     "Returns\n-------\nUnion[Size, int]\n    `Size` is a tuple.\n\n"
     "Examples\n--------\n>>> torch.zeros(2, 3).size()\ntorch.Size([2, 3])\n>>> torch.zeros(2, 3).size(1)\n3\n"},
    {"item", Item, METH_NOARGS,
     "item($self)\n--\n\n"
     "Return the only element as a Python number.\n\n"
     "Returns\n-------\nUnion[bool, int, float, complex]\n    An error, if there are more elements than one.\n\n"
     "Examples\n--------\n>>> torch.tensor([[7]]).item()\n7\n"},
    {"tolist", DRAGON_METHOD(ToList(x)), METH_NOARGS,
     "tolist($self)\n--\n\n"
     "Return nested lists of Python numbers.\n\n"
     "Returns\n-------\nUnion[list, number]\n    As many lists in each other as there are axes.\n\n"
     "Examples\n--------\n>>> torch.tensor([[1, 2], [3, 4]]).tolist()\n[[1, 2], [3, 4]]\n"},
    {"numpy", [](PyObject* self, PyObject*) { return ToNumPy(self); }, METH_NOARGS,
     "Return a NumPy array over the same memory."},
    {"detach", DRAGON_METHOD(Wrap(DetachedAlias(x, false), f)), METH_NOARGS,
     "detach($self)\n--\n\n"
     "Return an alias without history.\n\n"
     "Returns\n-------\nTensor\n    Over the same memory; no gradient flows through it.\n\n"
     "Examples\n--------\n>>> x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
     ">>> x.detach().requires_grad\nFalse\n"},
    {"data_ptr", DRAGON_METHOD((x.Observe("its address"), x.Settle(), PyLong_FromVoidPtr(AddressOf(x)))), METH_NOARGS,
     "Return the address of the first element; 0 where there is no memory."},
    {"is_contiguous", DRAGON_METHOD((x.Settle(), PyBool_FromLong(IsDenseTold(x)))), METH_NOARGS,
     "Whether elements are in row-major order."},
    {"retain_grad", DRAGON_METHOD((RetainGrad(x), Py_NewRef(Py_None))), METH_NOARGS,
     "Keep the gradient of a computed tensor."},
    {"physical_strides", DRAGON_METHOD((FixSizes(x), WrapShape(x.strides(), nullptr))), METH_NOARGS,
     "Return strides as they are, the engine's choice included."},
    {"set_storage", SetStorage, METH_VARARGS, "Become a window (shape, strides, offset) on another tensor's memory."},
    {"resize", Resize, METH_O, "Change the shape where it is, keeping the elements in order of memory."},
    {"resize_storage", ResizeStorage, METH_O, "Have so many bytes of memory; tensors over it keep their shapes."},
    {"__complex__", ToComplex, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

Py_ssize_t Length(PyObject* self) {
  Py_ssize_t length = -1;
  GuardedInt([&] {
    if (const py::object answer = AskedSlot(self, "__len__")) {
      length = std::max<Py_ssize_t>(PyNumber_AsSsize_t(answer.ptr(), nullptr), -1);
      if (length < 0 && !PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "len: got a number below 0");
    } else if (SelfTensor(self).ndim() > 0) {
      length = LengthOf(SelfTensor(self));
    } else {
      PyErr_SetString(PyExc_TypeError, "len: got a 0-d tensor, expected at least one axis");
    }
    return 0;
  });
  return length;
}

PyBufferProcs buffer = {GetBuffer, ReleaseBuffer};

}  // namespace

PyObject* RichCompare(PyObject* a, PyObject* b, int how) {
  switch (how) {
    case Py_LT:
      return Binary<"lt">(a, b);
    case Py_LE:
      return Binary<"le">(a, b);
    case Py_GT:
      return Binary<"gt">(a, b);
    case Py_GE:
      return Binary<"ge">(a, b);
    case Py_EQ:
      return Binary<"eq">(a, b);
    default:
      return Binary<"ne">(a, b);
  }
}

PyNumberMethods TensorNumber = {};
PyMappingMethods TensorMapping = {};
PyTypeObject TensorType = {PyVarObject_HEAD_INIT(nullptr, 0)};

namespace {

/// What operators and brackets do with a tensor.
void FillSlots() {
  TensorNumber.nb_add = Binary<"add">;
  TensorNumber.nb_subtract = Binary<"sub">;
  TensorNumber.nb_multiply = Binary<"mul">;
  TensorNumber.nb_true_divide = Binary<"div">;
  TensorNumber.nb_floor_divide = Binary<"floor_divide">;
  TensorNumber.nb_remainder = Binary<"remainder">;
  TensorNumber.nb_matrix_multiply = Binary<"matmul">;
  TensorNumber.nb_power = Power;
  TensorNumber.nb_and = Binary<"bitwise_and">;
  TensorNumber.nb_or = Binary<"bitwise_or">;
  TensorNumber.nb_xor = Binary<"bitwise_xor">;
  TensorNumber.nb_lshift = Binary<"bitwise_left_shift">;
  TensorNumber.nb_rshift = Binary<"bitwise_right_shift">;
  TensorNumber.nb_inplace_add = InPlace<"add">;
  TensorNumber.nb_inplace_subtract = InPlace<"sub">;
  TensorNumber.nb_inplace_multiply = InPlace<"mul">;
  TensorNumber.nb_inplace_true_divide = InPlace<"div">;
  TensorNumber.nb_inplace_floor_divide = InPlace<"floor_divide">;
  TensorNumber.nb_inplace_remainder = InPlace<"remainder">;
  TensorNumber.nb_inplace_power = InPlacePower;
  TensorNumber.nb_inplace_and = InPlace<"bitwise_and">;
  TensorNumber.nb_inplace_or = InPlace<"bitwise_or">;
  TensorNumber.nb_inplace_xor = InPlace<"bitwise_xor">;
  TensorNumber.nb_inplace_lshift = InPlace<"bitwise_left_shift">;
  TensorNumber.nb_inplace_rshift = InPlace<"bitwise_right_shift">;
  TensorNumber.nb_negative = Unary<"neg">;
  TensorNumber.nb_absolute = Unary<"abs">;
  TensorNumber.nb_invert = Unary<"bitwise_not">;
  TensorNumber.nb_positive = Positive;
  TensorNumber.nb_bool = Truth;
  TensorNumber.nb_int = ToInt;
  TensorNumber.nb_float = ToFloat;
  TensorNumber.nb_index = ToIndex;
  TensorMapping.mp_length = Length;
  TensorMapping.mp_subscript = GetItem;
  TensorMapping.mp_ass_subscript = SetItem;
}

}  // namespace

void RegisterTensor(py::module_& m) {
  FillSlots();
  TensorType.tp_name = "dragon._C.Tensor";
  TensorType.tp_doc = "Strided numbers; the base of every frontend's tensor class.";
  TensorType.tp_basicsize = sizeof(PyTensor);
  TensorType.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC;
  TensorType.tp_dictoffset = offsetof(PyTensor, dict);
  TensorType.tp_weaklistoffset = offsetof(PyTensor, weakrefs);
  TensorType.tp_new = New;
  TensorType.tp_init = Init;
  TensorType.tp_dealloc = DeallocTensor;
  TensorType.tp_traverse = TraverseTensor;
  TensorType.tp_clear = ClearTensor;
  TensorType.tp_as_number = &TensorNumber;
  TensorType.tp_as_mapping = &TensorMapping;
  TensorType.tp_as_buffer = &buffer;
  TensorType.tp_richcompare = RichCompare;
  TensorType.tp_hash = PyBaseObject_Type.tp_hash;
  TensorType.tp_getset = fields;
  TensorType.tp_methods = methods;
  if (PyType_Ready(&TensorType) < 0) throw py::error_already_set();
  m.add_object("Tensor", py::handle(Upcast(&TensorType)));
}

}  // namespace dragon::python
