// Determinants.
#include <limits>

#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

/// LU factors for a kernel that reads them; singular matrices are welcome.
Tensors FactorsOf(Run& r) { return OpN<"linalg_lu_factor_ex">(r.x(0), true, false); }

[[maybe_unused]] const auto& linalg_det =
    DefineOp("linalg_det(Tensor x) -> Tensor")
        .Doc("The determinants of square matrices.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kPlain)
        .Infers([](Infer& i) {
          CheckSquare(i, "x");
          i.y(0, BatchOf(i.x(0).shape()), i.x(0).dtype());
        })
        .Runs([](Run& r) {
          const Tensors factors = FactorsOf(r);
          kernels::LinalgDet(r.ctx(), r.dtype(), r.out(), factors[0].view(), factors[1].view());
        })
        .Gradient("x", [](Grad& g) { g.dx(0, PerMatrix(g.dy()) * Conj(Op<"linalg_cofactors">(g.x(0)))); });

/// The product of all numbers of the last axis but one, for each of them; a zero among them does no harm.
Tensor ProductsOfOthers(const Tensor& s) {
  const int64_t n = s.size(-1);
  // Row i of the matrix holds s with its i-th number replaced by 1.
  const Tensor one = Identity(n, s.dtype(), s.device());
  return Op<"prod">(AsRow(s) * (1.0 - one) + one, -1);
}

/// What makes a singular matrix one that can be inverted: its least singular values, raised to where the digits of an
/// inverse are half gone. Cofactors move by as little.
Tensor Lift(const Tensor& x) {
  const GradMode off(false);
  const Tensors usv = OpN<"linalg_svd">(x, false);
  const bool coarse = RealDType(x.dtype()) == DType::kFloat32;
  const Tensor least = Op<"amax">(usv[1], Dims{-1}, true) * (coarse ? 3e-4 : 1e-8);
  return MatMul(usv[0] * AsRow(Op<"relu">(least - usv[1])), usv[2]);
}

/// From A = U S Vh: det(U) det(Vh) U diag(products of the other singular values) Vh, conjugated. Exact even for
/// singular matrices, where the formula with the inverse fails; its own gradient has to use that one.
[[maybe_unused]] const auto& linalg_cofactors =
    DefineOp("linalg_cofactors(Tensor x) -> Tensor")
        .Doc("The matrices of cofactors: the derivative of the determinant.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) { InferSquare(i, "x"); })
        .Runs([](Run& r) {
          if (r.y().numel() == 0) return;
          const Tensors usv = OpN<"linalg_svd">(r.x(0), true);
          const Tensor sign = PerMatrix(Op<"linalg_det">(usv[0]) * Op<"linalg_det">(usv[2]));
          const Tensor others = AsRow(ProductsOfOthers(usv[1]));
          OpInto<"copy">(r.y(), sign * Conj(MatMul(usv[0] * others, usv[2])));
        })
        .Gradient("x", [](Grad& g) {
          // C = det(A) A^-T, so dA = conj(C) <A^-T, dC> - A^-H (conj(det) dC^T) A^-H.
          const Tensor x = g.x(0).numel() ? g.x(0) + Lift(g.x(0)) : g.x(0);
          const Tensor inverse = OpN<"linalg_inv_ex">(x)[0], adjoint = Adjoint(inverse);
          const Tensor inner = Op<"sum">(Conj(Transposed(inverse)) * g.dy(), Dims{-2, -1}, true);
          const Tensor det = PerMatrix(Conj(Op<"linalg_det">(x)));
          g.dx(0, det * Conj(Transposed(inverse)) * inner - MatMul(adjoint, MatMul(det * Transposed(g.dy()), adjoint)));
        });

/// log det A = log|det| + i arg, whose derivative is A^-1. Only the turning of the sign reaches its gradient.
void GradientOfSlogdet(Grad& g) {
  Tensor scale = g.dy(1);
  if (g.y(0).is_complex() && g.dy(0).defined()) {
    const Tensor turn = Op<"imag">(g.dy(0) * Conj(g.y(0)));
    const Tensor real = scale.defined() ? scale : turn * 0.0;
    scale = Op<"complex">(real, turn);
  }
  if (!scale.defined()) return g.dx(0, g.x(0) * 0.0);  // a real sign does not move
  g.dx(0, PerMatrix(scale) * Adjoint(OpN<"linalg_inv_ex">(g.x(0))[0]));
}

[[maybe_unused]] const auto& linalg_slogdet =
    DefineOp("linalg_slogdet(Tensor x) -> (Tensor sign, Tensor logabsdet)")
        .Doc("The sign (or the phase) of the determinants and the logarithms of their magnitudes.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kPlain)
        .Infers([](Infer& i) {
          CheckSquare(i, "x");
          i.y(0, BatchOf(i.x(0).shape()), i.x(0).dtype());
          i.y(1, BatchOf(i.x(0).shape()), RealDType(i.x(0).dtype()));
        })
        .Runs([](Run& r) {
          const Tensors factors = FactorsOf(r);
          kernels::LinalgSlogdet(r.ctx(), r.dtype(), r.out(0), r.out(1), factors[0].view(), factors[1].view());
        })
        .Gradient("x, sign", GradientOfSlogdet);

[[maybe_unused]] const auto& slogdet =
    DefineAlias<"linalg_slogdet">("slogdet(Tensor x) -> (Tensor sign, Tensor logabsdet)",
                                  "linalg_slogdet by its older name.")
        .Autocast(Precision::kPlain);

[[maybe_unused]] const auto& det =
    DefineAlias<"linalg_det">("det(Tensor x) -> Tensor", "linalg_det by its older name.").Autocast(Precision::kPlain);

[[maybe_unused]] const auto& logdet = DefineOp("logdet(Tensor x) -> Tensor")
                                          .Doc("The logarithms of determinants; NaN where a real one is negative.")
                                          .Autocast(Precision::kPlain)
                                          .As([](const CallReader& c) -> Tensors {
                                            CheckSquare(c, "x");
                                            const Tensors parts = OpN<"linalg_slogdet">(c.x(0));
                                            if (parts[0].is_complex()) return {parts[1] + Op<"log">(parts[0])};
                                            const Tensor nan = Number(std::numeric_limits<double>::quiet_NaN());
                                            return {Op<"where">(Op<"lt">(parts[0], Number(0.0)), nan, parts[1])};
                                          });

}  // namespace
}  // namespace dragon
