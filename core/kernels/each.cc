// Running a pointwise loop over a plan: gathering, converting and scattering blocks, sharing them among threads.
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/array.h"
#include "core/kernels/convert.h"
#include "core/kernels/plan.h"
#include "core/kernels/stream.h"
#include "core/kernels/transfer.h"

namespace dragon::kernels {

namespace {

/// Elements of a block: with the few operands of a kernel it stays in the first-level cache.
constexpr int64_t kBlock = 1024;
constexpr int64_t kBlockBytes = kBlock * 16;
/// Rows shorter than this are walked several at a time.
constexpr int64_t kShortRow = 256;
struct Pair {
  uint64_t low, high;
};

/// One item n times, 16 bytes at a step: this file is compiled for every machine, without vector loops of its own.
template <typename T>
void Repeat(T* to, T item, int64_t n) {
  typedef T Vector __attribute__((vector_size(16), aligned(alignof(T))));
  constexpr int64_t kItems = sizeof(Vector) / sizeof(T);
  const Vector items = Vector{} + item;
  int64_t i = 0;
  for (; i + 4 * kItems <= n; i += 4 * kItems) {
    for (int k = 0; k < 4; ++k) *reinterpret_cast<Vector*>(to + i + k * kItems) = items;
  }
  for (; i + kItems <= n; i += kItems) *reinterpret_cast<Vector*>(to + i) = items;
  for (; i < n; ++i) to[i] = item;
}
inline void Repeat(Pair* to, Pair item, int64_t n) { std::fill_n(to, n, item); }

template <typename T>
void CopyItems(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t n) {
  if (to_stride == sizeof(T) && from_stride == 0) {
    Repeat(reinterpret_cast<T*>(to), *reinterpret_cast<const T*>(from), n);
    return;
  }
  for (int64_t i = 0; i < n; ++i, to += to_stride, from += from_stride) {
    *reinterpret_cast<T*>(to) = *reinterpret_cast<const T*>(from);
  }
}

/// Walks one thread's share of a plan block by block and hands the loop contiguous operands.
class Walker {
 public:
  Walker(const Plan& plan, const Loop& loop, int64_t begin, int64_t end)
      : plan_(plan), loop_(loop), position_(begin), end_(end) {
    const int64_t inner = plan.shape[plan.ndim - 1];
    short_rows_ = inner < kShortRow;
    bool all_direct = !short_rows_;
    for (int k = 0; k < plan.count; ++k) {
      const Plan::Operand& operand = plan.operands[k];
      const bool row = short_rows_ ? operand.contiguous : operand.strides[plan.ndim - 1] == operand.item_size;
      direct_[k] = row;
      period_[k] = short_rows_ && !row && k >= loop.outputs ? PeriodOf(operand, ItemSize(loop.dtypes[k])) : 0;
      all_direct &= row && operand.dtype == loop.dtypes[k];
    }
    limit_ = all_direct ? end - begin : kBlock;
  }

  void Run(const void* functor) {
    while (position_ < end_) {
      Seek();
      int64_t n = std::min(limit_, end_ - position_);
      if (!short_rows_) n = std::min(n, plan_.shape[plan_.ndim - 1] - index_[plan_.ndim - 1]);
      for (int k = 0; k < plan_.count; ++k) data_[k] = k < loop_.outputs ? Target(k) : Load(k, n);
      loop_.run(functor, n, data_);
      for (int k = 0; k < loop_.outputs; ++k) Store(k, n);
      position_ += n;
    }
  }

 private:
  /// Find the axes' indices and every operand's address at the current position.
  void Seek() {
    int64_t rest = position_;
    for (int axis = plan_.ndim - 1; axis > 0; --axis) {
      const int64_t outer = rest / plan_.shape[axis];
      index_[axis] = rest - outer * plan_.shape[axis];
      rest = outer;
    }
    index_[0] = rest;
    for (int k = 0; k < plan_.count; ++k) {
      char* address = plan_.operands[k].data;
      for (int axis = 0; axis < plan_.ndim; ++axis) address += index_[axis] * plan_.operands[k].strides[axis];
      at_[k] = address;
    }
  }

  /// Where the loop may write operand k: its own memory if that needs neither conversion nor scattering.
  void* Target(int k) { return direct_[k] && plan_.operands[k].dtype == loop_.dtypes[k] ? at_[k] : converted_[k]; }

