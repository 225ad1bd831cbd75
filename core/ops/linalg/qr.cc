// QR factors, and products of Householder reflections.
#include "core/framework/batching.h"
#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

enum class QrMode { kReduced, kComplete, kR };

QrMode ModeOf(const CallReader& c) {
  const std::string& mode = c.String("mode");
  if (mode == "reduced") return QrMode::kReduced;
  if (mode == "complete") return QrMode::kComplete;
  if (mode == "r") return QrMode::kR;
  throw ValueError("linalg_qr").Got("mode '", mode, "'").Expected("reduced, complete or r");
}

/// X + X^H with X's real diagonal once: what an upper triangle is half of.
Tensor Completed(const Tensor& x) {
  const Tensor above = Triu(x, 1), diagonal = Triu(Tril(x));
  const Tensor real = x.is_complex() ? (diagonal + Conj(diagonal)) * 0.5 : diagonal;
  return above + Adjoint(above) + real;
}

/// A = Q R with a square R: dA = (dQ + Q complete(triu(dR R^H - Q^H dQ))) R^-H.
Tensor QrSquareGradient(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  Tensor inner;
  if (dr.defined()) inner = MatMul(dr, Adjoint(r));
  if (dq.defined()) inner = Plus(inner, -MatMul(Adjoint(q), dq));
  const Tensor sum = Plus(dq, MatMul(q, Completed(Triu(inner))));
  return Op<"linalg_solve_triangular">(Adjoint(r), sum, false, false);
}

void GradientOfQr(Grad& g) {
  const QrMode mode = ModeOf(g);
  const int64_t m = g.x_shape(0)[g.x_shape(0).size() - 2], n = g.x_shape(0)[g.x_shape(0).size() - 1];
  if (mode == QrMode::kR) {
    throw RuntimeError("linalg_qr").Says("mode 'r' has no gradient, as Q is not computed").Hint("use mode 'reduced'");
  }
  if (mode == QrMode::kComplete && m > n) {
    throw RuntimeError("linalg_qr").Says("mode 'complete' has no gradient for matrices with more rows than columns");
  }
  const Tensor &q = g.y(0), &r = g.y(1);
  Tensor dq = g.dy(0), dr = g.dy(1);
  if (!dq.defined() && !dr.defined()) return;
  if (m >= n) return g.dx(0, QrSquareGradient(q, r, dq, dr));
  // A = [A1 A2] = Q [R1 R2]: A2 only turns with Q, and gives Q a gradient back.
  const Tensor r1 = Part(r, -1, 0, m), r2 = Part(r, -1, m, n);
  Tensor dr1, dx2;
  if (dr.defined()) {
    dr1 = Part(dr, -1, 0, m);
    dx2 = MatMul(q, Part(dr, -1, m, n));
    dq = Plus(dq, MatMul(q, MatMul(r2, Adjoint(Part(dr, -1, m, n)))));
  } else {
    dx2 = MatMul(q, r2 * 0.0);
  }
  g.dx(0, Op<"cat">(std::vector<Tensor>{QrSquareGradient(q, r1, dq, dr1), dx2}, -1));
}

[[maybe_unused]] const auto& linalg_qr =
    DefineOp("linalg_qr(Tensor x, str mode=\"reduced\") -> (Tensor Q, Tensor R)")
        .Doc("x = Q R with orthonormal columns in Q and an upper triangle R.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          CheckMatrix(i, "x");
          const Tensor& x = i.x(0);
          const QrMode mode = ModeOf(i);
          const int64_t m = x.size(-2), n = x.size(-1), k = mode == QrMode::kComplete ? m : std::min(m, n);
          const Dims batch = BatchOf(x.shape());
          i.y(0, mode == QrMode::kR ? Dims{0} : MatrixShape(batch, m, k), x.dtype());
          i.y(1, MatrixShape(batch, k, n), x.dtype());
        })
        .Runs([](Run& r) {
          const bool only_r = ModeOf(r) == QrMode::kR;
          kernels::LinalgQr(r.ctx(), r.dtype(), only_r ? View{} : r.out(0), r.out(1), r.rows(0));
        })
        .Gradient("Q, R", GradientOfQr);

