// Cholesky factors and the systems they solve.
#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

void InferCholesky(Infer& i) {
  CheckSquare(i, 0);
  i.y(0, i.x(0).shape(), i.x(0).dtype());
}

/// A = L L^H: with M = L^H dL and its lower half's diagonal halved, dA = L^-H M L^-1, made Hermitian.
Tensor CholeskyGradient(const Tensor& l, const Tensor& dl) {
  const Tensor product = Tril(MatMul(Adjoint(l), dl));
  const Tensor half = (product + Tril(product, -1)) * 0.5;
  const Tensor left = Op<"linalg_solve_triangular">(Adjoint(l), half, true);
  const Tensor dx = Op<"linalg_solve_triangular">(l, left, false, false);
  return (dx + Adjoint(dx)) * 0.5;
}

void GradientOfCholesky(Grad& g) {
  if (!g.dy().defined()) return;
  g.dx(0, g.Bool(0) ? CholeskyGradient(Adjoint(g.y()), Adjoint(g.dy())) : CholeskyGradient(g.y(), g.dy()));
}

[[maybe_unused]] const auto& linalg_cholesky =
    DefineOp("linalg_cholesky(Tensor x, *, bool upper=False) -> Tensor")
        .Doc("The triangular L with L L^H = x (or U with U^H U = x) of Hermitian positive-definite matrices.")
        .Infers(InferCholesky)
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          InfoScratch info(r, BatchOf(x.shape()));
          kernels::LinalgCholesky(r.ctx(), r.dtype(), r.out(), info.view(), x.view(), r.Bool(0), r.name());
        })
        .Gradient("out", GradientOfCholesky);

[[maybe_unused]] const auto& linalg_cholesky_ex =
    DefineOp("linalg_cholesky_ex(Tensor x, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)")
        .Doc("linalg_cholesky that tells trouble in `info` instead of raising it.")
        .Infers([](Infer& i) {
          InferCholesky(i);
          i.y(1, BatchOf(i.x(0).shape()), DType::kInt32);
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          kernels::LinalgCholesky(r.ctx(), r.dtype(), r.out(0), r.out(1), x.view(), r.Bool(0),
                                  r.Bool(1) ? r.name() : nullptr);
        })
        .Gradient("L", GradientOfCholesky);

[[maybe_unused]] const auto& cholesky =
    DefineOp("cholesky(Tensor x, bool upper=False) -> Tensor")
        .Doc("linalg_cholesky by its older name.")
        .As([](const CallReader& c) -> Tensors { return {Op<"linalg_cholesky">(c.x(0), c.Bool(0))}; });

/// Solve L L^H X = B (or U^H U X = B).
Tensor CholeskySolve(const Tensor& b, const Tensor& factor, bool upper) {
  const Tensor l = upper ? Adjoint(factor) : factor, u = upper ? factor : Adjoint(factor);
  return Op<"linalg_solve_triangular">(u, Op<"linalg_solve_triangular">(l, b, false), true);
}

[[maybe_unused]] const auto& cholesky_solve =
    DefineOp("cholesky_solve(Tensor x, Tensor L, bool upper=False) -> Tensor")
        .Doc("The solution Y of A Y = x, where L is the Cholesky factor of A.")
        .As([](const CallReader& c) -> Tensors {
          CheckMatrix(c, 0);
          CheckSquare(c, 1);
          CheckSameDType(c, 0, 1);
          const Tensor l = c.Bool(0) ? Triu(c.x(1)) : Tril(c.x(1));
          return {CholeskySolve(c.x(0), l, c.Bool(0))};
        });

[[maybe_unused]] const auto& cholesky_inverse =
    DefineOp("cholesky_inverse(Tensor L, bool upper=False) -> Tensor")
        .Doc("The inverse of A from its Cholesky factor L.")
        .As([](const CallReader& c) -> Tensors {
          CheckSquare(c, 0);
          const Tensor l = c.Bool(0) ? Triu(c.x(0)) : Tril(c.x(0));
          const Tensor one = Identity(l.size(-1), l.dtype(), l.device());
          return {CholeskySolve(Op<"broadcast_to">(one, l.shape()), l, c.Bool(0))};
        });

}  // namespace
}  // namespace dragon
