// Convolution on CUDA: our own kernels for channels by themselves, cuDNN's where it has the dtype, else a sum for every
// element of the result, straight from the definition. Each sum is one thread's or one warp's, so results are the same
// in every run.
#include <type_traits>

#include "core/device/cuda/block.h"
#include "core/kernels/array.h"
#include "core/kernels/channels_cuda.h"
#include "core/kernels/convolution.h"
#include "core/kernels/convolution/depthwise.h"
#include "core/kernels/convolution/places_cuda.h"
#include "core/kernels/convolution/vendor.h"
#include "core/kernels/matmul/epilogue.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kConvThreads = 128;

/// A convolution with exactly three spatial axes; missing ones have size 1.
struct ConvShape {
  int64_t batch, in_channels, out_channels;  // channels are per group
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, window[3] = {1, 1, 1};
  int64_t stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1}, padding[3] = {0, 0, 0};
  ImageSteps x, y, w;

  ConvShape(const View& the_y, const View& the_x, const View& the_w, const ConvGeometry& g)
      : batch(the_x.shape[0]),
        in_channels(the_w.shape[1]),
        out_channels(the_w.shape[0] / g.groups),
        x(the_x),
        y(the_y),
        w(the_w) {
    for (int i = 0; i < g.spatial; ++i) {
      const int axis = kMaxSpatial - g.spatial + i;
      in[axis] = the_x.shape[2 + i];
      out[axis] = the_y.shape[2 + i];
      window[axis] = the_w.shape[2 + i];
      stride[axis] = g.stride[i];
      dilation[axis] = g.dilation[i];
      padding[axis] = g.padding[i];
    }
  }
};

/// Numbers low, low + 1, ... below high.
struct Range {
  int64_t low, high;
};

/// The taps of a window at `place` of the result that lie inside the input.
__device__ Range TapsInside(const ConvShape& s, int axis, int64_t place) {
  const int64_t first = place * s.stride[axis] - s.padding[axis], dilation = s.dilation[axis];
  const int64_t low = first >= 0 ? 0 : (-first + dilation - 1) / dilation;
  const int64_t left = s.in[axis] - first;
  return {low, min(s.window[axis], left <= 0 ? int64_t{0} : (left + dilation - 1) / dilation)};
}

/// The taps with which windows may see `place` of the input: the window of a tap begins at place + padding - tap *
/// dilation, if that is a multiple of the stride.
__device__ Range TapsThatSee(const ConvShape& s, int axis, int64_t place) {
  const int64_t last = place + s.padding[axis], dilation = s.dilation[axis];
  const int64_t over = last - (s.out[axis] - 1) * s.stride[axis];
  return {over <= 0 ? 0 : (over + dilation - 1) / dilation, min(s.window[axis], last / dilation + 1)};
}

/// Sums of 16-bit floats are kept in 32 bits, those of integers in 64, which wrap around as those of T do.
template <typename T>
using ConvSum = std::conditional_t<std::is_integral_v<T>, uint64_t, Accumulator<T>>;

/// What is stored of a sum: with a bias, activated.
template <typename T>
struct ConvFinish {
  const T* bias = nullptr;
  int64_t bias_step = 0;
  Activation activation = Activation::kNone;

  ConvFinish(const View& the_bias, Activation the_activation) : activation(the_activation) {
    if (!the_bias) return;
    bias = the_bias.as<const T>();
    bias_step = the_bias.strides[0];
  }
  bool plain() const { return !bias && activation == Activation::kNone; }
  __device__ T operator()(ConvSum<T> sum, int64_t channel) const {
    if (bias) sum = sum + static_cast<ConvSum<T>>(bias[channel * bias_step]);
    if constexpr (kIsFloating<T>) sum = Activate(activation, sum);
    return static_cast<T>(sum);
  }
};

template <typename T>
__global__ void ForwardKernel(const __grid_constant__ ConvShape s, const __grid_constant__ ImagePlaces places,
                              const ConvFinish<T> finish, const T* x, const T* w, T* y) {
  using Sum = ConvSum<T>;
  for (int64_t i = cuda::FirstOfThread(); i < places.numel(); i += cuda::StepOfThreads()) {
    const ImagePlace place = places(i);
    const Range d = TapsInside(s, 0, place.at[0]), h = TapsInside(s, 1, place.at[1]), v = TapsInside(s, 2, place.at[2]);
    const T* image = x + place.n * s.x.n + place.c / s.out_channels * s.in_channels * s.x.c;
    const T* weights = w + place.c * s.w.n;
    for (int axis = 0; axis < 3; ++axis) image += (place.at[axis] * s.stride[axis] - s.padding[axis]) * s.x.at[axis];
    Sum sum(0);
    for (int64_t c = 0; c < s.in_channels; ++c, image += s.x.c, weights += s.w.c) {
      for (int64_t a = d.low; a < d.high; ++a) {
        for (int64_t b = h.low; b < h.high; ++b) {
          const T* from = image + a * s.dilation[0] * s.x.at[0] + b * s.dilation[1] * s.x.at[1];
          const T* weight = weights + a * s.w.at[0] + b * s.w.at[1];
          for (int64_t k = v.low; k < v.high; ++k) {
            sum += static_cast<Sum>(from[k * s.dilation[2] * s.x.at[2]]) * static_cast<Sum>(weight[k * s.w.at[2]]);
          }
        }
      }
    }
    y[place.Offset(s.y)] = finish(sum, place.c);
  }
}

