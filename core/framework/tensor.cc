// Making tensors and asking about their geometry.
#include "core/framework/tensor.h"

#include <algorithm>

#include "core/framework/autograd/meta.h"  // a TensorImpl owns its books, so who makes one sees them

namespace dragon {

// Here and nowhere else: each library would keep a free list of its own, and what one frees another could not reuse.
#ifdef __SANITIZE_ADDRESS__
void* VersionCounter::operator new(size_t bytes) { return ::operator new(bytes); }
void VersionCounter::operator delete(void* pointer) { ::operator delete(pointer); }
void* Storage::operator new(size_t bytes) { return ::operator new(bytes); }
void Storage::operator delete(void* pointer) { ::operator delete(pointer); }
void* TensorImpl::operator new(size_t bytes) { return ::operator new(bytes); }
void TensorImpl::operator delete(void* pointer) { ::operator delete(pointer); }
#else
void* VersionCounter::operator new(size_t) { return FreeList<VersionCounter>::New(); }
void VersionCounter::operator delete(void* pointer) { FreeList<VersionCounter>::Delete(pointer); }
void* Storage::operator new(size_t) { return FreeList<Storage>::New(); }
void Storage::operator delete(void* pointer) { FreeList<Storage>::Delete(pointer); }
void* TensorImpl::operator new(size_t) { return FreeList<TensorImpl>::New(); }
void TensorImpl::operator delete(void* pointer) { FreeList<TensorImpl>::Delete(pointer); }
#endif

Dims ContiguousStrides(const Dims& shape) {
  Dims strides = shape;
  int64_t step = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

int64_t CheckedNumel(const char* who, const Dims& shape, int64_t item_size) {
  if (DRAGON_UNLIKELY(shape.size() > kMaxDims)) {
    throw ValueError(who).Got(shape.size(), " axes").Expected("at most ", kMaxDims);
  }
  int64_t numel = 1;
  bool empty = false, overflow = false;
  for (int64_t size : shape) {
    if (DRAGON_UNLIKELY(size < 0)) throw ValueError(who).Got("shape ", shape).Expected("sizes of at least 0");
    empty |= size == 0;
    overflow |= size != 0 && __builtin_mul_overflow(numel, size, &numel);
  }
  int64_t bytes;
  if (empty) return 0;
  if (DRAGON_UNLIKELY(overflow || __builtin_mul_overflow(numel, item_size, &bytes))) {
    throw ValueError(who).Got("shape ", shape).Expected("fewer than 2**63 bytes");
  }
  return numel;
}

bool IsContiguous(const Dims& shape, const Dims& strides) {
  int64_t expected = 1;
  bool contiguous = true;
  for (int i = shape.size() - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    contiguous &= strides[i] == expected;
    expected *= shape[i];
  }
  return contiguous;
}

namespace {

/// Axes longer than 1, ordered by stride.
Dims AxesByStride(const Dims& shape, const Dims& strides) {
  Dims axes;
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) axes.push_back(i);
  }
  std::stable_sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) { return strides[a] < strides[b]; });
  return axes;
}

}  // namespace

bool IsDense(const Dims& shape, const Dims& strides) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  int64_t expected = 1;
  for (int64_t axis : AxesByStride(shape, strides)) {
    if (strides[axis] != expected) return false;
    expected *= shape[axis];
  }
  return true;
}

bool MayOverlap(const Dims& shape, const Dims& strides) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return false;
  int64_t reach = 0;  // the largest offset that the axes so far can produce
  for (int64_t axis : AxesByStride(shape, strides)) {
    if (strides[axis] <= reach) return true;
    reach += strides[axis] * (shape[axis] - 1);
  }
  return false;
}

namespace {

Ref<TensorImpl> NewImpl(const Dims& shape, DType dtype, Device device, int64_t numel) {
  auto impl = MakeRef<TensorImpl>();
  impl->shape = shape;
  impl->dtype = dtype;
  impl->device = device;
  impl->numel = numel;
  return impl;
}

}  // namespace

Tensor Tensor::Empty(const Dims& shape, DType dtype, Device device) {
  const int64_t numel = CheckedNumel("empty", shape, ItemSize(dtype));
  auto impl = NewImpl(shape, dtype, device, numel);
  impl->strides = ContiguousStrides(shape);
  if (!device.is_meta()) impl->storage = MakeRef<Storage>(device, numel * ItemSize(dtype));
  return Tensor(std::move(impl));
}

