// Plain movement between two geometries of one shape: the last step of every operator that rearranges.
#include "core/device/parallel.h"
#include "core/kernels/arrange.h"
#include "core/kernels/index/access.h"

namespace dragon::DRAGON_DEVICE {

using kernels::Walk;
using kernels::Word;

template <typename T>
void Move(Context& ctx, View y, View x) {
  using W = Word<T>;
  const Walk<2> walk(y.shape, 0, y.ndim, {y.strides, x.strides});
  ParallelFor(walk.total(), kGrain, [&](int64_t begin, int64_t end) {
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      kernels::CopyLine(y.as<W>() + at[0], walk.step(0), x.as<const W>() + at[1], walk.step(1), count);
    });
  });
}
DRAGON_KERNEL(Move, AllTypes);

template <typename T>
void Accumulate(Context& ctx, View y, View x) {
  const Walk<2> walk(y.shape, 0, y.ndim, {y.strides, x.strides});
  const int64_t y_step = walk.step(0), x_step = walk.step(1);
  walk.All([&](const auto& at, int64_t count) {
    T* to = y.as<T>() + at[0];
    const T* from = x.as<const T>() + at[1];
    for (int64_t i = 0; i < count; ++i) {
      to[i * y_step] = static_cast<T>(static_cast<Wide<T>>(to[i * y_step]) + static_cast<Wide<T>>(from[i * x_step]));
    }
  });
}
DRAGON_KERNEL(Accumulate, Inexact);

}  // namespace dragon::DRAGON_DEVICE
