// Least squares, and the factors of indefinite symmetric matrices.
#include <limits>

#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

LstsqDriver DriverOf(const CallReader& c) {
  if (!c.Given("driver") || c.String("driver") == "gelsy") return LstsqDriver::kGelsy;
  const std::string& driver = c.String("driver");
  if (driver == "gels") return LstsqDriver::kGels;
  if (driver == "gelsd") return LstsqDriver::kGelsd;
  if (driver == "gelss") return LstsqDriver::kGelss;
  throw ValueError("linalg_lstsq").Got("driver '", driver, "'").Expected("gels, gelsy, gelsd or gelss");
}

bool GivesRank(LstsqDriver driver) { return driver != LstsqDriver::kGels; }
bool GivesValues(LstsqDriver driver) { return driver == LstsqDriver::kGelsd || driver == LstsqDriver::kGelss; }

double RcondOf(const CallReader& c) {
  if (c.Given("rcond")) return c.Real("rcond");
  const Tensor& a = c.x("x");
  const bool wide = RealDType(a.dtype()) == DType::kFloat64;
  const double eps = wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
  return eps * static_cast<double>(std::max(a.size(-2), a.size(-1)));
}

void InferLstsq(Infer& i) {
  CheckMatrix(i, "x");
  CheckMatrix(i, "y");
  CheckSameDType(i, "x", "y");
  const Tensor &a = i.x("x"), &b = i.x("y");
  if (a.size(-2) != b.size(-2)) {
    throw ValueError("linalg_lstsq").Got(a.shape(), " and ", b.shape()).Expected("as many rows on both sides");
  }
  const LstsqDriver driver = DriverOf(i);
  const Dims batch = BroadcastShapes("linalg_lstsq", BatchOf(a.shape()), BatchOf(b.shape()));
  i.y(0, MatrixShape(batch, a.size(-1), b.size(-1)), a.dtype());
  i.y(1, GivesRank(driver) ? batch : Dims{0}, DType::kInt64);
  i.y(2, GivesValues(driver) ? With(batch, std::min(a.size(-2), a.size(-1))) : Dims{0}, RealDType(a.dtype()));
}

void RunLstsq(Run& r) {
  const LstsqDriver driver = DriverOf(r);
  const Dims batch = BroadcastShapes("linalg_lstsq", BatchOf(r.x("x").shape()), BatchOf(r.x("y").shape()));
  const Tensor a = Expanded(r.x("x"), batch), b = Expanded(r.x("y"), batch);
  const int64_t tall = std::max(a.size(-2), a.size(-1));
  // LAPACK leaves the residual's components below the solution; they are computed from the inputs instead, as
  // operators, so that they can be differentiated.
  const Tensor full = Tensor::Empty(MatrixShape(batch, tall, b.size(-1)), a.dtype(), a.device());
  kernels::LinalgLstsq(r.ctx(), r.dtype(), full.mutable_view(), GivesRank(driver) ? r.out(1) : View{},
                       GivesValues(driver) ? r.out(2) : View{}, a.view(), b.view(), RcondOf(r), driver, "linalg_lstsq");
  OpInto<"copy">(r.y(0), Part(full, -2, 0, a.size(-1)));
}

/// X = A^+ B, differentiated through the pseudoinverse.
void GradientOfLstsq(Grad& g) {
  if (!g.dy().defined()) return;
  const Tensor &a = g.x("x"), &b = g.x("y");
  const Tensor p = Op<"linalg_pinv">(a), ph = Adjoint(p);
  if (g.needs("y")) g.dx("y", MatMul(ph, g.dy()));
  if (!g.needs("x")) return;
  const Tensor dp = MatMul(g.dy(), Adjoint(b)), dph = Adjoint(dp);
  const Tensor second = MatMul(MatMul(dph, p), ph), third = MatMul(ph, MatMul(p, dph));
  g.dx("x",
       (second - MatMul(a, MatMul(p, second))) + (third - MatMul(MatMul(third, p), a)) - MatMul(ph, MatMul(dp, ph)));
}

[[maybe_unused]] const auto& lstsq_matrices =
    DefineOp(
        "linalg_lstsq_matrices(Tensor x, Tensor y, float? rcond=None, str? driver=None) -> (Tensor solution, "
        "Tensor rank, Tensor singular_values)")
        .Doc("The least-squares solutions of x Z = y for matrices; linalg_lstsq also gives residuals.")
        .Infers(InferLstsq)
        .Runs(RunLstsq)
        .Gradient("x, y", GradientOfLstsq)
        .NoGradientFor(0b110);

/// Residuals are told for overdetermined systems of full rank only, and not by the driver that does not know them.
bool HasResiduals(const CallReader& c, const Tensor& rank) {
  const Tensor& a = c.x("x");
  const LstsqDriver driver = DriverOf(c);
  if (a.size(-2) <= a.size(-1) || driver == LstsqDriver::kGelsy) return false;
  if (driver == LstsqDriver::kGels || rank.is_meta() || rank.numel() == 0) return true;
  const Tensor full = Op<"eq">(rank, Number(static_cast<double>(a.size(-1))));
  return Op<"all">(full).Item().boolean();
}

