// Running counts on CUDA: how many of the elements up to and including each have a mark.
#pragma once

#include "core/device/cuda/launch.h"

namespace dragon::DRAGON_DEVICE {

inline constexpr int kScanThreads = 256;

/// The sum of `value` over the threads of the block up to and including this one; `total` is that of all.
__device__ inline int64_t BlockScan(int64_t value, int64_t* total) {
  alignas(16) __shared__ int64_t sums[2][kScanThreads];
  int from = 0;
  __syncthreads();  // an earlier call's sums have been read
  sums[from][threadIdx.x] = value;
  __syncthreads();
  for (int distance = 1; distance < kScanThreads; distance *= 2) {
    const int i = static_cast<int>(threadIdx.x);
    sums[1 - from][i] = sums[from][i] + (i >= distance ? sums[from][i - distance] : 0);
    from = 1 - from;
    __syncthreads();
  }
  *total = sums[from][kScanThreads - 1];
  return sums[from][threadIdx.x];
}

/// How many marks there are in each tile of kScanThreads elements.
template <typename Mark>
__global__ void CountMarksKernel(int64_t* counts, int64_t n, const Mark mark) {
  const int64_t tiles = (n + kScanThreads - 1) / kScanThreads;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t i = tile * kScanThreads + threadIdx.x;
    const int count = __syncthreads_count(i < n && mark(i));
    if (threadIdx.x == 0) counts[tile] = count;
  }
}

/// counts[i] becomes the sum of those before it, counts[n] that of all. One block.
static __global__ void SumCountsKernel(int64_t* counts, int64_t n) {
  int64_t before = 0;
  for (int64_t begin = 0; begin < n; begin += kScanThreads) {
    const int64_t i = begin + threadIdx.x, own = i < n ? counts[i] : 0;
    int64_t total;
    const int64_t sum = BlockScan(own, &total);
    if (i < n) counts[i] = before + sum - own;
    before += total;
  }
  if (threadIdx.x == 0) counts[n] = before;
}

/// Call `take(i, marked, count)` for all elements; `count` has the marks up to and including i.
template <typename Mark, typename Take>
__global__ void TakeCountsKernel(const int64_t* counts, int64_t n, const Mark mark, const Take take) {
  const int64_t tiles = (n + kScanThreads - 1) / kScanThreads;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t i = tile * kScanThreads + threadIdx.x;
    const bool marked = i < n && mark(i);
    int64_t total;
    const int64_t count = counts[tile] + BlockScan(marked ? 1 : 0, &total);
    if (i < n) take(i, marked, count);
  }
}

/// Run through n > 0 elements; room has one count for each tile and one more, and the last of them is the sum.
template <typename Mark, typename Take>
int64_t RunningCounts(const Context& ctx, int64_t n, const Scratch& room, const Mark& mark, const Take& take) {
  const int64_t tiles = (n + kScanThreads - 1) / kScanThreads;
  const cuda::Grid grid = cuda::GridFor(n, kScanThreads);
  auto* const counts = room.as<int64_t>();
  cuda::Launch("running counts", ctx, &CountMarksKernel<Mark>, grid, counts, n, mark);
  cuda::Launch("running counts", ctx, &SumCountsKernel, {dim3(1), dim3(kScanThreads)}, counts, tiles);
  cuda::Launch("running counts", ctx, &TakeCountsKernel<Mark, Take>, grid, counts, n, mark, take);
  return tiles;
}

}  // namespace dragon::DRAGON_DEVICE
