// One matrix product for every element type: packed panels, a register tile the compiler vectorises, any strides.
// Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", ACM TOMS 34(3), 2008.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/device/context.h"
#include "core/device/parallel.h"
#include "core/kernels/matmul.h"
#include "core/kernels/matmul/epilogue.h"

namespace dragon::DRAGON_DEVICE {

/// A matrix in memory: element (i, j) is data[i * row + j * col].
template <typename T>
struct Matrix {
  T* data;
  int64_t row, col;

  Matrix At(int64_t i, int64_t j) const { return {data + i * row + j * col, row, col}; }
  Matrix Transposed() const { return {data, col, row}; }
  T& operator()(int64_t i, int64_t j) const { return data[i * row + j * col]; }
};

/// How products of T are computed: in which real type, and with how many of them per element.
template <typename T>
struct GemmType {
  // Integers wrap around, and only unsigned arithmetic may: the low bits are those of the signed product.
  using Real = std::conditional_t<
      kIsHalf<T>, float,
      std::conditional_t<std::is_integral_v<T>, std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>, T>>;
  static constexpr int kParts = 1;
};
template <typename R>
struct GemmType<Complex<R>> {
  using Real = R;
  static constexpr int kParts = 2;
};

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64, kTileRows = 8, kTileVectors = 3;
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32, kTileRows = 4, kTileVectors = 3;
#elif defined(__aarch64__)  // 32 registers, of which 24 sum
inline constexpr int kVectorBytes = 16, kTileRows = 8, kTileVectors = 3;
#else
inline constexpr int kVectorBytes = 16, kTileRows = 4, kTileVectors = 3;
#endif

template <typename R, int kLanes>
struct VectorOf {
  typedef R Type __attribute__((vector_size(kLanes * sizeof(R))));
  typedef R Unaligned __attribute__((vector_size(kLanes * sizeof(R)), aligned(alignof(R)), may_alias));
};

/// The register tile of elements of so many reals: MR x NR of them, NR in whole vectors.
template <typename R, int the_parts>
struct TileBy {
  using Real = R;
  static constexpr int kParts = the_parts;
  static constexpr int kLanes = kVectorBytes / sizeof(Real);
  static constexpr int kVectors = kParts == 2 ? 2 : kTileVectors;
  static constexpr int kRows = kTileRows / kParts;
  static constexpr int kCols = kVectors * kLanes;
  static constexpr int kSize = kParts * kRows * kCols;
};
template <typename T>
using TileOf = TileBy<typename GemmType<T>::Real, GemmType<T>::kParts>;

template <typename T>
DRAGON_FN void SplitInto(const T& x, typename GemmType<T>::Real* at, int64_t part_stride) {
  if constexpr (kIsComplex<T>) {
    at[0] = x.re;
    at[part_stride] = x.im;
  } else {
    at[0] = static_cast<typename GemmType<T>::Real>(x);
  }
}

/// Pack `count` of at most `width` lines of length k: out[p][part][line], short panels padded with zeros.
template <int kWidth, typename T>
__attribute__((noinline)) void PackPanel(const T* x, int64_t line, int64_t along, int64_t count, int64_t k,
                                         typename GemmType<T>::Real* out) {
  constexpr int kParts = GemmType<T>::kParts;
  if (count < kWidth) std::fill(out, out + k * kWidth * kParts, typename GemmType<T>::Real(0));
  if (count == kWidth && line == 1) {
    for (int64_t p = 0; p < k; ++p) {
      for (int i = 0; i < kWidth; ++i) SplitInto(x[p * along + i], out + p * kParts * kWidth + i, kWidth);
    }
  } else if (count == kWidth) {
    for (int64_t p = 0; p < k; ++p) {
      for (int i = 0; i < kWidth; ++i) SplitInto(x[p * along + i * line], out + p * kParts * kWidth + i, kWidth);
    }
  } else {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t i = 0; i < count; ++i) SplitInto(x[p * along + i * line], out + p * kParts * kWidth + i, kWidth);
    }
  }
}

