// Systems of equations with general and triangular matrices, and inverses.
#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

/// Checks a (square) against b, and gives the batch they share.
Dims SystemBatch(const CallReader& c, bool left) {
  CheckSquare(c, "x");
  CheckMatrix(c, "y");
  CheckSameDType(c, "x", "y");
  const Tensor &a = c.x("x"), &b = c.x("y");
  if (a.size(-1) != b.size(left ? -2 : -1)) {
    throw ValueError(c.name())
        .Got(a.shape(), " and ", b.shape())
        .Expected("as many ", left ? "rows" : "columns", " on the right-hand side as the matrix has");
  }
  return BroadcastShapes(c.name(), BatchOf(a.shape()), BatchOf(b.shape()));
}

void InferSystem(Infer& i, bool left) {
  i.y(0, MatrixShape(SystemBatch(i, left), i.x("y").size(-2), i.x("y").size(-1)), i.x("y").dtype());
}

[[maybe_unused]] const auto& solve_triangular =
    DefineOp(
        "linalg_solve_triangular(Tensor x, Tensor y, *, bool upper, bool left=True, bool unitriangular=False) -> "
        "Tensor")
        .Doc("The solution Z of x Z = y (or Z x = y), where x is triangular; its other half is not read.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) { InferSystem(i, i.Bool("left")); })
        .Runs([](Run& r) {
          const Dims batch = SystemBatch(r, r.Bool("left"));
          const Tensor a = Expanded(r.x("x"), batch), b = Expanded(r.x("y"), batch);
          kernels::LinalgSolveTriangular(r.ctx(), r.dtype(), r.out(), a.view(), b.view(), r.Bool("upper"),
                                         r.Bool("left"), r.Bool("unitriangular"));
        })
        .Gradient("x, out", [](Grad& g) {
          const bool upper = g.Bool("upper"), left = g.Bool("left"), unit = g.Bool("unitriangular");
          const Tensor db = Op<"linalg_solve_triangular">(Adjoint(g.x("x")), g.dy(), !upper, left, unit);
          if (g.needs("y")) g.dx("y", db);
          if (!g.needs("x")) return;
          const Tensor da = left ? -MatMul(db, Adjoint(g.y())) : -MatMul(Adjoint(g.y()), db);
          g.dx("x", upper ? Triu(da, unit ? 1 : 0) : Tril(da, unit ? -1 : 0));
        });

/// The older function: the right-hand side first, and the matrix given back.
[[maybe_unused]] const auto& triangular_solve =
    DefineOp(
        "triangular_solve(Tensor y, Tensor x, bool upper=True, bool transpose=False, bool unitriangular=False) -> "
        "(Tensor solution, Tensor cloned_coefficient)")
        .Doc("The solution Z of x Z = y (or x^T Z = y) with a triangular x, and a copy of x.")
        .As([](const CallReader& c) -> Tensors {
          CheckSquare(c, "x");
          const Tensor a = c.Bool("transpose") ? Transposed(c.x("x")) : c.x("x");
          const bool upper = c.Bool("upper") != c.Bool("transpose");
          return {Op<"linalg_solve_triangular">(a, c.x("y"), upper, true, c.Bool("unitriangular")),
                  Op<"clone">(c.x("x"))};
        });

/// A X = B: dB = A^-H dX, dA = -dB X^H; with A on the right, the mirror image.
void GradientOfSolve(Grad& g) {
  if (!g.dy().defined()) return;
  const bool left = g.Bool("left");
  const Tensor db = Op<"linalg_solve_matrices">(Adjoint(g.x("x")), g.dy(), left);
  if (g.needs("y")) g.dx("y", db);
  if (g.needs("x")) g.dx("x", left ? -MatMul(db, Adjoint(g.y())) : -MatMul(Adjoint(g.y()), db));
}

[[maybe_unused]] const auto& solve_matrices =
    DefineOp(
        "linalg_solve_matrices(Tensor x, Tensor y, bool left=True, bool check_errors=True) -> (Tensor z, Tensor info)")
        .Doc("The solution of x Z = y (or Z x = y) for matrices; linalg_solve also takes vectors.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) {
          InferSystem(i, i.Bool("left"));
          i.y(1, SystemBatch(i, i.Bool("left")), DType::kInt32);
        })
        .Runs([](Run& r) {
          const Dims batch = SystemBatch(r, r.Bool("left"));
          const Tensor a = Expanded(r.x("x"), batch), b = Expanded(r.x("y"), batch);
          kernels::LinalgSolve(r.ctx(), r.dtype(), r.out(0), r.out(1), a.view(), b.view(), r.Bool("left"),
                               r.Bool("check_errors") ? "linalg_solve" : nullptr);
        })
        .Gradient("x, z", GradientOfSolve);