/// The sum over the taps of one pair of channels: of dy where a window begins, times its weight.
template <typename T>
__device__ ConvSum<T> SumOverWindows(const ConvShape& s, const ImagePlace& place, const Range* taps, const T* dy,
                                     const T* w) {
  using Sum = ConvSum<T>;
  Sum sum(0);
  for (int64_t a = taps[0].low; a < taps[0].high; ++a) {
    const int64_t d = place.at[0] + s.padding[0] - a * s.dilation[0];
    if (d % s.stride[0] != 0) continue;
    for (int64_t b = taps[1].low; b < taps[1].high; ++b) {
      const int64_t h = place.at[1] + s.padding[1] - b * s.dilation[1];
      if (h % s.stride[1] != 0) continue;
      const T* from = dy + d / s.stride[0] * s.y.at[0] + h / s.stride[1] * s.y.at[1];
      const T* weight = w + a * s.w.at[0] + b * s.w.at[1];
      for (int64_t k = taps[2].low; k < taps[2].high; ++k) {
        const int64_t v = place.at[2] + s.padding[2] - k * s.dilation[2];
        if (v % s.stride[2] != 0) continue;
        sum += static_cast<Sum>(from[v / s.stride[2] * s.y.at[2]]) * static_cast<Sum>(weight[k * s.w.at[2]]);
      }
    }
  }
  return sum;
}

template <typename T>
__global__ void BackwardDataKernel(const __grid_constant__ ConvShape s, const __grid_constant__ ImagePlaces places,
                                   const ConvFinish<T> finish, const T* dy, const T* w, T* dx) {
  for (int64_t i = cuda::FirstOfThread(); i < places.numel(); i += cuda::StepOfThreads()) {
    const ImagePlace place = places(i);
    const int64_t group = place.c / s.in_channels, first = group * s.out_channels;
    const Range taps[3] = {TapsThatSee(s, 0, place.at[0]), TapsThatSee(s, 1, place.at[1]),
                           TapsThatSee(s, 2, place.at[2])};
    const T* image = dy + place.n * s.y.n + first * s.y.c;
    const T* weights = w + first * s.w.n + (place.c - group * s.in_channels) * s.w.c;
    ConvSum<T> sum(0);
    for (int64_t o = 0; o < s.out_channels; ++o, image += s.y.c, weights += s.w.n) {
      sum += SumOverWindows(s, place, taps, image, weights);
    }
    dx[place.Offset(s.x)] = finish(sum, place.c);
  }
}

/// A warp for every weight, over all places of the result.
template <typename T>
__global__ void BackwardWeightsKernel(const __grid_constant__ ConvShape s, const __grid_constant__ ImagePlaces weights,
                                      const __grid_constant__ ImagePlaces places, const T* dy, const T* x, T* dw) {
  using Sum = ConvSum<T>;
  const int lane = threadIdx.x % cuda::kWarpThreads;
  const int64_t step = cuda::StepOfThreads() / cuda::kWarpThreads;
  for (int64_t i = cuda::FirstOfThread() / cuda::kWarpThreads; i < weights.numel(); i += step) {
    const ImagePlace weight = weights(i);
    const int64_t channel = weight.n / s.out_channels * s.in_channels + weight.c;
    Sum sum(0);
    for (int64_t j = lane; j < places.numel(); j += cuda::kWarpThreads) {
      ImagePlace to = places(j), from{to.n, channel, {0, 0, 0}};
      to.c = weight.n;
      bool inside = true;
      for (int axis = 0; axis < 3; ++axis) {
        from.at[axis] = to.at[axis] * s.stride[axis] - s.padding[axis] + weight.at[axis] * s.dilation[axis];
        inside = inside && from.at[axis] >= 0 && from.at[axis] < s.in[axis];
      }
      if (inside) sum += static_cast<Sum>(dy[to.Offset(s.y)]) * static_cast<Sum>(x[from.Offset(s.x)]);
    }
    sum = cuda::WarpReduce(sum, [](const Sum& a, const Sum& b) { return a + b; });
    if (lane == 0) dw[weight.Offset(s.w)] = static_cast<T>(sum);
  }
}

/// y = finish(y) for a dense y that cuDNN made.
template <typename T>
struct AddBias {
  static constexpr bool kTwo = false;
  struct Terms {
    int64_t channel;
  };
  const T* first;
  ConvFinish<T> finish;