[[maybe_unused]] const auto& linalg_lstsq =
    DefineOp(
        "linalg_lstsq(Tensor x, Tensor y, float? rcond=None, *, str? driver=None) -> (Tensor solution, "
        "Tensor residuals, Tensor rank, Tensor singular_values)")
        .Doc("Z with the least |x Z - y|, the squared residuals, and x's rank and singular values where found.")
        .Batches(Batching::kApart)
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &a = c.x("x"), &b = c.x("y");
          CheckMatrix(c, "x");
          const bool vector =
              b.ndim() == 1 || (b.ndim() == a.ndim() - 1 && b.shape() == Dims(a.shape().data(), b.ndim()));
          const Tensor right = vector ? AsColumn(b) : b;
          const Tensors parts = OpN<"linalg_lstsq_matrices">(a, right, c.attr("rcond"), c.attr("driver"));
          Tensor residuals = Op<"full">(Dims{0}, 0.0, RealDType(a.dtype()), a.device());
          if (HasResiduals(c, parts[1])) {
            const Tensor size = Op<"abs">(MatMul(a, parts[0]) - right);
            residuals = Op<"sum">(size * size, Dims{-2}, false);
            if (vector) residuals = Op<"squeeze">(residuals, Dims{-1});
          }
          return {vector ? Op<"squeeze">(parts[0], Dims{-1}) : parts[0], residuals, parts[1], parts[2]};
        });

void InferLdl(Infer& i) {
  CheckSquare(i, "x");
  const Tensor& x = i.x(0);
  i.y(0, x.shape(), x.dtype());
  i.y(1, With(BatchOf(x.shape()), x.size(-1)), DType::kInt32);
}

void RunLdl(Run& r, View info, const char* who) {
  const Tensor x = Op<"contiguous">(Tril(r.x(0)));
  kernels::LinalgLdlFactor(r.ctx(), r.dtype(), r.out(0), r.out(1), info, x.view(), r.Bool("hermitian"), who);
}

[[maybe_unused]] const auto& linalg_ldl_factor =
    DefineOp("linalg_ldl_factor(Tensor x, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)")
        .Doc("Packed factors of x = L D L^T (or L D L^H) of symmetric matrices that need not be positive-definite.")
        .Batches(Batching::kRows)
        .Infers(InferLdl)
        .Runs(RunRaising<RunLdl>);

[[maybe_unused]] const auto& linalg_ldl_factor_ex =
    DefineOp(
        "linalg_ldl_factor_ex(Tensor x, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, "
        "Tensor pivots, Tensor info)")
        .Doc("linalg_ldl_factor that tells trouble in `info` instead of raising it.")
        .Batches(Batching::kRows)
        .Infers(InferTelling<InferLdl>)
        .Runs(RunTelling<RunLdl>);

Dims LdlBatch(const CallReader& c) {
  CheckSquare(c, "LD");
  CheckMatrix(c, "y");
  CheckSameDType(c, "LD", "y");
  const Tensor &ld = c.x("LD"), &pivots = c.x("pivots"), &b = c.x("y");
  if (pivots.dtype() != DType::kInt32) throw TypeError(c.name()).Got("pivots of ", pivots.dtype()).Expected("int32");
  if (pivots.shape() != With(BatchOf(ld.shape()), ld.size(-1)) || b.size(-2) != ld.size(-1)) {
    throw ValueError(c.name())
        .Got("LD ", ld.shape(), ", pivots ", pivots.shape(), " and right-hand side ", b.shape())
        .Expected("as many pivots and rows as LD has");
  }
  return BroadcastShapes(c.name(), BatchOf(ld.shape()), BatchOf(b.shape()));
}

[[maybe_unused]] const auto& linalg_ldl_solve =
    DefineOp("linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor y, *, bool hermitian=False) -> Tensor")
        .Doc("The solution X of A X = y from the factors that linalg_ldl_factor gave.")
        .Infers([](Infer& i) {
          const Dims batch = LdlBatch(i);
          i.y(0, MatrixShape(batch, i.x("y").size(-2), i.x("y").size(-1)), i.x("y").dtype());
        })
        .Runs([](Run& r) {
          const Dims batch = LdlBatch(r);
          const Tensor ld = Expanded(r.x("LD"), batch), b = Expanded(r.x("y"), batch);
          const Tensor pivots = Op<"contiguous">(Op<"broadcast_to">(r.Here(r.x("pivots")), With(batch, ld.size(-1))));
          kernels::LinalgLdlSolve(r.ctx(), r.dtype(), r.out(), ld.view(), pivots.view(), b.view(), r.Bool("hermitian"),
                                  r.name());
        });

}  // namespace
}  // namespace dragon
