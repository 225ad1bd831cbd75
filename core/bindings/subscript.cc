// x[...] and x[...] = y: Python's subscripts become lists of items for the engine.
#include "core/ops/index/subscript.h"

#include "core/base/inline_vector.h"
#include "core/bindings/recording.h"
#include "core/bindings/shared_places.h"
#include "core/framework/scribe.h"

namespace dragon::python {

namespace {

using Items = InlineVector<SubscriptItem, 4>;

/// A bound of an item that follows a size: which item, which of its words, which number.
struct Followed {
  int item, word;
  NumberId number;
};
/// Those of the subscript that is being read.
thread_local InlineVector<Followed, 4> t_followed;
thread_local int t_item = 0;

/// The integer that an object is at the moment, where it follows a size.
py::object Plain(PyObject* object, int word) {
  const NumberId number = NumberOf(object);
  if (number < 0) return py::reinterpret_borrow<py::object>(object);
  t_followed.push_back({t_item, word, number});
  return HintOf(number);
}

SubscriptItem IntegerItem(PyObject* given) {
  const py::object plain = Plain(given, kSubscriptStart);
  PyObject* object = plain.ptr();
  // Integers beyond 64 bits are beyond any axis.
  const Py_ssize_t value = PyNumber_AsSsize_t(object, PyExc_IndexError);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  return SubscriptItem::Integer(value);
}

/// None for a bound arrives as the bound it stands for.
SubscriptItem SliceItem(PyObject* object) {
  Py_ssize_t start, stop, step;
  py::object plain;
  if (IsAnyWrittenDown() && Scribe::Current()) {
    const auto* slice = Self<PySliceObject>(object);
    plain = py::reinterpret_steal<py::object>(PySlice_New(Plain(slice->start, kSubscriptStart).ptr(),
                                                          Plain(slice->stop, kSubscriptStart + 1).ptr(),
                                                          Plain(slice->step, kSubscriptStart + 2).ptr()));
    object = plain.ptr();
  }
  if (PySlice_Unpack(object, &start, &stop, &step) < 0) throw py::error_already_set();
  SubscriptItem item = SubscriptItem::Slice();
  item.has_start = item.has_stop = true;
  item.start = start, item.stop = stop, item.step = step;
  return item;
}

/// A list or an array of numbers: indices, or a mask. A list without numbers lists no index.
SubscriptItem ArrayItem(PyObject* object, const Tensor& x) {
  const Tensor index = FromData(object, nullptr, x.device(), "index");
  const bool nothing = index.numel() == 0 && PyList_Check(object);
  return SubscriptItem::Of(nothing ? Tensor::Empty(index.shape(), DType::kInt64, x.device()) : index);
}

SubscriptItem ItemOf(PyObject* object, const Tensor& x) {
  if (PyBool_Check(object)) return SubscriptItem::Bool(object == Py_True);
  if (PyLong_Check(object)) return IntegerItem(object);
  if (PySlice_Check(object)) return SliceItem(object);
  if (object == Py_None) return SubscriptItem::None();
  if (object == Py_Ellipsis) return SubscriptItem::Ellipsis();
  if (const Tensor* tensor = TensorIf(object)) return SubscriptItem::Of(*tensor);
  if (PyList_Check(object) || PyTuple_Check(object)) return ArrayItem(object, x);
  if (PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object)) return ArrayItem(object, x);
  if (PyIndex_Check(object)) return IntegerItem(object);
  if (PySequence_Check(object) && !PyUnicode_Check(object) && !PyBytes_Check(object)) return ArrayItem(object, x);
  throw TypeError("index")
      .Got("a '", Py_TYPE(object)->tp_name, "'")
      .Expected("an integer, a slice, None, ..., a bool, or a tensor or list of integers or bools");
}

/// PyTorch reads a short list that holds more than numbers as a tuple: x[[a, b]] with lists or tensors is x[a, b].
bool StandsForTuple(PyObject* key) {
  if (!PyList_Check(key) || PyList_GET_SIZE(key) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(key); ++i) {
    PyObject* item = ItemAt(key, i);
    const bool sequence = PySequence_Check(item) && !PyUnicode_Check(item);
    if (sequence || IsTensor(item) || PySlice_Check(item) || item == Py_Ellipsis || item == Py_None) return true;
  }
  return false;
}

Items ItemsOf(PyObject* key, const Tensor& x) {
  Items items;
  if (IsAnyWrittenDown()) t_followed.clear();
  const auto take = [&](PyObject* item) {
    if (IsAnyWrittenDown()) t_item = static_cast<int>(items.size());
    items.push_back(ItemOf(item, x));
  };
  if (StandsForTuple(key)) {
    EachItem(key, take);
  } else if (!PyTuple_Check(key)) {
    take(key);
  } else {
    EachItem(key, take);
  }
  return items;
}

/// While calls are written down the subscript is one of them, with bounds as the program wrote them.
Tensor ThroughTheDoor(const Operator& op, const Tensor& x, const Tensor* value, const Items& items) {
  std::vector<Tensor> tensors;
  const Value attrs[] = {WordsOf(items, &tensors)};
  const std::array<int32_t, 1> sizes{static_cast<int32_t>(tensors.size())};
  if (value) tensors.insert(tensors.begin(), *value);
  tensors.insert(tensors.begin(), x);
  for (const Followed& followed : t_followed) {
    Scribe::Current()->Follow(op.name(), 0, followed.item * kSubscriptWords + followed.word, followed.number);
  }
  return Apply(Call{&op, tensors, attrs, sizes})[0];
}

}  // namespace

