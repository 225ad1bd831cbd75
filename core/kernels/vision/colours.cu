// Colours of pictures changed in one pass: each thread takes a pixel with all its channels, or four numbers that lie
// side by side. The mean grey of pictures is added up part by part, and the parts in their order.
#include "core/device/cuda/block.h"
#include "core/device/cuda/divide.h"
#include "core/device/cuda/launch.h"
#include "core/device/cuda/upload.h"
#include "core/kernels/vision/colours.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace colours;

/// Pictures as (images, channels, pixels).
struct Pictures {
  int64_t images, channels, pixels;

  explicit Pictures(const View& x) : channels(x.shape[x.ndim - 3]), pixels(x.shape[x.ndim - 2] * x.shape[x.ndim - 1]) {
    images = x.numel / (channels * pixels);
  }
};

/// Blocks over the pixels (x) and over the pictures (y).
cuda::Grid PixelGrid(const Pictures& pictures) {
  auto grid = cuda::GridFor(pictures.pixels);
  grid.blocks.y = static_cast<unsigned>(std::min(pictures.images, cuda::kMostBlocks));
  return grid;
}

template <typename T>
__device__ __forceinline__ float GreyAt(const T* pixel, int64_t channels, int64_t plane) {
  return channels == 1 ? static_cast<float>(*pixel) : GreyOf(pixel[0], pixel[plane], pixel[2 * plane]);
}

/// Parts of the sum of a picture's greys, one for each block of its row.
template <typename T>
__global__ void SumGreysKernel(const T* __restrict__ x, const Pictures pictures, double* parts) {
  for (int64_t image = blockIdx.y; image < pictures.images; image += gridDim.y) {
    const T* picture = x + image * pictures.channels * pictures.pixels;
    double sum = 0;
    for (int64_t i = cuda::FirstOfThread(); i < pictures.pixels; i += cuda::StepOfThreads()) {
      sum += static_cast<double>(GreyAt(picture + i, pictures.channels, pictures.pixels));
    }
    sum = cuda::BlockReduce(sum, [](double a, double b) { return a + b; });
    if (threadIdx.x == 0) parts[image * gridDim.x + blockIdx.x] = sum;
  }
}

/// `parts` is null where the other colour is black or the pixel's own grey.
template <typename T>
__global__ void BlendKernel(T* __restrict__ y, const T* __restrict__ x, const Pictures pictures, float ratio,
                            float rest, bool grey, const double* __restrict__ parts, int64_t part_count) {
  const int64_t plane = pictures.pixels;
  for (int64_t image = blockIdx.y; image < pictures.images; image += gridDim.y) {
    const int64_t start = image * pictures.channels * plane;
    float other = 0;
    if (parts) {
      double sum = 0;
      for (int64_t k = 0; k < part_count; ++k) sum += parts[image * part_count + k];
      other = static_cast<float>(sum / static_cast<double>(plane));
    }
    for (int64_t i = cuda::FirstOfThread(); i < plane; i += cuda::StepOfThreads()) {
      const T* from = x + start + i;
      T* to = y + start + i;
      if (grey) other = GreyOf(from[0], from[plane], from[2 * plane]);
      for (int64_t c = 0; c < pictures.channels; ++c) {
        to[c * plane] = Mixed<T>(static_cast<float>(from[c * plane]) * ratio, rest, other);
      }
    }
  }
}

template <typename T>
__global__ void TurnHueKernel(T* __restrict__ y, const T* __restrict__ x, const Pictures pictures, float turn) {
  constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  constexpr float kScale = kBytes ? 1.0f / 255 : 1.0f, kBack = kBytes ? 255.999f : 1.0f;
  const int64_t plane = pictures.pixels;
  for (int64_t image = blockIdx.y; image < pictures.images; image += gridDim.y) {
    for (int64_t i = cuda::FirstOfThread(); i < plane; i += cuda::StepOfThreads()) {
      const T* from = x + image * 3 * plane + i;
      T* to = y + image * 3 * plane + i;
      const TurnedPixel pixel(static_cast<float>(from[0]) * kScale, static_cast<float>(from[plane]) * kScale,
                              static_cast<float>(from[2 * plane]) * kScale, turn);
      to[0] = Cut<T>(pixel.r * kBack);
      to[plane] = Cut<T>(pixel.g * kBack);
      to[2 * plane] = Cut<T>(pixel.b * kBack);
    }
  }
}

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Numbers {
  T at[kWidth];
};

