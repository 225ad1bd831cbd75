// A Walk as a kernel takes it: every thread finds the offsets of its own elements. Runs of elements that move together
// are first made runs of wider words, so that they cross the bus sixteen bytes at a time whatever their dtype.
#pragma once

#include <cuda_runtime.h>

#include <limits>

#include "core/device/cuda/divide.h"
#include "core/device/cuda/faults.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/index/access.h"

namespace dragon::DRAGON_DEVICE {

/// More axes than this, none of them of size 1, have more elements than a device's memory.
inline constexpr int kWalkAxes = 32;

/// The axes of a Walk in the host's hand.
template <int N>
struct WalkAxes {
  int64_t total = 1;
  int ndim = 0;
  int64_t shape[kWalkAxes];
  int64_t steps[kWalkAxes][N];

  explicit WalkAxes(const kernels::Walk<N>& walk) : total(walk.total()), ndim(walk.ndim()) {
    if (ndim > kWalkAxes) throw NotImplementedError("cuda").Got(ndim, " axes").Expected("at most ", kWalkAxes);
    for (int axis = 0; axis < ndim; ++axis) {
      shape[axis] = walk.size(axis);
      for (int n = 0; n < N; ++n) steps[axis][n] = walk.step(axis, n);
    }
  }

  /// Whether each `count` elements along the last axis are one word in all operands of `moving` (a bit each), and one
  /// place in the others.
  bool JoinsBy(int64_t count, unsigned moving) const {
    const int last = ndim - 1;
    if (total == 0 || shape[last] % count != 0) return false;
    for (int n = 0; n < N; ++n) {
      const bool moves = moving >> n & 1;
      if (steps[last][n] != (moves ? 1 : 0)) return false;
      for (int axis = 0; moves && axis < last; ++axis) {
        if (steps[axis][n] % count != 0) return false;
      }
    }
    return true;
  }
  void JoinBy(int64_t count, unsigned moving) {
    total /= count;
    shape[ndim - 1] /= count;
    for (int n = 0; n < N; ++n) {
      for (int axis = 0; (moving >> n & 1) && axis < ndim - 1; ++axis) steps[axis][n] /= count;
    }
  }
};

inline bool IsAligned(const void* data, int64_t bytes) { return reinterpret_cast<uintptr_t>(data) % bytes == 0; }

template <int N, typename Index>
struct DeviceWalk {
  int32_t ndim;
  cuda::Divider<Index> shape[kWalkAxes];
  int64_t steps[kWalkAxes][N];

  explicit DeviceWalk(const WalkAxes<N>& axes) : ndim(axes.ndim) {
    for (int axis = 0; axis < ndim; ++axis) {
      shape[axis] = cuda::Divider<Index>(axes.shape[axis]);
      for (int n = 0; n < N; ++n) steps[axis][n] = axes.steps[axis][n];
    }
  }
  /// The offsets of element i.
  __device__ __forceinline__ void At(int64_t i, int64_t (&at)[N]) const {
    Index rest = static_cast<Index>(i);
#pragma unroll
    for (int n = 0; n < N; ++n) at[n] = 0;
    for (int axis = ndim - 1; axis > 0; --axis) {
      const Index outer = shape[axis].Divide(rest);
      const int64_t place = rest - outer * shape[axis].divisor;
#pragma unroll
      for (int n = 0; n < N; ++n) at[n] += place * steps[axis][n];
      rest = outer;
    }
#pragma unroll
    for (int n = 0; n < N; ++n) at[n] += static_cast<int64_t>(rest) * steps[0][n];
  }
};

/// No place of any tensor.
inline constexpr int64_t kNowhere = std::numeric_limits<int64_t>::min();

/// An AxisIndex for kernels: an index outside of the axis is noted, and leads nowhere.
struct DeviceIndex {
  int64_t size, stride;
  int32_t axis;
  bool from_end;
  cuda::Faults faults;

  DeviceIndex(const Context& ctx, const kernels::AxisIndex& index)
      : size(index.size),
        stride(index.stride),
        axis(index.axis),
        from_end(index.how.from_end),
        faults(cuda::FaultsOf(ctx, index.how.op)) {}
  __device__ __forceinline__ int64_t operator()(int64_t index) const {
    const int64_t wrapped = index < 0 && from_end ? index + size : index;
    if (static_cast<uint64_t>(wrapped) < static_cast<uint64_t>(size)) return wrapped * stride;
    faults.Report(from_end ? cuda::FaultKind::kIndexFromEnd : cuda::FaultKind::kIndex, index, size, axis);
    return kNowhere;
  }
};

/// An index that an earlier kernel has made an offset.
struct DeviceOffset {
  int64_t stride = 1;
  __device__ __forceinline__ int64_t operator()(int64_t offset) const { return offset; }
};

// --- one functor for every piece of work

template <typename F>
__global__ void OverKernel(const __grid_constant__ F f, int64_t n) {
  for (int64_t i = cuda::FirstOfThread(); i < n; i += cuda::StepOfThreads()) f(i);
}

/// Call f(i) for i from 0 to n, each on a thread.
template <typename F>
void LaunchOver(const char* who, const Context& ctx, int64_t n, const F& f) {
  if (n == 0) return;
  cuda::Launch(who, ctx, &OverKernel<F>, cuda::GridFor(n), f, n);
}

/// Call `f` with a number of the type that indices below `n` are computed in.
template <typename F>
void WithIndexType(int64_t n, F&& f) {
  if (n <= std::numeric_limits<int32_t>::max()) return f(uint32_t{});
  f(int64_t{});
}

/// Call `f` with a word of so many bytes.
template <typename F>
void WithWord(int64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    case 8:
      return f(uint64_t{});
    default:
      return f(kernels::Word128{});
  }
}

// --- copies

template <typename W, typename Index>
struct CopyElement {
  DeviceWalk<2, Index> walk;
  W* y;
  const W* x;
  __device__ __forceinline__ void operator()(int64_t i) const {
    int64_t at[2];
    walk.At(i, at);
    y[at[0]] = x[at[1]];
  }
};

/// y = x for elements of `item` bytes; operands of the walk: y, x.
inline void CopyWalk(const char* who, const Context& ctx, int64_t item, const kernels::Walk<2>& walk, void* y,
                     const void* x) {
  if (walk.total() == 0) return;
  WalkAxes<2> axes(walk);
  for (int64_t wide = 16; wide > item; wide /= 2) {
    if (!axes.JoinsBy(wide / item, 3) || !IsAligned(y, wide) || !IsAligned(x, wide)) continue;
    axes.JoinBy(wide / item, 3);
    item = wide;
  }
  WithWord(item, [&]<typename W>(W) {
    WithIndexType(axes.total, [&]<typename Index>(Index) {
      LaunchOver(who, ctx, axes.total,
                 CopyElement<W, Index>{DeviceWalk<2, Index>(axes), static_cast<W*>(y), static_cast<const W*>(x)});
    });
  });
}

}  // namespace dragon::DRAGON_DEVICE