/// acc[part][row][col] = sum over p of packed a[p] (x) packed b[p].
template <typename Tile>
__attribute__((noinline)) void MultiplyTile(int64_t k, const typename Tile::Real* a, const typename Tile::Real* b,
                                            typename Tile::Real* out) {
  using Vector = typename VectorOf<typename Tile::Real, Tile::kLanes>::Type;
  constexpr int kRows = Tile::kRows, kVectors = Tile::kVectors, kParts = Tile::kParts;
  Vector acc[kParts][kRows][kVectors] = {};
  for (int64_t p = 0; p < k; ++p, a += kParts * kRows, b += kParts * Tile::kCols) {
    const Vector* lanes = reinterpret_cast<const Vector*>(b);
    Vector bv[kParts][kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kParts * kVectors; ++v) bv[v / kVectors][v % kVectors] = lanes[v];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        if constexpr (kParts == 1) {
          acc[0][r][v] += a[r] * bv[0][v];
        } else {
          acc[0][r][v] += a[r] * bv[0][v];
          acc[0][r][v] -= a[kRows + r] * bv[1][v];
          acc[1][r][v] += a[r] * bv[1][v];
          acc[1][r][v] += a[kRows + r] * bv[0][v];
        }
      }
    }
  }
  std::memcpy(out, acc, sizeof(acc));
}

/// Cache blocks, in elements: A's block lives in the second level, B's in the third.
inline constexpr int64_t kBlockK = 256, kBlockM = 192, kBlockN = 1536;

/// One thread's product: y = epilogue(a @ b), all k at once for types whose sums need more digits than y has.
template <typename T>
class SerialGemm {
 public:
  using Tile = TileOf<T>;
  using Real = typename Tile::Real;
  using Sum = typename Epilogue<T>::Sum;
  static constexpr bool kSumsInPlace = std::is_same_v<Sum, T>;

  SerialGemm(const Context& ctx, int64_t m, int64_t n, int64_t k)
      : m_(m),
        n_(n),
        k_(k),
        block_m_(std::min(kBlockM, RoundUp(m, Tile::kRows))),
        block_n_(std::min(kBlockN / Tile::kCols * Tile::kCols, RoundUp(n, Tile::kCols))),
        block_k_(std::min(kBlockK, std::max<int64_t>(k, 1))),
        a_(ctx.Allocate<Real>(block_m_ * block_k_ * Tile::kParts)),
        b_(ctx.Allocate<Real>(block_n_ * block_k_ * Tile::kParts)),
        sums_(ctx.Allocate<Sum>(!kSumsInPlace && k > kBlockK ? m * block_n_ : 0)) {}

  /// Columns of y start at `column` of the whole product: the bias is indexed by it.
  void operator()(Matrix<const T> a, Matrix<const T> b, Matrix<T> y, const Epilogue<T>& epilogue, int64_t column) {
    for (int64_t j = 0; j < n_; j += block_n_) {
      const int64_t cols = std::min(block_n_, n_ - j);
      for (int64_t p = 0; p < std::max<int64_t>(k_, 1); p += block_k_) {
        depth_ = std::min(block_k_, k_ - p);
        first_ = p == 0;
        last_ = p + block_k_ >= k_;
        Pack<Tile::kCols>(b.At(p, j).Transposed(), cols, b_.template as<Real>());
        for (int64_t i = 0; i < m_; i += block_m_) {
          const int64_t rows = std::min(block_m_, m_ - i);
          Pack<Tile::kRows>(a.At(i, p), rows, a_.template as<Real>());
          Block(i, rows, cols, y.At(0, j), epilogue, column + j);
        }
      }
    }
  }

 private:
  static int64_t RoundUp(int64_t x, int64_t to) { return (std::max<int64_t>(x, 1) + to - 1) / to * to; }

  template <int kWidth>
  void Pack(Matrix<const T> x, int64_t lines, Real* out) {
    for (int64_t i = 0; i < lines; i += kWidth, out += kWidth * depth_ * Tile::kParts) {
      PackPanel<kWidth>(x.data + i * x.row, x.row, x.col, std::min<int64_t>(kWidth, lines - i), depth_, out);
    }
  }

  void Block(int64_t i0, int64_t rows, int64_t cols, Matrix<T> y, const Epilogue<T>& epilogue, int64_t column) {
    alignas(64) Real acc[Tile::kSize];
    for (int64_t j = 0; j < cols; j += Tile::kCols) {
      const Real* b = b_.template as<Real>() + j * depth_ * Tile::kParts;
      const int64_t width = std::min<int64_t>(Tile::kCols, cols - j);
      for (int64_t i = 0; i < rows; i += Tile::kRows) {
        MultiplyTile<Tile>(depth_, a_.template as<Real>() + i * depth_ * Tile::kParts, b, acc);
        Store(acc, std::min<int64_t>(Tile::kRows, rows - i), i0 + i, j, width, y, epilogue, column + j);
      }
    }
  }

  Sum Sample(const Real* acc, int64_t r, int64_t c) const {
    if constexpr (kIsComplex<T>) {
      return {acc[r * Tile::kCols + c], acc[(Tile::kRows + r) * Tile::kCols + c]};
    } else {
      return acc[r * Tile::kCols + c];
    }
  }

