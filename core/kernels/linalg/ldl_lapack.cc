// Factors of symmetric and Hermitian matrices that need not be positive-definite.
#include "core/kernels/linalg/common.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// A negative pivot stands for a 2 x 2 block; it comes in pairs, and names a row of the matrix like any other.
void CheckLdlPivots(const char* who, const int32_t* pivots, int64_t count, int64_t n) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = std::abs(static_cast<int64_t>(pivots[i]));
    if (row < 1 || row > n) throw IndexError(who).Got("pivot ", pivots[i]).Expected("1 to ", n, " or its negative");
    if (pivots[i] > 0) continue;
    const bool pair = i % n + 1 < n && pivots[i + 1] < 0;
    if (!pair) throw ValueError(who).Got("a lone negative pivot ", pivots[i]).Expected("negative pivots in pairs");
    ++i;
  }
}

}  // namespace

template <typename T>
void LinalgLdlFactor(Context& ctx, View ld, View pivots, View info, View a, bool hermitian, const char* who) {
  const Matrices<T> from(a), to(ld);
  const int n = from.rows;
  auto* codes = info.as<int32_t>();
  ForMatrices(from.count, double{1} * n * n * n / 3, [&](int64_t begin, int64_t end) {
    const int work_size = 64 * Leading(n);
    auto copy = ctx.Allocate<T>(from.size()), works = ctx.Allocate<T>(work_size);
    T *x = copy.template as<T>(), *work = works.template as<T>();
    for (int64_t i = begin; i < end; ++i) {
      int code = 0;
      int32_t* swaps = pivots.as<int32_t>() + i * n;
      Transpose(from[i], n, n, x);
      if constexpr (kIsComplex<T>) {
        if (n > 0 && hermitian) Lapack<T, "hetrf">('L', n, x, n, swaps, work, work_size, &code);
        if (n > 0 && !hermitian) Lapack<T, "sytrf">('L', n, x, n, swaps, work, work_size, &code);
      } else {
        if (n > 0) Lapack<T, "sytrf">('L', n, x, n, swaps, work, work_size, &code);
      }
      codes[i] = code;
      Transpose(x, n, n, to[i]);
    }
  });
  CheckInfo(who, a, codes, from.count, "is singular: that diagonal element of D is zero");
}
DRAGON_KERNEL(LinalgLdlFactor, LinearTypes);

template <typename T>
void LinalgLdlSolve(Context& ctx, View x, View ld, View pivots, View b, bool hermitian, const char* who) {
  const Matrices<T> factors(ld), right(b), to(x);
  const int n = factors.rows, others = right.columns;
  CheckLdlPivots(who, pivots.as<int32_t>(), pivots.numel, n);
  if (right.size() == 0) return;
  ForMatrices(to.count, double{2} * n * n * others, [&](int64_t begin, int64_t end) {
    auto copy = ctx.Allocate<T>(factors.size()), columns = ctx.Allocate<T>(right.size());
    T *matrix = copy.template as<T>(), *y = columns.template as<T>();
    for (int64_t i = begin; i < end; ++i) {
      int code = 0;
      int32_t* swaps = pivots.as<int32_t>() + i * n;
      Transpose(factors[i], n, n, matrix);
      Transpose(right[i], n, others, y);
      if constexpr (kIsComplex<T>) {
        if (hermitian) {
          Lapack<T, "hetrs">('L', n, others, matrix, n, swaps, y, n, &code);
        } else {
          Lapack<T, "sytrs">('L', n, others, matrix, n, swaps, y, n, &code);
        }
      } else {
        Lapack<T, "sytrs">('L', n, others, matrix, n, swaps, y, n, &code);
      }
      Transpose(y, others, n, to[i]);
    }
  });
}
DRAGON_KERNEL(LinalgLdlSolve, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
