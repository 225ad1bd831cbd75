// Singular values, and the pseudoinverse and least squares that rest on them.
#include <limits>

#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

void CheckDriver(const CallReader& c) {
  if (!c.Given("driver")) return;
  const std::string& driver = c.String("driver");
  throw NotImplementedError(c.name()).Got("driver '", driver, "'").Expected("None: drivers are for CUDA");
}

/// s_j^2 - s_i^2 as (s_j - s_i)(s_j + s_i), which cancels less, with 1 on the diagonal.
Tensor SquaredGaps(const Tensor& s) {
  const Tensor gaps = (AsRow(s) - AsColumn(s)) * (AsRow(s) + AsColumn(s));
  return gaps + Identity(s.size(-1), s.dtype(), s.device());
}

Tensor Skew(const Tensor& x) { return x - Adjoint(x); }

/// x (I - v v^H), from the right.
Tensor Outside(const Tensor& x, const Tensor& vh) { return x - MatMul(MatMul(x, Adjoint(vh)), vh); }

/// dA = U [(skew(U^H dU) / E) S + S (skew(V^H dV) / E) + dS] V^H, and what leaves the spans of U and V.
Tensor SvdGradient(const Tensor& u, const Tensor& s, const Tensor& vh, const Tensor& du, const Tensor& ds,
                   const Tensor& dvh) {
  const int64_t m = u.size(-2), n = vh.size(-1), k = s.size(-1);
  Tensor inner;
  if (du.defined() || dvh.defined()) {
    const Tensor gaps = SquaredGaps(s);
    if (du.defined()) {
      const Tensor turn = Skew(MatMul(Adjoint(u), du));
      inner = turn / gaps * AsRow(s);
      // A phase common to u_i and v_i is free, so its gradient is found in U alone.
      if (u.is_complex() && dvh.defined()) inner = inner + Triu(Tril(turn)) / AsRow(s * 2.0);
    }
    if (dvh.defined()) inner = Plus(inner, AsColumn(s) * (Skew(MatMul(vh, Adjoint(dvh))) / gaps));
  }
  Tensor left = inner.defined() ? MatMul(u, inner) : Tensor();
  if (ds.defined()) left = Plus(left, u * AsRow(ds));
  Tensor dx = left.defined() ? MatMul(left, vh) : Tensor();
  if (du.defined() && m > k) {
    const Tensor out = du - MatMul(u, MatMul(Adjoint(u), du));
    dx = Plus(dx, MatMul(out / AsRow(s), vh));
  }
  if (dvh.defined() && n > k) dx = Plus(dx, MatMul(u, Outside(dvh, vh) / AsColumn(s)));
  return dx;
}

void GradientOfSvd(Grad& g) {
  if (!g.dy(0).defined() && !g.dy(1).defined() && !g.dy(2).defined()) return;
  Tensor u = g.y(0), vh = g.y(2), du = g.dy(0), dvh = g.dy(2);
  const int64_t k = g.y(1).size(-1);
  // The vectors that full_matrices=True adds are arbitrary: as in PyTorch, nothing is asked of them.
  if (du.defined() && u.size(-1) > k) du = Part(du, -1, 0, k);
  if (dvh.defined() && vh.size(-2) > k) dvh = Part(dvh, -2, 0, k);
  if (u.size(-1) > k) u = Part(u, -1, 0, k);
  if (vh.size(-2) > k) vh = Part(vh, -2, 0, k);
  g.dx(0, SvdGradient(u, g.y(1), vh, du, g.dy(1), dvh));
}

[[maybe_unused]] const auto& linalg_svd =
    DefineOp("linalg_svd(Tensor x, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)")
        .Doc("x = U diag(S) Vh with orthonormal columns in U and rows in Vh, and S falling.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          CheckMatrix(i, "x");
          CheckDriver(i);
          const Tensor& x = i.x(0);
          const int64_t m = x.size(-2), n = x.size(-1), k = std::min(m, n);
          const Dims batch = BatchOf(x.shape());
          i.y(0, MatrixShape(batch, m, i.Bool("full_matrices") ? m : k), x.dtype());
          i.y(1, With(batch, k), RealDType(x.dtype()));
          i.y(2, MatrixShape(batch, i.Bool("full_matrices") ? n : k, n), x.dtype());
        })
        .Runs([](Run& r) { kernels::LinalgSvd(r.ctx(), r.dtype(), r.out(0), r.out(1), r.out(2), r.rows(0), r.name()); })
        .Gradient("U, S, Vh", GradientOfSvd);

[[maybe_unused]] const auto& linalg_svdvals =
    DefineOp("linalg_svdvals(Tensor x, *, str? driver=None) -> Tensor")
        .Doc("The singular values, falling.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          CheckMatrix(i, "x");
          CheckDriver(i);
          const Tensor& x = i.x(0);
          i.y(0, With(BatchOf(x.shape()), std::min(x.size(-2), x.size(-1))), RealDType(x.dtype()));
        })
        .Runs([](Run& r) { kernels::LinalgSvd(r.ctx(), r.dtype(), View{}, r.out(), View{}, r.rows(0), r.name()); })
        .Gradient("x", [](Grad& g) {  // the vectors are only wanted now
          const Tensors usv = OpN<"linalg_svd">(g.x(0), false);
          g.dx(0, MatMul(usv[0] * AsRow(g.dy()), usv[2]));
        });

