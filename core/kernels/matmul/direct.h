// Products too small or too thin to be worth packing: operands are read where they lie, column by column of registers.
#pragma once

#include "core/kernels/matmul/gemm.h"

namespace dragon::DRAGON_DEVICE {

/// Whether vectors can be loaded straight from memory: one real per element.
template <typename T>
inline constexpr bool kDirect = std::is_floating_point_v<T>;

/// Write a tile of sums through the epilogue.
template <typename T>
DRAGON_FN void StoreTile(const T* sums, int64_t rows, int64_t cols, int64_t width, Matrix<T> y,
                         const Epilogue<T>& epilogue, int64_t column) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) y(r, c) = epilogue(sums[r * width + c], y(r, c), column + c);
  }
}

/// kRows x kLanes of y, with the columns of b side by side in memory.
template <typename T, int kRows, int kLanes>
void DirectTile(int64_t k, Matrix<const T> a, const T* b, int64_t b_row, Matrix<T> y, const Epilogue<T>& epilogue,
                int64_t column) {
  using Vector = typename VectorOf<T, kLanes>::Type;
  using Unaligned = typename VectorOf<T, kLanes>::Unaligned;
  Vector acc[kRows] = {};
  for (int64_t p = 0; p < k; ++p) {
    const Vector bv = *reinterpret_cast<const Unaligned*>(b + p * b_row);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) acc[r] += a.data[r * a.row + p * a.col] * bv;
  }
  if (epilogue.plain && y.col == 1) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) *reinterpret_cast<Unaligned*>(y.data + r * y.row) = acc[r];
  } else {
    StoreTile(reinterpret_cast<const T*>(acc), kRows, kLanes, kLanes, y, epilogue, column);
  }
}

template <typename T, int kLanes>
DRAGON_FN void DirectColumns(int64_t m, int64_t k, Matrix<const T> a, const T* b, int64_t b_row, Matrix<T> y,
                             const Epilogue<T>& epilogue, int64_t column) {
  int64_t i = 0;
  for (; i + 8 <= m; i += 8) DirectTile<T, 8, kLanes>(k, a.At(i, 0), b, b_row, y.At(i, 0), epilogue, column);
  for (; i + 4 <= m; i += 4) DirectTile<T, 4, kLanes>(k, a.At(i, 0), b, b_row, y.At(i, 0), epilogue, column);
  for (; i < m; ++i) DirectTile<T, 1, kLanes>(k, a.At(i, 0), b, b_row, y.At(i, 0), epilogue, column);
}

/// y = epilogue(a @ b) over columns [begin, end) of b, whose columns lie side by side (b.col == 1).
template <typename T>
void DirectGemm(int64_t m, int64_t begin, int64_t end, int64_t k, Matrix<const T> a, Matrix<const T> b, Matrix<T> y,
                const Epilogue<T>& epilogue) {
  constexpr int kLanes = kVectorBytes / sizeof(T);
  int64_t j = begin;
  for (; j + kLanes <= end; j += kLanes) DirectColumns<T, kLanes>(m, k, a, b.data + j, b.row, y.At(0, j), epilogue, j);
  if constexpr (kLanes > 8) {
    for (; j + 8 <= end; j += 8) DirectColumns<T, 8>(m, k, a, b.data + j, b.row, y.At(0, j), epilogue, j);
  }
  if constexpr (kLanes > 4) {
    for (; j + 4 <= end; j += 4) DirectColumns<T, 4>(m, k, a, b.data + j, b.row, y.At(0, j), epilogue, j);
  }
  for (; j < end; ++j) DirectColumns<T, 1>(m, k, a, b.data + j, b.row, y.At(0, j), epilogue, j);
}

/// kRows x kCols dot products of lines that are contiguous along k on both sides.
template <typename T, int kRows, int kCols>
void DotTile(int64_t k, const T* a, int64_t a_row, const T* b, int64_t b_col, Matrix<T> y, const Epilogue<T>& epilogue,
             int64_t column) {
  constexpr int kLanes = kVectorBytes / sizeof(T);
  using Vector = typename VectorOf<T, kLanes>::Type;
  using Unaligned = typename VectorOf<T, kLanes>::Unaligned;
  Vector acc[kRows][kCols] = {};
  int64_t p = 0;
  for (; p + kLanes <= k; p += kLanes) {
    Vector av[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) av[r] = *reinterpret_cast<const Unaligned*>(a + r * a_row + p);
#pragma GCC unroll 8
    for (int c = 0; c < kCols; ++c) {
      const Vector bv = *reinterpret_cast<const Unaligned*>(b + c * b_col + p);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) acc[r][c] += av[r] * bv;
    }
  }
  T sums[kRows * kCols];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) {
      T sum = 0;
      for (int lane = 0; lane < kLanes; ++lane) sum += acc[r][c][lane];
      for (int64_t q = p; q < k; ++q) sum += a[r * a_row + q] * b[c * b_col + q];
      sums[r * kCols + c] = sum;
    }
  }
  StoreTile(sums, kRows, kCols, kCols, y, epilogue, column);
}

/// y = epilogue(a @ b) over columns [begin, end), where rows of a and columns of b are contiguous along k.
template <typename T>
void DotGemm(int64_t m, int64_t begin, int64_t end, int64_t k, Matrix<const T> a, Matrix<const T> b, Matrix<T> y,
             const Epilogue<T>& epilogue) {
  constexpr int kRows = 4, kCols = kTileRows == 8 ? 4 : 2;
  const auto rows = [&]<int kWidth>(int64_t j, std::integral_constant<int, kWidth>) {
    int64_t i = 0;
    const T* column = b.data + j * b.col;
    for (; i + kRows <= m; i += kRows) {
      DotTile<T, kRows, kWidth>(k, a.data + i * a.row, a.row, column, b.col, y.At(i, j), epilogue, j);
    }
    for (; i < m; ++i) DotTile<T, 1, kWidth>(k, a.data + i * a.row, a.row, column, b.col, y.At(i, j), epilogue, j);
  };
  int64_t j = begin;
  for (; j + kCols <= end; j += kCols) rows(j, std::integral_constant<int, kCols>{});
  for (; j < end; ++j) rows(j, std::integral_constant<int, 1>{});
}

/// Plain loops with exact sums, for tiny products of types that need widening.
template <typename T>
void PlainGemm(int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, Matrix<T> y,
               const Epilogue<T>& epilogue) {
  using Sum = typename Epilogue<T>::Sum;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Sum sum = Sum(0);
      for (int64_t p = 0; p < k; ++p) sum += static_cast<Sum>(a(i, p)) * static_cast<Sum>(b(p, j));
      y(i, j) = epilogue(sum, y(i, j), j);
    }
  }
}

}  // namespace dragon::DRAGON_DEVICE
