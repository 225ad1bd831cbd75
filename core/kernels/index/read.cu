// Gather and general advanced reading on CUDA: a thread for every word of the result.
#include "core/kernels/index.h"
#include "core/kernels/index/offsets_cuda.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Walk;

namespace {

/// An index that leads nowhere reads a zero.
template <typename W, typename Index, typename Resolve>
struct ReadElement {
  DeviceWalk<3, Index> walk;
  W* y;
  const int64_t* index;
  const W* x;
  Resolve resolve;
  __device__ __forceinline__ void operator()(int64_t i) const {
    int64_t at[3];
    walk.At(i, at);
    const int64_t offset = resolve(index[at[1]]);
    y[at[0]] = offset == kNowhere ? W{} : x[at[2] + offset];
  }
};

/// Operands of `walk`: y, index, x. Where an index moves a whole line, its elements are joined to words.
template <typename Resolve>
void Read(const char* who, const Context& ctx, int64_t item, void* y, const int64_t* index, const void* x,
          const Walk<3>& walk, Resolve resolve) {
  constexpr unsigned kMoving = 1 | 4;
  constexpr bool kReady = std::is_same_v<Resolve, DeviceOffset>;
  WalkAxes<3> axes(walk);
  for (int64_t wide = 16; !kReady && wide > item; wide /= 2) {
    const int64_t count = wide / item;
    if (!axes.JoinsBy(count, kMoving) || resolve.stride % count || !IsAligned(y, wide) || !IsAligned(x, wide)) continue;
    axes.JoinBy(count, kMoving);
    resolve.stride /= count;
    item = wide;
  }
  WithWord(item, [&]<typename W>(W) {
    WithIndexType(axes.total, [&]<typename Index>(Index) {
      LaunchOver(who, ctx, axes.total,
                 ReadElement<W, Index, Resolve>{DeviceWalk<3, Index>(axes), static_cast<W*>(y), index,
                                                static_cast<const W*>(x), resolve});
    });
  });
}

}  // namespace

template <typename T>
void Gather(Context& ctx, View y, View x, View index, int axis, kernels::Indexing how) {
  if (y.numel == 0) return;
  Dims x_strides(x.strides, x.ndim);
  if (x.ndim > 0) x_strides[axis] = 0;
  const kernels::AxisIndex resolve{x.ndim ? x.shape[axis] : 1, x.ndim ? x.strides[axis] : 0, axis, how};
  const Walk<3> walk(y.shape, 0, y.ndim, {y.strides, index.strides, x_strides.data()});
  Read(how.op, ctx, sizeof(T), y.data, index.as<const int64_t>(), x.data, walk, DeviceIndex(ctx, resolve));
}
DRAGON_KERNEL(Gather, AllTypes);

template <typename T>
void IndexRead(Context& ctx, View y, View x, const View* indices, int at, kernels::Indexing how) {
  if (y.numel == 0) return CheckDeviceIndices(ctx, x, indices, how);
  const DeviceIndices plan(ctx, x, indices, at, how);
  const Walk<3> walk(y.shape, 0, y.ndim, {y.strides, plan.place_strides.data(), plan.kept_strides.data()});
  if (plan.only) {
    const int axis = plan.only_axis;
    const DeviceIndex resolve(ctx, {x.shape[axis], x.strides[axis], axis, how});
    return Read(how.op, ctx, sizeof(T), y.data, plan.places, x.data, walk, resolve);
  }
  Read(how.op, ctx, sizeof(T), y.data, plan.places, x.data, walk, DeviceOffset{});
}
DRAGON_KERNEL(IndexRead, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
