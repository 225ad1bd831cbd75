// Variance, standard deviation, norms and log-sum-exp.
#include <cmath>

#include "core/kernels/reduction.h"
#include "core/ops/reduction/axes.h"

namespace dragon {
namespace {

// --- var and std.

double CorrectionOf(const CallReader& c) { return c.Given("correction") ? c.Real("correction") : 1.0; }

void InferVar(Infer& i) {
  const DType dtype = i.x(0).dtype();
  if (!IsFloating(dtype)) throw TypeError(i.name()).Got(dtype).Expected("a floating dtype");
  const Dims shape = ReducedShape(i.x(0).shape(), AxesOf(i), i.Bool("keepdims"));
  for (size_t k = 0; k < i.op().schema.returns().size(); ++k) i.y(k, shape, dtype);
}

void RunVar(Run& r, bool root) {
  const Dims axes = AxesOf(r);
  const Kept y(r.y(0), r.x(0).shape(), axes), mean(r.y(r.y_count() - 1), r.x(0).shape(), axes);
  kernels::Var(r.ctx(), r.dtype(), y, r.y_count() > 1 ? View(mean) : View{}, r.in(0), CorrectionOf(r), root);
}

/// 2 (x - mean) dvar / (count - correction), and dmean / count where there is one.
void VarGradient(Grad& g, const Tensor& variance_slope, const Tensor& mean_slope) {
  const Dims axes = AxesOf(g);
  const Dims& shape = g.x_shape(0);
  const double count = static_cast<double>(ReducedCount(shape, axes));
  Tensor dx;
  if (variance_slope.defined()) {
    const Tensor& x = g.x(0);
    const Tensor distance = axes.empty() ? x - x : x - Op<"mean">(x, axes, /*keepdims=*/true);
    const double free = std::max(0.0, count - CorrectionOf(g));
    dx = distance * (Unreduced(variance_slope, shape, axes, g.Bool("keepdims")) * (2.0 / free));
  }
  if (mean_slope.defined()) {
    const Tensor part = Spread(mean_slope, shape, axes, g.Bool("keepdims")) / count;
    dx = dx.defined() ? dx + part : part;
  }
  if (dx.defined()) g.dx(0, dx);
}

/// dvar from dstd; where the deviation is 0 there is no slope to follow.
Tensor SlopeOfRoot(const Tensor& dy, const Tensor& y) {
  if (!dy.defined()) return dy;
  return Op<"where">(Op<"eq">(y, Number(0)), Number(0.0), dy / (y * 2.0));
}

/// var and std of real numbers, alone or with the mean.
Operator& RealVariance(const std::string& name, const char* results, const char* doc, bool root) {
  return DefineOp(name + "(Tensor x, int[1]? axis=None, Scalar? correction=1, bool keepdims=False) -> " + results)
      .Doc(doc)
      .Batches(Batching::kRows, "axis")
      .Infers(InferVar)
      .Runs([root](Run& r) { RunVar(r, root); });
}
[[maybe_unused]] const auto& real_var =
    RealVariance("real_var", "Tensor", "The variance of real numbers over axes.", /*root=*/false)
        .Gradient("x", [](Grad& g) { VarGradient(g, g.dy(), {}); });
[[maybe_unused]] const auto& real_std =
    RealVariance("real_std", "Tensor", "The standard deviation of real numbers over axes.", /*root=*/true)
        .Gradient("x, out", [](Grad& g) { VarGradient(g, SlopeOfRoot(g.dy(), g.y()), {}); });
[[maybe_unused]] const auto& real_var_mean =
    RealVariance("real_var_mean", "(Tensor var, Tensor mean)", "The variance and the mean of real numbers over axes.",
                 /*root=*/false)
        .Gradient("x", [](Grad& g) { VarGradient(g, g.dy(0), g.dy(1)); });

/// The variance of complex numbers is that of the real parts plus that of the imaginary parts.
Tensor VarianceOf(const CallReader& c) {
  const Tensor& x = c.x(0);
  if (!x.is_complex()) return Op<"real_var">(x, c.attr("axis"), c.attr("correction"), c.attr("keepdims"));
  return Op<"real_var">(Op<"real">(x), c.attr("axis"), c.attr("correction"), c.attr("keepdims")) +
         Op<"real_var">(Op<"imag">(x), c.attr("axis"), c.attr("correction"), c.attr("keepdims"));
}

[[maybe_unused]] const auto& var =
    DefineOp("var(Tensor x, int[1]? axis=None, *, Scalar? correction=1, bool keepdims=False) -> Tensor")
        .Doc("The variance of elements along axes; the divisor is their number minus `correction`.")
        .As([](const CallReader& c) -> Tensors { return {VarianceOf(c)}; });

[[maybe_unused]] const auto& std_deviation =
    DefineOp("std(Tensor x, int[1]? axis=None, *, Scalar? correction=1, bool keepdims=False) -> Tensor")
        .Doc("The standard deviation of elements along axes.")
        .As([](const CallReader& c) -> Tensors {
          if (c.x(0).is_complex()) {
            // Where nothing varies there is no slope to follow, and the root's is infinite.
            const Tensor variance = VarianceOf(c), none = Op<"eq">(variance.Detach(), Number(0));
            return {Op<"where">(none, Number(0.0), Op<"sqrt">(Op<"where">(none, Number(1.0), variance)))};
          }
          return {Op<"real_std">(c.x(0), c.attr("axis"), c.attr("correction"), c.attr("keepdims"))};
        });

[[maybe_unused]] const auto& var_mean =
    DefineOp(
        "var_mean(Tensor x, int[1]? axis=None, *, Scalar? correction=1, bool keepdims=False) -> (Tensor var, Tensor "
        "mean)")
        .Doc("Variance and mean in one pass.")
        .As([](const CallReader& c) -> Tensors {
          if (c.x(0).is_complex()) return {VarianceOf(c), Op<"mean">(c.x(0), c.attr("axis"), c.attr("keepdims"))};
          return OpN<"real_var_mean">(c.x(0), c.attr("axis"), c.attr("correction"), c.attr("keepdims"));
        });

[[maybe_unused]] const auto& std_mean =
    DefineOp(
        "std_mean(Tensor x, int[1]? axis=None, *, Scalar? correction=1, bool keepdims=False) -> (Tensor std, Tensor "
        "mean)")
        .Doc("Standard deviation and mean.")
        .As([](const CallReader& c) -> Tensors {
          return {Op<"std">(c.x(0), c.attr("axis"), c.attr("correction"), c.attr("keepdims")),
                  Op<"mean">(c.x(0), c.attr("axis"), c.attr("keepdims"))};
        });

// --- norms.

void InferNorm(Infer& i) {
  const DType dtype = i.DTypeOr("dtype", i.x(0).dtype());
  if (!IsInexact(dtype)) throw TypeError(i.name()).Got(dtype).Expected("a floating or complex dtype");
  const Dims axes = AxesOf(i);
  const double p = i.Real("ord");
  if (p < 0 || std::isinf(p)) RefuseEmpty(i, axes);
  i.y(0, ReducedShape(i.x(0).shape(), axes, i.Bool("keepdims")), RealDType(dtype));
}

void NormGradient(Grad& g) {
  const double p = g.Real("ord");
  const Dims axes = AxesOf(g);
  const Dims& shape = g.x_shape(0);
  Tensor x = g.x(0);
  if (g.Given("dtype")) x = Op<"cast">(x, g.attr("dtype").dtype());
  const Tensor dy = Unreduced(g.dy(), shape, axes, g.Bool("keepdims")),
               y = Unreduced(g.y(), shape, axes, g.Bool("keepdims"));
  const Tensor zero = Number(0.0), flat = Op<"eq">(y, zero);
  // Where all is zero a quotient by 1 stands in, which is masked, so that its own gradient stays a number.
  const auto over = [&](const Tensor& a) { return Op<"where">(flat, zero, a / Op<"where">(flat, Number(1.0), y)); };
  if (p == 0) return g.dx(0, Op<"zeros_like">(x));
  if (p == 1) return g.dx(0, Op<"sgn">(x) * dy);
  if (p == 2) return g.dx(0, over(x) * dy);  // x is no longer than y: the slope by itself may leave 16 bits
  const Tensor size = Op<"abs">(x);
  if (std::isinf(p)) {
    // Measured again: a kernel and `abs` may round a complex number's size differently.
    const Tensor extreme = p > 0 ? Op<"amax">(size, axes, true) : Op<"amin">(size, axes, true);
    const Tensor at = Op<"cast">(Op<"eq">(size, extreme), size.dtype());
    const Tensor count = axes.empty() ? at : Op<"sum">(at, axes, /*keepdims=*/true);
    return g.dx(0, Op<"sgn">(x) * (at / count * dy));
  }
  // |x|^(p-1) sgn(x) dy / y^(p-1), as a quotient first: powers of small numbers vanish
  const Tensor power = Op<"where">(Op<"eq">(size, zero), zero, Op<"pow">(over(size), Number(p - 1)));
  g.dx(0, Op<"sgn">(x) * (power * dy));
}

[[maybe_unused]] const auto& vector_norm =
    DefineOp(
        "linalg_vector_norm(Tensor x, Scalar ord=2, int[1]? axis=None, bool keepdims=False, *, dtype? dtype=None) -> "
        "Tensor")
        .Doc("The norm of order `ord` of vectors: (sum |x|^ord)^(1/ord), and its limits at 0, inf and -inf.")
        .Batches(Batching::kRows, "axis")
        .Infers(InferNorm)
        .Runs([](Run& r) {
          const Tensor x = InputAs(r);
          kernels::Norm(r.ctx(), x.dtype(), Kept(r.y(), x.shape(), AxesOf(r)), x.view(), r.Real("ord"));
        })
        .Gradient("x, out", NormGradient);

[[maybe_unused]] const auto& norm =
    DefineOp("norm(Tensor x, Scalar? p=2, int[1]? axis=None, bool keepdims=False, *, dtype? dtype=None) -> Tensor")
        .Doc("The vector norm of order `p` of all elements, or along axes.")
        .As([](const CallReader& c) -> Tensors {
          const Value order = c.Given("p") ? c.attr("p") : Value(2);
          return {Op<"linalg_vector_norm">(c.x(0), order, c.attr("axis"), c.attr("keepdims"), c.attr("dtype"))};
        });

// --- logsumexp.

[[maybe_unused]] const auto& logsumexp =
    DefineOp("logsumexp(Tensor x, int[1] axis, bool keepdims=False) -> Tensor")
        .Doc("log(sum(exp(x))) along axes, without overflow.")
        .Batches(Batching::kRows, "axis")
        .Promotes(Promotion::kFloat)
        .Infers([](Infer& i) { i.y(0, ReducedShape(i.x(0).shape(), AxesOf(i), i.Bool("keepdims")), i.x(0).dtype()); })
        .Runs([](Run& r) { kernels::LogSumExp(r.ctx(), r.dtype(), Kept(r.y(), r.x(0).shape(), AxesOf(r)), r.in(0)); })
        .Gradient("x, out", [](Grad& g) {
          const Dims axes = AxesOf(g);
          const Dims& shape = g.x_shape(0);
          const Tensor y = Unreduced(g.y(), shape, axes, g.Bool("keepdims"));
          g.dx(0, Unreduced(g.dy(), shape, axes, g.Bool("keepdims")) * Op<"exp">(g.x(0) - y));
        });

}  // namespace
}  // namespace dragon