/// numbers[2 c] is the mean of channel c, numbers[2 c + 1] its deviation. A block keeps to planes of one number.
template <typename T, int kWidth>
__global__ void StandardizeKernel(T* __restrict__ y, const T* __restrict__ x, int64_t planes, int64_t channels,
                                  int64_t pixels, const T* __restrict__ numbers) {
  for (int64_t plane = blockIdx.y; plane < planes; plane += gridDim.y) {
    const int64_t channel = plane % channels;
    const T mean = numbers[2 * channel], deviation = numbers[2 * channel + 1];
    const auto* from = reinterpret_cast<const Numbers<T, kWidth>*>(x + plane * pixels);
    auto* to = reinterpret_cast<Numbers<T, kWidth>*>(y + plane * pixels);
    for (int64_t i = cuda::FirstOfThread(); i < pixels / kWidth; i += cuda::StepOfThreads()) {
      Numbers<T, kWidth> pack = from[i];
#pragma unroll
      for (int j = 0; j < kWidth; ++j) pack.at[j] = (pack.at[j] - mean) / deviation;
      to[i] = pack;
    }
  }
}

}  // namespace

template <typename T>
void BlendColours(Context& ctx, View y, View x, double ratio, ColourBlend with) {
  if (x.numel == 0) return;
  constexpr int64_t kMostParts = 64;
  const Pictures pictures(x);
  const auto grid = PixelGrid(pictures);
  auto sums = grid;
  sums.blocks.x = std::min<unsigned>(sums.blocks.x, kMostParts);
  const int64_t parts = sums.blocks.x;
  const bool mean = with == ColourBlend::kMean;
  auto scratch = ctx.Allocate<double>(mean ? pictures.images * parts : 0);
  double* const found = mean ? scratch.template as<double>() : nullptr;
  if (mean) cuda::Launch("blend_colours", ctx, &SumGreysKernel<T>, sums, x.as<const T>(), pictures, found);
  cuda::Launch("blend_colours", ctx, &BlendKernel<T>, grid, y.as<T>(), x.as<const T>(), pictures,
               static_cast<float>(ratio), static_cast<float>(1 - ratio), with == ColourBlend::kGrey,
               static_cast<const double*>(found), parts);
}
using ColourTypes = TypeList<uint8_t, float>;
DRAGON_KERNEL(BlendColours, DRAGON_DEVICE::ColourTypes);

template <typename T>
void TurnHue(Context& ctx, View y, View x, double turn) {
  if (x.numel == 0) return;
  const Pictures pictures(x);
  cuda::Launch("turn_hue", ctx, &TurnHueKernel<T>, PixelGrid(pictures), y.as<T>(), x.as<const T>(), pictures,
               static_cast<float>(turn));
}
DRAGON_KERNEL(TurnHue, DRAGON_DEVICE::ColourTypes);

template <typename T>
void Standardize(Context& ctx, View y, View x, const std::vector<double>& mean, const std::vector<double>& deviation) {
  if (x.numel == 0) return;
  constexpr int kWidth = 16 / sizeof(T);
  const Pictures pictures(x);
  const int64_t planes = pictures.images * pictures.channels;
  std::vector<T> numbers;
  for (int64_t c = 0; c < pictures.channels; ++c) {
    numbers.push_back(static_cast<T>(mean[mean.size() == 1 ? 0 : c]));
    numbers.push_back(static_cast<T>(deviation[deviation.size() == 1 ? 0 : c]));
  }
  const auto table = cuda::Upload(ctx, numbers);
  const bool wide = pictures.pixels % kWidth == 0 && reinterpret_cast<uintptr_t>(x.data) % 16 == 0 &&
                    reinterpret_cast<uintptr_t>(y.data) % 16 == 0;
  auto grid = cuda::GridFor(wide ? pictures.pixels / kWidth : pictures.pixels);
  grid.blocks.y = static_cast<unsigned>(std::min(planes, cuda::kMostBlocks));
  cuda::Launch("standardize", ctx, wide ? &StandardizeKernel<T, kWidth> : &StandardizeKernel<T, 1>, grid, y.as<T>(),
               x.as<const T>(), planes, pictures.channels, pictures.pixels, table.template as<const T>());
}
using NormalizedTypes = TypeList<float, double>;
DRAGON_KERNEL(Standardize, DRAGON_DEVICE::NormalizedTypes);

}  // namespace dragon::DRAGON_DEVICE
