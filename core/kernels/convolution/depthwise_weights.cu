// Depthwise convolution on CUDA: the gradient of the weights. A thread keeps the sums of all of a channel's taps while
// it goes through strips of dy; those of a block are added up in turns, those of all blocks by a second kernel, so that
// results are the same in every run.
#include "core/device/cuda/block.h"
#include "core/kernels/convolution/depthwise_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kWarps = kDepthwiseThreads / cuda::kWarpThreads;

/// Add the products of one strip of a plane of dy with its sources. No product is taken that is not in the sum: zero
/// times infinity would be in it for ever.
template <typename T, typename Rows, typename Columns>
__device__ __forceinline__ void AddStrip(const Depthwise& d, const StripPlace& place, const T* __restrict__ x,
                                         const T* __restrict__ dy, float* sums) {
  const int rows = d.result.height - place.row;
  const int64_t row_step = d.result.row, column_step = d.result.column;
  dy += place.row * row_step + place.column * column_step;
  float factors[Rows::kResults][Columns::kResults];
#pragma unroll
  for (int q = 0; q < Rows::kResults; ++q) {
    const T* at = dy;
#pragma unroll
    for (int r = 0; r < Columns::kResults; ++r) {
      factors[q][r] = q == 0 || q < rows ? static_cast<float>(*at) : 0.0f;
      at = Further(at, column_step);
    }
    dy = Further(dy, row_step);
  }
  ForSources<Rows, Columns>(d.source, x, Rows::First(place.row, d.padding[0]),
                            Columns::First(place.column, d.padding[1]), [&](int i, const float* line) {
#pragma unroll
                              for (int q = 0; q < Rows::kResults; ++q) {
                                const int a = Rows::Tap(q, i);
                                if (a < 0 || a >= Rows::kTaps || (q > 0 && q >= rows)) continue;
#pragma unroll
                                for (int r = 0; r < Columns::kResults; ++r) {
#pragma unroll
                                  for (int b = 0; b < Columns::kTaps; ++b) {
                                    sums[a * Columns::kTaps + b] += line[r * Columns::kStep + b] * factors[q][r];
                                  }
                                }
                              }
                            });
}

/// The same for a strip that ends outside of its plane, one place of dy after the other.
template <typename T, typename Rows, typename Columns>
__device__ __forceinline__ void AddPlaces(const Depthwise& d, const StripPlace& place, const T* __restrict__ x,
                                          const T* __restrict__ dy, float* sums) {
  const int last_row = min(d.result.height, place.row + Rows::kResults);
#pragma unroll 1
  for (int row = place.row; row < last_row; ++row) {
#pragma unroll 1
    for (int column = place.column; column < d.result.width; ++column) {
      const auto factor = static_cast<float>(dy[row * d.result.row + column * d.result.column]);
      ForSources<Gather<Rows::kTaps, 1, 1>, Gather<Columns::kTaps, 1, 1>>(
          d.source, x, Rows::First(row, d.padding[0]), Columns::First(column, d.padding[1]),
          [&](int a, const float* line) {
#pragma unroll
            for (int b = 0; b < Columns::kTaps; ++b) sums[a * Columns::kTaps + b] += line[b] * factor;
          });
    }
  }
}

/// Whichever of the two. `x` and `dy` are the first image's planes of the channel.
template <typename T, typename Rows, typename Columns>
__device__ __forceinline__ void AddStripAt(const Depthwise& d, uint32_t strip, const T* __restrict__ x,
                                           const T* __restrict__ dy, float* sums) {
  const StripPlace place = PlaceOfStrip<Rows, Columns>(d, strip);
  x += place.plane * d.source.n;
  dy += place.plane * d.result.n;
  if (place.column + Columns::kResults <= d.result.width) {
    AddStrip<T, Rows, Columns>(d, place, x, dy, sums);
  } else {
    AddPlaces<T, Rows, Columns>(d, place, x, dy, sums);
  }
}

/// Channels side by side: a lane for each. blockIdx.x counts groups of channels, blockIdx.y slices of the strips.
template <typename T, typename Rows, typename Columns>
__global__ void __launch_bounds__(kDepthwiseThreads, 2)
    WeightsOfChannelsKernel(const __grid_constant__ Depthwise d, const T* __restrict__ x, const T* __restrict__ dy,
                            float* __restrict__ partials) {
  constexpr int kTaps = Rows::kTaps * Columns::kTaps;
  __shared__ float total[cuda::kWarpThreads * kTaps];
  cuda::FillShared(total);
  const int lane = threadIdx.x % cuda::kWarpThreads, warp = threadIdx.x / cuda::kWarpThreads;
  const int64_t first = int64_t{blockIdx.x} * cuda::kWarpThreads, channel = first + lane;
  float sums[kTaps] = {};
  if (channel < d.channels) {
    x += channel / d.multiplier * d.source.c;
    dy += channel * d.result.c;
    for (uint32_t i = blockIdx.y * kWarps + warp; i < d.strips; i += gridDim.y * kWarps) {
      AddStripAt<T, Rows, Columns>(d, i, x, dy, sums);
    }
  }
  for (int turn = 0; turn < kWarps; ++turn) {
    if (warp == turn) {
#pragma unroll
      for (int i = 0; i < kTaps; ++i) {
        float* at = total + lane * kTaps + i;
        *at = turn == 0 ? sums[i] : *at + sums[i];
      }
    }
    __syncthreads();
  }
  partials += (blockIdx.y * d.channels + first) * kTaps;
  for (int i = threadIdx.x; i < cuda::kWarpThreads * kTaps; i += kDepthwiseThreads) {
    if (first + i / kTaps < d.channels) partials[i] = total[i];
  }
}

