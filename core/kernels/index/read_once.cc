// Gather and general advanced reading: elements are only moved, so one loop per element size serves every dtype.
#include "core/device/parallel.h"
#include "core/kernels/index.h"
#include "core/kernels/index/access.h"
#include "core/kernels/index/offsets.h"

namespace dragon::DRAGON_DEVICE {

using kernels::AxisIndex;
using kernels::ReadyOffset;
using kernels::Walk;
using kernels::Word;

namespace {

/// Operands of `walk`: y, index, x. Indices that do not vary along a line move the line as a block.
template <typename W, typename Resolve>
void Read(W* y, const int64_t* index, const W* x, const Walk<3>& walk, Resolve resolve) {
  const int64_t y_step = walk.step(0), index_step = walk.step(1), x_step = walk.step(2);
  ParallelFor(walk.total(), kGrain / 2, [&](int64_t begin, int64_t end) {
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      W* to = y + at[0];
      const int64_t* where = index + at[1];
      const W* from = x + at[2];
      if (index_step == 0) {
        kernels::CopyLine(to, y_step, from + resolve(*where), x_step, count);
      } else {
        for (int64_t i = 0; i < count; ++i) to[i * y_step] = from[i * x_step + resolve(where[i * index_step])];
      }
    });
  });
}

}  // namespace

template <typename T>
void Gather(Context& ctx, View y, View x, View index, int axis, kernels::Indexing how) {
  using W = Word<T>;
  if (y.numel == 0) return;
  Dims x_strides(x.strides, x.ndim);
  if (x.ndim > 0) x_strides[axis] = 0;
  const AxisIndex resolve{x.ndim ? x.shape[axis] : 1, x.ndim ? x.strides[axis] : 0, axis, how};
  const Walk<3> walk(y.shape, 0, y.ndim, {y.strides, index.strides, x_strides.data()});
  Read(y.as<W>(), index.as<int64_t>(), x.as<const W>(), walk, resolve);
}
DRAGON_KERNEL(Gather, AllTypes);

template <typename T>
void IndexRead(Context& ctx, View y, View x, const View* indices, int at, kernels::Indexing how) {
  using W = Word<T>;
  if (y.numel == 0) {
    kernels::CheckIndices(x, indices, how);
    return;
  }
  const kernels::ResolvedIndex plan(ctx, x, indices, at, how);
  const Walk<3> walk(y.shape, 0, y.ndim, {y.strides, plan.index_strides.data(), plan.kept_strides.data()});
  Read(y.as<W>(), plan.offsets.as<int64_t>(), x.as<const W>(), walk, ReadyOffset{});
}
DRAGON_KERNEL(IndexRead, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
