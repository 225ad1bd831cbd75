// Where a tensor's own memory is exchanged: what fits, what is kept, and what must be left alone.
#include "core/bindings/other_memory.h"

#include <algorithm>
#include <cstring>

namespace dragon::python {

namespace {

/// A window must lie within the memory of the tensor it is cut from.
void CheckWindow(const Tensor& from, const Dims& shape, const Dims& strides, int64_t offset) {
  if (shape.size() != strides.size() || offset < 0) {
    throw ValueError("set_storage")
        .Got("shape ", shape, ", strides ", strides, " and offset ", offset)
        .Expected("as many strides as sizes, and an offset of at least 0");
  }
  const int64_t numel = CheckedNumel("set_storage", shape, from.item_size());
  int64_t last = offset;
  bool fits = true;
  for (int i = 0; i < shape.size() && numel; ++i) {
    int64_t reach;
    fits &= strides[i] >= 0 && !__builtin_mul_overflow(strides[i], shape[i] - 1, &reach) &&
            !__builtin_add_overflow(last, reach, &last);
  }
  const int64_t held = from.impl()->storage ? static_cast<int64_t>(from.impl()->storage->bytes) / from.item_size() : 0;
  if (from.is_meta() || !numel || (fits && last < held)) return;
  throw ValueError("set_storage")
      .Got("shape ", shape, ", strides ", strides, " and offset ", offset, " in memory of ", held, " elements")
      .Expected("a window within it");
}

}  // namespace

void TakeOver(TensorImpl& mine, const TensorImpl& other) {
  mine.storage = other.storage;
  mine.shape = other.shape;
  mine.strides = other.strides;
  mine.offset = other.offset;
  mine.numel = other.numel;
  mine.dtype = other.dtype;
  mine.device = other.device;
  mine.contiguous = other.contiguous;
  mine.free_layout = other.free_layout.load(std::memory_order_relaxed);
  mine.parts = other.parts;
  mine.base = nullptr;
}

int SetData(PyObject* self, PyObject* value, void*) {
  return GuardedInt([&] {
    TakeOver(*SelfTensor(self).impl(), *TensorIn(value ? value : Py_None, "data").impl());
    return 0;
  });
}

PyObject* SetStorage(PyObject* self, PyObject* args) {
  return Guarded([&]() -> PyObject* {
    PyObject *source, *shape_given, *strides_given;
    long long offset = 0;
    if (!PyArg_ParseTuple(args, "OOO|L:set_storage", &source, &shape_given, &strides_given, &offset)) return nullptr;
    const Place place{"set_storage", nullptr};
    const Tensor from = TensorIn(source, "set_storage");
    from.Settle();
    const Dims shape = ParseDims(shape_given, place);
    const Dims strides = strides_given == Py_None ? ContiguousStrides(shape) : ParseDims(strides_given, place);
    CheckWindow(from, shape, strides, offset);
    TakeOver(*SelfTensor(self).impl(), *from.Alias(shape, strides, offset).impl());
    return Py_NewRef(self);
  });
}

PyObject* Resize(PyObject* self, PyObject* shape_given) {
  return Guarded([&]() -> PyObject* {
    const Tensor& x = SelfTensor(self);
    x.Settle();
    const Dims shape = ParseDims(shape_given, {"resize", nullptr});
    const int64_t numel = CheckedNumel("resize", shape, x.item_size());
    const int64_t held = x.impl()->storage ? static_cast<int64_t>(x.impl()->storage->bytes) / x.item_size() : 0;
    Tensor fresh;
    // An empty view may begin anywhere, behind the end of its memory as well.
    const int64_t kept = x.offset() < 0 ? 0 : std::max<int64_t>(held - x.offset(), 0);
    if (x.is_meta() || (x.offset() >= 0 && numel <= kept)) {
      fresh = x.Alias(shape, ContiguousStrides(shape), x.offset());
    } else {
      fresh = Tensor::Empty(shape, x.dtype(), x.device());
      if (x.device().is_cpu()) {
        if (kept > 0) std::memcpy(fresh.mutable_data(), x.data(), kept * x.item_size());
      } else if (kept > 0) {
        const Dims old{kept};
        OpInto<"copy">(fresh.Alias(old, {1}, 0), x.Alias(old, {1}, x.offset()));
      }
    }
    TakeOver(*x.impl(), *fresh.impl());
    return Py_NewRef(self);
  });
}

PyObject* ResizeStorage(PyObject* self, PyObject* bytes) {
  return Guarded([&]() -> PyObject* {
    const Py_ssize_t size = PyNumber_AsSsize_t(bytes, PyExc_OverflowError);
    if (size == -1 && PyErr_Occurred()) return nullptr;
    if (size < 0) throw ValueError("storage").Got(size, " bytes").Expected("at least 0");
    TensorImpl& impl = *SelfTensor(self).impl();
    if (!impl.storage) throw TypeError("storage").Got("a tensor without memory of its own").Expected("one with memory");
    impl.storage->Resize(static_cast<size_t>(size));
    return Py_NewRef(self);
  });
}

}  // namespace dragon::python
