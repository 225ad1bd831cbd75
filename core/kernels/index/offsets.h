// Sums several index tensors into one list of element offsets, so that reading at n index tensors is no harder than at
// one.
#pragma once

#include "core/device/context.h"
#include "core/device/parallel.h"
#include "core/kernels/index/access.h"

namespace dragon::kernels {

/// The number of elements of the shape that all given indices share.
inline int64_t IndexCount(const View& x, const View* indices) {
  for (int axis = 0; axis < x.ndim; ++axis) {
    if (indices[axis]) return indices[axis].numel;
  }
  return 1;
}

/// Add the offsets of the index along one axis to `offsets` (contiguous, in the shape of the index).
inline void AddOffsets(int64_t* offsets, const View& index, AxisIndex resolve) {
  const int64_t* where = index.as<const int64_t>();
  const Walk<1> walk(index.shape, 0, index.ndim, {index.strides});
  const int64_t step = walk.step(0);
  ParallelFor(walk.total(), kGrain, [&](int64_t begin, int64_t end) {
    int64_t* to = offsets + begin;
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      for (int64_t i = 0; i < count; ++i) to[i] += resolve(where[at[0] + i * step]);
      to += count;
    });
  });
}

/// The offsets into x, and how the axes of x[indices] step through them and through x.
struct ResolvedIndex {
  Scratch offsets;
  Dims index_strides, kept_strides;
  int index_ndim = 0;

  ResolvedIndex(Context& ctx, const View& x, const View* indices, int at, Indexing how)
      : offsets(ctx.Allocate<int64_t>(IndexCount(x, indices))) {
    const int64_t count = IndexCount(x, indices);
    std::fill_n(offsets.as<int64_t>(), count, 0);
    const View* sample = nullptr;
    for (int axis = 0; axis < x.ndim; ++axis) {
      if (!indices[axis]) continue;
      sample = &indices[axis];
      AddOffsets(offsets.as<int64_t>(), indices[axis], AxisIndex{x.shape[axis], x.strides[axis], axis, how});
    }
    index_ndim = sample ? sample->ndim : 0;
    int kept = 0;
    const auto insert_index_axes = [&] {
      int64_t stride = count;
      for (int i = 0; i < index_ndim; ++i) {
        if (sample->shape[i] > 0) stride /= sample->shape[i];
        index_strides.push_back(stride);
        kept_strides.push_back(0);
      }
    };
    for (int axis = 0; axis < x.ndim; ++axis) {
      if (indices[axis]) continue;
      if (kept++ == at) insert_index_axes();
      index_strides.push_back(0);
      kept_strides.push_back(x.strides[axis]);
    }
    if (kept <= at) insert_index_axes();
  }
};

/// Only look whether every index lies within its axis: what an empty result still owes its caller.
inline void CheckIndices(const View& x, const View* indices, Indexing how) {
  for (int axis = 0; axis < x.ndim; ++axis) {
    if (!indices[axis]) continue;
    const AxisIndex resolve{x.shape[axis], 1, axis, how};
    const int64_t* where = indices[axis].as<const int64_t>();
    const Walk<1> walk(indices[axis].shape, 0, indices[axis].ndim, {indices[axis].strides});
    walk.All([&](const auto& at, int64_t count) {
      for (int64_t i = 0; i < count; ++i) resolve(where[at[0] + i * walk.step(0)]);
    });
  }
}

}  // namespace dragon::kernels
