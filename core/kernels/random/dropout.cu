// Dropout on CUDA, in one pass: draw, mask and scale. Element i is decided by word i of the call's stream.
#include "core/kernels/random.h"
#include "core/kernels/random/draw_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Elements of a thread: whole blocks of words, and sixteen bytes where T is short.
template <typename T>
inline constexpr int kTaken = sizeof(T) == 2 ? 8 : 4;

template <typename T>
__global__ void DropoutKernel(T* y, bool* mask, const T* x, int64_t n, uint64_t chance, Wide<T> scale, bool aligned,
                              const Seed seed) {
  const Philox stream = seed.Stream();
  constexpr int kCount = kTaken<T>;
  using W = Wide<T>;
  using Values = Pack<T, kCount>;
  using Marks = Pack<bool, kCount>;
  for (int64_t group = cuda::FirstOfThread(); group * kCount < n; group += cuda::StepOfThreads()) {
    const int64_t begin = group * kCount;
    const bool whole = aligned && begin + kCount <= n;
    Values values;
    if (whole) {
      values = reinterpret_cast<const Values*>(x)[group];
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) values.at[i] = begin + i < n ? x[begin + i] : T(W(0));
    }
    Marks marks;
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      const Philox::Words words = stream.Block(static_cast<uint64_t>(begin + i) / 4);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const bool kept = words[j] < chance;
        marks.at[i + j] = kept;
        // A product, not a choice: what is dropped leaves 0, -0 or NaN behind, as the product does.
        values.at[i + j] = static_cast<T>(static_cast<W>(values.at[i + j]) * (kept ? scale : W(0)));
      }
    }
    if (whole) {
      reinterpret_cast<Values*>(y)[group] = values;
      reinterpret_cast<Marks*>(mask)[group] = marks;
      continue;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (begin + i < n) y[begin + i] = values.at[i], mask[begin + i] = marks.at[i];
    }
  }
}

template <typename T>
__global__ void DropoutBackwardKernel(T* dx, const T* dy, const bool* mask, int64_t n, Wide<T> scale, bool aligned) {
  constexpr int kCount = kTaken<T>;
  using W = Wide<T>;
  using Values = Pack<T, kCount>;
  using Marks = Pack<bool, kCount>;
  const auto take = [scale](T value, bool kept) {
    return static_cast<T>(static_cast<W>(value) * (kept ? scale : W(0)));
  };
  for (int64_t group = cuda::FirstOfThread(); group * kCount < n; group += cuda::StepOfThreads()) {
    const int64_t begin = group * kCount;
    if (aligned && begin + kCount <= n) {
      Values values = reinterpret_cast<const Values*>(dy)[group];
      const Marks marks = reinterpret_cast<const Marks*>(mask)[group];
#pragma unroll
      for (int i = 0; i < kCount; ++i) values.at[i] = take(values.at[i], marks.at[i]);
      reinterpret_cast<Values*>(dx)[group] = values;
      continue;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (begin + i < n) dx[begin + i] = take(dy[begin + i], mask[begin + i]);
    }
  }
}

template <typename T>
bool Aligned(const View& a, const View& b, const View& mask) {
  const auto at = [](const View& view) { return reinterpret_cast<uintptr_t>(view.data); };
  return (at(a) | at(b)) % sizeof(Pack<T, kTaken<T>>) == 0 && at(mask) % kTaken<T> == 0;
}

}  // namespace

template <typename T>
void Dropout(Context& ctx, View y, View mask, View x, RandomState* state, double p) {
  if (x.numel == 0) return;
  using W = Wide<T>;
  const double keep = 1 - p;
  const W scale = static_cast<W>(static_cast<T>(W(1) / static_cast<W>(keep)));
  cuda::Launch("dropout", ctx, &DropoutKernel<T>, cuda::GridFor((x.numel + kTaken<T> - 1) / kTaken<T>), y.as<T>(),
               mask.as<bool>(), x.as<T>(), x.numel, ChanceOf(keep), scale, Aligned<T>(y, x, mask),
               NextSeedOf(ctx, state));
}
DRAGON_KERNEL(Dropout, Floating);

template <typename T>
void DropoutBackward(Context& ctx, View dx, View dy, View mask, double scale) {
  if (dx.numel == 0) return;
  using W = Wide<T>;
  const W by = static_cast<W>(static_cast<T>(static_cast<W>(scale)));
  cuda::Launch("dropout backward", ctx, &DropoutBackwardKernel<T>,
               cuda::GridFor((dx.numel + kTaken<T> - 1) / kTaken<T>), dx.as<T>(), dy.as<T>(), mask.as<bool>(), dx.numel,
               by, Aligned<T>(dx, dy, mask));
}
DRAGON_KERNEL(DropoutBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
