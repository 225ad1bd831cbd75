// Systems of equations with general and triangular matrices, and inverses.
#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

/// Checks a (square) against b, and gives the batch they share.
Dims SystemBatch(const CallReader& c, bool left) {
  CheckSquare(c, 0);
  CheckMatrix(c, 1);
  CheckSameDType(c, 0, 1);
  const Tensor &a = c.x(0), &b = c.x(1);
  if (a.size(-1) != b.size(left ? -2 : -1)) {
    throw ValueError(c.name())
        .Got(a.shape(), " and ", b.shape())
        .Expected("as many ", left ? "rows" : "columns", " on the right-hand side as the matrix has");
  }
  return BroadcastShapes(c.name(), BatchOf(a.shape()), BatchOf(b.shape()));
}

void InferSystem(Infer& i, bool left) {
  i.y(0, MatrixShape(SystemBatch(i, left), i.x(1).size(-2), i.x(1).size(-1)), i.x(1).dtype());
}

[[maybe_unused]] const auto& solve_triangular =
    DefineOp(
        "linalg_solve_triangular(Tensor x, Tensor y, *, bool upper, bool left=True, bool unitriangular=False) -> "
        "Tensor")
        .Doc("The solution Z of x Z = y (or Z x = y), where x is triangular; its other half is not read.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) { InferSystem(i, i.Bool(1)); })
        .Runs([](Run& r) {
          const Dims batch = SystemBatch(r, r.Bool(1));
          const Tensor a = Expanded(r.x(0), batch), b = Expanded(r.x(1), batch);
          kernels::LinalgSolveTriangular(r.ctx(), r.dtype(), r.out(), a.view(), b.view(), r.Bool(0), r.Bool(1),
                                         r.Bool(2));
        })
        .Gradient("x, out", [](Grad& g) {
          const bool upper = g.Bool(0), left = g.Bool(1), unit = g.Bool(2);
          const Tensor db = Op<"linalg_solve_triangular">(Adjoint(g.x(0)), g.dy(), !upper, left, unit);
          if (g.needs(1)) g.dx(1, db);
          if (!g.needs(0)) return;
          const Tensor da = left ? -MatMul(db, Adjoint(g.y())) : -MatMul(Adjoint(g.y()), db);
          g.dx(0, upper ? Triu(da, unit ? 1 : 0) : Tril(da, unit ? -1 : 0));
        });

/// The older function: the right-hand side first, and the matrix given back.
[[maybe_unused]] const auto& triangular_solve =
    DefineOp(
        "triangular_solve(Tensor y, Tensor x, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
        "(Tensor solution, Tensor cloned_coefficient)")
        .Doc("The solution Z of x Z = y (or x^T Z = y) with a triangular x, and a copy of x.")
        .As([](const CallReader& c) -> Tensors {
          CheckSquare(c, 1);
          const Tensor a = c.Bool(1) ? Transposed(c.x(1)) : c.x(1);
          const bool upper = c.Bool(0) != c.Bool(1);
          return {Op<"linalg_solve_triangular">(a, c.x(0), upper, true, c.Bool(2)), Op<"clone">(c.x(1))};
        });

/// A X = B: dB = A^-H dX, dA = -dB X^H; with A on the right, the mirror image.
void GradientOfSolve(Grad& g) {
  if (!g.dy().defined()) return;
  const bool left = g.Bool(0);
  const Tensor db = Op<"linalg_solve_matrices">(Adjoint(g.x(0)), g.dy(), left);
  if (g.needs(1)) g.dx(1, db);
  if (g.needs(0)) g.dx(0, left ? -MatMul(db, Adjoint(g.y())) : -MatMul(Adjoint(g.y()), db));
}

[[maybe_unused]] const auto& solve_matrices =
    DefineOp(
        "linalg_solve_matrices(Tensor x, Tensor y, bool left=True, bool check_errors=True) -> (Tensor z, Tensor info)")
        .Doc("The solution of x Z = y (or Z x = y) for matrices; linalg_solve also takes vectors.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) {
          InferSystem(i, i.Bool(0));
          i.y(1, SystemBatch(i, i.Bool(0)), DType::kInt32);
        })
        .Runs([](Run& r) {
          const Dims batch = SystemBatch(r, r.Bool(0));
          const Tensor a = Expanded(r.x(0), batch), b = Expanded(r.x(1), batch);
          kernels::LinalgSolve(r.ctx(), r.dtype(), r.out(0), r.out(1), a.view(), b.view(), r.Bool(0),
                               r.Bool(1) ? "linalg_solve" : nullptr);
        })
        .Gradient("x, z", GradientOfSolve);

