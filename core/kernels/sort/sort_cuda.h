// The sorters on CUDA. Few elements, and those that only a comparison orders: tiles are sorted in shared memory by
// Batcher's bitonic network, then merged pairwise, each block of a merge finding by itself which part of both runs it
// has. An order never calls two elements equal, so sorts are stable. Many packed elements: by their digits, all lines
// at once, since a line's number is a digit like others.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "core/device/cuda/block.h"
#include "core/kernels/each_cuda.h"
#include "core/kernels/sort/order.h"
#include "core/kernels/sort/radix.h"

namespace dragon::DRAGON_DEVICE {

inline constexpr int kSortThreads = 256;
/// Elements that a block holds: 16 KB.
template <typename E>
inline constexpr int kTile = 16384 / static_cast<int>(sizeof(E));

/// The order of packed keys, and what stands behind all of them.
template <typename P>
struct ByPacked {
  using Element = P;
  static __device__ P Last() { return ~P{0}; }
  __device__ __forceinline__ bool operator()(P a, P b) const { return a < b; }
};

/// The order of rows of keys, each named by its number.
struct ByRow {
  using Element = int64_t;
  const uint64_t* keys;
  int64_t width;

  static __device__ int64_t Last() { return -1; }
  __device__ bool operator()(int64_t a, int64_t b) const {
    if (a < 0 || b < 0) return a >= 0 && b < 0;
    for (int64_t i = 0; i < width; ++i) {
      const uint64_t left = keys[a * width + i], right = keys[b * width + i];
      if (left != right) return left < right;
    }
    return a < b;
  }
};

/// Sort `count` elements in shared memory, a power of two, by all threads of the block.
template <typename Less>
__device__ void SortShared(typename Less::Element* shared, int count, const Less& less) {
  for (int run = 2; run <= count; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < count / 2; i += blockDim.x) {
        const int low = 2 * i - (i & (distance - 1)), high = low + distance;
        const auto a = shared[low], b = shared[high];
        const bool rising = (low & run) == 0;
        if (less(b, a) == rising) shared[low] = b, shared[high] = a;
      }
    }
  }
  __syncthreads();
}

DRAGON_FN int PowerOfTwo(int64_t count) {
  int power = 2;
  while (power < count) power *= 2;
  return power;
}

/// Every tile of every line by itself, in place.
template <typename Less>
__global__ void SortTilesKernel(typename Less::Element* data, int64_t lines, int64_t size, const Less less) {
  using E = typename Less::Element;
  alignas(16) __shared__ E shared[kTile<E>];
  cuda::FillShared(shared);
  const int64_t tiles = (size + kTile<E> - 1) / kTile<E>;
  for (int64_t tile = blockIdx.x; tile < lines * tiles; tile += gridDim.x) {
    const int64_t begin = tile % tiles * kTile<E>;
    E* const own = data + tile / tiles * size + begin;
    const int count = static_cast<int>(min(static_cast<int64_t>(kTile<E>), size - begin)), power = PowerOfTwo(count);
    for (int i = threadIdx.x; i < power; i += blockDim.x) shared[i] = i < count ? own[i] : Less::Last();
    SortShared(shared, power, less);
    for (int i = threadIdx.x; i < count; i += blockDim.x) own[i] = shared[i];
    __syncthreads();
  }
}

