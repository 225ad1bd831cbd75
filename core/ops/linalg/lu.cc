// LU factors, packed and unpacked, and the systems they solve.
#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

void CheckPivoted(const CallReader& c, bool pivot) {
  if (!pivot) throw NotImplementedError(c.name()).Got("pivot=False on the CPU").Expected("pivot=True");
}

void InferLu(Infer& i) {
  CheckMatrix(i, "x");
  CheckPivoted(i, i.Bool("pivot"));
  const Tensor& x = i.x(0);
  const Dims batch = BatchOf(x.shape());
  i.y(0, x.shape(), x.dtype());
  i.y(1, With(batch, std::min(x.size(-2), x.size(-1))), DType::kInt32);
}

Tensor Permutation(const Tensor& lu, const Tensor& pivots) {
  return Op<"lu_permutation">(pivots, lu.size(-2), lu.dtype());
}

/// L (m, k) with its unit diagonal and U (k, n) of packed factors.
Tensor LowerOf(const Tensor& lu) {
  const int64_t m = lu.size(-2), k = std::min(m, lu.size(-1));
  const Tensor one = Op<"slice">(Identity(m, lu.dtype(), lu.device()), -1, 0, k, 1);
  return Tril(Part(lu, -1, 0, k), -1) + one;
}
Tensor UpperOf(const Tensor& lu) { return Triu(Part(lu, -2, 0, std::min(lu.size(-2), lu.size(-1)))); }

/// The part of P^T dA that belongs to the square block: L1^-H [tril(M, -1) + triu(N)] U1^-H.
Tensor SquareBlock(const Tensor& l, const Tensor& u, const Tensor& lower, const Tensor& upper) {
  const Tensor inner = Tril(lower, -1) + Triu(upper);
  const Tensor left = Op<"linalg_solve_triangular">(Adjoint(l), inner, true, true, true);
  return Op<"linalg_solve_triangular">(Adjoint(u), left, false, false);
}

/// dA from dL and dU packed in one matrix. What lies outside the square block depends on it through a triangular solve,
/// and therefore gives something back to it.
Tensor LuGradient(const Tensor& lu, const Tensor& pivots, const Tensor& dlu) {
  const int64_t m = lu.size(-2), n = lu.size(-1), k = std::min(m, n);
  const Tensor l1 = LowerOf(Part(lu, -2, 0, k)), u1 = UpperOf(Part(lu, -1, 0, k));
  const Tensor dl1 = Tril(Part(Part(dlu, -2, 0, k), -1, 0, k), -1), du1 = Triu(Part(Part(dlu, -2, 0, k), -1, 0, k));
  Tensor lower = MatMul(Adjoint(l1), dl1), upper = MatMul(du1, Adjoint(u1)), dx;
  if (m > n) {
    const Tensor l2 = Part(lu, -2, k, m), dl2 = Part(dlu, -2, k, m);
    const Tensor below = Op<"linalg_solve_triangular">(Adjoint(u1), dl2, false, false);
    upper = upper - MatMul(Adjoint(l2), dl2);
    dx = Op<"cat">(std::vector<Tensor>{SquareBlock(l1, u1, lower, upper), below}, -2);
  } else if (m < n) {
    const Tensor u2 = Part(lu, -1, k, n), du2 = Part(dlu, -1, k, n);
    const Tensor beside = Op<"linalg_solve_triangular">(Adjoint(l1), du2, true, true, true);
    lower = lower - MatMul(du2, Adjoint(u2));
    dx = Op<"cat">(std::vector<Tensor>{SquareBlock(l1, u1, lower, upper), beside}, -1);
  } else {
    dx = SquareBlock(l1, u1, lower, upper);
  }
  return MatMul(Permutation(lu, pivots), dx);
}

void GradientOfLu(Grad& g) {
  if (g.dy().defined()) g.dx(0, LuGradient(g.y(0), g.y(1), g.dy()));
}

void RunLu(Run& r, View info, const char* who) {
  kernels::LinalgLuFactor(r.ctx(), r.dtype(), r.out(0), r.out(1), info, r.rows(0), who);
}

[[maybe_unused]] const auto& linalg_lu_factor =
    DefineOp("linalg_lu_factor(Tensor x, *, bool pivot=True) -> (Tensor LU, Tensor pivots)")
        .Doc("The factors of x = P L U, L (without its unit diagonal) and U in one matrix, and P as row swaps.")
        .Batches(Batching::kRows)
        .Infers(InferLu)
        .Runs(RunRaising<RunLu>)
        .Gradient("LU, pivots", GradientOfLu);

[[maybe_unused]] const auto& linalg_lu_factor_ex =
    DefineOp(
        "linalg_lu_factor_ex(Tensor x, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, "
        "Tensor info)")
        .Doc("linalg_lu_factor that tells of singular factors in `info` instead of raising it.")
        .Batches(Batching::kRows)
        .Infers(InferTelling<InferLu>)
        .Runs(RunTelling<RunLu>)
        .Gradient("LU, pivots", GradientOfLu);

