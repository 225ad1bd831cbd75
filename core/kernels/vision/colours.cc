// Colours of pictures changed in one pass: mixed with black, their grey or its mean, turned round the circle of hues,
// or normalized channel by channel.
#include "core/kernels/vision/colours.h"

#include <algorithm>
#include <type_traits>

#include "core/device/parallel.h"
#include "core/kernels/lanes.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace colours;

// Loops are functions of values: a byte that is written may be any number behind a reference.

/// Pixels that a thread takes at a time.
constexpr int64_t kColourBlock = 4096;

/// Images seen as (images, channels, pixels); `body(image, first, count)` is called for parts of them.
template <typename Body>
void ForPixels(int64_t images, int64_t pixels, const Body& body) {
  const int64_t blocks = (pixels + kColourBlock - 1) / kColourBlock;
  ParallelFor(images * blocks, std::max<int64_t>(1, kGrain / kColourBlock), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * kColourBlock;
      body(i / blocks, first, std::min(kColourBlock, pixels - first));
    }
  });
}

template <typename T>
void MixWithGrey(T* y, const T* x, int64_t plane, int64_t count, float ratio, float rest) {
  const T *r = x, *g = x + plane, *b = x + 2 * plane;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const float grey = GreyOf(r[i], g[i], b[i]);
    y[i] = Mixed<T>(static_cast<float>(r[i]) * ratio, rest, grey);
    y[i + plane] = Mixed<T>(static_cast<float>(g[i]) * ratio, rest, grey);
    y[i + 2 * plane] = Mixed<T>(static_cast<float>(b[i]) * ratio, rest, grey);
  }
}

template <typename T>
void MixWithOne(T* y, const T* x, int64_t count, float ratio, float rest, float other) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) y[i] = Mixed<T>(static_cast<float>(x[i]) * ratio, rest, other);
}

/// The mean lightness of each image, from sums of blocks in their order.
template <typename T>
std::vector<float> MeanGreys(const View& x, int64_t images, int64_t channels, int64_t pixels) {
  const int64_t blocks = (pixels + kColourBlock - 1) / kColourBlock;
  std::vector<double> sums(images * blocks);
  ForPixels(images, pixels, [&](int64_t image, int64_t first, int64_t count) {
    const T* from = x.as<const T>() + image * channels * pixels + first;
    const auto grey = [=](int64_t i) {
      return channels == 1 ? static_cast<float>(from[i]) : GreyOf(from[i], from[i + pixels], from[i + 2 * pixels]);
    };
    sums[image * blocks + first / kColourBlock] = LaneSum<float>(count, grey);
  });
  std::vector<float> means;
  for (int64_t image = 0; image < images; ++image) {
    double sum = 0;
    for (int64_t k = 0; k < blocks; ++k) sum += sums[image * blocks + k];
    means.push_back(static_cast<float>(sum / static_cast<double>(pixels)));
  }
  return means;
}

template <typename T>
void TurnPixels(T* y, const T* x, int64_t plane, int64_t count, float turn) {
  constexpr bool kBytes = std::is_same_v<T, uint8_t>;
  constexpr float kScale = kBytes ? 1.0f / 255 : 1.0f, kBack = kBytes ? 255.999f : 1.0f;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const TurnedPixel pixel(static_cast<float>(x[i]) * kScale, static_cast<float>(x[i + plane]) * kScale,
                            static_cast<float>(x[i + 2 * plane]) * kScale, turn);
    y[i] = Cut<T>(pixel.r * kBack);
    y[i + plane] = Cut<T>(pixel.g * kBack);
    y[i + 2 * plane] = Cut<T>(pixel.b * kBack);
  }
}

}  // namespace

template <typename T>
void BlendColours(Context&, View y, View x, double ratio, ColourBlend with) {
  const int64_t channels = x.shape[x.ndim - 3], pixels = x.shape[x.ndim - 2] * x.shape[x.ndim - 1];
  if (x.numel == 0) return;
  const int64_t images = x.numel / (channels * pixels), size = channels * pixels;
  const auto share = static_cast<float>(ratio), rest = static_cast<float>(1 - ratio);
  std::vector<float> others(images, 0.0f);
  if (with == ColourBlend::kMean) others = MeanGreys<T>(x, images, channels, pixels);
  ForPixels(images, pixels, [&](int64_t image, int64_t first, int64_t count) {
    T* to = y.as<T>() + image * size + first;
    const T* from = x.as<const T>() + image * size + first;
    if (with == ColourBlend::kGrey) return MixWithGrey(to, from, pixels, count, share, rest);
    for (int64_t c = 0; c < channels; ++c, to += pixels, from += pixels) {
      MixWithOne(to, from, count, share, rest, others[image]);
    }
  });
}
using ColourTypes = TypeList<uint8_t, float>;
DRAGON_KERNEL(BlendColours, DRAGON_DEVICE::ColourTypes);

template <typename T>
void TurnHue(Context&, View y, View x, double turn) {
  if (x.numel == 0) return;
  const int64_t pixels = x.shape[x.ndim - 2] * x.shape[x.ndim - 1];
  ForPixels(x.numel / (3 * pixels), pixels, [&](int64_t image, int64_t first, int64_t count) {
    const int64_t at = image * 3 * pixels + first;
    TurnPixels(y.as<T>() + at, x.as<const T>() + at, pixels, count, static_cast<float>(turn));
  });
}
DRAGON_KERNEL(TurnHue, DRAGON_DEVICE::ColourTypes);

template <typename T>
void Standardize(Context&, View y, View x, const std::vector<double>& mean, const std::vector<double>& deviation) {
  if (x.numel == 0) return;
  const int64_t channels = x.shape[x.ndim - 3], pixels = x.shape[x.ndim - 2] * x.shape[x.ndim - 1];
  ForPixels(x.numel / pixels, pixels, [&](int64_t plane, int64_t first, int64_t count) {
    const int64_t channel = plane % channels;
    const T off = static_cast<T>(mean[mean.size() == 1 ? 0 : channel]);
    const T divisor = static_cast<T>(deviation[deviation.size() == 1 ? 0 : channel]);
    T* to = y.as<T>() + plane * pixels + first;
    const T* from = x.as<const T>() + plane * pixels + first;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) to[i] = (from[i] - off) / divisor;
  });
}
using NormalizedTypes = TypeList<float, double>;
DRAGON_KERNEL(Standardize, DRAGON_DEVICE::NormalizedTypes);

}  // namespace dragon::DRAGON_DEVICE
