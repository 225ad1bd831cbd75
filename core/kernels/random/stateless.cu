// Philox streams as TensorFlow makes numbers of them, on CUDA: uniform, whole and normal numbers with the CPU's bits.
// (In double, normal numbers come from CUDA's logarithm and sine, which may differ from the host's in the last place.)
#include "core/kernels/random/box_muller.h"
#include "core/kernels/random/draw_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

// Product and sum are rounded one after the other, never fused.
#if defined(__CUDACC__)
__device__ __forceinline__ float Times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double Times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float Plus(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double Plus(double a, double b) { return __dadd_rn(a, b); }
#else
template <typename W>
__attribute__((noinline)) W Times(W a, W b) {
  return a * b;
}
template <typename W>
__attribute__((noinline)) W Plus(W a, W b) {
  return a + b;
}
#endif

/// Halves have 10 or 7 bits, of the lower 16 of a word.
template <typename T>
__device__ __forceinline__ Wide<T> UnitAt(const Philox::Words& words, int i) {
  if constexpr (std::is_same_v<T, double>) {
    return UnitOf(words[2 * i], words[2 * i + 1]);
  } else if constexpr (std::is_same_v<T, float>) {
    return UnitOf(words[i]);
  } else {
    constexpr uint32_t kMask = std::is_same_v<T, float16> ? 0x3FFu : 0x7Fu;
    constexpr float kStep = std::is_same_v<T, float16> ? 0x1p-10f : 0x1p-7f;
    return static_cast<float>(static_cast<int32_t>(words[i] & kMask)) * kStep;
  }
}

template <typename T>
struct StatelessUnits {
  using W = Wide<T>;
  static constexpr int kNumbers = sizeof(T) == 8 ? 2 : 4;
  W from, range;
  bool plain;
  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      W number = UnitAt<T>(words, i);
      if (!plain) number = Plus(static_cast<W>(static_cast<T>(Times(number, range))), from);
      numbers[i] = static_cast<T>(number);
    }
  }
};

template <typename T>
struct StatelessWhole {
  static constexpr int kNumbers = sizeof(T) == 8 ? 2 : 4;
  int64_t low;
  uint64_t range;
  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      if constexpr (sizeof(T) == 4) {
        const uint32_t word = words[i], size = static_cast<uint32_t>(range);
        numbers[i] = static_cast<T>(size ? word % size + static_cast<uint32_t>(low) : word);
      } else {
        const uint64_t word = static_cast<uint64_t>(words[2 * i + 1]) << 32 | words[2 * i];
        numbers[i] = static_cast<T>(range ? word % range + static_cast<uint64_t>(low) : word);
      }
    }
  }
};

/// Scale and move a number, rounding each time.
template <typename T>
struct Placing {
  using W = Wide<T>;
  W factor, shift;

  Placing(double mean, double std)
      : factor(static_cast<W>(static_cast<T>(static_cast<W>(std)))),
        shift(static_cast<W>(static_cast<T>(static_cast<W>(mean)))) {}
  __device__ __forceinline__ T operator()(W made) const {
    T number = static_cast<T>(made);
    if (factor != 1) number = static_cast<T>(Times(static_cast<W>(number), factor));
    if (shift != 0) number = static_cast<T>(Plus(static_cast<W>(number), shift));
    return number;
  }
};

template <typename T>
struct StatelessNormals {
  static constexpr int kNumbers = sizeof(T) == 8 ? 2 : 4;
  Placing<T> place;
  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
    Wide<T> made[kNumbers];
    if constexpr (sizeof(T) == 8) {
      NormalPair(words.data(), made[0], made[1]);
    } else {
      BoxMuller(words[0], words[1], made[0], made[1]);
      BoxMuller(words[2], words[3], made[2], made[3]);
    }
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) numbers[i] = place(made[i]);
  }
};

/// A group of numbers has blocks of its own, of which most need one.
template <typename T>
struct WriteTruncated {
  static constexpr int kNumbers = sizeof(T) == 8 ? 2 : 4;
  T* y;
  int64_t n;
  Philox stream;
  Placing<T> place;
  __device__ void operator()(int64_t group) const {
    Wide<T> made[kNumbers];
    Truncated(stream, static_cast<uint64_t>(group), made);
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      if (group * kNumbers + i < n) y[group * kNumbers + i] = place(made[i]);
    }
  }
};

}  // namespace

template <typename T>
void StatelessUniform(Context& ctx, View y, const Philox& stream, double low, double high) {
  using W = Wide<T>;
  const W from = static_cast<W>(static_cast<T>(static_cast<W>(low)));
  const W range = static_cast<W>(static_cast<T>(static_cast<W>(static_cast<T>(static_cast<W>(high))) - from));
  DrawStream<T>("stateless uniform", ctx, y, stream, StatelessUnits<T>{from, range, from == 0 && range == 1});
}
DRAGON_KERNEL(StatelessUniform, Floating);

template <typename T>
void StatelessIntegers(Context& ctx, View y, const Philox& stream, int64_t low, uint64_t range) {
  DrawStream<T>("stateless integers", ctx, y, stream, StatelessWhole<T>{low, range});
}
using WholeNumbers = TypeList<int32_t, int64_t>;
DRAGON_KERNEL(StatelessIntegers, DRAGON_DEVICE::WholeNumbers);

template <typename T>
void StatelessNormal(Context& ctx, View y, const Philox& stream, double mean, double std) {
  DrawStream<T>("stateless normal", ctx, y, stream, StatelessNormals<T>{Placing<T>(mean, std)});
}
DRAGON_KERNEL(StatelessNormal, Floating);

template <typename T>
void StatelessTruncatedNormal(Context& ctx, View y, const Philox& stream, double mean, double std) {
  constexpr int kNumbers = WriteTruncated<T>::kNumbers;
  LaunchForEach(ctx, (y.numel + kNumbers - 1) / kNumbers,
                WriteTruncated<T>{y.as<T>(), y.numel, stream, Placing<T>(mean, std)});
}
DRAGON_KERNEL(StatelessTruncatedNormal, Floating);

}  // namespace dragon::DRAGON_DEVICE
