// x[...] and x[...] = y: Python's subscripts become lists of items for the engine.
#include "core/ops/index/subscript.h"

#include "core/base/inline_vector.h"
#include "core/bindings/recording.h"

namespace dragon::python {

namespace {

using Items = InlineVector<SubscriptItem, 4>;

SubscriptItem IntegerItem(PyObject* object) {
  // Integers beyond 64 bits are beyond any axis.
  const Py_ssize_t value = PyNumber_AsSsize_t(object, PyExc_IndexError);
  if (value == -1 && PyErr_Occurred()) throw py::error_already_set();
  return SubscriptItem::Integer(value);
}

/// None for a bound arrives as the bound it stands for.
SubscriptItem SliceItem(PyObject* object) {
  Py_ssize_t start, stop, step;
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
  if (IsTensor(object)) return SubscriptItem::Of(AsTensor(object));
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
    PyObject* item = PyList_GET_ITEM(key, i);
    const bool sequence = PySequence_Check(item) && !PyUnicode_Check(item);
    if (sequence || IsTensor(item) || PySlice_Check(item) || item == Py_Ellipsis || item == Py_None) return true;
  }
  return false;
}

Items ItemsOf(PyObject* key, const Tensor& x) {
  Items items;
  if (StandsForTuple(key)) {
    EachItem(key, [&](PyObject* item) { items.push_back(ItemOf(item, x)); });
    return items;
  }
  if (!PyTuple_Check(key)) {
    items.push_back(ItemOf(key, x));
    return items;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) items.push_back(ItemOf(PyTuple_GET_ITEM(key, i), x));
  return items;
}

}  // namespace

PyObject* GetItem(PyObject* self, PyObject* key) {
  return Guarded([&]() -> PyObject* {
    const Tensor& x = AsTensor(self);
    const Frontend* frontend = reinterpret_cast<PyTensor*>(self)->frontend;
    if (DRAGON_UNLIKELY(WantsOverride(frontend, self))) return CallSlotOverride(frontend, "__getitem__", self, key);
    const Items items = ItemsOf(key, x);
    const HeldBack held(frontend, std::span<const Tensor>(&x, 1));
    return Wrap(dragon::GetItem(x, items), frontend);
  });
}

int SetItem(PyObject* self, PyObject* key, PyObject* value) {
  return GuardedInt([&] {
    if (!value) throw TypeError("index").Says("elements of a tensor cannot be deleted");
    const Tensor& x = AsTensor(self);
    const Items items = ItemsOf(key, x);
    Tensor source;
    if (IsTensor(value)) {
      source = AsTensor(value);
    } else if (IsNumber(value)) {
      source = NumberLike(value, &x, Place{"index", nullptr});
    } else {
      source = FromData(value, nullptr, x.device(), "index");
    }
    dragon::SetItem(x, items, source);
    return 0;
  });
}

}  // namespace dragon::python
