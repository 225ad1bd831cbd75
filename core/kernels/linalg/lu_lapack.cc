// LU factors and what follows from them: systems, inverses, determinants.
#include <numeric>
#include <vector>

#include "core/kernels/linalg/common.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr const char* kSingular = "is singular: that diagonal element of U is zero";

/// Pivots may come from a user: a wild one would swap memory that is not ours.
void CheckPivots(const char* who, const int32_t* pivots, int64_t count, int64_t rows) {
  for (int64_t i = 0; i < count; ++i) {
    if (pivots[i] < 1 || pivots[i] > rows) throw IndexError(who).Got("pivot ", pivots[i]).Expected("1 to ", rows);
  }
}

/// What pivots are compared by; of complex numbers as LAPACK does it.
template <typename T>
RealOf<T> SizeOf(T x) {
  if constexpr (kIsComplex<T>) {
    return std::fabs(x.re) + std::fabs(x.im);
  } else {
    return std::fabs(x);
  }
}

/// A small matrix (m, n), by columns, becomes its factors, a column and a rank-1 update at a time. Sums are rounded at
/// each step: where a matrix is nearly singular, pivots become tiny, while sums of products in one go, as some LAPACKs
/// have them, may come to exactly zero. Returns the first pivot that is zero, from 1 on; 0 if none is.
template <typename T>
int FactorSmall(int m, int n, T* a, int32_t* pivots) {
  int code = 0;
  for (int k = 0; k < std::min(m, n); ++k) {
    T* column = a + int64_t{k} * m;
    int best = k;
    for (int i = k + 1; i < m; ++i) best = SizeOf(column[i]) > SizeOf(column[best]) ? i : best;
    pivots[k] = best + 1;
    if (SizeOf(column[best]) == 0) {
      if (code == 0) code = k + 1;
      continue;
    }
    for (int j = 0; best != k && j < n; ++j) std::swap(a[int64_t{j} * m + k], a[int64_t{j} * m + best]);
    for (int i = k + 1; i < m; ++i) column[i] = column[i] / column[k];
    for (int j = k + 1; j < n; ++j) {
      T* DRAGON_RESTRICT other = a + int64_t{j} * m;
      const T factor = other[k];
      for (int i = k + 1; i < m; ++i) other[i] -= column[i] * factor;
    }
  }
  return code;
}

/// The factors of a matrix by columns, in its place; returns what LAPACK's getrf says of them.
template <typename T>
int Factor(int m, int n, T* columns, int32_t* pivots) {
  constexpr int kSmall = 32;
  if (std::min(m, n) == 0) return 0;
  if (m <= kSmall && n <= kSmall) return FactorSmall(m, n, columns, pivots);
  int code = 0;
  Lapack<T, "getrf">(m, n, columns, m, pivots, &code);
  return code;
}

/// Conj(x) when the solve wants A^H, whose transpose LAPACK cannot be asked for, on both sides of the solve.
template <typename T>
void SolveWithFactors(char trans, bool conjugate, int n, int count, const T* lu, const int* pivots, T* x) {
  int code = 0;
  if (conjugate) ConjugateAll(x, int64_t{n} * count);
  Lapack<T, "getrs">(trans, n, count, const_cast<T*>(lu), n, const_cast<int*>(pivots), x, n, &code);
  if (conjugate) ConjugateAll(x, int64_t{n} * count);
}

}  // namespace

template <typename T>
void LinalgLuFactor(Context& ctx, View lu, View pivots, View info, View a, const char* who) {
  const Matrices<T> from(a), to(lu);
  const int m = from.rows, n = from.columns, k = std::min(m, n);
  auto* codes = info.as<int32_t>();
  ForMatrices(from.count, double{1} * m * n * k, [&](int64_t begin, int64_t end) {
    auto columns = ctx.Allocate<T>(from.size());
    for (int64_t i = begin; i < end; ++i) {
      codes[i] = 0;
      if (k == 0) continue;
      Transpose(from[i], m, n, columns.template as<T>());
      codes[i] = Factor(m, n, columns.template as<T>(), pivots.as<int32_t>() + i * k);
      Transpose(columns.template as<T>(), n, m, to[i]);
    }
  });
  CheckInfo(who, a, codes, from.count, kSingular);
}
DRAGON_KERNEL(LinalgLuFactor, LinearTypes);

template <typename T>
void LinalgLuSolve(Context& ctx, View x, View lu, View pivots, View b, bool left, bool adjoint, const char* who) {
  const Matrices<T> factors(lu), right(b), to(x);
  const int n = factors.rows, others = left ? right.columns : right.rows;
  CheckPivots(who, pivots.as<int32_t>(), pivots.numel, n);
  if (right.size() == 0) return;
  ForMatrices(to.count, double{1} * n * n * (n + others), [&](int64_t begin, int64_t end) {
    auto columns = ctx.Allocate<T>(factors.size()), rights = ctx.Allocate<T>(right.size());
    T *matrix = columns.template as<T>(), *y = rights.template as<T>();
    for (int64_t i = begin; i < end; ++i) {
      Transpose(factors[i], n, n, matrix);
      const int* swaps = pivots.as<int32_t>() + i * n;
      if (left) {
        Transpose(right[i], n, others, y);
        SolveWithFactors(adjoint ? 'C' : 'N', /*conjugate=*/false, n, others, matrix, swaps, y);
        Transpose(y, others, n, to[i]);
      } else {  // X A = B is A^T X^T = B^T, and B read by columns is B^T already
        std::copy_n(right[i], right.size(), to[i]);
        SolveWithFactors(adjoint ? 'N' : 'T', /*conjugate=*/adjoint, n, others, matrix, swaps, to[i]);
      }
    }
  });
}
DRAGON_KERNEL(LinalgLuSolve, LinearTypes);

