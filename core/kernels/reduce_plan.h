// How a reduction walks memory: axes dropped, sorted by stride and merged, so that loops are few and long.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "core/kernels/kernel.h"

namespace dragon::DRAGON_DEVICE {

struct ReduceAxis {
  int64_t size;
  int64_t x;  // stride in the input
  int64_t y;  // stride in the output; 0 for a reduced axis
};

/// The axes of one reduction. `kept` and `reduced` hold the outermost axis first; `reduced` is never empty.
struct ReducePlan {
  ReduceAxis kept[kMaxDims], reduced[kMaxDims];
  int kept_count = 0, reduced_count = 0;
  int64_t outputs = 1;  // elements of the output
  int64_t count = 1;    // elements that make one output

  /// True when neighbouring outputs are neighbours in the input, so that rows are added to rows.
  bool columns() const { return kept_count > 0 && kept[kept_count - 1].x == 1 && reduced[reduced_count - 1].x != 1; }
};

namespace reduce_detail {

/// Repeated elements (stride 0) belong outside: they leave the inner loop to real memory.
inline int64_t SortKey(const ReduceAxis& axis) {
  return axis.x == 0 ? std::numeric_limits<int64_t>::max() : std::llabs(axis.x);
}

inline void SortByStride(ReduceAxis* axes, int count) {
  for (int i = 1; i < count; ++i) {
    for (int j = i; j > 0 && SortKey(axes[j - 1]) < SortKey(axes[j]); --j) std::swap(axes[j - 1], axes[j]);
  }
}

inline int Merge(ReduceAxis* axes, int count) {
  int last = 0;
  for (int i = 1; i < count; ++i) {
    ReduceAxis& outer = axes[last];
    const ReduceAxis& inner = axes[i];
    if (outer.x == inner.x * inner.size && outer.y == inner.y * inner.size) {
      outer = {outer.size * inner.size, inner.x, inner.y};
    } else {
      axes[++last] = inner;
    }
  }
  return count ? last + 1 : 0;
}

}  // namespace reduce_detail

/// Plan the reduction of `x` to `y`, which has x's rank and size 1 along reduced axes. With `keep_order`, reduced
/// elements are visited in row-major order (for reducers that count positions).
inline void MakeReducePlan(ReducePlan* plan, View y, View x, bool keep_order) {
  for (int axis = 0; axis < x.ndim; ++axis) {
    if (x.shape[axis] == 1) continue;
    if (y.shape[axis] == x.shape[axis]) {
      plan->kept[plan->kept_count++] = {x.shape[axis], x.strides[axis], y.strides[axis]};
      plan->outputs *= x.shape[axis];
    } else {
      plan->reduced[plan->reduced_count++] = {x.shape[axis], x.strides[axis], 0};
      plan->count *= x.shape[axis];
    }
  }
  if (plan->outputs == 0 || plan->count == 0) return;
  reduce_detail::SortByStride(plan->kept, plan->kept_count);
  if (!keep_order) reduce_detail::SortByStride(plan->reduced, plan->reduced_count);
  plan->kept_count = reduce_detail::Merge(plan->kept, plan->kept_count);
  plan->reduced_count = reduce_detail::Merge(plan->reduced, plan->reduced_count);
  if (plan->reduced_count == 0) plan->reduced[plan->reduced_count++] = {1, 0, 0};
}

/// An odometer over some axes of a plan, outermost first.
struct ReduceWalker {
  const ReduceAxis* axes;
  int count;
  int64_t x = 0, y = 0;
  int64_t index[kMaxDims];

  ReduceWalker(const ReduceAxis* the_axes, int the_count, int64_t position) : axes(the_axes), count(the_count) {
    for (int i = count - 1; i >= 0; --i) {
      index[i] = position % axes[i].size;
      position /= axes[i].size;
      x += index[i] * axes[i].x;
      y += index[i] * axes[i].y;
    }
  }
  void Next() {
    for (int i = count - 1; i >= 0; --i) {
      x += axes[i].x;
      y += axes[i].y;
      if (++index[i] < axes[i].size) return;
      index[i] = 0;
      x -= axes[i].size * axes[i].x;
      y -= axes[i].size * axes[i].y;
    }
  }
  /// n steps at once, none of which but the last leaves the innermost axis.
  void Skip(int64_t n) {
    if (count == 0) return;
    const ReduceAxis& axis = axes[count - 1];
    x += (n - 1) * axis.x;
    y += (n - 1) * axis.y;
    index[count - 1] += n - 1;
    Next();
  }
};

}  // namespace dragon::DRAGON_DEVICE