  __attribute__((noinline)) void Store(const Real* acc, int64_t height, int64_t i, int64_t j, int64_t width,
                                       Matrix<T> y, const Epilogue<T>& epilogue, int64_t column) {
    for (int64_t r = 0; r < height; ++r) {
      T* out = &y(i + r, j);
      if constexpr (kSumsInPlace) {
        if (y.col == 1) {
          StoreRow(acc, r, width, out, 1, out, epilogue, column);
        } else {
          StoreRow(acc, r, width, out, y.col, out, epilogue, column);
        }
      } else {
        Sum* sums = sums_.template as<Sum>() + (first_ && last_ ? 0 : (i + r) * block_n_ + j);
        StoreRow(acc, r, width, out, y.col, sums, epilogue, column);
      }
    }
  }

  /// Between k blocks the sums rest in `sums` (y itself where it has the digits); the last block finishes them.
  void StoreRow(const Real* acc, int64_t r, int64_t width, T* y, int64_t step, Sum* sums, const Epilogue<T>& epilogue,
                int64_t column) {
    const int64_t sum_step = kSumsInPlace ? step : 1;
    if (last_ && first_) {
      for (int64_t c = 0; c < width; ++c) y[c * step] = epilogue(Sample(acc, r, c), y[c * step], column + c);
    } else if (first_) {
      // beta * y enters with the first block when the sums overwrite y.
      for (int64_t c = 0; c < width; ++c) {
        sums[c * sum_step] = kSumsInPlace ? epilogue.Begin(Sample(acc, r, c), y[c * step]) : Sample(acc, r, c);
      }
    } else if (!last_) {
      for (int64_t c = 0; c < width; ++c) {
        sums[c * sum_step] += kSumsInPlace ? epilogue.Scale(Sample(acc, r, c)) : Sample(acc, r, c);
      }
    } else if (kSumsInPlace) {
      for (int64_t c = 0; c < width; ++c) {
        y[c * step] = epilogue.Finish(sums[c * sum_step] + epilogue.Scale(Sample(acc, r, c)), column + c);
      }
    } else {
      for (int64_t c = 0; c < width; ++c) {
        y[c * step] = epilogue(sums[c * sum_step] + Sample(acc, r, c), y[c * step], column + c);
      }
    }
  }

  const int64_t m_, n_, k_, block_m_, block_n_, block_k_;
  int64_t depth_ = 0;
  bool first_ = true, last_ = true;
  Scratch a_, b_, sums_;
};

/// Split m x n over `threads` in the grid whose pieces are nearest to squares: the least packing per product.
inline int64_t GridRows(int64_t m, int64_t n, int64_t threads) {
  int64_t best = 1;
  double least = 0;
  for (int64_t rows = 1; rows <= threads; ++rows) {
    if (threads % rows) continue;
    const double edge = static_cast<double>(m) / rows + static_cast<double>(n) / (threads / rows);
    if (rows == 1 || edge < least) best = rows, least = edge;
  }
  return best;
}

/// y = epilogue(a @ b) for one matrix, on as many threads as the work is worth.
template <typename T>
void PackedGemm(const Context& ctx, int64_t m, int64_t n, int64_t k, Matrix<const T> a, Matrix<const T> b, Matrix<T> y,
                const Epilogue<T>& epilogue) {
  constexpr int64_t kWorkPerThread = 100000;
  const double work = static_cast<double>(m) * n * std::max<int64_t>(k, 1);
  const int64_t wanted =
      omp_in_parallel() ? 1 : static_cast<int64_t>(std::min(1.0 * NumThreads(), work / kWorkPerThread));
  const int64_t threads = std::max<int64_t>(wanted, 1), grid_m = GridRows(m, n, threads), grid_n = threads / grid_m;
  const auto cut = [](int64_t size, int64_t piece, int64_t pieces, int64_t unit) {
    return std::min(size, (size * piece / pieces + unit - 1) / unit * unit);
  };
  ParallelFor(threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t row = piece / grid_n, col = piece % grid_n;
      const int64_t i = cut(m, row, grid_m, TileOf<T>::kRows), i_end = cut(m, row + 1, grid_m, TileOf<T>::kRows);
      const int64_t j = cut(n, col, grid_n, TileOf<T>::kCols), j_end = cut(n, col + 1, grid_n, TileOf<T>::kCols);
      if (i == i_end || j == j_end) continue;
      SerialGemm<T>(ctx, i_end - i, j_end - j, k)(a.At(i, 0), b.At(0, j), y.At(i, j), epilogue, j);
    }
  });
}

}  // namespace dragon::DRAGON_DEVICE
