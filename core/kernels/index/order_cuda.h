// Bringing keys in order, and counting before pieces, on CUDA: what a deterministic sum over equal indices is made of.
// A radix sort of eight bits a pass; equal keys keep their order.
#pragma once

#include <algorithm>
#include <utility>

#include "core/device/cuda/block.h"
#include "core/kernels/index/walk_cuda.h"

namespace dragon::DRAGON_DEVICE {

inline constexpr int kOrderThreads = 256, kDigits = 256, kOrderWarps = kOrderThreads / cuda::kWarpThreads;

/// One block, as large as blocks are: of so many threads with so many numbers each.
inline constexpr int kSumThreads = 1024, kSummed = 8;

/// The sum of `mine` over the lanes up to this one.
template <typename Count>
__device__ __forceinline__ Count SumOfLanes(Count mine) {
  const int lane = threadIdx.x % cuda::kWarpThreads;
#pragma unroll
  for (int distance = 1; distance < cuda::kWarpThreads; distance *= 2) {
    const Count early = cuda::FromLaneAbove(mine, distance);
    if (lane >= distance) mine += early;
  }
  return mine;
}

/// Make each number the sum of those before it, and `sums[n]` that of all. One block: n is a number of pieces, not of
/// elements.
template <typename Count>
__global__ void __launch_bounds__(kSumThreads) SumsBeforeKernel(Count* sums, int64_t n) {
  static_assert(kSumThreads == cuda::kWarpThreads * cuda::kWarpThreads);  // a lane for each warp's sum
  alignas(16) __shared__ Count warps[cuda::kWarpThreads];
  cuda::FillShared(warps);
  const int lane = threadIdx.x % cuda::kWarpThreads, warp = threadIdx.x / cuda::kWarpThreads;
  Count before = 0;
  for (int64_t round = 0; round < n; round += kSumThreads * kSummed) {
    const int64_t first = round + threadIdx.x * kSummed;
    Count numbers[kSummed], mine = 0;
#pragma unroll
    for (int k = 0; k < kSummed; ++k) numbers[k] = first + k < n ? sums[first + k] : Count(0);
#pragma unroll
    for (int k = 0; k < kSummed; ++k) mine += numbers[k];
    const Count in_warp = SumOfLanes(mine);
    __syncthreads();  // the last round's sums have been read
    if (lane == cuda::kWarpThreads - 1) warps[warp] = in_warp;
    __syncthreads();
    const Count of_warps = SumOfLanes(warps[lane]), early = cuda::FromLane(of_warps, warp > 0 ? warp - 1 : 0);
    Count sum = before + (warp > 0 ? early : Count(0)) + in_warp - mine;
    before += cuda::FromLane(of_warps, cuda::kWarpThreads - 1);
#pragma unroll
    for (int k = 0; k < kSummed; ++k) {
      if (first + k < n) sums[first + k] = sum;
      sum += numbers[k];
    }
  }
  if (threadIdx.x == 0) sums[n] = before;
}

template <typename Count>
void SumsBefore(const Context& ctx, Count* sums, int64_t n) {
  cuda::Launch("sums before", ctx, &SumsBeforeKernel<Count>, {dim3(1), dim3(kSumThreads)}, sums, n);
}

/// A block of kOrderThreads counts marks by pieces, in rounds of an element for each thread.
inline constexpr int kRounds = 8;
inline constexpr int64_t kPiece = kOrderThreads * kRounds;

struct AddCounts {
  __device__ int operator()(int a, int b) const { return a + b; }
};
/// How many marks the threads of a block have, for all of them.
__device__ __forceinline__ int CountMarks(const bool (&marks)[kRounds]) {
  int count = 0;
#pragma unroll
  for (int round = 0; round < kRounds; ++round) count += marks[round];
  return cuda::BlockReduce(count, AddCounts{});
}

namespace {

/// The marks of a piece, for all threads of its block: each one, and how many come before it in the order of rounds and
/// of threads in them.
class MarksOfPiece {
 public:
  /// The whole block must call.
  __device__ explicit MarksOfPiece(const bool (&marks)[kRounds]) {
    static_assert(kRounds * kOrderWarps == 2 * cuda::kWarpThreads);
    alignas(16) __shared__ unsigned votes[kRounds * kOrderWarps];
    cuda::FillShared(votes);
    alignas(16) __shared__ int counts[kRounds * kOrderWarps];
    cuda::FillShared(counts);
    votes_ = votes, counts_ = counts;
    __syncthreads();  // an earlier piece's have been read
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
      const unsigned vote = __ballot_sync(cuda::kAllLanes, marks[round]);
      if (lane_ == 0) votes[round * kOrderWarps + warp_] = vote;
    }
    __syncthreads();
    if (warp_ == 0) {
      const int first = __popc(votes[2 * lane_]), second = __popc(votes[2 * lane_ + 1]);
      const int sum = SumOfLanes(first + second);
      counts[2 * lane_] = sum - first - second, counts[2 * lane_ + 1] = sum - second;
    }
    __syncthreads();
  }
  __device__ bool Has(int round) const { return votes_[round * kOrderWarps + warp_] >> lane_ & 1; }
  __device__ int Before(int round) const {
    const int at = round * kOrderWarps + warp_;
    return counts_[at] + __popc(votes_[at] & ((1u << lane_) - 1));
  }

 private:
  const int lane_ = threadIdx.x % cuda::kWarpThreads, warp_ = threadIdx.x / cuda::kWarpThreads;
  const unsigned* votes_;
  const int* counts_;
};

}  // namespace

/// How often each digit stands in each block's stretch of keys: counts[digit][block].
inline __global__ void CountDigitsKernel(const uint32_t* keys, int64_t n, int64_t stretch, int shift,
                                         uint32_t* counts) {
  alignas(16) __shared__ uint32_t count[kDigits];
  cuda::FillShared(count);
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
  cuda::FillShared(next);
  alignas(16) __shared__ uint32_t warps[kOrderWarps][kDigits];
  cuda::FillShared(warps);
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
