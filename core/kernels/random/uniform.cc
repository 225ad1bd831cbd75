// Uniform reals, integers and coins: words are drawn a block at a time and turned into numbers by vector loops.
#include <cmath>
#include <limits>

#include "core/kernels/random.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int64_t kBlock = 1024;  // numbers

/// Give `body(words, begin, count)` one block of 32-bit draws after another.
template <typename F>
void EachBlock32(int64_t numel, RandomState* state, F body) {
  uint32_t words[kBlock];
  for (int64_t begin = 0; begin < numel; begin += kBlock) {
    const int64_t count = std::min(kBlock, numel - begin);
    state->engine.Fill(words, count);
    body(words, begin, count);
  }
}

/// The same for 64-bit draws: the first word of a pair is the high one.
template <typename F>
void EachBlock64(int64_t numel, RandomState* state, F body) {
  uint32_t pairs[2 * kBlock];
  uint64_t words[kBlock];
  for (int64_t begin = 0; begin < numel; begin += kBlock) {
    const int64_t count = std::min(kBlock, numel - begin);
    state->engine.Fill(pairs, 2 * count);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) words[i] = static_cast<uint64_t>(pairs[2 * i]) << 32 | pairs[2 * i + 1];
    body(words, begin, count);
  }
}

/// Draws as wide as T.
template <typename T, typename F>
void EachBlock(int64_t numel, RandomState* state, F body) {
  if constexpr (sizeof(T) == 8) {
    EachBlock64(numel, state, body);
  } else {
    EachBlock32(numel, state, body);
  }
}

DRAGON_FN float ToUniform(uint32_t word) {
  return static_cast<float>(static_cast<int32_t>(word & 0xFFFFFFu)) * 0x1p-24f;
}
DRAGON_FN double ToUniform(uint64_t word) {
  return static_cast<double>(static_cast<int64_t>(word & ((uint64_t{1} << 53) - 1))) * 0x1p-53;
}

}  // namespace

template <typename T>
void Uniform(Context& ctx, View y, RandomState* state, double low, double high) {
  T* const out = y.as<T>();
  using W = Wide<T>;
  const W from = static_cast<W>(low), range = static_cast<W>(high) - from;
  const T first = static_cast<T>(from);
  const W end = static_cast<W>(static_cast<T>(static_cast<W>(high)));
  const auto fill = [=](const auto* words, int64_t begin, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      const T number = static_cast<T>(std::fma(ToUniform(words[i]), range, from));
      // Rounding to 16 bits may reach the end, which is not part of the interval.
      out[begin + i] = kIsHalf<T> && static_cast<W>(number) == end ? first : number;
    }
  };
  EachBlock<T>(y.numel, state, fill);
}
DRAGON_KERNEL(Uniform, Floating);

template <typename T>
void RandomIntegers(Context& ctx, View y, RandomState* state, int64_t low, uint64_t range) {
  T* const out = y.as<T>();
  // From 2^28 on, 32 bits modulo the range would prefer some integers visibly.
  if (range != 0 && range < (uint64_t{1} << 28)) {
    const auto size = static_cast<int64_t>(range);
    const double inverse = 1.0 / static_cast<double>(size);
    EachBlock32(y.numel, state, [=](const uint32_t* words, int64_t begin, int64_t count) {
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) {
        // The remainder by way of a quotient that is off by one at most: vectors have no integer division.
        const int64_t word = words[i];
        int64_t rest = word - static_cast<int64_t>(static_cast<double>(word) * inverse) * size;
        rest += rest < 0 ? size : 0;
        rest -= rest >= size ? size : 0;
        out[begin + i] = static_cast<T>(static_cast<Wide<T>>(rest + low));
      }
    });
  } else {
    EachBlock64(y.numel, state, [=](const uint64_t* words, int64_t begin, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t number = range ? words[i] % range + static_cast<uint64_t>(low) : words[i];
        out[begin + i] = static_cast<T>(static_cast<Wide<T>>(static_cast<int64_t>(number)));
      }
    });
  }
}
DRAGON_KERNEL(RandomIntegers, RealAndBool);

template <typename T>
void RandomAll(Context& ctx, View y, RandomState* state) {
  T* const out = y.as<T>();
  constexpr uint64_t kCount = [] {
    if constexpr (std::is_same_v<T, bool>) return uint64_t{2};
    if constexpr (std::is_same_v<T, float16>) return (uint64_t{1} << 11) + 1;
    if constexpr (std::is_same_v<T, bfloat16>) return (uint64_t{1} << 8) + 1;
    if constexpr (std::is_floating_point_v<T>) return (uint64_t{1} << std::numeric_limits<T>::digits) + 1;
    return static_cast<uint64_t>(std::numeric_limits<T>::max()) + 1;
  }();
  const auto fill = [=](const auto* words, int64_t begin, int64_t count) {
    using Word = std::remove_cvref_t<decltype(*words)>;
    for (int64_t i = 0; i < count; ++i) {
      out[begin + i] = static_cast<T>(static_cast<Wide<T>>(words[i] % static_cast<Word>(kCount)));
    }
  };
  EachBlock<T>(y.numel, state, fill);
}
DRAGON_KERNEL(RandomAll, RealAndBool);

template <typename T>
void Bernoulli(Context& ctx, View y, RandomState* state, double p) {
  T* const out = y.as<T>();
  EachBlock64(y.numel, state, [=](const uint64_t* words, int64_t begin, int64_t count) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
      out[begin + i] = static_cast<T>(static_cast<Wide<T>>(ToUniform(words[i]) < p ? 1 : 0));
    }
  });
}
DRAGON_KERNEL(Bernoulli, RealAndBool);

template <typename T>
void BernoulliOf(Context& ctx, View y, View p, RandomState* state) {
  const T* const chance = p.as<T>();
  const auto draw = [&](auto* out) {
    using Y = std::remove_reference_t<decltype(*out)>;
    const auto fill = [=](const auto* words, int64_t begin, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const Wide<T> at = static_cast<Wide<T>>(chance[begin + i]);
        if (!(at >= 0 && at <= 1)) {
          throw ValueError("bernoulli").Got("a probability of ", at).Expected("one between 0 and 1");
        }
        out[begin + i] = static_cast<Y>(static_cast<Wide<Y>>(ToUniform(words[i]) < at ? 1 : 0));
      }
    };
    EachBlock<T>(y.numel, state, fill);
  };
  Visit(y.dtype, RealAndBool{}, [&](auto tag) { draw(y.as<typename decltype(tag)::type>()); });
}
DRAGON_KERNEL(BernoulliOf, Floating);

}  // namespace dragon::DRAGON_DEVICE