[[maybe_unused]] const auto& lu_permutation =
    DefineOp("lu_permutation(Tensor pivots, int rows, dtype dtype) -> Tensor")
        .Doc("The permutation matrix that row swaps stand for.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) {
          const Tensor& pivots = i.x(0);
          if (pivots.dtype() != DType::kInt32) {
            throw TypeError("lu_unpack").Got("pivots of dtype ", pivots.dtype()).Expected("int32");
          }
          if (pivots.ndim() < 1 || pivots.size(-1) > i.Int("rows")) {
            throw ValueError("lu_unpack").Got("pivots ", pivots.shape()).Expected("at most one for each row");
          }
          const DType dtype = i.attr("dtype").dtype();
          if (!IsSingleOrMore(dtype)) {
            throw TypeError(i.name()).Got("dtype ", dtype).Expected("float32, float64, complex64 or complex128");
          }
          const Dims batch(pivots.shape().data(), pivots.ndim() - 1);
          i.y(0, MatrixShape(batch, i.Int("rows"), i.Int("rows")), dtype);
        })
        .Runs([](Run& r) { kernels::LinalgLuPermutation(r.ctx(), r.y().dtype(), r.out(), r.rows(0), "lu_unpack"); })
        .NotDifferentiable();

[[maybe_unused]] const auto& lu_unpack =
    DefineOp(
        "lu_unpack(Tensor LU, Tensor pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, "
        "Tensor U)")
        .Doc("P, L and U as matrices, from what linalg_lu_factor gave.")
        .As([](const CallReader& c) -> Tensors {
          CheckMatrix(c, "LU");
          const Tensor& lu = c.x("LU");
          const Tensor none = Op<"full">(Dims{0}, 0.0, lu.dtype(), lu.device());
          return {c.Bool("unpack_pivots") ? Permutation(lu, c.x("pivots")) : none,
                  c.Bool("unpack_data") ? LowerOf(lu) : none, c.Bool("unpack_data") ? UpperOf(lu) : none};
        });

[[maybe_unused]] const auto& linalg_lu =
    DefineOp("linalg_lu(Tensor x, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)")
        .Doc("x = P L U with a permutation P, a unit lower triangle L and an upper triangle U.")
        .As([](const CallReader& c) -> Tensors {
          CheckMatrix(c, "x");
          CheckPivoted(c, c.Bool("pivot"));
          const Tensors factors = OpN<"linalg_lu_factor_ex">(c.x(0), true, false);
          return OpN<"lu_unpack">(factors[0], factors[1]);
        });

Dims LuSystemBatch(const CallReader& c) {
  CheckSquare(c, "LU");
  CheckMatrix(c, "y");
  CheckSameDType(c, "LU", "y");
  const Tensor &lu = c.x("LU"), &pivots = c.x("pivots"), &b = c.x("y");
  const int64_t n = lu.size(-1);
  if (pivots.dtype() != DType::kInt32) throw TypeError(c.name()).Got("pivots of ", pivots.dtype()).Expected("int32");
  if (pivots.shape() != With(BatchOf(lu.shape()), n) || b.size(c.Bool("left") ? -2 : -1) != n) {
    throw ValueError(c.name())
        .Got("LU ", lu.shape(), ", pivots ", pivots.shape(), " and right-hand side ", b.shape())
        .Expected("one pivot for each row, and as many ", c.Bool("left") ? "rows" : "columns", " as LU has");
  }
  return BroadcastShapes(c.name(), BatchOf(lu.shape()), BatchOf(b.shape()));
}

/// A = P L U and X = A^-1 B. With dA = -dB X^H: dL = P^T dA U^H below, dU = L^H P^T dA above the diagonal.
void GradientOfLuSolve(Grad& g) {
  const bool left = g.Bool("left"), adjoint = g.Bool("adjoint");
  const Tensor& lu = g.x("LU");
  const Tensor db = Op<"linalg_lu_solve">(lu, g.x("pivots"), g.dy(), left, !adjoint);
  if (g.needs("y")) g.dx("y", db);
  if (!g.needs("LU")) return;
  const Tensor& x = g.y();
  const Tensor da = left ? (adjoint ? -MatMul(x, Adjoint(db)) : -MatMul(db, Adjoint(x)))
                         : (adjoint ? -MatMul(Adjoint(db), x) : -MatMul(Adjoint(x), db));
  const Tensor turned = MatMul(Transposed(Permutation(lu, g.x("pivots"))), da);
  g.dx("LU", Tril(MatMul(turned, Adjoint(UpperOf(lu))), -1) + Triu(MatMul(Adjoint(LowerOf(lu)), turned)));
}

[[maybe_unused]] const auto& linalg_lu_solve =
    DefineOp("linalg_lu_solve(Tensor LU, Tensor pivots, Tensor y, *, bool left=True, bool adjoint=False) -> Tensor")
        .Doc("The solution X of A X = y (or X A = y, or with A^H) from the factors of A.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) {
          const Tensor& b = i.x("y");
          const Dims batch = LuSystemBatch(i);
          i.y(0, MatrixShape(batch, b.size(-2), b.size(-1)), b.dtype());
        })
        .Runs([](Run& r) {
          const Dims batch = LuSystemBatch(r);
          const Tensor lu = Expanded(r.x("LU"), batch), b = Expanded(r.x("y"), batch);
          const Tensor pivots = Op<"contiguous">(Op<"broadcast_to">(r.Here(r.x("pivots")), With(batch, lu.size(-1))));
          kernels::LinalgLuSolve(r.ctx(), r.dtype(), r.out(), lu.view(), pivots.view(), b.view(), r.Bool("left"),
                                 r.Bool("adjoint"), r.name());
        })
        .Gradient("LU, pivots, out", GradientOfLuSolve);

[[maybe_unused]] const auto& lu_solve =
    DefineOp("lu_solve(Tensor y, Tensor LU, Tensor pivots) -> Tensor")
        .Doc("linalg_lu_solve with the right-hand side first.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors { return {Op<"linalg_lu_solve">(c.x("LU"), c.x("pivots"), c.x("y"))}; });

}  // namespace
}  // namespace dragon
