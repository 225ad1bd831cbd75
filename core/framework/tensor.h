// Tensor: strided numbers over a shared storage, with a place for autograd to keep its books.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/base/dims.h"
#include "core/base/error.h"
#include "core/base/inline_vector.h"
#include "core/base/ref.h"
#include "core/base/types.h"
#include "core/device/device.h"
#include "core/device/memory.h"
#include "core/framework/value.h"
#include "core/kernels/view.h"

namespace dragon {

struct AutogradMeta;  // core/framework/autograd/meta.h
struct TensorParts;   // core/framework/parts.h
class Tensor;

/// Counts the writes to a piece of memory, so that autograd notices when a saved value has changed.
class DRAGON_API VersionCounter : public RefCounted<VersionCounter> {
 public:
  uint32_t value() const { return value_.load(std::memory_order_relaxed); }
  void Bump() { value_.fetch_add(1, std::memory_order_relaxed); }
  static void* operator new(size_t);
  static void operator delete(void* pointer);

 private:
  std::atomic<uint32_t> value_{0};
};

/// The memory that tensors and their views share.
class DRAGON_API Storage : public RefCounted<Storage> {
 public:
  Storage(Device device, size_t bytes) : memory(device, bytes), device(device), bytes(bytes), mark(Mark()) {}
  /// Memory that is allocated when somebody asks for it.
  struct Later {};
  Storage(Later, Device device, size_t bytes) : memory(bytes), device(device), bytes(bytes), mark(Mark()) {}
  /// Borrow memory on `device`; `release` is called when the last tensor goes.
  Storage(void* data, size_t bytes, Device device, std::function<void()> release)
      : memory(device, data, bytes, std::move(release)), device(device), bytes(bytes), mark(Mark()) {}
  /// What new storages of this thread are marked with: the trace they are made in, 0 outside of any.
  static uint64_t& Mark();
  static void* operator new(size_t);
  static void operator delete(void* pointer);

  /// Have so many bytes; the first of them say what they said. Tensors that look at more than there are keep their
  /// places: memory shrinks to nothing only, and comes back when somebody writes to it.
  void Resize(size_t size);
  bool is_resizable() const { return !memory.is_borrowed() && !lent; }

  /// The bytes on this storage's device, brought there if need be.
  const void* Read() { return DRAGON_LIKELY(device.is_cpu()) ? memory.host() : memory.device(device); }
  void* Write() { return DRAGON_LIKELY(device.is_cpu()) ? memory.mutable_host() : memory.mutable_device(device); }

  UnifiedMemory memory;
  Device device;
  size_t bytes;
  VersionCounter version;
  uint64_t mark;  ///< a trace's note of what it knows about this memory; see core/framework/trace.h
  /// Every write through the door counts here, those that autograd must not see as well. Once `lent`, others may write.
  std::atomic<uint32_t> writes{0};
  std::atomic<bool> lent{false};
  /// The run that worked out shapes and made these numbers all the same (PhantomRun); 0: they are no such run's.
  uint32_t imagined = 0;
};

class DRAGON_API TensorImpl : public RefCounted<TensorImpl> {
 public:
  TensorImpl() = default;
  ~TensorImpl();
  static void* operator new(size_t);
  static void operator delete(void* pointer);

  VersionCounter& version() { return own_version ? *own_version : storage->version; }
  uint32_t version_value() const { return own_version ? own_version->value() : storage ? storage->version.value() : 0; }