/// y is one vector per matrix, rather than a matrix, when its shape is x's without the last axis.
bool IsVector(const Tensor& x, const Tensor& y) {
  if (y.ndim() == 1) return true;
  if (x.ndim() < 2 || y.ndim() != x.ndim() - 1) return false;
  return std::equal(y.shape().begin(), y.shape().end(), x.shape().begin());
}

Tensors SolveAny(const CallReader& c, bool left, bool check_errors) {
  CheckSquare(c, "x");
  CheckSameDType(c, "x", "y");
  const bool vector = IsVector(c.x("x"), c.x("y"));
  if (vector && !left) {
    throw ValueError(c.name()).Got("vectors ", c.x("y").shape(), " with left=False").Expected("matrices");
  }
  Tensors results = OpN<"linalg_solve_matrices">(c.x("x"), vector ? AsColumn(c.x("y")) : c.x("y"), left, check_errors);
  if (vector) results[0] = Op<"squeeze">(results[0], Dims{-1});
  return results;
}

[[maybe_unused]] const auto& linalg_solve =
    DefineOp("linalg_solve(Tensor x, Tensor y, *, bool left=True) -> Tensor")
        .Doc("The solution Z of x Z = y (or Z x = y) for square matrices x and matrices or vectors y.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors { return {SolveAny(c, c.Bool("left"), /*check_errors=*/true)[0]}; });

[[maybe_unused]] const auto& linalg_solve_ex =
    DefineOp(
        "linalg_solve_ex(Tensor x, Tensor y, *, bool left=True, bool check_errors=False) -> (Tensor z, Tensor info)")
        .Doc("linalg_solve that tells trouble in `info` instead of raising it.")
        .As([](const CallReader& c) { return SolveAny(c, c.Bool("left"), c.Bool("check_errors")); });

/// Y = A^-1: dA = -Y^H dY Y^H.
void GradientOfInverse(Grad& g) {
  if (!g.dy().defined()) return;
  const Tensor adjoint = Adjoint(g.y());
  g.dx(0, -MatMul(adjoint, MatMul(g.dy(), adjoint)));
}

void InferInverse(Infer& i) { InferSquare(i, "x"); }

void RunInverse(Run& r, View info, const char* who) {
  kernels::LinalgInverse(r.ctx(), r.dtype(), r.out(0), info, r.rows(0), who);
}

[[maybe_unused]] const auto& linalg_inv = DefineOp("linalg_inv(Tensor x) -> Tensor")
                                              .Doc("The inverses of square matrices.")
                                              .Batches(Batching::kRows)
                                              .Autocast(Precision::kFloat32)
                                              .Infers(InferInverse)
                                              .Runs(RunRaising<RunInverse>)
                                              .Gradient("out", GradientOfInverse);

[[maybe_unused]] const auto& linalg_inv_ex =
    DefineOp("linalg_inv_ex(Tensor x, *, bool check_errors=False) -> (Tensor inverse, Tensor info)")
        .Doc("linalg_inv that tells trouble in `info` instead of raising it.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers(InferTelling<InferInverse>)
        .Runs(RunTelling<RunInverse>)
        .Gradient("inverse", GradientOfInverse);

[[maybe_unused]] const auto& inverse =
    DefineAlias<"linalg_inv">("inverse(Tensor x) -> Tensor", "linalg_inv by its older name.")
        .Autocast(Precision::kFloat32);

}  // namespace
}  // namespace dragon
