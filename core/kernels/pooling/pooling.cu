// Maximum and mean over windows on CUDA, a thread for every element of the result, forward and backward: the gradient
// of a mean is gathered by those who receive it, so sums have one order.
#include <limits>
#include <type_traits>

#include "core/device/cuda/launch.h"
#include "core/kernels/pooling.h"
#include "core/kernels/pooling/windows_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
__device__ constexpr T LowestOf() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

/// Call f(offset in x, place in the flat plane) for every element that the window at `place` sees.
template <typename F>
__device__ __forceinline__ void ForTapsOf(const PoolWindows& windows, const ImagePlace& place, F&& f) {
  const Taps d = windows.Seen(0, place.at[0]), h = windows.Seen(1, place.at[1]), w = windows.Seen(2, place.at[2]);
  for (int64_t i = d.low; i < d.high; i += windows.step[0]) {
    for (int64_t j = h.low; j < h.high; j += windows.step[1]) {
      const int64_t row = i * windows.x.at[0] + j * windows.x.at[1], index = (i * windows.in[1] + j) * windows.in[2];
      for (int64_t k = w.low; k < w.high; k += windows.step[2]) f(row + k * windows.x.at[2], index + k);
    }
  }
}

template <typename T>
__global__ void MaxPoolKernel(const __grid_constant__ PoolWindows windows, const __grid_constant__ ImagePlaces places,
                              const T* x, T* y, int64_t* indices) {
  for (int64_t i = cuda::FirstOfThread(); i < places.numel(); i += cuda::StepOfThreads()) {
    const ImagePlace place = places(i);
    const T* plane = x + place.n * windows.x.n + place.c * windows.x.c;
    Wide<T> best = LowestOf<Wide<T>>();
    int64_t best_place = -1;
    ForTapsOf(windows, place, [&](int64_t offset, int64_t index) {
      const Wide<T> value = static_cast<Wide<T>>(plane[offset]);
      // A later NaN wins. A window of nothing but the lowest value still has a place: its first.
      const bool take = value > best || value != value || best_place < 0;
      best = take ? value : best;
      best_place = take ? index : best_place;
    });
    const int64_t to = place.Offset(windows.y);
    y[to] = static_cast<T>(best);
    if (indices) indices[to] = best_place;
  }
}

/// Integers sum in 64 bits, 16-bit floats in 32.
template <typename T>
using MeanOf = std::conditional_t<std::is_integral_v<T>, int64_t, Wide<T>>;

template <typename T>
__global__ void AveragePoolKernel(const __grid_constant__ PoolWindows windows,
                                  const __grid_constant__ ImagePlaces places, const T* x, T* y) {
  for (int64_t i = cuda::FirstOfThread(); i < places.numel(); i += cuda::StepOfThreads()) {
    const ImagePlace place = places(i);
    const T* plane = x + place.n * windows.x.n + place.c * windows.x.c;
    MeanOf<T> sum(0);
    ForTapsOf(windows, place, [&](int64_t offset, int64_t) { sum += static_cast<MeanOf<T>>(plane[offset]); });
    const int64_t divisor = windows.Divisor(place.at);
    // An integer divided by 0 gives 0 on a GPU; a float gives what it should.
    y[place.Offset(windows.y)] = static_cast<T>(sum / static_cast<MeanOf<T>>(divisor));
  }
}

template <typename T>
__global__ void AverageBackwardKernel(const __grid_constant__ PoolWindows windows,
                                      const __grid_constant__ ImagePlaces places, const T* dy, T* dx) {
  for (int64_t i = cuda::FirstOfThread(); i < places.numel(); i += cuda::StepOfThreads()) {
    const ImagePlace place = places(i);
    const T* plane = dy + place.n * windows.y.n + place.c * windows.y.c;
    const Taps d = windows.ThatSaw(0, place.at[0]), h = windows.ThatSaw(1, place.at[1]),
               w = windows.ThatSaw(2, place.at[2]);
    Wide<T> sum(0);
    int64_t o[3];
    for (o[0] = d.low; o[0] < d.high; ++o[0]) {
      if (!windows.Meets(0, o[0], place.at[0])) continue;
      for (o[1] = h.low; o[1] < h.high; ++o[1]) {
        if (!windows.Meets(1, o[1], place.at[1])) continue;
        const T* row = plane + o[0] * windows.y.at[0] + o[1] * windows.y.at[1];
        for (o[2] = w.low; o[2] < w.high; ++o[2]) {
          if (!windows.Meets(2, o[2], place.at[2])) continue;
          sum += static_cast<Wide<T>>(row[o[2] * windows.y.at[2]]) / static_cast<Wide<T>>(windows.Divisor(o));
        }
      }
    }
    dx[place.Offset(windows.x)] = static_cast<T>(sum);
  }
}

}  // namespace

template <typename T>
void MaxPool(Context& ctx, View y, View indices, View x, const PoolGeometry& geometry) {
  if (y.numel == 0) return;
  const ImagePlaces places(y);
  cuda::Launch("max_pool", ctx, &MaxPoolKernel<T>, cuda::GridFor(y.numel), PoolWindows(y, x, geometry), places,
               x.as<const T>(), y.as<T>(), indices ? indices.as<int64_t>() : nullptr);
}

template <typename T>
void AveragePool(Context& ctx, View y, View x, const PoolGeometry& geometry) {
  if (y.numel == 0) return;
  const ImagePlaces places(y);
  cuda::Launch("average_pool", ctx, &AveragePoolKernel<T>, cuda::GridFor(y.numel), PoolWindows(y, x, geometry), places,
               x.as<const T>(), y.as<T>());
}

template <typename T>
void AveragePoolBackward(Context& ctx, View dx, View dy, const PoolGeometry& geometry) {
  if (dx.numel == 0) return;
  const ImagePlaces places(dx);
  cuda::Launch("average_pool_backward", ctx, &AverageBackwardKernel<T>, cuda::GridFor(dx.numel),
               PoolWindows(dy, dx, geometry), places, dy.as<const T>(), dx.as<T>());
}

DRAGON_KERNEL(MaxPool, Real);
DRAGON_KERNEL(AveragePool, Real);
DRAGON_KERNEL(AveragePoolBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
