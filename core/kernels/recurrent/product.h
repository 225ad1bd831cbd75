// The products of a recurrent layer's steps: one small matrix after another with the same weights, packed once.
#pragma once

#include "core/kernels/matmul/gemm.h"

namespace dragon::DRAGON_DEVICE {

/// Weights b (k, n) in panels as register tiles read them, for many products y = a @ b + bias + beta * y by one thread
/// each. A library would pack or wake its threads anew at every step, which costs more than the step itself.
template <typename T>
class PackedWeights {
 public:
  using Tile = TileOf<T>;
  using Real = typename Tile::Real;

  PackedWeights(const Context& ctx, Matrix<const T> b, int64_t k, int64_t n)
      : k_(k), n_(n), panels_(ctx.Allocate<Real>(RoundUp(n, Tile::kCols) * k)) {
    for (int64_t j = 0; j < n; j += Tile::kCols) {
      PackPanel<Tile::kCols>(b.data + j * b.col, b.col, b.row, std::min<int64_t>(Tile::kCols, n - j), k,
                             panels_.template as<Real>() + j * k);
    }
  }

  /// Numbers of scratch that `Multiply` wants for so many rows.
  int64_t ScratchSize(int64_t rows) const { return RoundUp(rows, Tile::kRows) * k_; }

  /// y (rows, n) from a (rows, k), both with rows side by side.
  void Multiply(int64_t rows, const T* a, const T* bias, double beta, T* y, Real* scratch) const {
    for (int64_t i = 0; i < rows; i += Tile::kRows) {
      PackPanel<Tile::kRows>(a + i * k_, k_, 1, std::min<int64_t>(Tile::kRows, rows - i), k_, scratch + i * k_);
    }
    alignas(64) Real acc[Tile::kSize];
    for (int64_t j = 0; j < n_; j += Tile::kCols) {
      const int64_t width = std::min<int64_t>(Tile::kCols, n_ - j);
      for (int64_t i = 0; i < rows; i += Tile::kRows) {
        MultiplyTile<Tile>(k_, scratch + i * k_, panels_.template as<const Real>() + j * k_, acc);
        const int64_t height = std::min<int64_t>(Tile::kRows, rows - i);
        for (int64_t r = 0; r < height; ++r) {
          Store(acc + r * Tile::kCols, width, bias ? bias + j : nullptr, beta, y + (i + r) * n_ + j);
        }
      }
    }
  }

 private:
  static int64_t RoundUp(int64_t x, int64_t to) { return (std::max<int64_t>(x, 1) + to - 1) / to * to; }

  static void Store(const Real* sums, int64_t width, const T* bias, double beta, T* y) {
    const Real scale = static_cast<Real>(beta);
    for (int64_t c = 0; c < width; ++c) {
      Real sum = sums[c];
      if (bias) sum += static_cast<Real>(bias[c]);
      if (beta != 0) sum += scale * static_cast<Real>(y[c]);
      y[c] = static_cast<T>(sum);
    }
  }

  const int64_t k_, n_;
  const Scratch panels_;
};

}  // namespace dragon::DRAGON_DEVICE
