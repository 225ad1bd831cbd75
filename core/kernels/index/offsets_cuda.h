// Several index tensors as one list of element offsets, made on the device; a single one needs no list.
#pragma once

#include "core/kernels/index/walk_cuda.h"

namespace dragon::DRAGON_DEVICE {

/// Adds the offsets of one index tensor to the list; what leads nowhere stays so.
template <typename Index>
struct AddOffset {
  DeviceWalk<1, Index> walk;
  int64_t* offsets;
  const int64_t* index;
  DeviceIndex resolve;
  bool is_first;
  __device__ void operator()(int64_t i) const {
    int64_t at[1];
    walk.At(i, at);
    const int64_t offset = resolve(index[at[0]]), before = is_first ? 0 : offsets[i];
    offsets[i] = offset == kNowhere || before == kNowhere ? kNowhere : before + offset;
  }
};

/// The axes of x[indices], and for each of them the step through the list of offsets (or through the only index) and
/// through x.
struct DeviceIndices {
  Scratch list;  ///< offsets, if there are several indices
  const int64_t* places = nullptr;
  const View* only = nullptr;  ///< the index, if there is one
  int only_axis = 0;
  Dims place_strides, kept_strides;
  int index_ndim = 0;

  DeviceIndices(Context& ctx, const View& x, const View* indices, int at, kernels::Indexing how)
      : list(ctx.Allocate<int64_t>(Several(x, indices) ? Count(x, indices) : 0)) {
    const View* sample = nullptr;
    for (int axis = 0; axis < x.ndim; ++axis) {
      if (!indices[axis]) continue;
      if (Several(x, indices)) Add(ctx, indices[axis], {x.shape[axis], x.strides[axis], axis, how}, !sample);
      sample = &indices[axis], only_axis = axis;
    }
    if (!Several(x, indices)) only = sample;
    places = only ? only->as<const int64_t>() : list.as<const int64_t>();
    index_ndim = sample ? sample->ndim : 0;
    int kept = 0;
    const auto insert_index_axes = [&] {
      int64_t stride = sample ? sample->numel : 1;
      for (int i = 0; i < index_ndim; ++i) {
        if (sample->shape[i] > 0) stride /= sample->shape[i];
        place_strides.push_back(only ? only->strides[i] : stride);
        kept_strides.push_back(0);
      }
    };
    for (int axis = 0; axis < x.ndim; ++axis) {
      if (indices[axis]) continue;
      if (kept++ == at) insert_index_axes();
      place_strides.push_back(0);
      kept_strides.push_back(x.strides[axis]);
    }
    if (kept <= at) insert_index_axes();
  }

 private:
  static int64_t Count(const View& x, const View* indices) {
    for (int axis = 0; axis < x.ndim; ++axis) {
      if (indices[axis]) return indices[axis].numel;
    }
    return 1;
  }
  static bool Several(const View& x, const View* indices) {
    int given = 0;
    for (int axis = 0; axis < x.ndim; ++axis) given += static_cast<bool>(indices[axis]);
    return given != 1;
  }
  void Add(Context& ctx, const View& index, const kernels::AxisIndex& axis, bool is_first) {
    if (index.numel == 0) return;
    const WalkAxes<1> axes(kernels::Walk<1>(index.shape, 0, index.ndim, {index.strides}));
    WithIndexType(axes.total, [&]<typename Index>(Index) {
      LaunchOver(axis.how.op, ctx, axes.total,
                 AddOffset<Index>{DeviceWalk<1, Index>(axes), list.as<int64_t>(), index.as<const int64_t>(),
                                  DeviceIndex(ctx, axis), is_first});
    });
  }
};

/// Only note indices that lie outside of their axes: what an empty result still owes its caller.
inline void CheckDeviceIndices(Context& ctx, const View& x, const View* indices, kernels::Indexing how) {
  for (int axis = 0; axis < x.ndim; ++axis) {
    if (!indices[axis] || indices[axis].numel == 0) continue;
    const View& index = indices[axis];
    const WalkAxes<1> axes(kernels::Walk<1>(index.shape, 0, index.ndim, {index.strides}));
    const Scratch list = ctx.Allocate<int64_t>(axes.total);
    LaunchOver(how.op, ctx, axes.total,
               AddOffset<int64_t>{DeviceWalk<1, int64_t>(axes), list.as<int64_t>(), index.as<const int64_t>(),
                                  DeviceIndex(ctx, {x.shape[axis], 1, axis, how}), true});
  }
}

}  // namespace dragon::DRAGON_DEVICE