  void* Load(int k, int64_t n) {
    const Plan::Operand& operand = plan_.operands[k];
    const bool converts = operand.dtype != loop_.dtypes[k];
    if (direct_[k] && !converts) return at_[k];
    if (period_[k]) return LoadPeriodic(k);
    const bool repeats = operand.constant || (!short_rows_ && operand.strides[plan_.ndim - 1] == 0);
    if (repeats && repeated_[k] == at_[k] && repeated_count_[k] >= n) return converted_[k];
    repeated_[k] = repeats ? at_[k] : nullptr;
    repeated_count_[k] = n;
    const char* raw = at_[k];
    if (!direct_[k]) {
      char* gathered = converts ? raw_[k] : converted_[k];
      if (operand.constant) {
        CopyRun(gathered, operand.item_size, at_[k], 0, operand.item_size, n);
      } else {
        Transfer<true>(operand, at_[k], gathered, n);
      }
      raw = gathered;
    }
    if (converts) ConvertRun(converted_[k], loop_.dtypes[k], raw, operand.dtype, n);
    return converted_[k];
  }

  /// How many items of an operand come again and again, as the numbers of channels do that stand last; 0 for others.
  int64_t PeriodOf(const Plan::Operand& operand, int64_t loop_size) const {
    int64_t period = 1;
    int axis = plan_.ndim - 1;
    for (; axis >= 0 && operand.strides[axis] == period * operand.item_size; --axis) period *= plan_.shape[axis];
    for (; axis >= 0; --axis) {
      if (operand.strides[axis] != 0) return 0;
    }
    const bool fits = (kBlock + period) * std::max(operand.item_size, loop_size) <= kBlockBytes;
    return period > 1 && period <= kBlock && fits ? period : 0;
  }

  /// A block's worth of periods, written once; a block begins somewhere in the first of them.
  void* LoadPeriodic(int k) {
    const Plan::Operand& operand = plan_.operands[k];
    const int64_t period = period_[k], size = ItemSize(loop_.dtypes[k]);
    if (!repeated_[k]) {
      repeated_[k] = operand.data;
      if (operand.dtype == loop_.dtypes[k]) {
        std::memcpy(converted_[k], operand.data, period * size);
      } else {
        ConvertRun(converted_[k], loop_.dtypes[k], operand.data, operand.dtype, period);
      }
      const int64_t bytes = (kBlock + period) * size;
      for (int64_t done = period * size; done < bytes; done *= 2) {
        std::memcpy(converted_[k] + done, converted_[k], std::min(done, bytes - done));
      }
    }
    return converted_[k] + position_ % period * size;
  }

  void Store(int k, int64_t n) {
    const Plan::Operand& operand = plan_.operands[k];
    if (data_[k] == at_[k]) return;
    const bool converts = operand.dtype != loop_.dtypes[k];
    char* raw = converted_[k];
    if (converts) {
      raw = direct_[k] ? at_[k] : raw_[k];
      ConvertRun(raw, operand.dtype, converted_[k], loop_.dtypes[k], n);
    }
    if (!direct_[k]) Transfer<false>(operand, at_[k], raw, n);
  }

  /// Move n elements between a strided operand and a buffer.
  template <bool kGather>
  void Transfer(const Plan::Operand& operand, char* address, char* buffer, int64_t n) const {
    kernels::Transfer<kGather>(plan_.ndim, plan_.shape, operand.strides, index_, operand.item_size, address, buffer, n);
  }

  const Plan& plan_;
  const Loop& loop_;
  int64_t position_, end_, limit_;
  bool short_rows_;
  bool direct_[kMaxOperands];
  int64_t index_[kMaxDims];
  char* at_[kMaxOperands];
  void* data_[kMaxOperands];
  const char* repeated_[kMaxOperands] = {};
  int64_t period_[kMaxOperands];
  int64_t repeated_count_[kMaxOperands];
  alignas(64) char converted_[kMaxOperands][kBlockBytes];
  alignas(64) char raw_[kMaxOperands][kBlockBytes];
};

/// True if `view` is `first` element by element, in memory order, in the loop's own type.
inline bool IsDense(const View& view, const View& first, DType dtype) {
  if (view.dtype != dtype || view.ndim != first.ndim) return false;
  int64_t expected = 1;
  for (int axis = first.ndim - 1; axis >= 0; --axis) {
    const int64_t size = first.shape[axis];
    if (view.shape[axis] != size || (size != 1 && view.strides[axis] != expected)) return false;
    expected *= size;
  }
  return true;
}

inline bool IsScalar(const View& view, const View& first, DType dtype) {
  return view.numel == 1 && view.dtype == dtype && view.ndim <= first.ndim;
}

/// All operands dense, or single numbers that stand for a dense operand: no plan is needed.
struct DenseRun {
  const Loop& loop;
  const void* functor;
  const View* const* views;
  unsigned scalars;
  bool streams;

