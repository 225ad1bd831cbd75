// How random kernels draw on CUDA: as PyTorch's do on a GPU. Every number is Philox of the generator's seed, of the
// number of a stream (there, of a thread) and of an offset, which each call raises by the blocks that a stream makes.
// In which stream a number lies is a matter of the tensor's size and of the card's (`DrawPlan`), and not of the launch.
// What is noted down for a graph finds seed and offset in the device's memory, new ones in each run.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/mt19937.h"
#include "core/device/cuda/launch.h"
#include "core/device/noted_draws.h"
#include "core/kernels/each_cuda.h"
#include "core/kernels/random/philox.h"

namespace dragon::DRAGON_DEVICE {

/// What the numbers of one call count from.
struct Seed {
  DeviceDraw draw;

  __device__ uint64_t Key() const { return draw.place ? draw.place[0] : draw.seed; }
  __device__ uint64_t Offset() const { return draw.place ? draw.place[1] + draw.offset : draw.offset; }
  /// The blocks of stream `number` that are this call's.
  __device__ Philox Stream(uint64_t number) const {
    const uint64_t key = Key(), first = Offset() / 4;
    return Philox(static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32),
                  {static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32), static_cast<uint32_t>(number),
                   static_cast<uint32_t>(number >> 32)});
  }
  /// A word that stands for the call, for kernels that take from their streams as much as they like.
  __device__ uint64_t Word() const {
    const uint64_t key = Key(), offset = Offset();
    const Philox mix(0x8a5cd789u, 0x635d2dffu,
                     {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), static_cast<uint32_t>(offset),
                      static_cast<uint32_t>(offset >> 32)});
    const Philox::Words words = mix.Block(0);
    return static_cast<uint64_t>(words[0]) << 32 | words[1];
  }
};

/// The seed of the next call, which uses `used` words of each stream.
inline Seed NextSeedOf(const Context& ctx, RandomState* state, uint64_t used) { return {NextDraw(ctx, state, used)}; }

/// What numbers of T are computed in, and how many of them a block of four words makes.
template <typename T>
using DrawnIn = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <typename W>
inline constexpr int kDrawn = sizeof(W) == 8 ? 2 : 4;

template <typename W>
struct Units;

/// Uniform numbers in (0, 1], as cuRAND makes them: the middles of 2^32 or 2^53 equal parts, rounded.
template <>
struct Units<float> {
  static DRAGON_FN float From(const Philox::Words& words, int i) {
    return std::fma(static_cast<float>(words[i]), 0x1p-32f, 0x1p-33f);
  }
};
template <>
struct Units<double> {
  /// 53 bits, of which the second word is the upper part; a few are both words'.
  static DRAGON_FN double Whole(const Philox::Words& words, int i) {
    return static_cast<double>(static_cast<uint64_t>(words[2 * i]) ^ static_cast<uint64_t>(words[2 * i + 1]) << 21);
  }
  static DRAGON_FN double From(const Philox::Words& words, int i) {
    return std::fma(Whole(words, i), 0x1p-53, 0x1p-54);
  }
};

/// Two words of a block as one, the first one high.
DRAGON_FN uint64_t LongWord(const Philox::Words& words, int i) {
  return static_cast<uint64_t>(words[2 * i]) << 32 | words[2 * i + 1];
}

// PyTorch takes the GPU's fast functions for single precision, but for the logarithm of normal numbers. The machine
// that stands for a GPU has no fast ones.
#if defined(__CUDACC__)
__device__ __forceinline__ float FastTan(float x) { return __tanf(x); }
__device__ __forceinline__ void FastSinCos(float x, float* sine, float* cosine) { __sincosf(x, sine, cosine); }
__device__ __forceinline__ void SinCosPi(double x, double* sine, double* cosine) { sincospi(x, sine, cosine); }
#else
inline float FastTan(float x) { return std::tan(x); }
inline void FastSinCos(float x, float* sine, float* cosine) { *sine = std::sin(x), *cosine = std::cos(x); }
inline void SinCosPi(double x, double* sine, double* cosine) {
  *sine = std::sin(std::numbers::pi * x), *cosine = std::cos(std::numbers::pi * x);
}
#endif
__device__ __forceinline__ double FastTan(double x) { return std::tan(x); }
__device__ __forceinline__ float FastLog(float x) { return __logf(x); }
__device__ __forceinline__ double FastLog(double x) { return std::log(x); }
__device__ __forceinline__ float FastExp(float x) { return __expf(x); }
__device__ __forceinline__ double FastExp(double x) { return std::exp(x); }

/// All normal numbers of a block, by Box and Muller's formula: a radius, and an angle's sine and cosine.
__device__ __forceinline__ void Normals(const Philox::Words& words, float* numbers) {
  constexpr float kTurn = 6.2831855f * 0x1p-32f;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const float radius = std::sqrt(-2.0f * std::log(Units<float>::From(words, i)));
    const float angle = std::fma(static_cast<float>(words[i + 1]), kTurn, kTurn / 2);
    float sine, cosine;
    FastSinCos(angle, &sine, &cosine);
    numbers[i] = sine * radius, numbers[i + 1] = cosine * radius;
  }
}
__device__ __forceinline__ void Normals(const Philox::Words& words, double* numbers) {
  const double radius = std::sqrt(-2.0 * std::log(Units<double>::From(words, 0)));
  const double half_turns = std::fma(Units<double>::Whole(words, 1), 0x1p-52, 0x1p-53);
  double sine, cosine;
  SinCosPi(half_turns, &sine, &cosine);
  numbers[0] = sine * radius, numbers[1] = cosine * radius;
}