/// Planes: blockIdx.x counts channels, and the block's threads go through strips.
template <typename T, typename Rows, typename Columns>
__global__ void __launch_bounds__(kDepthwiseThreads, 2)
    WeightsOfPlanesKernel(const __grid_constant__ Depthwise d, const T* __restrict__ x, const T* __restrict__ dy,
                          float* __restrict__ partials) {
  constexpr int kTaps = Rows::kTaps * Columns::kTaps;
  __shared__ float parts[kWarps * kTaps];
  cuda::FillShared(parts);
  const int64_t channel = blockIdx.x;
  x += channel / d.multiplier * d.source.c;
  dy += channel * d.result.c;
  float sums[kTaps] = {};
  for (uint32_t i = blockIdx.y * kDepthwiseThreads + threadIdx.x; i < d.strips; i += gridDim.y * kDepthwiseThreads) {
    AddStripAt<T, Rows, Columns>(d, i, x, dy, sums);
  }
  const int lane = threadIdx.x % cuda::kWarpThreads, warp = threadIdx.x / cuda::kWarpThreads;
#pragma unroll
  for (int i = 0; i < kTaps; ++i) {
    const float sum = cuda::WarpReduce(sums[i], [](float a, float b) { return a + b; });
    if (lane == 0) parts[warp * kTaps + i] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= kTaps) return;
  float sum = parts[threadIdx.x];
  for (int i = 1; i < kWarps; ++i) sum += parts[i * kTaps + threadIdx.x];
  partials[(blockIdx.y * d.channels + channel) * kTaps + threadIdx.x] = sum;
}

/// dw = the sum of all slices. A lane for each weight, whose slices the block's warps share.
template <typename T>
__global__ void SumSlicesKernel(const __grid_constant__ Depthwise d, int taps, int slices, const float* partials,
                                T* dw) {
  __shared__ float parts[kDepthwiseThreads];
  cuda::FillShared(parts);
  const int lane = threadIdx.x % cuda::kWarpThreads, warp = threadIdx.x / cuda::kWarpThreads;
  const int64_t numel = d.channels * taps * taps, at = int64_t{blockIdx.x} * cuda::kWarpThreads + lane;
  float sum = 0;
  if (at < numel) {
    for (int i = warp; i < slices; i += kWarps) sum += partials[i * numel + at];
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (warp != 0 || at >= numel) return;
  for (int i = 1; i < kWarps; ++i) sum += parts[i * cuda::kWarpThreads + lane];
  const int64_t line = at / taps, channel = line / taps;
  dw[channel * d.w_channel + (line - channel * taps) * d.w_row + (at - line * taps) * d.w_column] = static_cast<T>(sum);
}

template <typename T, typename Rows, typename Columns>
void MakeWeights(Context& ctx, const View& given_dy, const View& given_x, const View& dw, const ConvGeometry& g,
                 bool channels_last) {
  const DepthwiseOperand dy(ctx, given_dy, channels_last), x(ctx, given_x, channels_last);
  const Depthwise d(x.view(), dy.view(), dw, g, Rows::kResults, Columns::kResults);
  // As many blocks as 132 processors hold at a time, each with some strips for every warp or thread that takes them.
  constexpr int64_t kBlocks = 132 * (Rows::kTaps > 5 ? 2 : 4), kStrips = 4;
  const int64_t across = channels_last ? (d.channels + cuda::kWarpThreads - 1) / cuda::kWarpThreads : d.channels;
  const int64_t in_block = kStrips * (channels_last ? kWarps : kDepthwiseThreads);
  const int64_t slices = std::clamp<int64_t>(std::min(kBlocks / across, d.strips / in_block), 1, kBlocks);
  const int64_t numel = d.channels * Rows::kTaps * Columns::kTaps;
  const Scratch partials = ctx.Allocate<float>(slices * numel);
  const cuda::Grid grid{dim3(static_cast<unsigned>(across), static_cast<unsigned>(slices)), dim3(kDepthwiseThreads)};
  const char* who = "conv_backward_weights";
  const auto *from = x.view().template as<const T>(), *by = dy.view().template as<const T>();
  if (channels_last) {
    cuda::Launch(who, ctx, &WeightsOfChannelsKernel<T, Rows, Columns>, grid, d, from, by, partials.as<float>());
  } else if constexpr (kDepthwiseHasPlanes<T>) {
    cuda::Launch(who, ctx, &WeightsOfPlanesKernel<T, Rows, Columns>, grid, d, from, by, partials.as<float>());
  }
  const int64_t blocks = (numel + cuda::kWarpThreads - 1) / cuda::kWarpThreads;
  cuda::Launch(who, ctx, &SumSlicesKernel<T>, {dim3(static_cast<unsigned>(blocks)), dim3(kDepthwiseThreads)}, d,
               Rows::kTaps, static_cast<int>(slices), partials.as<const float>(), dw.as<T>());
}

}  // namespace

template <typename T>
bool DepthwiseWeights(Context& ctx, const View& dy, const View& x, const View& dw, const ConvGeometry& g,
                      bool channels_last) {
  return ForDepthwiseWindow(dw, g, [&]<int kTaps, int kStride>() {
    MakeWeights<T, Gather<kTaps, kStride, 2>, Gather<kTaps, kStride, 7>>(ctx, dy, x, dw, g, channels_last);
    return true;
  });
}

template bool DepthwiseWeights<float>(Context&, const View&, const View&, const View&, const ConvGeometry&, bool);
template bool DepthwiseWeights<float16>(Context&, const View&, const View&, const View&, const ConvGeometry&, bool);
template bool DepthwiseWeights<bfloat16>(Context&, const View&, const View&, const View&, const ConvGeometry&, bool);

}  // namespace dragon::DRAGON_DEVICE
