// Random integers and coins on CUDA, and permutations.
#include <limits>

#include "core/kernels/random.h"
#include "core/kernels/random/draw_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
__device__ __forceinline__ T Whole(int64_t number) {
  return static_cast<T>(static_cast<Wide<T>>(number));
}

/// low + what division of a word by the range leaves.
template <typename T>
struct SmallIntegers {
  static constexpr int kNumbers = 4;
  int64_t low;
  uint32_t range;  // 0: all numbers
  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      const uint32_t rest = range ? words[i] % range : words[i];
      numbers[i] = Whole<T>(static_cast<int64_t>(rest) + low);
    }
  }
};

template <typename T>
struct LargeIntegers {
  static constexpr int kNumbers = 2;
  int64_t low;
  uint64_t range;  // 0: all numbers
  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      const uint64_t word = LongWord(words, i), rest = range ? word % range : word;
      numbers[i] = Whole<T>(static_cast<int64_t>(rest + static_cast<uint64_t>(low)));
    }
  }
};

template <typename W>
struct Coin {
  W chance;
  __device__ W operator()(W u) const { return u < chance ? W(1) : W(0); }
};

/// A coin for every probability, four of each stream. Probabilities outside of [0, 1] and NaN count as 0: the CPU's
/// kernel refuses them, but here the host does not wait to hear of them.
template <typename T>
__global__ void CoinsOfKernel(T* y, DType dtype, char* p, int64_t n, const Seed seed) {
  using W = DrawnIn<T>;
  const int64_t size = dtype == DType::kFloat64 ? 8 : dtype == DType::kFloat32 ? 4 : 2;
  for (int64_t group = cuda::FirstOfThread(); group * 4 < n; group += cuda::StepOfThreads()) {
    const Philox::Words words = seed.Stream(static_cast<uint64_t>(group)).Block(0);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int64_t at = group * 4 + i;
      if (at >= n) break;
      const W chance = static_cast<W>(LoadAs<double>(dtype, p + at * size));
      y[at] = Whole<T>(chance >= 0 && chance <= 1 && static_cast<W>(Units<float>::From(words, i)) <= chance ? 1 : 0);
    }
  }
}

}  // namespace

template <typename T>
void RandomIntegers(Context& ctx, View y, RandomState* state, int64_t low, uint64_t range) {
  // From 2^28 on, what is left of words of 32 bits would prefer some integers visibly.
  if (range != 0 && range < (uint64_t{1} << 28)) {
    Draw<T>("random integers", ctx, y, state, SmallIntegers<T>{low, static_cast<uint32_t>(range)});
  } else {
    // Of all numbers, words are taken as they are.
    Draw<T>("random integers", ctx, y, state, LargeIntegers<T>{range ? low : 0, range});
  }
}
DRAGON_KERNEL(RandomIntegers, RealAndBool);

template <typename T>
void RandomAll(Context& ctx, View y, RandomState* state) {
  constexpr uint64_t kCount = [] {
    if constexpr (std::is_same_v<T, bool>) return uint64_t{2};
    if constexpr (std::is_same_v<T, float16>) return (uint64_t{1} << 11) + 1;
    if constexpr (std::is_same_v<T, bfloat16>) return (uint64_t{1} << 8) + 1;
    if constexpr (std::is_floating_point_v<T>) return (uint64_t{1} << std::numeric_limits<T>::digits) + 1;
    return static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1;
  }();
  if constexpr (sizeof(T) == 8) {
    Draw<T>("random integers", ctx, y, state, LargeIntegers<T>{0, kCount});
  } else {
    Draw<T>("random integers", ctx, y, state, SmallIntegers<T>{0, static_cast<uint32_t>(kCount)});
  }
}
DRAGON_KERNEL(RandomAll, RealAndBool);

template <typename T>
void Bernoulli(Context& ctx, View y, RandomState* state, double p) {
  using W = DrawnIn<T>;
  Draw<T>("bernoulli", ctx, y, state, OneByOne<T, Coin<W>>{{static_cast<W>(p)}});
}
DRAGON_KERNEL(Bernoulli, RealAndBool);

template <typename T>
void BernoulliOf(Context& ctx, View y, View p, RandomState* state) {
  if (y.numel == 0) return;
  const Seed seed = NextSeedOf(ctx, state, 10);  // PyTorch's number; four are needed
  Visit(y.dtype, RealAndBool{}, [&](auto tag) {
    using Y = typename decltype(tag)::type;
    cuda::Launch("bernoulli", ctx, &CoinsOfKernel<Y>, cuda::GridFor((y.numel + 3) / 4), y.as<Y>(), p.dtype,
                 p.as<char>(), y.numel, seed);
  });
}
// One kernel for all dtypes of p, which it reads as they are.
[[maybe_unused]] static const bool bernoulli_of_entered =
    kernels::Enter(kernels::BernoulliOf, Floating{}, []<typename Tag>(Tag) { return &BernoulliOf<float>; });

}  // namespace dragon::DRAGON_DEVICE
