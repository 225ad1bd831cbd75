// What the LAPACK kernels share: batches of matrices, row-major to column-major, threads, and letters about trouble.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device/parallel.h"
#include "core/kernels/linalg.h"
#include "core/kernels/openblas.h"

namespace dragon::DRAGON_DEVICE {

/// A contiguous batch of rows x columns matrices.
template <typename T>
struct Matrices {
  T* data;
  int64_t count = 1;
  int rows, columns;

  explicit Matrices(const View& view) : data(view.as<T>()) {
    for (int axis = 0; axis < view.ndim - 2; ++axis) count *= view.shape[axis];
    const int64_t limit = std::numeric_limits<int>::max();
    if (view.dim(-2) > limit || view.dim(-1) > limit) {
      throw ValueError("linalg").Got("a matrix of ", view.dim(-2), " x ", view.dim(-1)).Expected("sides below 2**31");
    }
    rows = static_cast<int>(view.dim(-2));
    columns = static_cast<int>(view.dim(-1));
  }
  int64_t size() const { return static_cast<int64_t>(rows) * columns; }
  T* operator[](int64_t i) const { return data + i * size(); }
};

/// LAPACK wants a leading dimension of at least 1, even for nothing.
inline int Leading(int n) { return std::max(n, 1); }

template <typename T>
T Conjugate(T x) {
  return x;
}
template <typename T>
Complex<T> Conjugate(Complex<T> x) {
  return {x.re, -x.im};
}

template <typename T>
RealOf<T> RealOfNumber(T x) {
  if constexpr (kIsComplex<T>) {
    return x.re;
  } else {
    return x;
  }
}

/// to[j][i] = from[i][j]. In blocks, so that both sides stay in the cache.
template <typename T>
void Transpose(const T* from, int rows, int columns, T* to) {
  constexpr int kBlock = 16;
  for (int i0 = 0; i0 < rows; i0 += kBlock) {
    const int i1 = std::min(rows, i0 + kBlock);
    for (int j0 = 0; j0 < columns; j0 += kBlock) {
      const int j1 = std::min(columns, j0 + kBlock);
      for (int i = i0; i < i1; ++i) {
        for (int j = j0; j < j1; ++j) to[int64_t{j} * rows + i] = from[int64_t{i} * columns + j];
      }
    }
  }
}

template <typename T>
void ConjugateAll(T* x, int64_t count) {
  if constexpr (kIsComplex<T>) {
    for (int64_t i = 0; i < count; ++i) x[i].im = -x[i].im;
  }
}

template <typename T>
void SetIdentity(T* x, int n) {
  std::fill_n(x, int64_t{n} * n, T(0));
  for (int i = 0; i < n; ++i) x[int64_t{i} * n + i] = T(1);
}

/// A NaN or infinity sends some of LAPACK's iterations into endless loops: callers refuse them first.
template <typename T>
bool AllFinite(const T* x, int64_t count) {
  using Real = RealOf<T>;
  const auto* parts = reinterpret_cast<const Real*>(x);
  const int64_t total = count * static_cast<int64_t>(sizeof(T) / sizeof(Real));
  bool finite = true;
  for (int64_t i = 0; i < total; ++i) finite &= std::fabs(parts[i]) <= std::numeric_limits<Real>::max();
  return finite;
}

/// The size that a workspace query answered, which a float may have rounded down.
template <typename T>
int WorkSize(T answer) {
  const double size = static_cast<double>(RealOfNumber(answer));
  return static_cast<int>(std::min(size * (1 + 1e-6) + 1, double{std::numeric_limits<int>::max()}));
}

/// "linalg_inv: matrix 3 of the batch ", ready for what is wrong with it.
inline LinAlgError Trouble(const char* who, const View& batch, int64_t i, const char* sentence, int code) {
  const bool single = batch.ndim <= 2;
  return LinAlgError(who).Says(single ? "the matrix" : "matrix ", single ? "" : std::to_string(i),
                               single ? " " : " of the batch ", sentence, " (code ", code, ")");
}

/// A single matrix is worth OpenBLAS's threads from 1,000 to 2,000 rows on: below, waiting for each other at every
/// block costs them more than they gain, and very much more on a busy machine.
constexpr double kFlopsForThreads = 1e10;

/// Call body(begin, end) over the matrices of a batch. Many matrices go to our threads, few large ones to OpenBLAS's.
template <typename Body>
void ForMatrices(int64_t count, double flops, Body&& body) {
  const bool few = count < NumThreads();
  SetOpenBlasThreads(few && flops > kFlopsForThreads ? NumThreads() : 1);
  const double grain = 5e4 / std::max(flops, 1.0);
  ParallelFor(count, few ? count : std::max<int64_t>(1, static_cast<int64_t>(grain)), [&](int64_t begin, int64_t end) {
    const BlasSeat seat;
    body(begin, end);
  });
}

/// Throw for the first matrix of the batch that has trouble.
inline void CheckInfo(const char* who, const View& batch, const int32_t* info, int64_t count, const char* sentence) {
  if (!who) return;
  for (int64_t i = 0; i < count; ++i) {
    if (info[i] != 0) throw Trouble(who, batch, i, sentence, info[i]);
  }
}

}  // namespace dragon::DRAGON_DEVICE
