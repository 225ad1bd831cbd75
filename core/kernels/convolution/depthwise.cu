// Depthwise convolution on CUDA: the result, and the gradient of the input, which is the result of the adjoint.
#include <cstdlib>
#include <cstring>

#include "core/device/cuda/block.h"
#include "core/kernels/convolution/depthwise_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// What is added to a channel's results.
template <typename T>
struct ChannelBias {
  const T* data = nullptr;
  int64_t step = 0;

  explicit ChannelBias(const View& bias) {
    if (bias) data = bias.as<const T>(), step = bias.strides[0];
  }
  __device__ float operator()(int64_t channel) const { return data ? static_cast<float>(data[channel * step]) : 0.0f; }
};

/// Make one strip of a plane of results, with the weights of its channel.
template <typename T, typename Rows, typename Columns>
__device__ __forceinline__ void SlideStrip(const Depthwise& d, const StripPlace& place, const float* taps, float bias,
                                           const T* __restrict__ source, T* __restrict__ result) {
  float sums[Rows::kResults][Columns::kResults] = {};
  ForSources<Rows, Columns>(d.source, source, Rows::First(place.row, d.padding[0]),
                            Columns::First(place.column, d.padding[1]), [&](int i, const float* line) {
#pragma unroll
                              for (int q = 0; q < Rows::kResults; ++q) {
                                const int a = Rows::Tap(q, i);
                                if (a < 0 || a >= Rows::kTaps) continue;
#pragma unroll
                                for (int j = 0; j < Columns::kSources; ++j) {
#pragma unroll
                                  for (int r = 0; r < Columns::kResults; ++r) {
                                    const int b = Columns::Tap(r, j);
                                    if (b >= 0 && b < Columns::kTaps)
                                      sums[q][r] += line[j] * taps[a * Columns::kTaps + b];
                                  }
                                }
                              }
                            });
  const uint32_t inside = BitsInside(place.column, d.result.width, Columns::kResults);
  const int64_t row_step = d.result.row, column_step = d.result.column;
  result += place.row * row_step + place.column * column_step;
#pragma unroll
  for (int q = 0; q < Rows::kResults; ++q) {
    if (place.row + q >= d.result.height) return;
    T* at = result;
#pragma unroll
    for (int r = 0; r < Columns::kResults; ++r) {
      if (inside >> r & 1u) *at = static_cast<T>(sums[q][r] + bias);
      at = Further(at, column_step);
    }
    result = Further(result, row_step);
  }
}

/// Channels side by side: a lane for each, and a warp goes from strip to strip. blockIdx.x counts groups of channels.
template <typename T, typename Rows, typename Columns>
__global__ void __launch_bounds__(kDepthwiseThreads, 2)
    SlideChannelsKernel(const __grid_constant__ Depthwise d, const T* __restrict__ source, const T* __restrict__ w,
                        const ChannelBias<T> bias, T* __restrict__ result) {
  constexpr int kTaps = Rows::kTaps * Columns::kTaps;
  __shared__ float weights[cuda::kWarpThreads * kTaps];
  cuda::FillShared(weights);
  const int64_t first = int64_t{blockIdx.x} * cuda::kWarpThreads;
  for (int i = threadIdx.x; i < cuda::kWarpThreads * kTaps; i += kDepthwiseThreads) {
    const int64_t channel = first + i / kTaps;
    const int a = i % kTaps / Columns::kTaps, b = i % Columns::kTaps;
    weights[i] = channel < d.channels ? static_cast<float>(w[channel * d.w_channel + a * d.w_row + b * d.w_column]) : 0;
  }
  __syncthreads();
  const int lane = threadIdx.x % cuda::kWarpThreads;
  const int64_t channel = first + lane;
  if (channel >= d.channels) return;
  float taps[kTaps];  // a channel's are an odd number of words away from the next one's: each in a bank of its own
#pragma unroll
  for (int i = 0; i < kTaps; ++i) taps[i] = weights[lane * kTaps + i];
  const float added = bias(channel);
  source += channel / d.multiplier * d.source.c;
  result += channel * d.result.c;
  constexpr int kWarps = kDepthwiseThreads / cuda::kWarpThreads;
  for (uint32_t i = blockIdx.y * kWarps + threadIdx.x / cuda::kWarpThreads; i < d.strips; i += gridDim.y * kWarps) {
    const StripPlace place = PlaceOfStrip<Rows, Columns>(d, i);
    SlideStrip<T, Rows, Columns>(d, place, taps, added, source + place.plane * d.source.n,
                                 result + place.plane * d.result.n);
  }
}