/// y is one vector per matrix, rather than a matrix, when its shape is x's without the last axis.
bool IsVector(const Tensor& x, const Tensor& y) {
  if (y.ndim() == 1) return true;
  if (x.ndim() < 2 || y.ndim() != x.ndim() - 1) return false;
  return std::equal(y.shape().begin(), y.shape().end(), x.shape().begin());
}

Tensors SolveAny(const CallReader& c, bool left, bool check_errors) {
  CheckSquare(c, 0);
  CheckSameDType(c, 0, 1);
  const bool vector = IsVector(c.x(0), c.x(1));
  if (vector && !left) {
    throw ValueError(c.name()).Got("vectors ", c.x(1).shape(), " with left=False").Expected("matrices");
  }
  Tensors results = OpN<"linalg_solve_matrices">(c.x(0), vector ? AsColumn(c.x(1)) : c.x(1), left, check_errors);
  if (vector) results[0] = Op<"squeeze">(results[0], Dims{-1});
  return results;
}

[[maybe_unused]] const auto& linalg_solve =
    DefineOp("linalg_solve(Tensor x, Tensor y, *, bool left=True) -> Tensor")
        .Doc("The solution Z of x Z = y (or Z x = y) for square matrices x and matrices or vectors y.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors { return {SolveAny(c, c.Bool(0), /*check_errors=*/true)[0]}; });

[[maybe_unused]] const auto& linalg_solve_ex =
    DefineOp(
        "linalg_solve_ex(Tensor x, Tensor y, *, bool left=True, bool check_errors=False) -> (Tensor z, Tensor info)")
        .Doc("linalg_solve that tells trouble in `info` instead of raising it.")
        .As([](const CallReader& c) { return SolveAny(c, c.Bool(0), c.Bool(1)); });

/// Y = A^-1: dA = -Y^H dY Y^H.
void GradientOfInverse(Grad& g) {
  if (!g.dy().defined()) return;
  const Tensor adjoint = Adjoint(g.y());
  g.dx(0, -MatMul(adjoint, MatMul(g.dy(), adjoint)));
}

void InferInverse(Infer& i) {
  CheckSquare(i, 0);
  i.y(0, i.x(0).shape(), i.x(0).dtype());
}

[[maybe_unused]] const auto& linalg_inv =
    DefineOp("linalg_inv(Tensor x) -> Tensor")
        .Doc("The inverses of square matrices.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers(InferInverse)
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          InfoScratch info(r, BatchOf(x.shape()));
          kernels::LinalgInverse(r.ctx(), r.dtype(), r.out(), info.view(), x.view(), r.name());
        })
        .Gradient("out", GradientOfInverse);

[[maybe_unused]] const auto& linalg_inv_ex =
    DefineOp("linalg_inv_ex(Tensor x, *, bool check_errors=False) -> (Tensor inverse, Tensor info)")
        .Doc("linalg_inv that tells trouble in `info` instead of raising it.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          InferInverse(i);
          i.y(1, BatchOf(i.x(0).shape()), DType::kInt32);
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          kernels::LinalgInverse(r.ctx(), r.dtype(), r.out(0), r.out(1), x.view(), r.Bool(0) ? r.name() : nullptr);
        })
        .Gradient("inverse", GradientOfInverse);

[[maybe_unused]] const auto& inverse =
    DefineOp("inverse(Tensor x) -> Tensor")
        .Doc("linalg_inv by its older name.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors { return {Op<"linalg_inv">(c.x(0))}; });

}  // namespace
}  // namespace dragon