template <typename T>
void LinalgLuPermutation(Context&, View p, View pivots, const char* who) {
  const Matrices<T> to(p);
  const int n = to.rows;
  const int64_t k = pivots.dim(-1);
  CheckPivots(who, pivots.as<int32_t>(), pivots.numel, n);
  std::fill_n(to.data, to.count * to.size(), T(0));
  std::vector<int> order(n);
  for (int64_t i = 0; i < to.count; ++i) {
    std::iota(order.begin(), order.end(), 0);
    const int32_t* swaps = pivots.as<int32_t>() + i * k;
    for (int64_t j = 0; j < k; ++j) std::swap(order[j], order[swaps[j] - 1]);
    for (int j = 0; j < n; ++j) to[i][int64_t{order[j]} * n + j] = T(1);
  }
}
DRAGON_KERNEL(LinalgLuPermutation, LinearTypes);

/// -1 for an odd number of row swaps.
inline int Parity(const int32_t* pivots, int n) {
  int sign = 1;
  for (int i = 0; i < n; ++i) sign = pivots[i] == i + 1 ? sign : -sign;
  return sign;
}

template <typename T>
void LinalgDet(Context&, View det, View lu, View pivots) {
  const Matrices<T> factors(lu);
  const int64_t n = factors.rows;
  for (int64_t i = 0; i < factors.count; ++i) {
    T product = T(static_cast<RealOf<T>>(Parity(pivots.as<int32_t>() + i * n, factors.rows)));
    for (int64_t j = 0; j < n; ++j) product *= factors[i][j * n + j];
    det.as<T>()[i] = product;
  }
}
DRAGON_KERNEL(LinalgDet, LinearTypes);

template <typename T>
void LinalgSlogdet(Context&, View sign, View logabs, View lu, View pivots) {
  using Real = RealOf<T>;
  const Matrices<T> factors(lu);
  const int64_t n = factors.rows;
  for (int64_t i = 0; i < factors.count; ++i) {
    T phase = T(static_cast<Real>(Parity(pivots.as<int32_t>() + i * n, factors.rows)));
    Real sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      const T pivot = factors[i][j * n + j];
      if constexpr (kIsComplex<T>) {
        const Real magnitude = std::hypot(pivot.re, pivot.im);
        phase *= magnitude == 0 ? T(0) : T(pivot.re / magnitude, pivot.im / magnitude);
        sum += std::log(magnitude);
      } else {
        phase *= std::isnan(pivot) ? pivot : static_cast<T>((pivot > 0) - (pivot < 0));
        sum += std::log(std::fabs(pivot));
      }
    }
    sign.as<T>()[i] = phase;
    logabs.as<Real>()[i] = sum;
  }
}
DRAGON_KERNEL(LinalgSlogdet, LinearTypes);

template <typename T>
void LinalgSolve(Context& ctx, View x, View info, View a, View b, bool left, const char* who) {
  const Matrices<T> from(a), right(b), to(x);
  const int n = from.rows, others = left ? right.columns : right.rows;
  auto* codes = info.as<int32_t>();
  ForMatrices(to.count, double{1} * n * n * (n + others), [&](int64_t begin, int64_t end) {
    auto copy = ctx.Allocate<T>(from.size()), rights = ctx.Allocate<T>(right.size());
    auto swaps = ctx.Allocate<int>(n);
    T *matrix = copy.template as<T>(), *y = rights.template as<T>();
    for (int64_t i = begin; i < end; ++i) {
      std::copy_n(from[i], from.size(), matrix);  // read by columns: A^T, whose factors serve both sides
      codes[i] = Factor(n, n, matrix, swaps.as<int>());
      if (right.size() == 0) continue;
      if (left) {
        Transpose(right[i], n, others, y);
        SolveWithFactors('T', /*conjugate=*/false, n, others, matrix, swaps.as<int>(), y);
        Transpose(y, others, n, to[i]);
      } else {
        std::copy_n(right[i], right.size(), to[i]);
        SolveWithFactors('N', /*conjugate=*/false, n, others, matrix, swaps.as<int>(), to[i]);
      }
    }
  });
  CheckInfo(who, a, codes, to.count, kSingular);
}
DRAGON_KERNEL(LinalgSolve, LinearTypes);

template <typename T>
void LinalgInverse(Context& ctx, View y, View info, View a, const char* who) {
  const Matrices<T> from(a), to(y);
  const int n = from.rows;
  auto* codes = info.as<int32_t>();
  ForMatrices(to.count, double{2} * n * n * n, [&](int64_t begin, int64_t end) {
    auto swaps = ctx.Allocate<int>(n);
    T size{};
    int code = 0;
    Lapack<T, "getri">(n, to.data, Leading(n), swaps.as<int>(), &size, -1, &code);
    const int work_size = std::max(WorkSize(size), Leading(n));
    auto work = ctx.Allocate<T>(work_size);
    for (int64_t i = begin; i < end; ++i) {
      std::copy_n(from[i], from.size(), to[i]);  // the inverse of the transpose is the transpose of the inverse
      code = Factor(n, n, to[i], swaps.as<int>());
      if (n > 0 && code == 0) {
        Lapack<T, "getri">(n, to[i], n, swaps.as<int>(), work.template as<T>(), work_size, &code);
      }
      codes[i] = code;
    }
  });
  CheckInfo(who, a, codes, to.count, kSingular);
}
DRAGON_KERNEL(LinalgInverse, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