/// `f(words, numbers)` makes F::kNumbers numbers of T of every block of the stream.
template <typename T, typename F>
__global__ void DrawStreamKernel(const F f, const Philox stream, T* y, int64_t n, bool aligned) {
  constexpr int kNumbers = F::kNumbers;
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

/// Fill y from the blocks of one stream, one after the other.
template <typename T, typename F>
void DrawStream(const char* who, const Context& ctx, View y, const Philox& stream, const F& f) {
  if (y.numel == 0) return;
  const bool aligned = reinterpret_cast<uintptr_t>(y.data) % sizeof(Pack<T, F::kNumbers>) == 0;
  cuda::Launch(who, ctx, &DrawStreamKernel<T, F>, cuda::GridFor((y.numel + F::kNumbers - 1) / F::kNumbers), f, stream,
               y.as<T>(), y.numel, aligned);
}

/// Neighbouring streams of a thread: their numbers lie side by side, so that they are stored together.
template <typename T>
inline constexpr int kLanes = sizeof(T) == 8 ? 2 : 4;

/// The grid for a plan's streams, `lanes` of them for each thread, and its rounds.
inline cuda::Grid GridOf(const DrawPlan& plan, int lanes) {
  cuda::Grid grid = cuda::GridFor(plan.streams / lanes);
  grid.blocks.y = static_cast<unsigned>(std::min<uint64_t>(plan.rounds, cuda::kMostBlocks));
  return grid;
}

/// Fill y by a plan: `f(words, numbers)` makes F::kNumbers numbers of T of a block.
template <typename T, typename F>
__global__ void DrawKernel(const F f, const Seed seed, T* y, int64_t n, const DrawPlan plan, bool aligned) {
  constexpr int kCount = kLanes<T>, kNumbers = F::kNumbers;
  for (uint64_t round = blockIdx.y; round < plan.rounds; round += gridDim.y) {
    const int64_t before = static_cast<int64_t>(round) * plan.streams * kNumbers;
    for (int64_t first = cuda::FirstOfThread() * kCount; first < plan.streams && before + first < n;
         first += cuda::StepOfThreads() * kCount) {
      T numbers[kCount][kNumbers];
#pragma unroll
      for (int lane = 0; lane < kCount; ++lane) {
        f(seed.Stream(static_cast<uint64_t>(first + lane)).Block(round), numbers[lane]);
      }
#pragma unroll
      for (int i = 0; i < kNumbers; ++i) {
        const int64_t begin = before + i * plan.streams + first;
        if (aligned && begin + kCount <= n) {
          Pack<T, kCount> pack;
#pragma unroll
          for (int lane = 0; lane < kCount; ++lane) pack.at[lane] = numbers[lane][i];
          *reinterpret_cast<Pack<T, kCount>*>(y + begin) = pack;
          continue;
        }
#pragma unroll
        for (int lane = 0; lane < kCount; ++lane) {
          if (begin + lane < n) y[begin + lane] = numbers[lane][i];
        }
      }
    }
  }
}

template <typename T, typename F>
void DrawPart(const char* who, const Context& ctx, T* y, int64_t n, RandomState* state, const F& f) {
  const DrawPlan plan(ctx.device.index, n, F::kNumbers);
  const bool aligned = reinterpret_cast<uintptr_t>(y) % sizeof(Pack<T, kLanes<T>>) == 0;
  cuda::Launch(who, ctx, &DrawKernel<T, F>, GridOf(plan, kLanes<T>), f, NextSeedOf(ctx, state, plan.used()), y, n, plan,
               aligned);
}

/// PyTorch halves a tensor until its bytes are counted in 31 bits, after having raised the offset for all of it.
template <typename T, typename F>
void DrawHalves(const char* who, const Context& ctx, T* y, int64_t n, RandomState* state, const F& f) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (n <= kMost && (n - 1) * static_cast<int64_t>(sizeof(T)) < kMost) return DrawPart(who, ctx, y, n, state, f);
  DrawHalves(who, ctx, y, n / 2, state, f);
  DrawHalves(who, ctx, y + n / 2, n - n / 2, state, f);
}

template <typename T, typename F>
void Draw(const char* who, const Context& ctx, View y, RandomState* state, const F& f) {
  if (y.numel == 0) return;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (y.numel > kMost || (y.numel - 1) * static_cast<int64_t>(sizeof(T)) >= kMost) {
    NextSeedOf(ctx, state, DrawPlan(ctx.device.index, y.numel, F::kNumbers).used());
  }
  DrawHalves(who, ctx, y.as<T>(), y.numel, state, f);
}

/// A functor of one uniform number as one of blocks.
template <typename T, typename F>
struct OneByOne {
  using W = DrawnIn<T>;
  static constexpr int kNumbers = kDrawn<W>;
  F f;

  __device__ __forceinline__ void operator()(const Philox::Words& words, T* numbers) const {
#pragma unroll
    for (int i = 0; i < kNumbers; ++i) numbers[i] = Cast<T>(f(Units<W>::From(words, i)));
  }
};

}  // namespace dragon::DRAGON_DEVICE