[[maybe_unused]] const auto& qr =
    DefineOp("qr(Tensor x, bool some=True) -> (Tensor Q, Tensor R)")
        .Doc("linalg_qr, reduced if `some`, else complete.")
        .As([](const CallReader& c) { return OpN<"linalg_qr">(c.x(0), c.Bool("some") ? "reduced" : "complete"); });

[[maybe_unused]] const auto& geqrf =
    DefineOp("geqrf(Tensor x) -> (Tensor a, Tensor tau)")
        .Doc("The reflections that make up Q, below R, and their scales, as LAPACK keeps them.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) {
          CheckMatrix(i, "x");
          const Tensor& x = i.x(0);
          i.y(0, x.shape(), x.dtype());
          i.y(1, With(BatchOf(x.shape()), std::min(x.size(-2), x.size(-1))), x.dtype());
        })
        .Runs([](Run& r) { kernels::Geqrf(r.ctx(), r.dtype(), r.out(0), r.out(1), r.rows(0)); });

void CheckReflections(const CallReader& c) {
  CheckMatrix(c, "x");
  CheckSameDType(c, "x", "tau");
  const Tensor &a = c.x("x"), &tau = c.x("tau");
  if (a.size(-2) < a.size(-1)) {
    throw ValueError(c.name()).Got(a.shape()).Expected("at least as many rows as columns");
  }
  if (tau.ndim() != a.ndim() - 1 || BatchOf(a.shape()) != Dims(tau.shape().data(), tau.ndim() - 1) ||
      tau.size(-1) > a.size(-1)) {
    throw ValueError(c.name()).Got("tau ", tau.shape(), " for ", a.shape()).Expected("one number for each reflection");
  }
}

/// The vectors of the reflections: a unit diagonal, and what lies below it.
Tensor Reflectors(const Tensor& a, int64_t count) {
  const Tensor one = Part(Identity(a.size(-2), a.dtype(), a.device()), -1, 0, count);
  return Tril(Part(a, -1, 0, count), -1) + one;
}

/// H x with H = I - tau v v^H.
Tensor Reflect(const Tensor& v, const Tensor& tau, const Tensor& x) {
  return x - MatMul(v * PerMatrix(tau), MatMul(Adjoint(v), x));
}

/// H^-1 x; a tau of 0 has H = I. From (I - tau v v^H)^-1 = I + tau / (1 - tau v^H v) v v^H.
Tensor ReflectBack(const Tensor& v, const Tensor& tau, const Tensor& x) {
  const Tensor square = Op<"squeeze">(MatMul(Adjoint(v), v), Dims{-2, -1});
  return x + MatMul(v * PerMatrix(tau / (1.0 - tau * square)), MatMul(Adjoint(v), x));
}

/// Walk back through Y = H1 (H2 (... Hk X)): with Z = what Hj was applied to and D = Hj's result's gradient,
/// dtau = -sum conj(v^H Z) (v^H D) and dv = -(tau* Z^H-weighted terms); then D <- Hj^H D.
struct ReflectionGradients {
  Tensor da, dtau, dx;
};
ReflectionGradients WalkBack(const Tensor& a, const Tensor& tau, Tensor y, Tensor dy) {
  const int64_t k = tau.size(-1);
  const Tensor vectors = Reflectors(a, k);
  std::vector<Tensor> dv, dtau;
  for (int64_t j = 0; j < k; ++j) {
    const Tensor v = Part(vectors, -1, j, j + 1), scale = Op<"select">(tau, -1, j);
    const Tensor z = ReflectBack(v, scale, y);
    const Tensor vz = MatMul(Adjoint(v), z), vd = MatMul(Adjoint(v), dy);
    dtau.push_back(-Op<"sum">(Conj(vz) * vd, Dims{-2, -1}, false));
    // y = z - tau v (v^H z): v appears twice.
    const Tensor outer = MatMul(dy, Adjoint(vz)) * PerMatrix(Conj(scale));
    dv.push_back(-(outer + MatMul(z, Adjoint(vd)) * PerMatrix(scale)));
    dy = Reflect(v, Conj(scale), dy);
    y = z;
  }
  Tensor da = a * 0.0;
  if (k > 0) {
    const Tensor columns = Tril(Op<"cat">(dv, -1), -1);
    const Tensor rest = Part(da, -1, k, a.size(-1));
    da = Op<"cat">(std::vector<Tensor>{columns, rest}, -1);
  }
  return {da, k > 0 ? Op<"stack">(dtau, -1) : tau * 0.0, dy};
}

