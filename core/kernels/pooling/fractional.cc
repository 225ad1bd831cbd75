// Max pooling over windows whose places a random number per plane and axis decides.
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/pooling.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Where the windows of one axis begin: steps of nearly (in - window) / (out - 1), shifted by the sample, the last one
/// at the end.
template <typename T>
void Starts(Wide<T> sample, int64_t in, int64_t out, int64_t window, int64_t* starts) {
  if (out > 1) {
    const Wide<T> step = static_cast<Wide<T>>(in - window) / static_cast<Wide<T>>(out - 1);
    const auto first = static_cast<int64_t>(sample * step);
    for (int64_t i = 0; i < out - 1; ++i) {
      starts[i] = static_cast<int64_t>((static_cast<Wide<T>>(i) + sample) * step) - first;
    }
  }
  if (out > 0) starts[out - 1] = in - window;
}

}  // namespace

template <typename T>
void FractionalMaxPool(Context&, View indices, View x, View samples, const PoolGeometry& geometry) {
  // All as three axes; missing ones in front have size 1.
  const int spatial = geometry.spatial, missing = 3 - spatial;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, step[3] = {0, 0, 0}, window[3] = {1, 1, 1};
  for (int i = 0; i < spatial; ++i) {
    in[missing + i] = x.shape[2 + i];
    out[missing + i] = indices.shape[2 + i];
    step[missing + i] = x.strides[2 + i];
    window[missing + i] = geometry.window[i];
  }
  const int64_t channels = x.shape[1], places = out[0] * out[1] * out[2];
  const int64_t work = places * window[0] * window[1] * window[2];
  ParallelFor(x.shape[0] * channels, 1 + kGrain / (1 + work), [&](int64_t begin, int64_t end) {
    std::vector<int64_t> starts[3];
    for (int i = 0; i < 3; ++i) starts[i].resize(out[i]);
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* from = x.as<const T>() + plane / channels * x.strides[0] + plane % channels * x.strides[1];
      for (int i = 0; i < 3; ++i) {
        // Two axes: the first sample is the width's. Three: they come in the order of the axes.
        const int which = spatial == 2 ? 2 - i : i;
        const auto sample =
            i < missing ? Wide<T>(0) : static_cast<Wide<T>>(samples.as<const T>()[plane * spatial + which]);
        Starts<T>(sample, in[i], out[i], window[i], starts[i].data());
      }
      int64_t* to = indices.as<int64_t>() + plane * places;
      for (int64_t a : starts[0]) {
        for (int64_t b : starts[1]) {
          for (int64_t c : starts[2]) {
            int64_t best = (a * in[1] + b) * in[2] + c;
            Wide<T> most = -std::numeric_limits<Wide<T>>::infinity();
            for (int64_t i = a; i < a + window[0]; ++i) {
              for (int64_t j = b; j < b + window[1]; ++j) {
                for (int64_t k = c; k < c + window[2]; ++k) {
                  const auto value = static_cast<Wide<T>>(from[i * step[0] + j * step[1] + k * step[2]]);
                  if (!(value > most) && value == value) continue;
                  most = value;
                  best = (i * in[1] + j) * in[2] + k;
                }
              }
            }
            *to++ = best;
          }
        }
      }
    }
  });
}
DRAGON_KERNEL(FractionalMaxPool, Floating);

}  // namespace dragon::DRAGON_DEVICE