  __device__ Terms Of(int64_t channel) const { return {channel}; }
  __device__ T operator()(const Terms& terms, const T& y, const T&) const {
    return finish(static_cast<ConvSum<T>>(y), terms.channel);
  }
};

template <typename T>
constexpr bool kVendorHas = kIsHalf<T> || std::is_floating_point_v<T>;

/// Whether the kernels for depthwise convolutions or cuDNN did it; the bias has then been added.
template <typename T>
bool ByOthers(Context& ctx, ConvPass pass, const View& y, const View& x, const View& w, const View& bias,
              const ConvGeometry& geometry, Activation activation) {
  if constexpr (kVendorHas<T>) {
    if (y.numel == 0 || x.numel == 0 || w.numel == 0) return false;
    if constexpr (!std::is_same_v<T, double>) {
      if (activation == Activation::kNone && ConvDepthwise<T>(ctx, pass, y, x, w, bias, geometry)) return true;
    }
    if (!ConvVendor(ctx, pass, y, x, w, geometry)) return false;
    const View& made = pass == ConvPass::kForward ? y : x;
    const ConvFinish<T> finish(bias, activation);
    if (!finish.plain())
      ForChannels("conv", ctx, ChannelPlanes(made), AddBias<T>{made.as<const T>(), finish}, made.as<T>());
    return true;
  }
  return false;
}

}  // namespace

template <typename T>
void Conv(Context& ctx, View y, View x, View w, View bias, const ConvGeometry& geometry, Activation activation) {
  if (y.numel == 0) return;
  if (ByOthers<T>(ctx, ConvPass::kForward, y, x, w, bias, geometry, activation)) return;
  const ImagePlaces places(y);
  cuda::Launch("conv", ctx, &ForwardKernel<T>, cuda::GridFor(y.numel, kConvThreads), ConvShape(y, x, w, geometry),
               places, ConvFinish<T>(bias, activation), x.as<const T>(), w.as<const T>(), y.as<T>());
}

template <typename T>
void ConvBackwardData(Context& ctx, View dx, View dy, View w, View bias, const ConvGeometry& geometry) {
  if (dx.numel == 0) return;
  if (ByOthers<T>(ctx, ConvPass::kBackwardData, dy, dx, w, bias, geometry, Activation::kNone)) return;
  const ImagePlaces places(dx);
  cuda::Launch("conv_backward_data", ctx, &BackwardDataKernel<T>, cuda::GridFor(dx.numel, kConvThreads),
               ConvShape(dy, dx, w, geometry), places, ConvFinish<T>(bias, Activation::kNone), dy.as<const T>(),
               w.as<const T>(), dx.as<T>());
}

namespace {

/// dbias[c] = sum of dy over everything but channels. Integers sum in 64 bits.
template <typename T>
void SumOverPlaces(Context& ctx, const View& dbias, const View& dy) {
  Dims shape = Dims::Filled(dy.ndim, 1), strides = Dims::Filled(dy.ndim, 0);
  shape[1] = dy.shape[1];
  strides[1] = dbias.strides[0];
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, int64_t>) {
    strides[1] = 1;
    const Scratch sums = ctx.Allocate<int64_t>(dy.shape[1]);
    const OwnedView wide(sums.data(), DType::kInt64, shape, strides);
    kernels::Sum(ctx, kDTypeOf<T>, wide.view, dy);
    const OwnedView flat(sums.data(), DType::kInt64, {dy.shape[1]}, {1});
    kernels::Copy(ctx, dbias.dtype, dbias, flat.view);
  } else {
    kernels::Sum(ctx, kDTypeOf<T>, OwnedView(dbias.data, dbias.dtype, shape, strides).view, dy);
  }
}

}  // namespace

template <typename T>
void ConvBackwardWeights(Context& ctx, View dw, View dbias, View dy, View x, const ConvGeometry& geometry) {
  if (dbias && dbias.numel) SumOverPlaces<T>(ctx, dbias, dy);
  if (dw.numel == 0) return;
  if (ByOthers<T>(ctx, ConvPass::kBackwardWeights, dy, x, dw, View{}, geometry, Activation::kNone)) return;
  const ConvShape shape(dy, x, dw, geometry);
  const ImagePlaces weights(dw.shape[0], dw.shape[1], shape.window, false);
  const ImagePlaces places(shape.batch, 1, shape.out, false);
  const int64_t work = dw.numel > INT64_MAX / cuda::kWarpThreads ? dw.numel : dw.numel * cuda::kWarpThreads;
  cuda::Launch("conv_backward_weights", ctx, &BackwardWeightsKernel<T>, cuda::GridFor(work, kConvThreads), shape,
               weights, places, dy.as<const T>(), x.as<const T>(), dw.as<T>());
}

DRAGON_KERNEL(Conv, Numeric);
DRAGON_KERNEL(ConvBackwardData, Numeric);
DRAGON_KERNEL(ConvBackwardWeights, Numeric);

}  // namespace dragon::DRAGON_DEVICE