[[maybe_unused]] const auto& householder_product =
    DefineOp("linalg_householder_product(Tensor x, Tensor tau) -> Tensor")
        .Doc("The first columns of the product of the reflections that geqrf gives.")
        .Batches([](const Slices& s) -> Tensors {
          return {Op<"linalg_householder_product">(s.Repeated("x"), s.Repeated("tau"))};
        })
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          CheckReflections(i);
          i.y(0, i.x("x").shape(), i.x("x").dtype());
        })
        .Runs(
            [](Run& r) { kernels::LinalgHouseholderProduct(r.ctx(), r.dtype(), r.out(), r.rows("x"), r.rows("tau")); })
        .Gradient("x, tau, out", [](Grad& g) {
          const auto walked = WalkBack(g.x("x"), g.x("tau"), g.y(), g.dy());
          g.dx("x", walked.da);
          g.dx("tau", walked.dtau);
        });

[[maybe_unused]] const auto& orgqr =
    DefineAlias<"linalg_householder_product">("orgqr(Tensor x, Tensor tau) -> Tensor",
                                              "linalg_householder_product by its older name.")
        .Autocast(Precision::kFloat32);

[[maybe_unused]] const auto& ormqr =
    DefineOp("ormqr(Tensor x, Tensor tau, Tensor y, bool left=True, bool transpose=False) -> Tensor")
        .Doc("The product of y with the Q that the reflections in x make, or with its adjoint.")
        .Batches([](const Slices& s) -> Tensors {
          return {
              Op<"ormqr">(s.Repeated("x"), s.Repeated("tau"), s.Repeated("y"), s.Bool("left"), s.Bool("transpose"))};
        })
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          CheckReflections(i);
          CheckMatrix(i, "y");
          CheckSameDType(i, "x", "y");
          const Tensor &a = i.x("x"), &c = i.x("y");
          if (BatchOf(a.shape()) != BatchOf(c.shape()) || c.size(i.Bool("left") ? -2 : -1) != a.size(-2)) {
            throw ValueError(i.name())
                .Got(a.shape(), " and ", c.shape())
                .Expected("equal batches, and ", a.size(-2), i.Bool("left") ? " rows" : " columns");
          }
          i.y(0, c.shape(), c.dtype());
        })
        .Runs([](Run& r) {
          kernels::Ormqr(r.ctx(), r.dtype(), r.out(), r.rows("x"), r.rows("tau"), r.rows("y"), r.Bool("left"),
                         r.Bool("transpose"));
        })
        .Gradient("x, tau, y, out", [](Grad& g) {
          const bool left = g.Bool("left"), transpose = g.Bool("transpose");
          const Tensor &a = g.x("x"), &tau = g.x("tau");
          if (g.needs("y")) g.dx("y", Op<"ormqr">(a, tau, g.dy(), left, !transpose));
          if (!g.needs("x") && !g.needs("tau")) return;
          // Every case is op(Q) from the left of something: Y = Q C, and the others by adjoints.
          // Y = Q^H C is C = Q Y, whose gradients have the roles of C and Y exchanged: d(Q^H) C = -Q^H dQ Y.
          const Tensor y = left ? g.y() : Adjoint(g.y()), dy = left ? g.dy() : Adjoint(g.dy());
          const Tensor c = left ? g.x("y") : Adjoint(g.x("y"));
          const bool adjoint = left ? transpose : !transpose;
          // <dY, Q^H' C> = <C dY^H, Q'>, so the image of Q's change is read off with C in dY's place.
          const Tensor image = adjoint ? Op<"ormqr">(a, tau, dy, true, false) : y;
          const auto walked = WalkBack(a, tau, image, adjoint ? c : dy);
          g.dx("x", walked.da);
          g.dx("tau", walked.dtau);
        });

}  // namespace
}  // namespace dragon
