// LU factors on CUDA, and the systems and inverses that follow from them.
#include "core/kernels/linalg/batch_cuda.h"
#include "core/kernels/math.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr const char* kSingular = "is singular: that diagonal element of U is zero";

/// All numbers of a dense tensor become their conjugates.
void ConjugateInPlace(Context& ctx, const View& x) {
  static const kernels::Unary conj{"conj_physical"};
  if (IsComplex(x.dtype)) conj(ctx, x.dtype, x, x);
}

/// x = op(A)^-1 b from factors by columns, where right sides are by rows: laid down by columns and back.
void SolveByColumns(const Context& ctx, char op, const void* lu, const int32_t* pivots, const View& x, const View& b) {
  const Batch right(b);
  const Scratch columns = Bytes(ctx, b.dtype, b.numel);
  ToColumns(ctx, columns.data(), b);
  solver::Getrs(ctx, b.dtype, op, right.rows, right.columns, lu, pivots, columns.data(), right.count);
  ToRows(ctx, x, columns.data(), right.rows, right.size());
}

}  // namespace

template <typename T>
void LinalgLuFactor(Context& ctx, View lu, View pivots, View info, View a, const char* who) {
  const Batch batch(a);
  Zero(ctx, info.data, info.numel * 4);
  if (a.numel > 0) {
    const Scratch columns = Bytes(ctx, a.dtype, a.numel);
    ToColumns(ctx, columns.data(), a);
    solver::Getrf(ctx, a.dtype, batch.rows, batch.columns, columns.data(), batch.count, pivots.as<int32_t>(),
                  info.as<int32_t>());
    ToRows(ctx, lu, columns.data(), batch.rows, batch.size());
  }
  CheckInfo(ctx, who, a, info.data, batch.count, kSingular);
}
DRAGON_KERNEL(LinalgLuFactor, LinearTypes);

template <typename T>
void LinalgLuSolve(Context& ctx, View x, View lu, View pivots, View b, bool left, bool adjoint, const char*) {
  const Batch right(b);
  if (b.numel == 0) return;
  const int64_t n = lu.dim(-1);
  const Scratch factors = Bytes(ctx, lu.dtype, lu.numel), swaps = Bytes(ctx, DType::kInt32, pivots.numel);
  ToColumns(ctx, factors.data(), lu);
  ClampPivots(ctx, swaps.as<int32_t>(), pivots.as<int32_t>(), pivots.numel, n);
  if (left) return SolveByColumns(ctx, adjoint ? 'C' : 'N', factors.data(), swaps.as<int32_t>(), x, b);
  // X A = B is A^T X^T = B^T, and B read by columns is B^T already. A's adjoint wants the conjugates on both sides.
  CopyFlat(ctx, x.data, b.data, b.dtype, b.numel);
  if (adjoint) ConjugateInPlace(ctx, x);
  solver::Getrs(ctx, b.dtype, adjoint ? 'N' : 'T', n, right.rows, factors.data(), swaps.as<int32_t>(), x.data,
                right.count);
  if (adjoint) ConjugateInPlace(ctx, x);
}
DRAGON_KERNEL(LinalgLuSolve, LinearTypes);

template <typename T>
void LinalgSolve(Context& ctx, View x, View info, View a, View b, bool left, const char* who) {
  const Batch batch(a), right(b);
  Zero(ctx, info.data, info.numel * 4);
  if (a.numel > 0) {
    const Scratch matrix = Bytes(ctx, a.dtype, a.numel), swaps = Bytes(ctx, DType::kInt32, batch.count * batch.rows);
    CopyFlat(ctx, matrix.data(), a.data, a.dtype, a.numel);  // read by columns: A^T, whose factors serve both sides
    solver::Getrf(ctx, a.dtype, batch.rows, batch.rows, matrix.data(), batch.count, swaps.as<int32_t>(),
                  info.as<int32_t>());
    if (b.numel > 0 && left) {
      SolveByColumns(ctx, 'T', matrix.data(), swaps.as<int32_t>(), x, b);
    } else if (b.numel > 0) {
      CopyFlat(ctx, x.data, b.data, b.dtype, b.numel);
      solver::Getrs(ctx, b.dtype, 'N', batch.rows, right.rows, matrix.data(), swaps.as<int32_t>(), x.data, right.count);
    }
  }
  CheckInfo(ctx, who, a, info.data, batch.count, kSingular);
}
DRAGON_KERNEL(LinalgSolve, LinearTypes);

template <typename T>
void LinalgInverse(Context& ctx, View y, View info, View a, const char* who) {
  const Batch batch(a);
  const int64_t n = batch.rows;
  Zero(ctx, info.data, info.numel * 4);
  if (a.numel > 0) {
    const Scratch matrix = Bytes(ctx, a.dtype, a.numel), swaps = Bytes(ctx, DType::kInt32, batch.count * n);
    CopyFlat(ctx, matrix.data(), a.data, a.dtype, a.numel);  // the inverse of the transpose is that of the inverse
    solver::Getrf(ctx, a.dtype, n, n, matrix.data(), batch.count, swaps.as<int32_t>(), info.as<int32_t>());
    FillIdentity(ctx, y.dtype, y.data, n, batch.count);
    solver::Getrs(ctx, a.dtype, 'N', n, n, matrix.data(), swaps.as<int32_t>(), y.data, batch.count);
  }
  CheckInfo(ctx, who, a, info.data, batch.count, kSingular);
}
DRAGON_KERNEL(LinalgInverse, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
