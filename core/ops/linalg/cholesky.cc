// Cholesky factors and the systems they solve.
#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

/// A = L L^H: with M the lower half of L^H dL, and half of it mirrored, dA = L^-H M L^-1.
Tensor CholeskyGradient(const Tensor& l, const Tensor& dl) {
  const Tensor product = Tril(MatMul(Adjoint(l), dl));
  const Tensor half = (product + Adjoint(Tril(product, -1))) * 0.5;
  const Tensor left = Op<"linalg_solve_triangular">(Adjoint(l), half, true);
  return Op<"linalg_solve_triangular">(l, left, false, false);
}

void GradientOfCholesky(Grad& g) {
  if (!g.dy().defined()) return;
  g.dx(0, g.Bool("upper") ? CholeskyGradient(Adjoint(g.y()), Adjoint(g.dy())) : CholeskyGradient(g.y(), g.dy()));
}

void InferCholesky(Infer& i) { InferSquare(i, "x"); }

void RunCholesky(Run& r, View info, const char* who) {
  kernels::LinalgCholesky(r.ctx(), r.dtype(), r.out(0), info, r.rows(0), r.Bool("upper"), who);
}

[[maybe_unused]] const auto& linalg_cholesky =
    DefineOp("linalg_cholesky(Tensor x, *, bool upper=False) -> Tensor")
        .Doc("The triangular L with L L^H = x (or U with U^H U = x) of Hermitian positive-definite matrices.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers(InferCholesky)
        .Runs(RunRaising<RunCholesky>)
        .Gradient("out", GradientOfCholesky);

[[maybe_unused]] const auto& linalg_cholesky_ex =
    DefineOp("linalg_cholesky_ex(Tensor x, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)")
        .Doc("linalg_cholesky that tells trouble in `info` instead of raising it.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers(InferTelling<InferCholesky>)
        .Runs(RunTelling<RunCholesky>)
        .Gradient("L", GradientOfCholesky);

[[maybe_unused]] const auto& cholesky = DefineAlias<"linalg_cholesky">("cholesky(Tensor x, bool upper=False) -> Tensor",
                                                                       "linalg_cholesky by its older name.")
                                            .Autocast(Precision::kFloat32);

/// Solve L L^H X = B (or U^H U X = B).
Tensor CholeskySolve(const Tensor& b, const Tensor& factor, bool upper) {
  const Tensor l = upper ? Adjoint(factor) : factor, u = upper ? factor : Adjoint(factor);
  return Op<"linalg_solve_triangular">(u, Op<"linalg_solve_triangular">(l, b, false), true);
}

Tensor Triangle(const Tensor& x, bool upper) { return upper ? Triu(x) : Tril(x); }

/// The gradient in a factor L of A = L L^H (or U of U^H U) of what depends on A by `da`. Like PyTorch's it tells of the
/// other triangle too, which is not read.
Tensor FactorGradient(const Tensor& factor, const Tensor& da, bool upper) {
  const Tensor both = da + Adjoint(da);
  return upper ? MatMul(factor, both) : MatMul(both, factor);
}

[[maybe_unused]] const auto& cholesky_solve =
    DefineOp("cholesky_solve(Tensor x, Tensor L, bool upper=False) -> Tensor")
        .Doc("The solution Y of A Y = x, where L is the Cholesky factor of A.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          CheckMatrix(i, "x");
          CheckSquare(i, "L");
          CheckSameDType(i, "x", "L");
          const Tensor &x = i.x("x"), &l = i.x("L");
          if (x.size(-2) != l.size(-1)) {
            throw ValueError(i.name()).Got("x ", x.shape(), " and L ", l.shape()).Expected("as many rows");
          }
          i.y(0, With(With(BroadcastShapes(i.name(), BatchOf(x.shape()), BatchOf(l.shape())), x.size(-2)), x.size(-1)),
              x.dtype());
        })
        .Runs([](Run& r) {
          OpInto<"copy">(r.y(), CholeskySolve(r.x("x"), Triangle(r.x("L"), r.Bool("upper")), r.Bool("upper")));
        })
        .Gradient("L, out", [](Grad& g) {
          const bool upper = g.Bool("upper");
          const Tensor dx = Op<"cholesky_solve">(g.dy(), g.x("L"), upper);  // A^-1 dy
          if (g.needs("x")) g.dx("x", dx);
          if (g.needs("L")) g.dx("L", FactorGradient(g.x("L"), -MatMul(dx, Adjoint(g.y())), upper));
        });

[[maybe_unused]] const auto& cholesky_inverse =
    DefineOp("cholesky_inverse(Tensor L, bool upper=False) -> Tensor")
        .Doc("The inverse of A from its Cholesky factor L.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) { InferSquare(i, "L"); })
        .Runs([](Run& r) {
          const Tensor l = Triangle(r.x(0), r.Bool("upper")), one = Identity(l.size(-1), l.dtype(), l.device());
          OpInto<"copy">(r.y(), CholeskySolve(Op<"broadcast_to">(one, l.shape()), l, r.Bool("upper")));
        })
        .Gradient("L, out", [](Grad& g) {
          const Tensor& y = g.y();
          g.dx(0, FactorGradient(g.x(0), -MatMul(y, MatMul(g.dy(), y)), g.Bool("upper")));
        });

}  // namespace
}  // namespace dragon
