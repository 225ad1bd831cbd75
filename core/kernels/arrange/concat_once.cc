// Concatenation: whole runs of memory where the operands allow it, strides where they do not.
#include <algorithm>
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/arrange.h"
#include "core/kernels/index/access.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Walk;
using kernels::Word;

namespace {

/// Bytes that are worth a thread of their own.
constexpr int64_t kBytesPerThread = 16 * kGrain;

/// Contiguous operands: y is `outer` rows, each the chunks of all xs in turn. Threads divide the bytes of y.
void ConcatRows(char* y, const View* xs, int count, int64_t outer, int64_t item_size) {
  std::vector<int64_t> ends(count);
  int64_t row = 0;
  for (int n = 0; n < count; ++n) ends[n] = row += xs[n].numel / outer * item_size;
  ParallelFor(outer * row, kBytesPerThread, [&](int64_t begin, int64_t end) {
    int64_t r = begin / row, in_row = begin % row;
    int n = static_cast<int>(std::upper_bound(ends.begin(), ends.end(), in_row) - ends.begin());
    while (begin < end) {
      const int64_t start = n ? ends[n - 1] : 0, size = ends[n] - start;
      const int64_t bytes = std::min(ends[n] - in_row, end - begin);
      if (bytes > 0) std::memcpy(y + begin, xs[n].as<const char>() + r * size + (in_row - start), bytes);
      begin += bytes;
      in_row += bytes;
      if (in_row == ends[n] && ++n == count) n = 0, in_row = 0, ++r;
    }
  });
}

/// The axes in the order in which they follow each other in memory.
Dims MemoryOrder(const View& y) {
  Dims order;
  for (int axis = 0; axis < y.ndim; ++axis) order.push_back(axis);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return y.strides[a] > y.strides[b]; });
  return order;
}

OwnedView Permuted(const View& x, const Dims& order) {
  Dims shape, strides;
  for (int64_t axis : order) {
    shape.push_back(x.shape[axis]);
    strides.push_back(x.strides[axis]);
  }
  return OwnedView(x.data, x.dtype, std::move(shape), std::move(strides));
}

}  // namespace

template <typename T>
void Concat(Context& ctx, View y, const View* xs, int count, int axis) {
  using W = Word<T>;
  if (y.numel == 0) return;
  bool rows = y.is_contiguous();
  for (int n = 0; n < count; ++n) rows = rows && (xs[n].numel == 0 || xs[n].is_contiguous());
  if (rows) {
    int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= y.shape[i];
    return ConcatRows(y.as<char>(), xs, count, outer, sizeof(T));
  }
  const Dims order = MemoryOrder(y);
  if (const OwnedView dense = Permuted(y, order); !y.is_contiguous() && dense.view.is_contiguous()) {
    bool alike = true;
    int64_t outer = 1;
    for (int n = 0; n < count; ++n) {
      alike = alike && xs[n].ndim == y.ndim && Permuted(xs[n], order).view.is_contiguous();
    }
    for (int k = 0; order[k] != axis; ++k) outer *= y.shape[order[k]];
    if (alike) return ConcatRows(y.as<char>(), xs, count, outer, sizeof(T));
  }
  int64_t place = 0;
  for (int n = 0; n < count; ++n) {
    if (xs[n].numel == 0) continue;
    const Walk<2> walk(xs[n].shape, 0, y.ndim, {y.strides, xs[n].strides});
    W* to = y.as<W>() + place * y.strides[axis];
    ParallelFor(walk.total(), kGrain, [&](int64_t begin, int64_t end) {
      walk.Range(begin, end, [&](const auto& at, int64_t length) {
        kernels::CopyLine(to + at[0], walk.step(0), xs[n].as<const W>() + at[1], walk.step(1), length);
      });
    });
    place += xs[n].shape[axis];
  }
}
DRAGON_KERNEL(Concat, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
