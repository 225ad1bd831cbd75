// Cholesky factors, and triangular systems.
#include "core/kernels/linalg/common.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
void LinalgCholesky(Context&, View l, View info, View a, bool upper, const char* who) {
  const Matrices<T> from(a), to(l);
  const int n = from.rows;
  auto* codes = info.as<int32_t>();
  ForMatrices(from.count, double{1} * n * n * n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* x = to[i];
      std::copy_n(from[i], from.size(), x);
      int code = 0;
      // Read by columns, our lower triangle is conj(A)'s upper one, and its factor U, read by rows, is L.
      if (n > 0) Lapack<T, "potrf">(upper ? 'L' : 'U', n, x, n, &code);
      codes[i] = code;
      for (int64_t row = 0; row < n; ++row) {
        T* line = x + row * n;
        upper ? std::fill(line, line + row, T(0)) : std::fill(line + row + 1, line + n, T(0));
      }
    }
  });
  CheckInfo(who, a, codes, from.count, "is not positive-definite: the leading minor of that order is not positive");
}
DRAGON_KERNEL(LinalgCholesky, LinearTypes);

template <typename T>
void LinalgSolveTriangular(Context&, View x, View a, View b, bool upper, bool left, bool unitriangular) {
  const Matrices<T> matrix(a), right(b), to(x);
  const int n = matrix.rows, others = left ? right.columns : right.rows;
  // Read by columns everything is transposed: A X = B is X^T A^T = B^T, and A's upper triangle is a lower one.
  const char side = left ? 'R' : 'L', triangle = upper ? 'L' : 'U', diagonal = unitriangular ? 'U' : 'N';
  if (right.size() == 0) return;
  ForMatrices(to.count, double{1} * n * n * others, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::copy_n(right[i], right.size(), to[i]);
      Lapack<T, "trsm">(side, triangle, 'N', diagonal, right.columns, right.rows, T(1), matrix[i], n, to[i],
                        right.columns);
    }
  });
}
DRAGON_KERNEL(LinalgSolveTriangular, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
