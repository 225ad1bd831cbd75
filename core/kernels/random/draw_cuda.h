// How random kernels draw on CUDA: the host takes one 64-bit seed from the generator for each call, and every number is
// a function of that seed and the number's place. So results depend neither on the size of the GPU nor on the launch.
// What is noted down for a graph finds its seed in the device's memory, a new one in each run.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <numbers>

#include "core/base/mt19937.h"
#include "core/device/cuda/launch.h"
#include "core/device/noted_draws.h"
#include "core/kernels/each_cuda.h"
#include "core/kernels/random/philox.h"

namespace dragon::DRAGON_DEVICE {

/// What the stream of one call begins from: a number, or where a graph finds a new one in every run.
struct Seed {
  NotedSeed noted;

  __device__ uint64_t Word() const { return noted.place ? *noted.place : noted.word; }
  __device__ Philox Stream() const {
    const uint64_t word = Word();
    return Philox(static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32), {0, 0, 0, 0});
  }
};

/// The next call's seed; the generator goes on by two words.
inline Seed NextSeedOf(const Context& ctx, RandomState* state) { return {NextSeed(ctx, state)}; }

__device__ inline Philox StreamOf(const Seed& seed) { return seed.Stream(); }
__device__ inline const Philox& StreamOf(const Philox& stream) { return stream; }

/// What numbers of T are computed in, and how many of them a block of four words makes.
template <typename T>
using DrawnIn = std::conditional_t<sizeof(T) == 8, double, float>;
template <typename W>
inline constexpr int kDrawn = sizeof(W) == 8 ? 2 : 4;

template <typename W>
struct Units;

/// Numbers of the grid 2^-24 in [0, 1), and finer ones near 0 in (0, 1], for logarithms.
template <>
struct Units<float> {
  static DRAGON_FN float From(const Philox::Words& words, int i) {
    return static_cast<float>(words[i] >> 8) * 0x1p-24f;
  }
  static DRAGON_FN float Positive(const Philox::Words& words, int i) {
    return std::fma(static_cast<float>(words[i]), 0x1p-32f, 0x1p-33f);
  }
};
template <>
struct Units<double> {
  static DRAGON_FN uint64_t Word(const Philox::Words& words, int i) {
    return (static_cast<uint64_t>(words[2 * i]) << 32 | words[2 * i + 1]) >> 11;
  }
  static DRAGON_FN double From(const Philox::Words& words, int i) {
    return static_cast<double>(Word(words, i)) * 0x1p-53;
  }
  static DRAGON_FN double Positive(const Philox::Words& words, int i) {
    return static_cast<double>(Word(words, i) + 1) * 0x1p-53;
  }
};

/// A probability as what 32-bit words are compared with: words below it are successes. 1 takes all, 0 none.
DRAGON_FN uint64_t ChanceOf(double p) { return static_cast<uint64_t>(p * 4294967296.0); }

__device__ inline void SinCosOfTurn(float turn, float* sine, float* cosine) {
#if defined(__CUDACC__)
  sincospif(2.0f * turn, sine, cosine);
#else
  const double angle = 2 * std::numbers::pi * static_cast<double>(turn);
  *sine = static_cast<float>(std::sin(angle)), *cosine = static_cast<float>(std::cos(angle));
#endif
}
__device__ inline void SinCosOfTurn(double turn, double* sine, double* cosine) {
#if defined(__CUDACC__)
  sincospi(2.0 * turn, sine, cosine);
#else
  *sine = std::sin(2 * std::numbers::pi * turn), *cosine = std::cos(2 * std::numbers::pi * turn);
#endif
}

/// All normal numbers of a block, by Box and Muller's formula.
template <typename W>
__device__ __forceinline__ void Normals(const Philox::Words& words, W* numbers) {
#pragma unroll
  for (int i = 0; i < kDrawn<W>; i += 2) {
    const W radius = std::sqrt(W(-2) * std::log(Units<W>::Positive(words, i)));
    W sine, cosine;
    SinCosOfTurn(Units<W>::From(words, i + 1), &sine, &cosine);
    numbers[i] = radius * cosine, numbers[i + 1] = radius * sine;
  }
}

/// `f(words, numbers)` makes F::kNumbers numbers of T of every block of the stream.
template <typename T, typename F, typename S>
__global__ void DrawKernel(const F f, const S source, T* y, int64_t n, bool aligned) {
  constexpr int kNumbers = F::kNumbers;
  const Philox stream = StreamOf(source);
  for (int64_t group = cuda::FirstOfThread(); group * kNumbers < n; group += cuda::StepOfThreads()) {
    Pack<T, kNumbers> pack;
    f(stream.Block(static_cast<uint64_t>(group)), pack.at);
    const int64_t begin = group * kNumbers;
    if (aligned && begin + kNumbers <= n) {
      reinterpret_cast<Pack<T, kNumbers>*>(y)[group] = pack;
      continue;
    }
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      if (begin + i < n) y[begin + i] = pack.at[i];
    }
  }
}

template <typename T, typename F, typename S>
void DrawStream(const char* who, const Context& ctx, View y, const S& source, const F& f) {
  if (y.numel == 0) return;
  const bool aligned = reinterpret_cast<uintptr_t>(y.data) % sizeof(Pack<T, F::kNumbers>) == 0;
  cuda::Launch(who, ctx, &DrawKernel<T, F, S>, cuda::GridFor((y.numel + F::kNumbers - 1) / F::kNumbers), f, source,
               y.as<T>(), y.numel, aligned);
}

template <typename T, typename F>
void Draw(const char* who, const Context& ctx, View y, RandomState* state, const F& f) {
  DrawStream<T>(who, ctx, y, NextSeedOf(ctx, state), f);
}

/// A functor of one uniform number as one of blocks.
template <typename T, typename F, bool kPositive = false>
struct OneByOne {
  using W = DrawnIn<T>;
  static constexpr int kNumbers = kDrawn<W>;
  F f;

  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) {
      numbers[i] = Cast<T>(f(kPositive ? Units<W>::Positive(words, i) : Units<W>::From(words, i)));
    }
  }
};

}  // namespace dragon::DRAGON_DEVICE
