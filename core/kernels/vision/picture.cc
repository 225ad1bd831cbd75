// Resampling rows of pixels: the four channels of a pixel at a time along a row, as many samples as fit across rows.
#include "core/kernels/vision/picture.h"

#include <algorithm>
#include <cstring>

namespace dragon::DRAGON_DEVICE {

namespace {

// The four channels of a pixel as one value: it stays in a register whatever the level.
typedef int32_t Pixel __attribute__((vector_size(16)));
typedef int32_t PixelPair __attribute__((vector_size(32)));
typedef uint8_t PixelBytes __attribute__((vector_size(4)));
constexpr int32_t kHalf = 1 << (kTapBits - 1);

uint8_t ToByte(int32_t sum) { return static_cast<uint8_t>(std::min(std::max(sum >> kTapBits, 0), 255)); }

/// As many pairs of taps as `kPairs` says, or as the taps say where it is 0. All results have as many: where that
/// varied, the processor would guess wrong at every other one.
template <int kPairs>
void MixPixels(uint8_t* to, const int32_t* wide, const PictureTaps& taps, bool mirror) {
  const int32_t count = kPairs > 0 ? kPairs : (taps.most + 1) / 2;
  const int64_t step = mirror ? -4 : 4;
  if (mirror) to += int64_t{4} * (taps.results - 1);
  const int32_t* weights = taps.spread;
  for (int32_t i = 0; i < taps.results; ++i, to += step, weights += 8 * count) {
    const int32_t* at = wide + int64_t{4} * taps.first[i];
    PixelPair pairs{};
    for (int32_t k = 0; k < count; ++k) {
      PixelPair pixels, weight;
      std::memcpy(&pixels, at + 8 * k, sizeof(pixels));
      std::memcpy(&weight, weights + 8 * k, sizeof(weight));
      pairs += pixels * weight;
    }
    Pixel halves[2];
    std::memcpy(halves, &pairs, sizeof(pairs));
    Pixel sums = (halves[0] + halves[1] + kHalf) >> kTapBits;
    sums = sums < 0 ? Pixel{} : sums;
    sums = sums > 255 ? Pixel{} + 255 : sums;
    const auto bytes = __builtin_convertvector(sums, PixelBytes);
    std::memcpy(to, &bytes, sizeof(bytes));
  }
}

void MixSamples(uint8_t* to, const uint8_t* from, const PictureTaps& taps, bool mirror) {
  for (int32_t i = 0; i < taps.results; ++i) {
    const uint8_t* at = from + taps.first[i];
    const int32_t* weights = taps.weights + int64_t{i} * taps.most;
    int32_t sum = kHalf;
    for (int32_t k = 0; k < taps.most; ++k) sum += at[k] * weights[k];
    to[mirror ? taps.results - 1 - i : i] = ToByte(sum);
  }
}

/// Add a few weighted rows to the sums of the samples from `at` on: few enough that all stays in registers.
template <int kRows>
void AddRows(int32_t* sums, const uint8_t* const* rows, const int32_t* weights, int64_t at) {
  const uint8_t* row[kRows];
  int32_t weight[kRows];
  for (int k = 0; k < kRows; ++k) row[k] = rows[k] + at, weight[k] = weights[k];
#pragma omp simd
  for (int64_t j = 0; j < kPictureSlack; ++j) {
    int32_t sum = sums[j];
#pragma GCC unroll 4
    for (int k = 0; k < kRows; ++k) sum += row[k][j] * weight[k];
    sums[j] = sum;
  }
}

template <typename T>
T ToNumber(float value) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return static_cast<uint8_t>(static_cast<int32_t>(std::min(std::max(value, 0.0f), 255.0f) + 0.5f));
  } else {
    return static_cast<T>(value);
  }
}

/// One channel of a row; `sample(i)` is its value at pixel i.
template <typename T, typename Sample>
void WriteChannel(T* to, int64_t width, int64_t stride, float scale, float shift, Sample sample) {
  if (stride == 1) {
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) to[i] = ToNumber<T>(sample(i) * scale + shift);
  } else {
    for (int64_t i = 0; i < width; ++i) to[i * stride] = ToNumber<T>(sample(i) * scale + shift);
  }
}

