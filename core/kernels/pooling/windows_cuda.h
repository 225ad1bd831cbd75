// Windows of poolings on CUDA: where the one of a place of the result lies, and which ones saw a place of the input.
#pragma once

#include "core/kernels/convolution/places_cuda.h"
#include "core/kernels/pooling.h"

namespace dragon::DRAGON_DEVICE {

/// Places low, low + step, ... below high.
struct Taps {
  int64_t low, high;
};

/// Windows over exactly three spatial axes; missing ones have size 1.
struct PoolWindows {
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, window[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, step[3] = {1, 1, 1}, padding[3] = {0, 0, 0};
  ImageSteps x, y;
  bool adaptive, count_padding;
  int64_t divisor;

  PoolWindows(const View& the_y, const View& the_x, const PoolGeometry& g)
      : x(the_x), y(the_y), adaptive(g.adaptive), count_padding(g.count_padding), divisor(g.divisor) {
    for (int i = 0; i < g.spatial; ++i) {
      const int axis = kMaxSpatial - g.spatial + i;
      in[axis] = the_x.shape[2 + i];
      out[axis] = the_y.shape[2 + i];
      window[axis] = g.window[i];
      stride[axis] = g.stride[i];
      step[axis] = g.adaptive ? 1 : g.dilation[i];
      padding[axis] = g.padding[i];
    }
  }

  /// What the window at place `o` of the result sees of the input.
  __device__ Taps Seen(int axis, int64_t o) const {
    if (adaptive) return {o * in[axis] / out[axis], ((o + 1) * in[axis] + out[axis] - 1) / out[axis]};
    const int64_t first = o * stride[axis] - padding[axis], last = first + (window[axis] - 1) * step[axis] + 1;
    const int64_t low = first >= 0 ? first : (-first + step[axis] - 1) / step[axis] * step[axis] + first;
    return {low, min(last, in[axis])};
  }
  /// The windows that may have seen place `i` of the input: those of them whose taps meet it have.
  __device__ Taps ThatSaw(int axis, int64_t i) const {
    if (adaptive) return {i * out[axis] / in[axis], ((i + 1) * out[axis] + in[axis] - 1) / in[axis]};
    const int64_t last = i + padding[axis], over = last - (window[axis] - 1) * step[axis];
    return {over <= 0 ? 0 : (over + stride[axis] - 1) / stride[axis], min(out[axis], last / stride[axis] + 1)};
  }
  __device__ bool Meets(int axis, int64_t o, int64_t i) const {
    return adaptive || step[axis] == 1 || (i + padding[axis] - o * stride[axis]) % step[axis] == 0;
  }
  /// How many elements of an axis a window counts for averages.
  __device__ int64_t Counted(int axis, int64_t o) const {
    const Taps seen = Seen(axis, o);
    if (adaptive) return seen.high - seen.low;
    // The last windows of ceil_mode may hang over the padding; what hangs over is not counted.
    const int64_t first = o * stride[axis] - padding[axis];
    if (count_padding) return min(first + (window[axis] - 1) * step[axis] + 1, in[axis] + padding[axis]) - first;
    return seen.high <= seen.low ? 0 : (seen.high - seen.low + step[axis] - 1) / step[axis];
  }
  __device__ int64_t Divisor(const int64_t* o) const {
    if (divisor) return divisor;
    const int64_t d = Counted(0, o[0]), h = Counted(1, o[1]), w = Counted(2, o[2]);
    // The size of three huge windows fits no number: the mean is 0 whatever stands for it.
    constexpr double kHuge = 9e18;
    if (static_cast<double>(d) * static_cast<double>(h) * static_cast<double>(w) > kHuge) return INT64_MAX;
    return d * h * w;
  }
};

}  // namespace dragon::DRAGON_DEVICE
