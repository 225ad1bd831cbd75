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

void InferEigh(Infer& i, bool vectors) {
  CheckSquare(i, "x");
  UpperOf(i);
  const Tensor& x = i.x(0);
  i.y(0, With(BatchOf(x.shape()), x.size(-1)), RealDType(x.dtype()));
  if (vectors) i.y(1, x.shape(), x.dtype());
}

[[maybe_unused]] const auto& linalg_eigh =
    DefineOp("linalg_eigh(Tensor x, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)")
        .Doc("The eigenvalues, rising, and orthonormal eigenvectors of Hermitian matrices, of which one half is read.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) { InferEigh(i, /*vectors=*/true); })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          kernels::LinalgEigh(r.ctx(), r.dtype(), r.out(0), r.out(1), x.view(), UpperOf(r), r.name());
        })
        .Gradient("eigenvalues, eigenvectors", GradientOfEigh);

[[maybe_unused]] const auto& linalg_eigvalsh =
    DefineOp("linalg_eigvalsh(Tensor x, str UPLO=\"L\") -> Tensor")
        .Doc("The eigenvalues of Hermitian matrices, rising.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) { InferEigh(i, /*vectors=*/false); })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          kernels::LinalgEigh(r.ctx(), r.dtype(), r.out(), View{}, x.view(), UpperOf(r), r.name());
        })
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

[[maybe_unused]] const auto& linalg_eig =
    DefineOp("linalg_eig(Tensor x) -> (Tensor eigenvalues, Tensor eigenvectors)")
        .Doc("The complex eigenvalues and eigenvectors of square matrices; the vectors have unit length.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          CheckSquare(i, "x");
          const Tensor& x = i.x(0);
          i.y(0, With(BatchOf(x.shape()), x.size(-1)), ComplexDType(x.dtype()));
          i.y(1, x.shape(), ComplexDType(x.dtype()));
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          kernels::LinalgEig(r.ctx(), r.dtype(), r.out(0), r.out(1), x.view(), r.name());
        })
        .Gradient("eigenvalues, eigenvectors", [](Grad& g) {
          if (g.dy(0).defined() || g.dy(1).defined()) g.dx(0, EigGradient(g.y(0), g.y(1), g.dy(0), g.dy(1)));
        });

[[maybe_unused]] const auto& linalg_eigvals =
    DefineOp("linalg_eigvals(Tensor x) -> Tensor")
        .Doc("The complex eigenvalues of square matrices.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          CheckSquare(i, "x");
          const Tensor& x = i.x(0);
          i.y(0, With(BatchOf(x.shape()), x.size(-1)), ComplexDType(x.dtype()));
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0);
          kernels::LinalgEig(r.ctx(), r.dtype(), r.out(), View{}, x.view(), r.name());
        })
        .Gradient("x", [](Grad& g) {
          const Tensors wv = OpN<"linalg_eig">(g.x(0));
          g.dx(0, EigGradient(wv[0], wv[1], g.dy(), Tensor()));
        });

}  // namespace
}  // namespace dragon