PyObject* GetItem(PyObject* self, PyObject* key) {
  return Guarded([&]() -> PyObject* {
    const Tensor& x = SelfTensor(self);
    const Frontend* frontend = Self<PyTensor>(self)->frontend;
    PyObject* const asked[] = {self, key};
    if (DRAGON_UNLIKELY(WantsOverride(frontend, asked, PyLong_CheckExact(key) ? 1 : 2, nullptr))) {
      return CallSlotOverride(frontend, "__getitem__", {self, key});
    }
    const Items items = ItemsOf(key, x);
    const HeldBack held(frontend, std::span<const Tensor>(&x, 1));
    if (IsAnyWrittenDown() && Scribe::Current()) {
      return Wrap(ThroughTheDoor(OpNamed<"subscript">(), x, nullptr, items), frontend);
    }
    return Wrap(dragon::GetItem(x, items), frontend);
  });
}

int SetItem(PyObject* self, PyObject* key, PyObject* value) {
  return GuardedInt([&] {
    if (!value) throw TypeError("index").Says("elements of a tensor cannot be deleted");
    const Tensor& x = SelfTensor(self);
    const Frontend* frontend = Self<PyTensor>(self)->frontend;
    PyObject* const asked[] = {self, key, value};
    if (DRAGON_UNLIKELY(WantsOverride(frontend, asked, 3, nullptr))) {
      PyObject* answer = CallSlotOverride(frontend, "__setitem__", {self, key, value});
      Py_XDECREF(answer);
      return answer ? 0 : -1;
    }
    const Items items = ItemsOf(key, x);
    Tensor source;
    if (const Tensor* given = TensorIf(value)) {
      source = *given;
    } else if (IsNumber(value) || NumberOf(value) >= 0) {
      source = NumberLike(value, &x, Place{"index", nullptr});
    } else {
      source = FromData(value, nullptr, x.device(), "index");
    }
    if (IsAnyWrittenDown() && Scribe::Current()) {
      ThroughTheDoor(OpNamed<"subscript_write">(), x, &source, items);
    } else {
      RefuseSharedWrite(frontend, x, items, source);
      dragon::SetItem(x, items, source);
    }
    return 0;
  });
}

}  // namespace dragon::python