/// Planes: a thread for each strip of each of them. Lanes of a plane read the same weights.
template <typename T, typename Rows, typename Columns>
__global__ void __launch_bounds__(kDepthwiseThreads, 2)
    SlidePlanesKernel(const __grid_constant__ Depthwise d, uint32_t count, const cuda::Divider<uint32_t> channels,
                      const T* __restrict__ source, const T* __restrict__ w, const ChannelBias<T> bias,
                      T* __restrict__ result) {
  const auto strip = static_cast<uint32_t>(cuda::FirstOfThread());
  if (strip >= count) return;
  const StripPlace place = PlaceOfStrip<Rows, Columns>(d, strip);
  const uint32_t image = channels.Divide(place.plane), channel = place.plane - image * channels.divisor;
  float taps[Rows::kTaps * Columns::kTaps];
#pragma unroll
  for (int a = 0; a < Rows::kTaps; ++a) {
#pragma unroll
    for (int b = 0; b < Columns::kTaps; ++b) {
      taps[a * Columns::kTaps + b] = static_cast<float>(w[channel * d.w_channel + a * d.w_row + b * d.w_column]);
    }
  }
  SlideStrip<T, Rows, Columns>(d, place, taps, bias(channel),
                               source + image * d.source.n + channel / d.multiplier * d.source.c,
                               result + image * d.result.n + channel * d.result.c);
}

template <typename T, typename Rows, typename Columns>
void SlideChannels(Context& ctx, const Depthwise& d, const T* source, const T* w, const ChannelBias<T>& bias,
                   T* result) {
  constexpr int64_t kWarps = kDepthwiseThreads / cuda::kWarpThreads, kBlocks = 2112;
  const int64_t chunks = (d.channels + cuda::kWarpThreads - 1) / cuda::kWarpThreads;
  // So many strips for each warp that there are a few thousand blocks, which read their weights once.
  const int64_t each = std::max((chunks * d.strips + kWarps * kBlocks - 1) / (kWarps * kBlocks),
                                d.strips / (kWarps * cuda::kMostBlocks) + 1);
  const int64_t slices = (d.strips + kWarps * each - 1) / (kWarps * each);
  cuda::Launch("conv", ctx, &SlideChannelsKernel<T, Rows, Columns>,
               {dim3(static_cast<unsigned>(chunks), static_cast<unsigned>(slices)), dim3(kDepthwiseThreads)}, d, source,
               w, bias, result);
}

template <typename T, typename Rows, typename Columns>
void SlidePlanes(Context& ctx, const Depthwise& d, const T* source, const T* w, const ChannelBias<T>& bias, T* result) {
  const int64_t count = d.channels * d.strips;
  cuda::Launch("conv", ctx, &SlidePlanesKernel<T, Rows, Columns>, cuda::GridFor(count, kDepthwiseThreads, INT32_MAX), d,
               count, cuda::Divider<uint32_t>(d.channels), source, w, bias, result);
}

/// `Axis<n>` maps n results along an axis to their sources. Seven columns where they may be, since pictures of 224
/// shrink to planes of 56, 28, 14 and 7; as many rows as registers are there for.
template <typename T, template <int> typename Axis, int kColumns>
void Slide(Context& ctx, const View& given, const View& result, const View& w, const View& bias, const ConvGeometry& g,
           bool channels_last) {
  constexpr int kRows = 4, kRowsOfPlanes = 2;
  const DepthwiseOperand source(ctx, given, channels_last);
  const Depthwise d(source.view(), result, w, g, channels_last ? kRows : kRowsOfPlanes, kColumns);
  const auto* from = source.view().template as<const T>();
  const ChannelBias<T> added(bias);
  if (channels_last) {
    SlideChannels<T, Axis<kRows>, Axis<kColumns>>(ctx, d, from, w.as<const T>(), added, result.as<T>());
  } else if constexpr (kDepthwiseHasPlanes<T>) {
    SlidePlanes<T, Axis<kRowsOfPlanes>, Axis<kColumns>>(ctx, d, from, w.as<const T>(), added, result.as<T>());
  }
}

