// Dropout in one pass: draw, mask and scale. The draws are those of a coin per element, as PyTorch tosses it.
#include "core/device/parallel.h"
#include "core/kernels/random.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
void Dropout(Context& ctx, View y, View mask, View x, RandomState* state, double p) {
  constexpr int64_t kBlock = 1024;
  using W = Wide<T>;
  const T* const in = x.as<T>();
  T* const out = y.as<T>();
  bool* const kept = mask.as<bool>();
  const double keep = 1 - p;
  const W scale = static_cast<W>(static_cast<T>(W(1) / static_cast<W>(keep)));
  uint32_t words[2 * kBlock];
  W noise[kBlock];
  for (int64_t begin = 0; begin < x.numel; begin += kBlock) {
    const int64_t count = std::min(kBlock, x.numel - begin);
    state->engine.Fill(words, 2 * count);
    // One thing per loop: vectors of one width each.
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t word = (static_cast<uint64_t>(words[2 * i]) << 32 | words[2 * i + 1]) & ((uint64_t{1} << 53) - 1);
      noise[i] = static_cast<double>(static_cast<int64_t>(word)) * 0x1p-53 < keep ? scale : W(0);
    }
    // A product, not a choice: what is dropped leaves 0, -0 or NaN behind, as the product does.
    for (int64_t i = 0; i < count; ++i) out[begin + i] = static_cast<T>(static_cast<W>(in[begin + i]) * noise[i]);
    for (int64_t i = 0; i < count; ++i) kept[begin + i] = noise[i] != 0;
  }
}
DRAGON_KERNEL(Dropout, Floating);

template <typename T>
void DropoutBackward(Context& ctx, View dx, View dy, View mask, double scale) {
  using W = Wide<T>;
  const T* const in = dy.as<T>();
  T* const out = dx.as<T>();
  const bool* const kept = mask.as<bool>();
  const W by = static_cast<W>(static_cast<T>(static_cast<W>(scale)));
  ParallelFor(dx.numel, kGrain, [&](int64_t begin, int64_t end) {
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      out[i] = static_cast<T>(static_cast<W>(in[i]) * (kept[i] ? by : W(0)));
    }
  });
}
DRAGON_KERNEL(DropoutBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