/// The older function: V instead of its adjoint, and thin by default.
[[maybe_unused]] const auto& svd =
    DefineOp("svd(Tensor x, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)")
        .Doc("U, S and V (not its adjoint); thin if `some`, and U and V are zeros without `compute_uv`.")
        .As([](const CallReader& c) -> Tensors {
          CheckMatrix(c, "x");
          const Tensor& x = c.x(0);
          if (c.Bool("compute_uv")) {
            const Tensors usv = OpN<"linalg_svd">(x, !c.Bool("some"));
            return {usv[0], usv[1], Adjoint(usv[2])};
          }
          const Dims batch = BatchOf(x.shape());
          const Tensor u = Op<"full">(MatrixShape(batch, x.size(-2), x.size(-2)), 0.0, x.dtype(), x.device());
          const Tensor v = Op<"full">(MatrixShape(batch, x.size(-1), x.size(-1)), 0.0, x.dtype(), x.device());
          return {u, Op<"linalg_svdvals">(x), v};
        });

/// Numbers of at most `atol + rtol * largest` count as zero. Without either, rounding decides: eps * max(m, n).
Tensor Tolerance(const CallReader& c, const Tensor& magnitudes) {
  const Dims& shape = c.x(0).shape();
  const bool wide = magnitudes.dtype() == DType::kFloat64;
  const double eps = wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  const double larger = static_cast<double>(std::max(shape[shape.size() - 2], shape[shape.size() - 1]));
  const double absolute = c.Given("atol") ? c.Real("atol") : 0;
  const double relative = c.Given("rtol") ? c.Real("rtol") : absolute > 0 ? 0 : eps * larger;
  return Op<"maximum">(Op<"amax">(magnitudes, Dims{-1}, true) * relative, Number(absolute));
}

/// P = A^+: dA = -P^H dP P^H + (I - A P) dP^H P P^H + P^H P dP^H (I - P A)   (G. Golub, V. Pereyra, 1973)
void GradientOfPinv(Grad& g) {
  const Tensor &a = g.x(0), &p = g.y(), ph = Adjoint(p), dph = Adjoint(g.dy());
  const Tensor first = MatMul(ph, MatMul(g.dy(), ph));
  const Tensor second = MatMul(MatMul(dph, p), ph), third = MatMul(ph, MatMul(p, dph));
  g.dx(0, (second - MatMul(a, MatMul(p, second))) + (third - MatMul(MatMul(third, p), a)) - first);
}

void RunPinv(Run& r) {
  const Tensor& x = r.x(0);
  if (r.y().numel() == 0) return;
  if (x.numel() == 0) return OpInto<"fill">(r.y(), r.y(), 0.0);
  const bool hermitian = r.Bool("hermitian");
  Tensor u, s, vh;
  if (hermitian) {
    const Tensors wv = OpN<"linalg_eigh">(x);
    s = wv[0], u = wv[1], vh = Adjoint(wv[1]);
  } else {
    const Tensors usv = OpN<"linalg_svd">(x, false);
    u = usv[0], s = usv[1], vh = usv[2];
  }
  const Tensor size = Op<"abs">(s), zero = Number(0.0);
  const Tensor inverse = Op<"where">(Op<"gt">(size, Tolerance(r, size)), Op<"reciprocal">(s), zero);
  OpInto<"copy">(r.y(), MatMul(Adjoint(vh) * AsRow(inverse), Adjoint(u)));
}

[[maybe_unused]] const auto& linalg_pinv =
    DefineOp("linalg_pinv(Tensor x, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor")
        .Doc("The Moore-Penrose pseudoinverse; singular values within the tolerance count as zero.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kPlain)
        .Infers([](Infer& i) {
          i.Bool("hermitian") ? CheckSquare(i, "x") : CheckMatrix(i, "x");
          const Tensor& x = i.x(0);
          i.y(0, MatrixShape(BatchOf(x.shape()), x.size(-1), x.size(-2)), x.dtype());
        })
        .Runs(RunPinv)
        .Gradient("x, out", GradientOfPinv);

[[maybe_unused]] const auto& pinverse =
    DefineOp("pinverse(Tensor x, float rcond=1e-15) -> Tensor")
        .Doc("linalg_pinv with a relative tolerance.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors { return {Op<"linalg_pinv">(c.x(0), None, c.Real("rcond"))}; });

[[maybe_unused]] const auto& matrix_rank =
    DefineOp("linalg_matrix_rank(Tensor x, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor")
        .Doc("How many singular values exceed the tolerance.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          i.Bool("hermitian") ? CheckSquare(i, "x") : CheckMatrix(i, "x");
          i.y(0, BatchOf(i.x(0).shape()), DType::kInt64);
        })
        .Runs([](Run& r) {
          if (r.y().numel() == 0) return;
          if (r.x(0).numel() == 0) return OpInto<"fill">(r.y(), r.y(), int64_t{0});
          const Tensor s =
              r.Bool("hermitian") ? Op<"abs">(Op<"linalg_eigvalsh">(r.x(0))) : Op<"linalg_svdvals">(r.x(0));
          OpInto<"copy">(r.y(), Op<"sum">(Op<"gt">(s, Tolerance(r, s)), Dims{-1}, false));
        })
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