template <int kTaps, int kStride>
struct DepthwiseAxes {
  template <int kResults>
  using Forward = Gather<kTaps, kStride, kResults>;
  template <int kResults>
  using Backward = Scatter<kTaps, kStride, kResults>;
};

/// DRAGON_DEPTHWISE=0 leaves these convolutions to cuDNN, too.
bool Wanted() {
  static const bool wanted = [] {
    const char* asked = std::getenv("DRAGON_DEPTHWISE");
    return !asked || std::strcmp(asked, "0") != 0;
  }();
  return wanted;
}

/// Whether kernels can count through a side with 32 bits.
bool Fits(const View& x) {
  constexpr int64_t kMostSize = 1 << 24, kMostReach = 1 << 30;
  int64_t reach = 0;
  for (int axis = 2; axis < 4; ++axis) {
    int64_t steps;
    if (x.shape[axis] > kMostSize || std::abs(x.strides[axis]) > kMostReach) return false;
    if (__builtin_mul_overflow(x.shape[axis] + kDepthwiseThreads, std::abs(x.strides[axis]), &steps)) return false;
    reach += steps;
  }
  return x.numel <= INT32_MAX && reach <= kMostReach;
}

/// Square windows without gaps, one channel of input for each.
bool Fits(const View& y, const View& x, const View& w, const ConvGeometry& g) {
  constexpr int64_t kMostPadding = 1 << 24;
  return g.spatial == 2 && g.groups > 1 && w.shape[1] == 1 && x.shape[1] == g.groups && w.shape[2] == w.shape[3] &&
         g.stride[0] == g.stride[1] && g.dilation[0] == 1 && g.dilation[1] == 1 &&
         std::max(g.padding[0], g.padding[1]) <= kMostPadding && Fits(y) && Fits(x);
}

}  // namespace

template <typename T>
bool ConvDepthwise(Context& ctx, ConvPass pass, const View& y, const View& x, const View& w, const View& bias,
                   const ConvGeometry& g) {
  if (!Wanted() || !Fits(y, x, w, g)) return false;
  const bool of_weights = pass == ConvPass::kBackwardWeights, of_data = pass == ConvPass::kBackwardData;
  const bool channels_last = (of_data ? x : y).strides[1] == 1 || (of_weights && x.strides[1] == 1);
  if (!channels_last && !kDepthwiseHasPlanes<T>) return false;
  if (of_weights) return DepthwiseWeights<T>(ctx, y, x, w, g, channels_last);
  if (of_data && w.shape[0] != g.groups) return false;  // sums over several channels
  return ForDepthwiseWindow(w, g, [&]<int kTaps, int kStride>() {
    using Axes = DepthwiseAxes<kTaps, kStride>;
    if (!of_data) {
      Slide<T, Axes::template Forward, 7>(ctx, x, y, w, bias, g, channels_last);
      return true;
    }
    for (int axis = 0; axis < 2; ++axis) {
      if ((g.padding[axis] - kTaps / 2) % kStride != 0) return false;
    }
    Slide<T, Axes::template Backward, kStride == 1 ? 7 : 8>(ctx, y, x, w, bias, g, channels_last);
    return true;
  });
}

template bool ConvDepthwise<float>(Context&, ConvPass, const View&, const View&, const View&, const View&,
                                   const ConvGeometry&);
template bool ConvDepthwise<float16>(Context&, ConvPass, const View&, const View&, const View&, const View&,
                                     const ConvGeometry&);
template bool ConvDepthwise<bfloat16>(Context&, ConvPass, const View&, const View&, const View&, const View&,
                                      const ConvGeometry&);

}  // namespace dragon::DRAGON_DEVICE
