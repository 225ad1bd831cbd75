// Running counts on CUDA: how many of the elements up to and including each have a mark.
#pragma once

#include "core/kernels/index/order_cuda.h"

namespace dragon::DRAGON_DEVICE {

/// A thread's marks of a piece.
template <typename Mark>
__device__ __forceinline__ void MarksOf(int64_t first, int64_t n, const Mark& mark, bool (&marks)[kRounds]) {
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const int64_t i = first + round * kOrderThreads;
    marks[round] = i < n && mark(i);
  }
}

/// How many marks there are in each piece.
template <typename Mark>
__global__ void CountMarksKernel(int64_t* counts, int64_t n, const Mark mark) {
  for (int64_t piece = blockIdx.x; piece * kPiece < n; piece += gridDim.x) {
    bool marks[kRounds];
    MarksOf(piece * kPiece + threadIdx.x, n, mark, marks);
    const int count = CountMarks(marks);
    if (threadIdx.x == 0) counts[piece] = count;
  }
}

/// Call `take(i, marked, count)` for all elements; `count` has the marks up to and including i.
template <typename Mark, typename Take>
__global__ void TakeCountsKernel(const int64_t* counts, int64_t n, const Mark mark, const Take take) {
  for (int64_t piece = blockIdx.x; piece * kPiece < n; piece += gridDim.x) {
    const int64_t first = piece * kPiece + threadIdx.x;
    bool marks[kRounds];
    MarksOf(first, n, mark, marks);
    const MarksOfPiece all(marks);
#pragma unroll 1
    for (int round = 0; round < kRounds; ++round) {
      const int64_t i = first + round * kOrderThreads;
      if (i < n) take(i, all.Has(round), counts[piece] + all.Before(round) + all.Has(round));
    }
  }
}

/// Run through n > 0 elements. The number of all marks is left on the device.
template <typename Mark, typename Take>
Scratch RunningCounts(const Context& ctx, int64_t n, const Mark& mark, const Take& take, const int64_t** total) {
  const int64_t pieces = (n + kPiece - 1) / kPiece;
  const cuda::Grid grid{cuda::GridFor(pieces, 1).blocks, dim3(kOrderThreads)};
  Scratch room = ctx.Allocate<int64_t>(pieces + 1);
  auto* const counts = room.as<int64_t>();
  cuda::Launch("running counts", ctx, &CountMarksKernel<Mark>, grid, counts, n, mark);
  SumsBefore(ctx, counts, pieces);
  cuda::Launch("running counts", ctx, &TakeCountsKernel<Mark, Take>, grid, counts, n, mark, take);
  *total = counts + pieces;
  return room;
}

}  // namespace dragon::DRAGON_DEVICE
