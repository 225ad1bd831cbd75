// Bringing keys in order, and counting before pieces, on CUDA: what a deterministic sum over equal indices is made of.
// A radix sort of eight bits a pass; equal keys keep their order.
#pragma once

#include <algorithm>
#include <utility>

#include "core/device/cuda/block.h"
#include "core/kernels/index/walk_cuda.h"

namespace dragon::DRAGON_DEVICE {

inline constexpr int kOrderThreads = 256, kDigits = 256, kOrderWarps = kOrderThreads / cuda::kWarpThreads;

/// Make each number the sum of those before it, and `sums[n]` that of all. One block: n is a number of pieces, not of
/// elements.
template <typename Count>
__global__ void SumsBeforeKernel(Count* sums, int64_t n) {
  alignas(16) __shared__ Count warps[kOrderWarps];
  const int lane = threadIdx.x % cuda::kWarpThreads, warp = threadIdx.x / cuda::kWarpThreads;
  Count before = 0;
  for (int64_t first = 0; first < n; first += kOrderThreads) {
    const int64_t i = first + threadIdx.x;
    const Count mine = i < n ? sums[i] : Count(0);
    Count sum = mine;
    for (int distance = 1; distance < cuda::kWarpThreads; distance *= 2) {
      const Count early = cuda::FromLaneAbove(sum, distance);
      if (lane >= distance) sum += early;
    }
    __syncthreads();  // the last round's sums have been read
    if (lane == cuda::kWarpThreads - 1) warps[warp] = sum;
    __syncthreads();
    Count early = before;
    for (int w = 0; w < kOrderWarps; ++w) {
      if (w < warp) early += warps[w];
      before += warps[w];
    }
    if (i < n) sums[i] = early + sum - mine;
  }
  if (threadIdx.x == 0) sums[n] = before;
}

template <typename Count>
void SumsBefore(const Context& ctx, Count* sums, int64_t n) {
  cuda::Launch("sums before", ctx, &SumsBeforeKernel<Count>, {dim3(1), dim3(kOrderThreads)}, sums, n);
}

/// How often each digit stands in each block's stretch of keys: counts[digit][block].
inline __global__ void CountDigitsKernel(const uint32_t* keys, int64_t n, int64_t stretch, int shift,
                                         uint32_t* counts) {
  alignas(16) __shared__ uint32_t count[kDigits];
  count[threadIdx.x] = 0;
  __syncthreads();
  const int64_t begin = blockIdx.x * stretch, end = min(n, begin + stretch);
  for (int64_t i = begin + threadIdx.x; i < end; i += kOrderThreads) atomicAdd(&count[keys[i] >> shift & 255], 1u);
  __syncthreads();
  counts[static_cast<int64_t>(threadIdx.x) * gridDim.x + blockIdx.x] = count[threadIdx.x];
}

/// Move keys, and what came with them, to their digits' places. 256 at a time, in order: a key's place is that of its
/// digit, plus equal digits of earlier warps, plus those of earlier lanes.
inline __global__ void PlaceDigitsKernel(const uint32_t* keys, const uint32_t* values, int64_t n, int64_t stretch,
                                         int shift, const uint32_t* counts, uint32_t* new_keys, uint32_t* new_values) {
  alignas(16) __shared__ uint32_t next[kDigits];
  alignas(16) __shared__ uint32_t warps[kOrderWarps][kDigits];
  const int lane = threadIdx.x % cuda::kWarpThreads, warp = threadIdx.x / cuda::kWarpThreads;
  next[threadIdx.x] = counts[static_cast<int64_t>(threadIdx.x) * gridDim.x + blockIdx.x];
  const int64_t begin = blockIdx.x * stretch, end = min(n, begin + stretch);
  for (int64_t first = begin; first < end; first += kOrderThreads) {
    const int64_t i = first + threadIdx.x;
    const bool is_there = i < end;
    const uint32_t key = is_there ? keys[i] : 0, digit = key >> shift & 255;
    for (int w = 0; w < kOrderWarps; ++w) warps[w][threadIdx.x] = 0;
    __syncthreads();
    unsigned peers = __ballot_sync(cuda::kAllLanes, is_there);
    for (int bit = 0; bit < 8; ++bit) {
      const unsigned set = __ballot_sync(cuda::kAllLanes, digit >> bit & 1);
      peers &= digit >> bit & 1 ? set : ~set;
    }
    const uint32_t earlier = __popc(peers & ((1u << lane) - 1));
    if (is_there && earlier == 0) warps[warp][digit] = __popc(peers);
    __syncthreads();
    uint32_t place = next[threadIdx.x];
    for (int w = 0; w < kOrderWarps; ++w) {
      const uint32_t count = warps[w][threadIdx.x];
      warps[w][threadIdx.x] = place;
      place += count;
    }
    next[threadIdx.x] = place;
    __syncthreads();
    if (is_there) {
      const uint32_t to = warps[warp][digit] + earlier;
      new_keys[to] = key;
      new_values[to] = values ? values[i] : static_cast<uint32_t>(i);
    }
    __syncthreads();
  }
}

/// Keys in rising order, and which each was.
struct Order {
  Scratch memory;
  uint32_t *keys, *order;

  /// Sort n < 2^32 keys, at least one, of which none is above `most`. `values` are what comes with the keys: their
  /// numbers, if not given.
  Order(const Context& ctx, const uint32_t* the_keys, int64_t n, uint32_t most, const uint32_t* values = nullptr)
      : memory(ctx.Allocate<uint32_t>(4 * n)), keys(memory.as<uint32_t>()), order(keys + n) {
    constexpr int64_t kMostBlocks = 264;
    const int64_t rounds = (n + kOrderThreads - 1) / kOrderThreads;
    const int64_t stretch = (rounds + kMostBlocks - 1) / kMostBlocks * kOrderThreads;
    const int64_t blocks = (n + stretch - 1) / stretch;
    const Scratch counts = ctx.Allocate<uint32_t>(kDigits * blocks + 1);
    const cuda::Grid grid{dim3(static_cast<unsigned>(blocks)), dim3(kOrderThreads)};
    uint32_t *new_keys = keys + 2 * n, *new_order = keys + 3 * n;
    int shift = 0;
    do {  // once at least, so that there is an order
      cuda::Launch("order", ctx, &CountDigitsKernel, grid, the_keys, n, stretch, shift, counts.as<uint32_t>());
      SumsBefore(ctx, counts.as<uint32_t>(), kDigits * blocks);
      cuda::Launch("order", ctx, &PlaceDigitsKernel, grid, the_keys, values, n, stretch, shift, counts.as<uint32_t>(),
                   new_keys, new_order);
      std::swap(keys, new_keys);
      std::swap(order, new_order);
      the_keys = keys, values = order;
      shift += 8;
    } while (shift < 32 && most >> shift != 0);
  }
};

}  // namespace dragon::DRAGON_DEVICE
