// Products of tiles in shared memory, in which 16 x 16 threads hold four rows each: attention for all dtypes.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/kernels/attention/call_cuda.h"

namespace dragon::DRAGON_DEVICE::attention {

/// Tiles are 64 x 64; of what they are multiplied with, 32 columns or rows are in shared memory at a time.
inline constexpr int kTile = 64, kDepth = 32, kSide = 16, kOwn = kTile / kSide, kTileThreads = kSide * kSide;
inline constexpr int kScorePitch = kTile + 1, kDepthPitch = kDepth + 1;

/// Elements of shared memory: a tile of scores, and two operands of a product.
template <int kCols>
inline constexpr int kSharedElements = kTile * kScorePitch + std::max(2 * kTile * kDepthPitch, kDepth * kSide * kCols);

/// to[i][j] = scale * x(first_row + i, first_col + j), zeros outside of the rows and columns there are.
template <int kRows, int kCols, int kPitch, typename W, typename T>
__device__ __forceinline__ void LoadTile(W* to, const Matrix<T>& x, int64_t first_row, int64_t rows, int64_t first_col,
                                         int64_t cols, W scale) {
  for (int i = threadIdx.x; i < kRows * kCols; i += kTileThreads) {
    const int r = i / kCols, c = i % kCols;
    const bool inside = first_row + r < rows && first_col + c < cols;
    to[r * kPitch + c] =
        inside ? scale * static_cast<W>(x.data[(first_row + r) * x.row + (first_col + c) * x.col]) : W(0);
  }
}

/// acc = scale a b^T of 64 rows of each: this thread's rows of a and, 16 apart, columns. The whole block must call.
template <typename W, typename T>
__device__ __forceinline__ void Scores(W (&acc)[kOwn][kOwn], W* stage, const Matrix<T>& a, int64_t a_first,
                                       int64_t a_rows, const Matrix<T>& b, int64_t b_first, int64_t b_rows,
                                       int64_t width, W scale) {
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  W *left = stage, *right = stage + kTile * kDepthPitch;
#pragma unroll
  for (int r = 0; r < kOwn; ++r) {
#pragma unroll
    for (int c = 0; c < kOwn; ++c) acc[r][c] = W(0);
  }
  for (int64_t depth = 0; depth < width; depth += kDepth) {
    __syncthreads();  // what was staged before has been read
    LoadTile<kTile, kDepth, kDepthPitch>(left, a, a_first, a_rows, depth, width, scale);
    LoadTile<kTile, kDepth, kDepthPitch>(right, b, b_first, b_rows, depth, width, W(1));
    __syncthreads();
#pragma unroll 4
    for (int d = 0; d < kDepth; ++d) {
      W mine[kOwn], other[kOwn];
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        mine[i] = left[(y * kOwn + i) * kDepthPitch + d];
        other[i] = right[(x + kSide * i) * kDepthPitch + d];
      }
#pragma unroll
      for (int r = 0; r < kOwn; ++r) {
#pragma unroll
        for (int c = 0; c < kOwn; ++c) acc[r][c] += mine[r] * other[c];
      }
    }
  }
}

/// Put a tile of which each thread has its rows and columns where all can read it. The whole block must call.
template <typename W>
__device__ __forceinline__ void Spread(W* scores, const W (&tile)[kOwn][kOwn]) {
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  __syncthreads();  // the tile before has been read
#pragma unroll
  for (int r = 0; r < kOwn; ++r) {
#pragma unroll
    for (int c = 0; c < kOwn; ++c) scores[(y * kOwn + r) * kScorePitch + x + kSide * c] = tile[r][c];
  }
}

/// acc += the tile of scores, or its transpose, times scale * 64 rows of b; a thread has four rows and kCols columns,
/// 16 apart. The whole block must call.
template <bool kTransposed, int kCols, typename W, typename T>
__device__ __forceinline__ void Gather(W (&acc)[kOwn][kCols], const W* scores, W* stage, const Matrix<T>& b,
                                       int64_t b_first, int64_t b_rows, int64_t first_col, int64_t cols, W scale) {
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  constexpr int kWidth = kSide * kCols;
  for (int depth = 0; depth < kTile; depth += kDepth) {
    __syncthreads();  // what was staged before has been read, and the scores are there
    if (b_first + depth >= b_rows) continue;
    LoadTile<kDepth, kWidth, kWidth>(stage, b, b_first + depth, b_rows, first_col, cols, scale);
    __syncthreads();
#pragma unroll 4
    for (int d = 0; d < kDepth; ++d) {
      W mine[kOwn];
#pragma unroll
      for (int r = 0; r < kOwn; ++r) {
        const int row = y * kOwn + r, other = depth + d;
        mine[r] = scores[kTransposed ? other * kScorePitch + row : row * kScorePitch + other];
      }
#pragma unroll
      for (int c = 0; c < kCols; ++c) {
        const W value = stage[d * kWidth + x + kSide * c];
#pragma unroll
        for (int r = 0; r < kOwn; ++r) acc[r][c] += mine[r] * value;
      }
    }
  }
}

/// x(first_row + row, first_col + column) = scale[row] * acc, where there are such rows and columns.
template <int kCols, typename W, typename T>
__device__ __forceinline__ void StoreRows(const Matrix<T>& x, int64_t first_row, int64_t rows, int64_t first_col,
                                          int64_t cols, const W (&acc)[kOwn][kCols], const W (&scale)[kOwn]) {
  const int at_x = threadIdx.x % kSide, at_y = threadIdx.x / kSide;
#pragma unroll
  for (int r = 0; r < kOwn; ++r) {
    const int64_t row = first_row + at_y * kOwn + r;
    if (row >= rows) continue;
#pragma unroll
    for (int c = 0; c < kCols; ++c) {
      const int64_t col = first_col + at_x + kSide * c;
      if (col < cols) x.data[row * x.row + col * x.col] = static_cast<T>(acc[r][c] * scale[r]);
    }
  }
}

/// The 16 threads that share a row agree on one number.
template <typename W, typename Combine>
__device__ __forceinline__ W ShareRow(W value, Combine combine) {
#pragma unroll
  for (int bits = kSide / 2; bits > 0; bits /= 2) {
    value = combine(value, __shfl_xor_sync(cuda::kAllLanes, value, bits));
  }
  return value;
}

}  // namespace dragon::DRAGON_DEVICE::attention