namespace {

/// How many elements lie between the first and the last that shape and strides reach, both included.
int64_t CheckedExtent(const Dims& shape, const Dims& strides, int64_t numel) {
  if (shape.size() != strides.size()) {
    throw ValueError("empty_strided").Got("shape ", shape, " and strides ", strides).Expected("equally many of both");
  }
  int64_t extent = numel == 0 ? 0 : 1;
  for (int i = 0; i < shape.size() && numel; ++i) {
    if (strides[i] < 0) throw ValueError("empty_strided").Got("strides ", strides).Expected("none below 0");
    int64_t reach;
    if (__builtin_mul_overflow(strides[i], shape[i] - 1, &reach) || __builtin_add_overflow(extent, reach, &extent)) {
      throw ValueError("empty_strided").Got("strides ", strides).Expected("fewer than 2**63 elements");
    }
  }
  return extent;
}

template <typename... How>
Tensor NewStrided(const Dims& shape, const Dims& strides, DType dtype, Device device, How... how) {
  const int64_t numel = CheckedNumel("empty_strided", shape, ItemSize(dtype));
  const int64_t extent = CheckedExtent(shape, strides, numel);
  auto impl = NewImpl(shape, dtype, device, numel);
  impl->strides = strides;
  impl->contiguous = IsContiguous(shape, strides);
  if (!device.is_meta()) {
    const int64_t bytes = CheckedNumel("empty_strided", Dims{extent}, ItemSize(dtype)) * ItemSize(dtype);
    impl->storage = MakeRef<Storage>(how..., device, bytes);
  }
  return Tensor(std::move(impl));
}

}  // namespace

void Storage::Resize(size_t size) {
  if (!is_resizable()) {
    throw RuntimeError("storage")
        .Got(size, " bytes for memory that others look at as well")
        .Expected("the ", bytes, " that there are. Trying to resize storage that is not resizable");
  }
  if (size == 0) {
    memory.Empty();
  } else {
    memory.Grow(size);
    if (bytes == 0) Write();  // it was emptied
  }
  bytes = size;
  writes.fetch_add(1, std::memory_order_relaxed);
}

uint64_t& Storage::Mark() {
  static thread_local uint64_t mark = 0;
  return mark;
}

Tensor Tensor::EmptyStrided(const Dims& shape, const Dims& strides, DType dtype, Device device) {
  return NewStrided(shape, strides, dtype, device);
}

Tensor Tensor::Phantom(const Dims& shape, const Dims& strides, DType dtype, Device device) {
  return NewStrided(shape, strides.empty() ? ContiguousStrides(shape) : strides, dtype, device, Storage::Later{});
}

Tensor Tensor::Borrow(void* data, const Dims& shape, const Dims& strides, DType dtype, Device device,
                      std::function<void()> release) {
  const int64_t numel = CheckedNumel("from_memory", shape, ItemSize(dtype));
  int64_t extent = numel ? 1 : 0;
  for (int i = 0; i < shape.size() && numel; ++i) {
    int64_t reach;
    if (__builtin_mul_overflow(strides[i], shape[i] - 1, &reach) || __builtin_add_overflow(extent, reach, &extent)) {
      throw ValueError("from_memory").Got("strides ", strides).Expected("fewer than 2**63 elements");
    }
  }
  CheckedNumel("from_memory", Dims{extent}, ItemSize(dtype));
  if (!data && numel) throw ValueError("from_memory").Got("no address for shape ", shape).Expected("memory");
  auto impl = NewImpl(shape, dtype, device, numel);
  impl->strides = strides;
  impl->contiguous = IsContiguous(shape, strides);
  impl->storage = MakeRef<Storage>(data, extent * ItemSize(dtype), device, std::move(release));
  return Tensor(std::move(impl));
}

Tensor Tensor::Alias(Dims shape, Dims strides, int64_t offset, DType dtype) const {
  auto alias = MakeRef<TensorImpl>();
  alias->storage = impl_->storage;
  alias->own_version = impl_->own_version;
  alias->numel = CheckedNumel("view", shape, ItemSize(dtype));
  alias->contiguous = IsContiguous(shape, strides);
  alias->shape = std::move(shape);
  alias->strides = std::move(strides);
  alias->offset = offset;
  alias->dtype = dtype;
  alias->device = impl_->device;
  return Tensor(std::move(alias));
}

}  // namespace dragon
