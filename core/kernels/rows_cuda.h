// Lines of a tensor on CUDA, one after another: short rows are held in the registers of a warp or a block and read
// once; longer ones are walked in chunks; columns are shared by threads that stand above each other.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/base/types.h"
#include "core/device/cuda/block.h"
#include "core/device/cuda/launch.h"
#include "core/device/cuda/warp_matrix.h"

namespace dragon::DRAGON_DEVICE::rows {

/// Elements of sixteen bytes.
template <typename T>
inline constexpr int kWide = 16 / static_cast<int>(sizeof(T));
inline constexpr int kWarpBlock = 128, kLongBlock = 512, kColumnBlock = 256;

__device__ __forceinline__ float Exp(float x) { return expf(x); }
__device__ __forceinline__ double Exp(double x) { return exp(x); }
__device__ __forceinline__ float Log(float x) { return logf(x); }
__device__ __forceinline__ double Log(double x) { return log(x); }
__device__ __forceinline__ float Root(float x) { return sqrtf(x); }
__device__ __forceinline__ double Root(double x) { return sqrt(x); }

/// The larger of two, or NaN if there is one.
struct MaxOf {
  template <typename A>
  __device__ __forceinline__ A operator()(A a, A b) const {
    return (a > b || a != a) ? a : b;
  }
};
struct SumOf {
  template <typename A>
  __device__ __forceinline__ A operator()(A a, A b) const {
    return a + b;
  }
};

/// Two sums that are kept side by side.
template <typename A>
struct Pair {
  A first, second;
  __device__ __forceinline__ Pair operator+(const Pair& other) const {
    return {first + other.first, second + other.second};
  }
};

/// The largest number so far, and the sum of exponentials relative to it.
template <typename A>
struct Running {
  A max = -std::numeric_limits<A>::infinity(), sum = A(0);

  /// Exponents are taken relative to this: an infinite one would make inf - inf of finite elements' -inf.
  __device__ __forceinline__ A Base() const { return max == -std::numeric_limits<A>::infinity() ? A(0) : max; }
  template <int kItems>
  __device__ __forceinline__ void Add(const A (&values)[kItems]) {
    A most = values[0];
#pragma unroll
    for (int j = 1; j < kItems; ++j) most = MaxOf{}(most, values[j]);
    const A before = max;
    max = MaxOf{}(max, most);
    const A base = Base();
    sum *= Exp(before - base);
#pragma unroll
    for (int j = 0; j < kItems; ++j) sum += Exp(values[j] - base);
  }
  __device__ __forceinline__ A LogSum() const { return Base() + Log(sum); }
};
struct MeetRunning {
  template <typename A>
  __device__ __forceinline__ Running<A> operator()(const Running<A>& a, const Running<A>& b) const {
    Running<A> both;
    both.max = MaxOf{}(a.max, b.max);
    const A base = both.Base();
    both.sum = a.sum * Exp(a.max - base) + b.sum * Exp(b.max - base);
    return both;
  }
};

/// Where a thread stands in the group, a warp or a block, that has a row to itself.
struct Place {
  int64_t row, step;
  int thread, threads;
};
template <bool kByBlock>
__device__ __forceinline__ Place PlaceOf() {
  if constexpr (kByBlock) {
    return {blockIdx.x, gridDim.x, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x)};
  } else {
    constexpr int kWarps = kWarpBlock / cuda::kWarpThreads;
    return {static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / cuda::kWarpThreads,
            static_cast<int64_t>(gridDim.x) * kWarps, static_cast<int>(threadIdx.x % cuda::kWarpThreads),
            cuda::kWarpThreads};
  }
}

/// What all threads of the group hold, combined, for all of them.
template <bool kByBlock, typename S, typename Combine>
__device__ __forceinline__ S Share(S state, Combine combine) {
  if constexpr (kByBlock) {
    return cuda::BlockReduce(state, combine);
  } else {
    return cuda::FromLane(cuda::WarpReduce(state, combine), 0);
  }
}

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T at[kWidth];
};

/// kWidth neighbours, in one instruction where they are sixteen bytes.
template <typename T, int kWidth>
__device__ __forceinline__ Pack<T, kWidth> LoadPack(const T* from) {
  Pack<T, kWidth> pack;
  if constexpr (sizeof(pack) == 16) {
    const uint4 words = *reinterpret_cast<const uint4*>(from);
    memcpy(&pack, &words, sizeof(pack));
  } else {
    pack = *reinterpret_cast<const Pack<T, kWidth>*>(from);
  }
  return pack;
}
template <typename T, int kWidth>
__device__ __forceinline__ void StorePack(T* to, const Accumulator<T> (&values)[kWidth]) {
  if constexpr (kIsHalf<T> && kWidth == 8) {  // two are rounded by one instruction
    *reinterpret_cast<uint4*>(to) = {cuda::PackPair<T>(values[0], values[1]), cuda::PackPair<T>(values[2], values[3]),
                                     cuda::PackPair<T>(values[4], values[5]), cuda::PackPair<T>(values[6], values[7])};
  } else {
    Pack<T, kWidth> pack;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) pack.at[j] = static_cast<T>(values[j]);
    if constexpr (sizeof(pack) == 16) {
      uint4 words;
      memcpy(&words, &pack, sizeof(pack));
      *reinterpret_cast<uint4*>(to) = words;
    } else {
      *reinterpret_cast<Pack<T, kWidth>*>(to) = pack;
    }
  }
}

