// Cholesky factors and triangular systems on CUDA.
#include "core/kernels/linalg/batch_cuda.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
void LinalgCholesky(Context& ctx, View l, View info, View a, bool upper, const char* who) {
  const Batch batch(a);
  Zero(ctx, info.data, info.numel * 4);
  if (a.numel > 0) {
    CopyFlat(ctx, l.data, a.data, a.dtype, a.numel);
    // Read by columns, our lower triangle is conj(A)'s upper one, and its factor U, read by rows, is L.
    solver::Potrf(ctx, a.dtype, !upper, batch.rows, l.data, batch.count, info.as<int32_t>());
    kernels::KeepTriangle(ctx, l.dtype, l, 0, upper);
  }
  CheckInfo(ctx, who, a, info.data, batch.count,
            "is not positive-definite: the leading minor of that order is not positive");
}
DRAGON_KERNEL(LinalgCholesky, LinearTypes);

template <typename T>
void LinalgSolveTriangular(Context& ctx, View x, View a, View b, bool upper, bool left, bool unitriangular) {
  const Batch right(b);
  if (b.numel == 0) return;
  CopyFlat(ctx, x.data, b.data, b.dtype, b.numel);
  // Read by columns everything is transposed: A X = B is X^T A^T = B^T, and A's upper triangle is a lower one.
  solver::Trsm(ctx, a.dtype, !left, !upper, unitriangular, right.columns, right.rows, a.data, x.data, right.count);
}
DRAGON_KERNEL(LinalgSolveTriangular, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