/// All channels of each pixel side by side.
template <typename T, int kChannels>
void WritePixels(T* to, const uint8_t* row, const PictureFinish& finish) {
  const float s0 = finish.scale[0], s1 = finish.scale[1], s2 = finish.scale[2], s3 = finish.scale[3];
  const float b0 = finish.shift[0], b1 = finish.shift[1], b2 = finish.shift[2], b3 = finish.shift[3];
#pragma omp simd
  for (int64_t i = 0; i < finish.width; ++i) {
    to[kChannels * i] = ToNumber<T>(static_cast<float>(row[4 * i]) * s0 + b0);
    to[kChannels * i + 1] = ToNumber<T>(static_cast<float>(row[4 * i + 1]) * s1 + b1);
    to[kChannels * i + 2] = ToNumber<T>(static_cast<float>(row[4 * i + 2]) * s2 + b2);
    if constexpr (kChannels == 4) to[4 * i + 3] = ToNumber<T>(static_cast<float>(row[4 * i + 3]) * s3 + b3);
  }
}

template <typename T>
void WriteColours(T* to, const uint8_t* row, const PictureFinish& finish) {
  const auto channel = [&](int64_t i, int c) {
    uint32_t pixel;
    std::memcpy(&pixel, row + 4 * i, 4);
    return static_cast<float>((pixel >> (8 * c)) & 255);
  };
  for (int c = 0; c < finish.channels; ++c) {
    T* plane = to + c * finish.channel_stride;
    const float scale = finish.scale[c], shift = finish.shift[c];
    if (finish.matrix == nullptr || c == 3) {
      WriteChannel(plane, finish.width, finish.pixel_stride, scale, shift, [&](int64_t i) { return channel(i, c); });
      continue;
    }
    const float *m = finish.matrix + 4 * c, r = m[0], g = m[1], b = m[2], one = m[3];
    WriteChannel(plane, finish.width, finish.pixel_stride, scale, shift, [=](int64_t i) {
      const float value = r * channel(i, 0) + g * channel(i, 1) + b * channel(i, 2) + one;
      return std::min(std::max(value, 0.0f), 255.0f);
    });
  }
}

}  // namespace

template <typename T>
void PictureColumns(Context&, uint8_t* to, const uint8_t* from, int64_t samples, int channels, int32_t* wide,
                    const PictureTaps& taps, bool mirror) {
  if (channels == 1) return MixSamples(to, from, taps, mirror);
#pragma omp simd
  for (int64_t i = 0; i < samples; ++i) wide[i] = from[i];
  constexpr void (*kMixers[])(uint8_t*, const int32_t*, const PictureTaps&, bool) = {
      MixPixels<0>, MixPixels<1>, MixPixels<2>, MixPixels<3>, MixPixels<4>};
  kMixers[taps.most <= 8 ? (taps.most + 1) / 2 : 0](to, wide, taps, mirror);
}
DRAGON_KERNEL(PictureColumns, TypeList<uint8_t>);

template <typename T>
void PictureBlend(Context&, uint8_t* to, const uint8_t* const* rows, const int32_t* weights, int count,
                  int64_t samples) {
  for (int64_t i = 0; i < samples; i += kPictureSlack) {
    int32_t sums[kPictureSlack];
    std::fill_n(sums, kPictureSlack, kHalf);
    int k = 0;
    for (; k + 4 <= count; k += 4) AddRows<4>(sums, rows + k, weights + k, i);
    if (count - k == 3) AddRows<3>(sums, rows + k, weights + k, i);
    if (count - k == 2) AddRows<2>(sums, rows + k, weights + k, i);
    if (count - k == 1) AddRows<1>(sums, rows + k, weights + k, i);
#pragma omp simd
    for (int64_t j = 0; j < kPictureSlack; ++j) to[i + j] = ToByte(sums[j]);
  }
}
DRAGON_KERNEL(PictureBlend, TypeList<uint8_t>);

template <typename T>
void PictureWrite(Context&, void* to, const uint8_t* row, const PictureFinish& finish) {
  T* numbers = static_cast<T*>(to);
  if (finish.channels == 1) {
    const auto sample = [=](int64_t i) { return static_cast<float>(row[i]); };
    return WriteChannel(numbers, finish.width, finish.pixel_stride, finish.scale[0], finish.shift[0], sample);
  }
  if (finish.channel_stride != 1 || finish.matrix != nullptr) return WriteColours(numbers, row, finish);
  return finish.channels == 3 ? WritePixels<T, 3>(numbers, row, finish) : WritePixels<T, 4>(numbers, row, finish);
}
DRAGON_KERNEL(PictureWrite, PictureNumbers);

}  // namespace dragon::DRAGON_DEVICE