/// A thread's share of a row, or of a chunk of one: packs of kWidth neighbours, a group's width apart.
template <typename T, int kWidth, int kItems>
struct Tile {
  using A = Accumulator<T>;
  static constexpr int kPacks = kItems / kWidth;
  A at[kItems];

  /// Places beyond the end of the row hold `fill`.
  __device__ __forceinline__ void Load(const T* row, int64_t n, const Place& place, A fill) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int index = (p * place.threads + place.thread) * kWidth;
      if (index < n) {
        const auto pack = LoadPack<T, kWidth>(row + index);
#pragma unroll
        for (int j = 0; j < kWidth; ++j) at[p * kWidth + j] = static_cast<A>(pack.at[j]);
      } else {
#pragma unroll
        for (int j = 0; j < kWidth; ++j) at[p * kWidth + j] = fill;
      }
    }
  }
  /// row[i] = f(the number held for i, i, its place in `at`).
  template <typename F>
  __device__ __forceinline__ void Store(T* row, int64_t n, const Place& place, F f) const {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int index = (p * place.threads + place.thread) * kWidth;
      if (index >= n) break;
      A values[kWidth];
#pragma unroll
      for (int j = 0; j < kWidth; ++j) values[j] = f(at[p * kWidth + j], index + j, p * kWidth + j);
      StorePack<T, kWidth>(row + index, values);
    }
  }
  /// row[i] = f(the number held for i) * weight[i] + bias[i]; either may be null.
  template <typename F>
  __device__ __forceinline__ void StoreScaled(T* row, int64_t n, const Place& place, const T* weight, const T* bias,
                                              F f) const {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int index = (p * place.threads + place.thread) * kWidth;
      if (index >= n) break;
      A values[kWidth];
      Pack<T, kWidth> w{}, b{};
      if (weight) w = LoadPack<T, kWidth>(weight + index);
      if (bias) b = LoadPack<T, kWidth>(bias + index);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        values[j] = f(at[p * kWidth + j]);
        if (weight) values[j] *= static_cast<A>(w.at[j]);
        if (bias) values[j] += static_cast<A>(b.at[j]);
      }
      StorePack<T, kWidth>(row + index, values);
    }
  }
  /// Multiply every number by the weight of its place.
  __device__ __forceinline__ void Scale(const T* weight, int64_t n, const Place& place) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int index = (p * place.threads + place.thread) * kWidth;
      if (index >= n) break;
      const auto pack = LoadPack<T, kWidth>(weight + index);
#pragma unroll
      for (int j = 0; j < kWidth; ++j) at[p * kWidth + j] *= static_cast<A>(pack.at[j]);
    }
  }
  /// Call f(number, index in the row, place in `at`) for all that are in the row.
  template <typename F>
  __device__ __forceinline__ void ForEach(int64_t n, const Place& place, F f) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      const int index = (p * place.threads + place.thread) * kWidth;
      if (index >= n) break;
#pragma unroll
      for (int j = 0; j < kWidth; ++j) f(at[p * kWidth + j], index + j, p * kWidth + j);
    }
  }
};

/// A Tile that walks a row of any length. Several loads are on their way at once.
template <typename T, int kWidth>
using Chunk = Tile<T, kWidth, kWidth == 1 ? 8 : 2 * kWidth>;

/// The sum of f(element, its index) over a thread's share of a row of any length.
template <typename S, typename T, int kWidth, typename F>
__device__ __forceinline__ S SumOfRow(const T* row, int64_t n, const Place& place, F f) {
  S sum{};
  const int64_t step = static_cast<int64_t>(place.threads) * Chunk<T, kWidth>::kPacks * kWidth;
  for (int64_t first = 0; first < n; first += step) {
    Chunk<T, kWidth> chunk;
    chunk.Load(row + first, n - first, place, 0);
    chunk.ForEach(n - first, place, [&](Accumulator<T> value, int i, int) { sum = sum + f(value, first + i); });
  }
  return sum;
}

/// to[i] = f(row[i], i) for a thread's share of a row of any length.
template <typename T, int kWidth, typename F>
__device__ __forceinline__ void MapRow(T* to, const T* row, int64_t n, const Place& place, F f) {
  const int64_t step = static_cast<int64_t>(place.threads) * Chunk<T, kWidth>::kPacks * kWidth;
  for (int64_t first = 0; first < n; first += step) {
    Chunk<T, kWidth> chunk;
    chunk.Load(row + first, n - first, place, 0);
    chunk.Store(to + first, n - first, place, [&](Accumulator<T> value, int i, int) { return f(value, first + i); });
  }
}