  Ref<Storage> storage;  ///< null for meta tensors, and for those that are made of others
  Dims shape, strides;
  int64_t offset = 0;  ///< of the first element, in elements
  int64_t numel = 0;
  DType dtype = DType::kFloat32;
  Device device;
  bool contiguous = true;
  bool weak = false;  ///< stands for a bare Python number: yields to other dtypes
  /// Strides were our choice, not the user's; whoever looks at them gets row-major.
  std::atomic<bool> free_layout{false};
  std::atomic<int32_t> layout_readers{0};  ///< threads that read how it lies; see core/framework/layout.h
  Ref<TensorImpl> base;                    ///< the tensor this one is a view of
  uint32_t view_version = 0;               ///< version of the memory when this view's history was written
  Ref<VersionCounter> own_version;         ///< for aliases whose writes autograd must not see (`.data`)
  std::unique_ptr<AutogradMeta> autograd;
  std::shared_ptr<TensorParts> parts;  ///< what it is made of instead of memory
  std::atomic<void*> python{nullptr};  ///< the Python object that shows this tensor, while it lives
};

class DRAGON_API Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Ref<TensorImpl> impl) : impl_(std::move(impl)) {}

  /// Uninitialised, row-major. A negative or overflowing size is a ValueError.
  static Tensor Empty(const Dims& shape, DType dtype, Device device = {});
  /// Uninitialised with the given strides, which must be dense or at least non-negative.
  static Tensor EmptyStrided(const Dims& shape, const Dims& strides, DType dtype, Device device = {});
  /// The same, but memory is allocated when somebody asks for it: for tensors of which only the form is wanted.
  static Tensor Phantom(const Dims& shape, const Dims& strides, DType dtype, Device device = {});
  /// A 0-d tensor on the CPU.
  static Tensor Scalar(const Value& number, DType dtype);
  /// A tensor over borrowed memory, which must hold every element that shape and (non-negative) strides can reach.
  static Tensor Borrow(void* data, const Dims& shape, const Dims& strides, DType dtype, Device device,
                       std::function<void()> release);

  bool defined() const { return static_cast<bool>(impl_); }
  explicit operator bool() const { return defined(); }
  TensorImpl* impl() const { return impl_.get(); }
  const Ref<TensorImpl>& ref() const { return impl_; }
  Ref<TensorImpl>& ref() { return impl_; }
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }

  const Dims& shape() const { return impl_->shape; }
  const Dims& strides() const { return impl_->strides; }
  int ndim() const { return impl_->shape.size(); }
  int64_t numel() const { return impl_->numel; }
  int64_t offset() const { return impl_->offset; }
  /// The size of an axis; negative axes count from the end.
  int64_t size(int64_t axis) const { return impl_->shape[axis < 0 ? axis + ndim() : axis]; }
  DType dtype() const { return impl_->dtype; }
  Device device() const { return impl_->device; }
  int64_t item_size() const { return ItemSize(impl_->dtype); }
  bool is_contiguous() const { return impl_->contiguous; }
  bool is_meta() const { return impl_->device.is_meta(); }
  bool is_floating() const { return IsFloating(impl_->dtype); }
  bool is_complex() const { return IsComplex(impl_->dtype); }

  /// Where the numbers are on the tensor's own device, for reading; moved there first if need be.
  const void* data() const {
    if (DRAGON_UNLIKELY(!impl_->storage)) return NoData();
    return static_cast<const char*>(impl_->storage->Read()) + impl_->offset * item_size();
  }
  /// The same for writing. Does not count as a write for autograd: Apply does that.
  void* mutable_data() const {
    if (DRAGON_UNLIKELY(!impl_->storage)) return NoData();
    return static_cast<char*>(impl_->storage->Write()) + impl_->offset * item_size();
  }
  View view() const { return MakeView(const_cast<void*>(data())); }
  View mutable_view() const { return MakeView(mutable_data()); }

  /// The single number of a one-element tensor, as bool, int, double or complex.
  Value Item() const;
  /// Somebody is about to look at the numbers: where calls are traced, what depends on them cannot be.
  void Observe(const char* how) const;
  /// Row-major strides when the present ones were the engine's choice; see TensorImpl::free_layout.
  void Settle() const;

  /// Shares memory and version; no history.
  Tensor Detach() const;
  /// An alias with another geometry over the same storage, without history (the door adds that).
  Tensor Alias(Dims shape, Dims strides, int64_t offset, DType dtype) const;
  Tensor Alias(Dims shape, Dims strides, int64_t offset) const {
    return Alias(std::move(shape), std::move(strides), offset, dtype());
  }

  bool requires_grad() const;
  /// Part of the graph by choice rather than by computation.
  bool is_leaf() const;
  void set_requires_grad(bool value) const;
  /// The accumulated gradient; undefined when there is none.
  const Tensor& grad() const;
  void set_grad(Tensor grad) const;

 private:
  /// Null for a meta tensor; a TypeError for one that is made of others.
  void* NoData() const;
  View MakeView(void* data) const {
    return {data, impl_->shape.data(), impl_->strides.data(), impl_->numel, impl_->shape.size(), impl_->dtype};
  }
  Ref<TensorImpl> impl_;
};

using Tensors = InlineVector<Tensor, 2>;

/// Row-major strides.
DRAGON_API Dims ContiguousStrides(const Dims& shape);
/// The product of the sizes; a ValueError in the name of `who` if one is negative or the product overflows.
DRAGON_API int64_t CheckedNumel(const char* who, const Dims& shape, int64_t item_size);
DRAGON_API bool IsContiguous(const Dims& shape, const Dims& strides);
/// Elements fill their memory without gaps or overlaps, in whatever order of axes.
DRAGON_API bool IsDense(const Dims& shape, const Dims& strides);
/// Two indices may reach one element (a stride of 0, or overlapping windows).
DRAGON_API bool MayOverlap(const Dims& shape, const Dims& strides);

}  // namespace dragon
