// Eigenvalues and eigenvectors.
#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

bool UpperOf(const CallReader& c) {
  const std::string& triangle = c.String("UPLO");
  if (triangle == "U" || triangle == "u") return true;
  if (triangle == "L" || triangle == "l") return false;
  throw ValueError(c.name()).Got("UPLO '", triangle, "'").Expected("L or U");
}

/// w_j - w_i, with 1 on the diagonal.
Tensor Gaps(const Tensor& w) { return AsRow(w) - AsColumn(w) + Identity(w.size(-1), w.dtype(), w.device()); }

Tensor OffDiagonal(const Tensor& x) { return Tril(x, -1) + Triu(x, 1); }

/// A = V diag(w) V^H: dA = V (offdiagonal(skew part of V^H dV) / gaps + diag(dw)) V^H, which is Hermitian.
void GradientOfEigh(Grad& g) {
  const Tensor &w = g.y(0), &v = g.y(1), &dw = g.dy(0), &dv = g.dy(1);
  if (!dw.defined() && !dv.defined()) return;
  Tensor left;
  if (dv.defined()) {
    const Tensor turn = MatMul(Adjoint(v), dv);
    left = MatMul(v, OffDiagonal((turn - Adjoint(turn)) * 0.5) / Gaps(w));
  }
  if (dw.defined()) left = Plus(left, v * AsRow(dw));
  g.dx(0, MatMul(left, Adjoint(v)));
}

/// Eigenvalues and, where the operator gives them, eigenvectors.
void InferEigen(Infer& i, DType values, DType vectors) {
  CheckSquare(i, "x");
  const Tensor& x = i.x(0);
  i.y(0, With(BatchOf(x.shape()), x.size(-1)), values);
  if (i.op().schema.returns().size() > 1) i.y(1, x.shape(), vectors);
}
View VectorsOf(Run& r) { return r.y_count() > 1 ? r.out(1) : View{}; }

void InferEigh(Infer& i) {
  InferEigen(i, RealDType(i.x(0).dtype()), i.x(0).dtype());
  UpperOf(i);
}
void RunEigh(Run& r) {
  kernels::LinalgEigh(r.ctx(), r.dtype(), r.out(0), VectorsOf(r), r.rows(0), UpperOf(r), r.name());
}

[[maybe_unused]] const auto& linalg_eigh =
    DefineOp("linalg_eigh(Tensor x, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)")
        .Doc("The eigenvalues, rising, and orthonormal eigenvectors of Hermitian matrices, of which one half is read.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers(InferEigh)
        .Runs(RunEigh)
        .Gradient("eigenvalues, eigenvectors", GradientOfEigh);

[[maybe_unused]] const auto& linalg_eigvalsh = DefineOp("linalg_eigvalsh(Tensor x, str UPLO=\"L\") -> Tensor")
                                                   .Doc("The eigenvalues of Hermitian matrices, rising.")
                                                   .Batches(Batching::kRows)
                                                   .Autocast(Precision::kFloat32)
                                                   .Infers(InferEigh)
                                                   .Runs(RunEigh)
                                                   .Gradient("x", [](Grad& g) {  // the vectors are only wanted now
                                                     const Tensor v = OpN<"linalg_eigh">(g.x(0), g.attr("UPLO"))[1];
                                                     g.dx(0, MatMul(v * AsRow(g.dy()), Adjoint(v)));
                                                   });

/// A V = V diag(w) with columns of unit length: dA = V^-H (diag(dw) + (V^H dV - V^H V Re diag(V^H dV)) / conj(gaps))
/// V^H.
Tensor EigGradient(const Tensor& w, const Tensor& v, const Tensor& dw, const Tensor& dv) {
  const Tensor vh = Adjoint(v);
  Tensor inner;
  if (dv.defined()) {
    const Tensor turn = MatMul(vh, dv);
    const Tensor length = AsRow(Op<"real">(Diagonal(turn)));
    inner = OffDiagonal(turn - MatMul(vh, v * length)) / Conj(Gaps(w));
  }
  Tensor right = inner.defined() ? MatMul(inner, vh) : Tensor();
  if (dw.defined()) right = Plus(right, AsColumn(dw) * vh);
  return OpN<"linalg_solve_matrices">(vh, right, true)[0];
}

void InferEig(Infer& i) { InferEigen(i, ComplexDType(i.x(0).dtype()), ComplexDType(i.x(0).dtype())); }
void RunEig(Run& r) { kernels::LinalgEig(r.ctx(), r.dtype(), r.out(0), VectorsOf(r), r.rows(0), r.name()); }

[[maybe_unused]] const auto& linalg_eig =
    DefineOp("linalg_eig(Tensor x) -> (Tensor eigenvalues, Tensor eigenvectors)")
        .Doc("The complex eigenvalues and eigenvectors of square matrices; the vectors have unit length.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers(InferEig)
        .Runs(RunEig)
        .Gradient("eigenvalues, eigenvectors", [](Grad& g) {
          if (g.dy(0).defined() || g.dy(1).defined()) g.dx(0, EigGradient(g.y(0), g.y(1), g.dy(0), g.dy(1)));
        });

[[maybe_unused]] const auto& linalg_eigvals = DefineOp("linalg_eigvals(Tensor x) -> Tensor")
                                                  .Doc("The complex eigenvalues of square matrices.")
                                                  .Batches(Batching::kRows)
                                                  .Autocast(Precision::kFloat32)
                                                  .Infers(InferEig)
                                                  .Runs(RunEig)
                                                  .Gradient("x", [](Grad& g) {
                                                    const Tensors wv = OpN<"linalg_eig">(g.x(0));
                                                    g.dx(0, EigGradient(wv[0], wv[1], g.dy(), Tensor()));
                                                  });

}  // namespace
}  // namespace dragon