/// How many of the first `rank` merged elements come from `a`.
template <typename Less>
__device__ int64_t TakenFromFirst(const typename Less::Element* a, int64_t a_count, const typename Less::Element* b,
                                  int64_t b_count, int64_t rank, const Less& less) {
  int64_t low = rank > b_count ? rank - b_count : 0, high = rank < a_count ? rank : a_count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (less(a[middle], b[rank - middle - 1])) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Runs of `width` elements, a multiple of the tile, become runs of twice the width.
template <typename Less>
__global__ void MergeKernel(typename Less::Element* to, const typename Less::Element* from, int64_t lines, int64_t size,
                            int64_t width, const Less less) {
  using E = typename Less::Element;
  constexpr int kCount = kTile<E>, kOwn = kCount / kSortThreads;
  alignas(16) __shared__ E shared[kCount];
  cuda::FillShared(shared);
  const int64_t tiles = (size + kCount - 1) / kCount;
  for (int64_t tile = blockIdx.x; tile < lines * tiles; tile += gridDim.x) {
    const int64_t line = tile / tiles * size, begin = tile % tiles * kCount, pair = begin / (2 * width) * (2 * width);
    const int64_t a_count = min(width, size - pair), b_count = min(width, size - pair - a_count);
    const E *const a = from + line + pair, *const b = a + a_count;
    const int count = static_cast<int>(min(static_cast<int64_t>(kCount), size - begin));
    const int64_t first = TakenFromFirst(a, a_count, b, b_count, begin - pair, less);
    const int64_t last = TakenFromFirst(a, a_count, b, b_count, begin - pair + count, less);
    const int of_a = static_cast<int>(last - first), of_b = count - of_a;
    const E* const rest = b + (begin - pair - first);
    for (int i = threadIdx.x; i < count; i += blockDim.x) shared[i] = i < of_a ? a[first + i] : rest[i - of_a];
    __syncthreads();
    E own[kOwn];
    const int rank = min(static_cast<int>(threadIdx.x) * kOwn, count);
    int i = static_cast<int>(TakenFromFirst(shared, of_a, shared + of_a, of_b, rank, less)), j = of_a + rank - i;
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      if (rank + k >= count) break;
      const bool left = j >= count || (i < of_a && less(shared[i], shared[j]));
      own[k] = shared[left ? i++ : j++];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kOwn; ++k) {
      if (rank + k < count) shared[rank + k] = own[k];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) to[line + begin + k] = shared[k];
    __syncthreads();
  }
}

/// Sort every line of `data`; the result is where the answer points: in `data`, or in `spare`, which has as much room.
template <typename Less>
typename Less::Element* SortLines(const Context& ctx, typename Less::Element* data, typename Less::Element* spare,
                                  int64_t lines, int64_t size, const Less& less) {
  using E = typename Less::Element;
  constexpr int64_t kMostTiles = int64_t{1} << 30;
  if (lines == 0 || size == 0) return data;
  const int64_t blocks = std::min(kMostTiles, lines * ((size + kTile<E> - 1) / kTile<E>));
  const cuda::Grid grid{dim3(static_cast<unsigned>(blocks)), dim3(kSortThreads)};
  cuda::Launch("sort", ctx, &SortTilesKernel<Less>, grid, data, lines, size, less);
  for (int64_t width = kTile<E>; width < size; width *= 2) {
    cuda::Launch("sort", ctx, &MergeKernel<Less>, grid, spare, data, lines, size, width, less);
    std::swap(data, spare);
  }
  return data;
}

/// Bits that tell `count` numbers from 0 on apart.
inline int BitsToTell(int64_t count) { return std::bit_width(static_cast<uint64_t>(count - 1)); }

/// Where packed elements have their place in the line, their key above that, and their line on top.
template <typename P>
struct Fields {
  int place = kPlaceBits<P>, key = kPlaceBits<P>, line = 0;
  bool tells_lines = false;  // whether elements of all lines may be sorted at once

  Fields(int64_t lines, int64_t size, int key_bits) {
    if constexpr (std::is_same_v<P, Packed>) {
      place = std::max(1, BitsToTell(size)), key = key_bits;
      tells_lines = place + key + BitsToTell(lines) <= 64;
      line = tells_lines ? BitsToTell(lines) : 0;
    }
  }
  DRAGON_FN P Pack(uint64_t the_key, int64_t the_place, int64_t the_line) const {
    const P packed = static_cast<P>(the_key) << place | static_cast<P>(the_place);
    return line > 0 ? packed | static_cast<P>(the_line) << (place + key) : packed;
  }
  DRAGON_FN int64_t Place(P packed) const { return static_cast<int64_t>(packed & ((P{1} << place) - 1)); }
  DRAGON_FN uint64_t Key(P packed) const { return static_cast<uint64_t>(packed >> place & ((P{1} << key) - 1)); }
};