/// Maximum and sum of exponentials of a thread's share of a row of any length.
template <typename T, int kWidth>
__device__ __forceinline__ Running<Accumulator<T>> RunningOfRow(const T* row, int64_t n, const Place& place) {
  using A = Accumulator<T>;
  Running<A> running;
  const int64_t step = static_cast<int64_t>(place.threads) * Chunk<T, kWidth>::kPacks * kWidth;
  for (int64_t first = 0; first < n; first += step) {
    Chunk<T, kWidth> chunk;
    chunk.Load(row + first, n - first, place, -std::numeric_limits<A>::infinity());
    running.Add(chunk.at);
  }
  return running;
}

// --- columns: neighbouring threads (x) have neighbouring lines, whose elements the other axis of threads (y) shares

struct Column {
  int64_t line, base;  // the line, and where its first element lies
  bool inside;
};
__device__ __forceinline__ Column ColumnOf(int64_t block, int64_t lines, int64_t n, int64_t inner) {
  const int64_t line = block * blockDim.x + threadIdx.x;
  return {line, line / inner * n * inner + line % inner, line < lines};
}

/// What the threads of a column hold, combined in their order, for all of them. The whole block must call.
template <typename S, typename Combine>
static __device__ __forceinline__ S ShareColumn(S state, Combine combine) {
  alignas(16) __shared__ unsigned char memory[kColumnBlock * sizeof(S)];
  cuda::FillShared(memory);
  S* parts = reinterpret_cast<S*>(memory);
  __syncthreads();  // an earlier call's parts have been read
  parts[threadIdx.y * blockDim.x + threadIdx.x] = state;
  __syncthreads();
  state = parts[threadIdx.x];
  for (unsigned y = 1; y < blockDim.y; ++y) state = combine(state, parts[y * blockDim.x + threadIdx.x]);
  return state;
}

template <typename T>
__device__ __forceinline__ Running<Accumulator<T>> RunningOfColumn(const T* line, int64_t n, int64_t inner) {
  using A = Accumulator<T>;
  constexpr int kUnroll = 4;
  Running<A> running;
  for (int64_t c = threadIdx.y; c < n; c += kUnroll * blockDim.y) {
    A values[kUnroll];
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) {
      const int64_t at = c + j * blockDim.y;
      values[j] = at < n ? static_cast<A>(line[at * inner]) : -std::numeric_limits<A>::infinity();
    }
    running.Add(values);
  }
  return running;
}

// --- launches

inline bool Aligned(const void* address) { return reinterpret_cast<uintptr_t>(address) % 16 == 0; }
/// Whether rows of n can be read sixteen bytes at a time; absent operands are null and do not matter.
template <typename T, typename... P>
bool TakesWide(int64_t n, const P*... operands) {
  return n % kWide<T> == 0 && (Aligned(operands) && ...);
}

inline unsigned BlocksFor(int64_t work, int64_t each) {
  return static_cast<unsigned>(std::clamp<int64_t>((work + each - 1) / each, 1, int64_t{1} << 30));
}

/// Call f.operator()<kWidth, kItems, kByBlock>(grid) for rows that fit into registers, at most kMost elements a thread;
/// false if they do not.
template <typename T, int kMost, typename F>
bool WithHeldRows(int64_t rows, int64_t n, bool wide, F&& f) {
  constexpr int kFew = 8;
  if (n > int64_t{1024} * kMost) return false;
  const bool by_block = n > cuda::kWarpThreads * kMost;
  const auto with = [&]<int kWidth, int kItems>() {
    if (!by_block) {
      const cuda::Grid grid{dim3(BlocksFor(rows, kWarpBlock / cuda::kWarpThreads)), dim3(kWarpBlock)};
      return f.template operator()<kWidth, kItems, false>(grid);
    }
    const auto threads = static_cast<unsigned>((n + kItems * 32 - 1) / (kItems * 32) * 32);
    f.template operator()<kWidth, kItems, true>(cuda::Grid{dim3(BlocksFor(rows, 1)), dim3(threads)});
  };
  const bool few = n <= (by_block ? 1024 : cuda::kWarpThreads) * kFew;
  if (wide) {
    few ? with.template operator()<kWide<T>, kFew>() : with.template operator()<kWide<T>, kMost>();
  } else {
    few ? with.template operator()<1, kFew>() : with.template operator()<1, kMost>();
  }
  return true;
}

/// 256 threads for columns of n elements.
inline cuda::Grid ColumnGrid(int64_t lines, int64_t n) {
  unsigned sharing = 1;
  while (sharing < 8 && sharing * 4 <= n) sharing *= 2;
  const unsigned lanes = kColumnBlock / sharing;
  return {dim3(BlocksFor(lines, lanes)), dim3(lanes, sharing)};
}

/// A tensor seen as (outer, n, inner) around an axis.
struct Around {
  int64_t outer = 1, n = 1, inner = 1;

  Around(const int64_t* shape, int ndim, int axis) {
    for (int i = 0; i < ndim; ++i) (i < axis ? outer : i == axis ? n : inner) *= shape[i];
  }
  int64_t lines() const { return outer * inner; }
};

}  // namespace dragon::DRAGON_DEVICE::rows