  void operator()(int64_t begin, int64_t end) const {
    void* data[kMaxOperands];
    if (scalars == 0 && !streams) {
      for (int k = 0; k < loop.count; ++k) data[k] = Address(k, begin);
      loop.run(functor, end - begin, data);
      return;
    }
    InBlocks(begin, end);
  }

 private:
  char* Address(int k, int64_t i) const { return views[k]->as<char>() + i * ItemSize(loop.dtypes[k]); }

  void InBlocks(int64_t begin, int64_t end) const {
    alignas(64) char buffers[kMaxOperands][kBlockBytes];
    void* data[kMaxOperands];
    const int64_t filled = std::min(kBlock, end - begin);
    for (int k = loop.outputs; k < loop.count; ++k) {
      if (!(scalars >> k & 1)) continue;
      CopyRun(buffers[k], ItemSize(loop.dtypes[k]), views[k]->as<char>(), 0, ItemSize(loop.dtypes[k]), filled);
    }
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t n = std::min(kBlock, end - i);
      for (int k = 0; k < loop.count; ++k) {
        const bool buffered = (scalars >> k & 1) || (streams && k < loop.outputs);
        data[k] = buffered ? buffers[k] : Address(k, i);
      }
      loop.run(functor, n, data);
      for (int k = 0; streams && k < loop.outputs; ++k) {
        StreamCopy(Address(k, i), buffers[k], n * ItemSize(loop.dtypes[k]));
      }
    }
    if (streams) StreamEnd();
  }
};

/// Streaming pays for one large aligned output that is not also an input (which the caches hold already).
bool ShouldStream(const Loop& loop, const View* const* views) {
  const View& y = *views[0];
  if (loop.outputs != 1 || y.numel * ItemSize(y.dtype) < kStreamBytes) return false;
  if (reinterpret_cast<uintptr_t>(y.data) % 64) return false;
  for (int k = 1; k < loop.count; ++k) {
    if (views[k]->data == y.data) return false;
  }
  return true;
}

/// From here on an operand that runs across the output's direction is first copied straight.
constexpr int64_t kLoopWorthStraightening = 1 << 16;

/// Copy operand k tile by tile into memory in the plan's order, and let the plan read that.
Scratch Straighten(Plan& plan, int k) {
  Plan::Operand& operand = plan.operands[k];
  Scratch memory(Device{}, static_cast<size_t>(plan.numel * operand.item_size));
  int64_t from[kMaxDims], to[kMaxDims];
  int64_t expected = 1;
  for (int axis = plan.ndim - 1; axis >= 0; --axis) {
    from[axis] = operand.strides[axis] / operand.item_size;
    to[axis] = expected;
    expected *= plan.shape[axis];
  }
  Context host;
  Copy(host, operand.dtype, View{memory.data(), plan.shape, to, plan.numel, plan.ndim, operand.dtype},
       View{operand.data, plan.shape, from, plan.numel, plan.ndim, operand.dtype});
  operand.data = memory.as<char>();
  operand.contiguous = true;
  for (int axis = 0; axis < plan.ndim; ++axis) operand.strides[axis] = to[axis] * operand.item_size;
  return memory;
}

/// Operands that a plan has merged into one axis, as the rows they are.
class Rows {
 public:
  Rows(const Plan& plan, const Loop& loop) : numel_(plan.numel) {
    usable_ = plan.ndim == 1;
    for (int k = 0; k < plan.count && usable_; ++k) {
      const Plan::Operand& operand = plan.operands[k];
      const bool number = operand.constant && k >= loop.outputs && plan.numel > 1;
      usable_ = operand.dtype == loop.dtypes[k] && (operand.contiguous || number);
      const bool one = number && !operand.contiguous;
      views_[k] = View{operand.data, one ? &kOne : &numel_, &kOne, one ? 1 : numel_, 1, operand.dtype};
      pointers_[k] = &views_[k];
      if (one) scalars_ |= 1u << k;
    }
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  bool usable() const { return usable_; }
  unsigned scalars() const { return scalars_; }
  const View* const* views() const { return pointers_; }

 private:
  static constexpr int64_t kOne = 1;
  int64_t numel_;
  bool usable_;
  unsigned scalars_ = 0;
  View views_[kMaxOperands];
  const View* pointers_[kMaxOperands];
};

}  // namespace

LoopListener*& CurrentLoopListener() {
  static thread_local LoopListener* listener = nullptr;
  return listener;
}

void RunEach(const Loop& loop, const void* functor, const View* const* views) {
  if (DRAGON_UNLIKELY(CurrentLoopListener() != nullptr)) return CurrentLoopListener()->Hear(loop, functor, views);
  const View& first = *views[0];
  if (first.numel == 0) return;
  const int64_t grain = loop.cost ? std::max<int64_t>(kGrain / loop.cost, 64) : 8 * kGrain;
  unsigned scalars = 0;
  bool dense = true;
  for (int k = 0; k < loop.count && dense; ++k) {
    if (IsDense(*views[k], first, loop.dtypes[k])) continue;
    dense = k >= loop.outputs && IsScalar(*views[k], first, loop.dtypes[k]);
    scalars |= 1u << k;
  }
  if (dense) {
    ParallelFor(first.numel, grain, DenseRun{loop, functor, views, scalars, ShouldStream(loop, views)});
    return;
  }
  Plan plan(views, loop.count);
  if (const Rows rows(plan, loop); rows.usable()) {
    ParallelFor(plan.numel, grain,
                DenseRun{loop, functor, rows.views(), rows.scalars(), ShouldStream(loop, rows.views())});
    return;
  }
  std::vector<Scratch> straightened;
  for (int k = loop.outputs; k < loop.count && loop.count > 1 + loop.outputs && plan.numel >= kLoopWorthStraightening;
       ++k) {
    const Plan::Operand& operand = plan.operands[k];
    if (!RunsAcross(plan.ndim, plan.shape, operand.strides, operand.item_size)) continue;
    straightened.push_back(Straighten(plan, k));
  }
  ParallelFor(plan.numel, grain, [&](int64_t begin, int64_t end) { Walker(plan, loop, begin, end).Run(functor); });
}

void CopyRun(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t size, int64_t n) {
  if (to_stride == size && from_stride == size) {
    std::memcpy(to, from, n * size);
    return;
  }
  switch (size) {
    case 1:
      return CopyItems<uint8_t>(to, to_stride, from, from_stride, n);
    case 2:
      return CopyItems<uint16_t>(to, to_stride, from, from_stride, n);
    case 4:
      return CopyItems<uint32_t>(to, to_stride, from, from_stride, n);
    case 8:
      return CopyItems<uint64_t>(to, to_stride, from, from_stride, n);
    default:
      return CopyItems<Pair>(to, to_stride, from, from_stride, n);
  }
}

void RepeatRows(char* to, const char* from, int64_t row_stride, int64_t size, int64_t n, int64_t rows) {
  const auto repeat = [&]<typename T>(T* row) {
    for (int64_t i = 0; i < rows; ++i, row += n) Repeat(row, *reinterpret_cast<const T*>(from + i * row_stride), n);
  };
  switch (size) {
    case 1:
      return repeat(reinterpret_cast<uint8_t*>(to));
    case 2:
      return repeat(reinterpret_cast<uint16_t*>(to));
    case 4:
      return repeat(reinterpret_cast<uint32_t*>(to));
    case 8:
      return repeat(reinterpret_cast<uint64_t*>(to));
    default:
      return repeat(reinterpret_cast<Pair*>(to));
  }
}

void ConvertRun(void* to, DType to_dtype, const void* from, DType from_dtype, int64_t n) {
  Context host;
  kConvertTo[static_cast<int>(to_dtype)](host, from_dtype, to, from, n);
}

}  // namespace dragon::kernels