/// Up to so many elements merges are done before the sort by digits has started its passes.
template <typename P>
inline constexpr int64_t kMostMerged = 8 * kTile<P>;

/// Sort n words, which rise in their bits before `first` and are 0 from `end` on. The result is where the answer
/// points, as it is with all sorters here.
inline Packed* SortWords(const Context& ctx, Packed* data, Packed* spare, int64_t n, int first, int end) {
  if (n <= kMostMerged<Packed>) return SortLines(ctx, data, spare, 1, n, ByPacked<Packed>{});
  return RadixSort(ctx, data, spare, n, first, end);
}

// Wide elements do not fit into words. What does is their number among all, below 32 bits of their key: the lower ones
// are sorted by first, then the upper ones, which leaves equals in that order, and at last the numbers of the lines.

inline constexpr uint64_t kNumber = 0xFFFFFFFFu;  ///< the number's bits in a word

struct WriteLowerHalf {
  uint64_t* words;
  const WidePacked* from;
  __device__ void operator()(int64_t i) const { words[i] = Key(from[i]) << 32 | static_cast<uint64_t>(i); }
};
struct WriteUpperHalf {
  uint64_t* words;
  const uint64_t* sorted;
  const WidePacked* from;
  __device__ void operator()(int64_t i) const {
    const uint64_t number = sorted[i] & kNumber;
    words[i] = (Key(from[number]) & ~kNumber) | number;
  }
};
struct WriteLine {
  uint64_t* words;
  const uint64_t* sorted;
  int64_t size;
  __device__ void operator()(int64_t i) const {
    const uint64_t number = sorted[i] & kNumber;
    words[i] = number / static_cast<uint64_t>(size) << 32 | number;
  }
};
struct TakeNumbers {
  WidePacked* to;
  const WidePacked* from;
  const uint64_t* sorted;
  __device__ void operator()(int64_t i) const { to[i] = from[sorted[i] & kNumber]; }
};

/// Sort the wide elements of all lines, fewer than 2^32, into `to`.
inline void SortWide(const Context& ctx, WidePacked* to, const WidePacked* from, int64_t lines, int64_t size) {
  const int64_t n = lines * size;
  const Scratch room = ctx.Allocate<uint64_t>(n), spare = ctx.Allocate<uint64_t>(n);
  uint64_t *words = room.as<uint64_t>(), *other = spare.as<uint64_t>();
  const auto sort = [&](int end) {
    uint64_t* const sorted = RadixSort(ctx, words, other, n, 32, end);
    if (sorted != words) std::swap(words, other);
  };
  LaunchForEach(ctx, n, WriteLowerHalf{words, from});
  sort(64);
  LaunchForEach(ctx, n, WriteUpperHalf{other, words, from});
  std::swap(words, other);
  sort(64);
  if (lines > 1) {
    LaunchForEach(ctx, n, WriteLine{other, words, size});
    std::swap(words, other);
    sort(32 + BitsToTell(lines));
  }
  LaunchForEach(ctx, n, TakeNumbers{to, from, words});
}

/// Sort every line of packed elements.
template <typename P>
P* SortPackedLines(const Context& ctx, P* data, P* spare, int64_t lines, int64_t size, const Fields<P>& fields) {
  const int64_t n = lines * size;
  if (n > kMostMerged<P>) {
    if constexpr (std::is_same_v<P, Packed>) {
      if (fields.tells_lines) {
        return RadixSort(ctx, data, spare, n, fields.place, fields.place + fields.key + fields.line);
      }
    } else if (n <= static_cast<int64_t>(kNumber)) {
      SortWide(ctx, spare, data, lines, size);
      return spare;
    }
  }
  return SortLines(ctx, data, spare, lines, size, ByPacked<P>{});
}

}  // namespace dragon::DRAGON_DEVICE
