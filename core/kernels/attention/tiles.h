// Products of blocks that are already in cache: register tiles over operands as they lie, no packing.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/types.h"

namespace dragon::DRAGON_DEVICE {

#if defined(__AVX512F__)
inline constexpr int kBlockVectorBytes = 64, kBlockRows = 6, kBlockVectors = 4;
#elif defined(__AVX__)
inline constexpr int kBlockVectorBytes = 32, kBlockRows = 6, kBlockVectors = 2;
#elif defined(__aarch64__)
inline constexpr int kBlockVectorBytes = 16, kBlockRows = 6, kBlockVectors = 4;
#else
inline constexpr int kBlockVectorBytes = 16, kBlockRows = 6, kBlockVectors = 2;
#endif

/// Lanes of a vector of W: rows of blocks are padded to whole vectors.
template <typename W>
inline constexpr int kBlockLanes = kBlockVectorBytes / sizeof(W);

template <typename W>
int64_t PaddedTo(int64_t count) {
  constexpr int64_t kLanes = kBlockLanes<W>;
  return (count + kLanes - 1) / kLanes * kLanes;
}

/// c (kRows x kVectors vectors) (+)= a @ b, where a(i, p) = a[i * a_row + p * a_col].
template <typename W, int kRows, int kVectors>
void BlockTile(int64_t k, const W* a, int64_t a_row, int64_t a_col, const W* b, int64_t b_row, W* c, int64_t c_row,
               bool add) {
  constexpr int kLanes = kBlockLanes<W>;
  typedef W Vector __attribute__((vector_size(kBlockVectorBytes)));
  typedef W Unaligned __attribute__((vector_size(kBlockVectorBytes), aligned(alignof(W)), may_alias));
  Vector acc[kRows][kVectors] = {};
  for (int64_t p = 0; p < k; ++p) {
    Vector bv[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) bv[v] = *reinterpret_cast<const Unaligned*>(b + p * b_row + v * kLanes);
#pragma GCC unroll 6
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) acc[r][v] += a[r * a_row + p * a_col] * bv[v];
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Unaligned* to = reinterpret_cast<Unaligned*>(c + r * c_row + v * kLanes);
      *to = add ? acc[r][v] + *to : acc[r][v];
    }
  }
}

template <typename W, int kVectors>
void BlockColumns(int64_t m, int64_t k, const W* a, int64_t a_row, int64_t a_col, const W* b, int64_t b_row, W* c,
                  int64_t c_row, bool add) {
  int64_t i = 0;
  for (; i + kBlockRows <= m; i += kBlockRows) {
    BlockTile<W, kBlockRows, kVectors>(k, a + i * a_row, a_row, a_col, b, b_row, c + i * c_row, c_row, add);
  }
  for (; i + 2 <= m; i += 2) {
    BlockTile<W, 2, kVectors>(k, a + i * a_row, a_row, a_col, b, b_row, c + i * c_row, c_row, add);
  }
  if (i < m) BlockTile<W, 1, kVectors>(k, a + i * a_row, a_row, a_col, b, b_row, c + i * c_row, c_row, add);
}

/// c (m x n) (+)= a (m x k) @ b (k x n); n counts whole vectors, rows of b and c have that room.
template <typename W>
void BlockProduct(int64_t m, int64_t n, int64_t k, const W* a, int64_t a_row, int64_t a_col, const W* b, int64_t b_row,
                  W* c, int64_t c_row, bool add) {
  constexpr int64_t kLanes = kBlockLanes<W>, kWide = kBlockVectors * kLanes;
  int64_t j = 0;
  for (; j + kWide <= n; j += kWide) {
    BlockColumns<W, kBlockVectors>(m, k, a, a_row, a_col, b + j, b_row, c + j, c_row, add);
  }
  if constexpr (kBlockVectors > 2) {
    for (; j + 2 * kLanes <= n; j += 2 * kLanes) {
      BlockColumns<W, 2>(m, k, a, a_row, a_col, b + j, b_row, c + j, c_row, add);
    }
  }
  for (; j < n; j += kLanes) BlockColumns<W, 1>(m, k, a, a_row, a_col, b + j, b_row, c + j, c_row, add);
}

}  // namespace dragon::DRAGON_DEVICE
