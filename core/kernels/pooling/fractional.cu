// Max pooling over windows at random places on CUDA: a thread for every window, which finds its place by itself.
#include <limits>

#include "core/device/cuda/launch.h"
#include "core/kernels/convolution/places_cuda.h"
#include "core/kernels/pooling.h"

namespace dragon::DRAGON_DEVICE {

namespace {

struct Fractions {
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, window[3] = {1, 1, 1}, channels;
  int spatial;
  ImageSteps x;
};

/// Where window `i` of an axis begins: steps of nearly (in - window) / (out - 1), shifted by the sample, the last one
/// at the end.
template <typename W>
__device__ int64_t StartOf(W sample, int64_t in, int64_t out, int64_t window, int64_t i) {
  if (i == out - 1) return in - window;
  const W step = static_cast<W>(in - window) / static_cast<W>(out - 1);
  return static_cast<int64_t>((static_cast<W>(i) + sample) * step) - static_cast<int64_t>(sample * step);
}

template <typename T>
__global__ void FractionalKernel(const __grid_constant__ Fractions f, const __grid_constant__ ImagePlaces places,
                                 const T* x, const T* samples, int64_t* indices) {
  for (int64_t i = cuda::FirstOfThread(); i < places.numel(); i += cuda::StepOfThreads()) {
    const ImagePlace place = places(i);
    const int64_t plane = place.n * f.channels + place.c;
    const T* from = x + place.n * f.x.n + place.c * f.x.c;
    int64_t start[3];
    for (int axis = 0; axis < 3; ++axis) {
      // Two axes: the first sample is the width's. Three: they come in the order of the axes.
      const int missing = 3 - f.spatial, which = f.spatial == 2 ? 2 - axis : axis;
      const auto sample = axis < missing ? Wide<T>(0) : static_cast<Wide<T>>(samples[plane * f.spatial + which]);
      start[axis] = StartOf<Wide<T>>(sample, f.in[axis], f.out[axis], f.window[axis], place.at[axis]);
    }
    int64_t best = (start[0] * f.in[1] + start[1]) * f.in[2] + start[2];
    Wide<T> most = -std::numeric_limits<Wide<T>>::infinity();
    for (int64_t a = start[0]; a < start[0] + f.window[0]; ++a) {
      for (int64_t b = start[1]; b < start[1] + f.window[1]; ++b) {
        for (int64_t c = start[2]; c < start[2] + f.window[2]; ++c) {
          const auto value = static_cast<Wide<T>>(from[a * f.x.at[0] + b * f.x.at[1] + c * f.x.at[2]]);
          if (!(value > most) && value == value) continue;
          most = value;
          best = (a * f.in[1] + b) * f.in[2] + c;
        }
      }
    }
    indices[i] = best;
  }
}

}  // namespace

template <typename T>
void FractionalMaxPool(Context& ctx, View indices, View x, View samples, const PoolGeometry& geometry) {
  if (indices.numel == 0) return;
  Fractions f;
  f.channels = x.shape[1];
  f.spatial = geometry.spatial;
  f.x = ImageSteps(x);
  for (int i = 0; i < geometry.spatial; ++i) {
    const int axis = kMaxSpatial - geometry.spatial + i;
    f.in[axis] = x.shape[2 + i];
    f.out[axis] = indices.shape[2 + i];
    f.window[axis] = geometry.window[i];
  }
  const ImagePlaces places(indices.shape[0], indices.shape[1], f.out, /*channels_last=*/false);
  cuda::Launch("fractional_max_pool", ctx, &FractionalKernel<T>, cuda::GridFor(indices.numel), f, places,
               x.as<const T>(), samples.as<const T>(), indices.as<int64_t>());
}
DRAGON_KERNEL(FractionalMaxPool, Floating);

}  // namespace dragon::DRAGON_DEVICE
