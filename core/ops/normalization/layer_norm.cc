// Layer norm and root-mean-square norm over the last axes.
#include "core/kernels/normalization.h"
#include "core/ops/normalization/norm.h"

namespace dragon {
namespace {

/// How many leading axes are left when the last ones are `normalized`, which must agree with x.
int LeadingAxes(const CallReader& c, const Dims& shape, const Dims& normalized) {
  const int leading = shape.size() - normalized.size();
  if (normalized.empty() || leading < 0 || !std::equal(normalized.begin(), normalized.end(), shape.begin() + leading)) {
    throw ValueError(c.name()).Got("an input of shape ", shape).Expected("one whose last axes are ", normalized);
  }
  return leading;
}

Dims StatisticsShape(const Dims& shape, int leading) {
  Dims statistics = shape;
  for (int i = leading; i < shape.size(); ++i) statistics[i] = 1;
  return statistics;
}

NormShape ShapeOf(const Dims& shape, int leading, double eps, bool center) {
  NormShape norm;
  for (int i = 0; i < shape.size(); ++i) (i < leading ? norm.parameter_axes : norm.axes).push_back(i);
  norm.eps = eps;
  norm.center = center;
  return norm;
}

View ViewOrNone(const Tensor& x) { return x.defined() ? x.view() : View{}; }
Tensor RowMajor(const Tensor& x) { return !x.defined() || x.is_contiguous() ? x : Op<"to_row_major">(x); }

/// dx, dweight and, where a mean was taken away, dbias by a backward operator's flags; an unwanted one has no elements.
void InferBackward(Infer& i, bool has_mean) {
  const Tensor& x = i.x("x");
  if (!x.is_floating()) throw TypeError(i.name()).Got(x.dtype()).Expected("a floating dtype");
  const Dims statistics = StatisticsShape(x.shape(), LeadingAxes(i, x.shape(), i.Ints("normalized_shape")));
  RequireShape(i, "dy", x.shape(), x.dtype());
  if (has_mean) RequireShape(i, "mean", statistics, StatisticsDType(x.dtype()));
  RequireShape(i, "rstd", statistics, StatisticsDType(x.dtype()));
  RequireShape(i, "weight", i.Ints("normalized_shape"), x.dtype());
  const Dims none{0};
  i.y(0, i.Bool("with_x") ? x.shape() : none, x.dtype());
  i.y(1, i.Bool("with_weight") ? i.Ints("normalized_shape") : none, x.dtype());
  if (has_mean) i.y(2, i.Bool("with_bias") ? i.Ints("normalized_shape") : none, x.dtype());
}

// --- layer norm

[[maybe_unused]] const auto& layer_norm =
    DefineOp(
        "layer_norm(Tensor x, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-5) -> "
        "Tensor")
        .Doc("Normalise over the last axes to mean 0 and variance 1, then scale by weight and shift by bias.")
        .As([](const CallReader& c) -> Tensors {
          return {Op<"native_layer_norm">(c.x("x"), c.attr("normalized_shape"), ParameterLike(c, c.x("weight")),
                                          ParameterLike(c, c.x("bias")), c.Real("eps"))};
        });

void LayerNormGradient(Grad& g) {
  RefuseStatistics(g);
  if (!g.dy().defined()) return;
  const Tensor &x = g.x("x"), &weight = g.x("weight");
  const bool dweight = weight.defined() && g.needs("weight"), dbias = g.needs("bias");
  if (Door().grad_enabled) {
    const int leading = x.ndim() - g.Ints("normalized_shape").size();
    const auto all = DifferentiableNormGradients(g.dy(), x, weight, ShapeOf(x.shape(), leading, g.Real("eps"), true));
    g.dx("x", all.dx);
    if (dweight) g.dx("weight", Op<"reshape">(all.dweight, g.attr("normalized_shape")));
    if (dbias) g.dx("bias", Op<"reshape">(all.dbias, g.attr("normalized_shape")));
    return;
  }
  const Tensors all = OpN<"layer_norm_backward">(g.dy(), x, g.y(1), g.y(2), weight, g.attr("normalized_shape"),
                                                 g.needs("x"), dweight, dbias);
  if (g.needs("x")) g.dx("x", all[0]);
  if (dweight) g.dx("weight", all[1]);
  if (dbias) g.dx("bias", all[2]);
}

[[maybe_unused]] const auto& native_layer_norm =
    DefineOp(
        "native_layer_norm(Tensor x, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor out, "
        "Tensor mean, Tensor rstd)")
        .Doc("Layer normalization, with the mean and the reciprocal deviation of each row.")
        .Batches(Batching::kRows, "", "weight, bias")
        .Infers([](Infer& i) {
          RequireFloating(i);
          const Tensor& x = i.x("x");
          const Dims& normalized = i.Ints("normalized_shape");
          const Dims statistics = StatisticsShape(x.shape(), LeadingAxes(i, x.shape(), normalized));
          RequireShape(i, "weight", normalized, x.dtype());
          RequireShape(i, "bias", normalized, x.dtype());
          i.y(0, x.shape(), x.dtype());
          i.y(1, statistics, StatisticsDType(x.dtype()));
          i.y(2, statistics, StatisticsDType(x.dtype()));
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous("x"), weight = RowMajor(r.x("weight")), bias = RowMajor(r.x("bias"));
          kernels::LayerNorm(r.ctx(), x.dtype(), r.out(0), r.out(1), r.out(2), x.view(), ViewOrNone(weight),
                             ViewOrNone(bias), r.Real("eps"));
        })
        .Gradient("x, weight, mean, rstd", LayerNormGradient);

[[maybe_unused]] const auto& layer_norm_backward =
    DefineOp(
        "layer_norm_backward(Tensor dy, Tensor x, Tensor mean, Tensor rstd, Tensor? weight, int[] normalized_shape, "
        "bool with_x, bool with_weight, bool with_bias) -> (Tensor dx, Tensor dweight, Tensor dbias)")
        .Doc("The gradients of layer normalization by input, weight and bias.")
        .Infers([](Infer& i) { InferBackward(i, /*has_mean=*/true); })
        .Runs([](Run& r) {
          const Tensor dy = r.Contiguous("dy"), x = r.Contiguous("x"), mean = r.Contiguous("mean"),
                       rstd = r.Contiguous("rstd");
          const Tensor weight = RowMajor(r.x("weight"));
          kernels::LayerNormBackward(r.ctx(), x.dtype(), r.Bool("with_x") ? r.out(0) : View{},
                                     r.Bool("with_weight") ? r.out(1) : View{}, r.Bool("with_bias") ? r.out(2) : View{},
                                     dy.view(), x.view(), mean.view(), rstd.view(), ViewOrNone(weight));
        });

// --- root-mean-square norm

/// The distance from 1 to the next number of the dtype it is computed in, which PyTorch takes where no eps is given.
double EpsilonOf(DType dtype) { return StatisticsDType(dtype) == DType::kFloat64 ? 0x1p-52 : 0x1p-23; }

[[maybe_unused]] const auto& rms_norm =
    DefineOp("rms_norm(Tensor x, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor")
        .Doc("Divide by the root of the mean square over the last axes, then scale by weight.")
        .As([](const CallReader& c) -> Tensors {
          const double eps = c.Given("eps") ? c.Real("eps") : EpsilonOf(c.x("x").dtype());
          return {Op<"native_rms_norm">(c.x("x"), c.attr("normalized_shape"), ParameterLike(c, c.x("weight")), eps)};
        });

void RmsNormGradient(Grad& g) {
  RefuseStatistics(g);
  if (!g.dy().defined()) return;
  const Tensor &x = g.x("x"), &weight = g.x("weight");
  const bool dweight = weight.defined() && g.needs("weight");
  if (Door().grad_enabled) {
    const int leading = x.ndim() - g.Ints("normalized_shape").size();
    const auto all = DifferentiableNormGradients(g.dy(), x, weight, ShapeOf(x.shape(), leading, g.Real("eps"), false));
    g.dx("x", all.dx);
    if (dweight) g.dx("weight", Op<"reshape">(all.dweight, g.attr("normalized_shape")));
    return;
  }
  const Tensors all =
      OpN<"rms_norm_backward">(g.dy(), x, g.y(1), weight, g.attr("normalized_shape"), g.needs("x"), dweight);
  if (g.needs("x")) g.dx("x", all[0]);
  if (dweight) g.dx("weight", all[1]);
}

[[maybe_unused]] const auto& native_rms_norm =
    DefineOp(
        "native_rms_norm(Tensor x, int[] normalized_shape, Tensor? weight, float eps) -> (Tensor out, Tensor rstd)")
        .Doc("Root-mean-square normalization, with the reciprocal root of each row.")
        .Batches(Batching::kRows, "", "weight")
        .Infers([](Infer& i) {
          RequireFloating(i);
          const Tensor& x = i.x("x");
          const Dims& normalized = i.Ints("normalized_shape");
          const int leading = LeadingAxes(i, x.shape(), normalized);
          RequireShape(i, "weight", normalized, x.dtype());
          i.y(0, x.shape(), x.dtype());
          i.y(1, StatisticsShape(x.shape(), leading), StatisticsDType(x.dtype()));
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous("x"), weight = RowMajor(r.x("weight"));
          kernels::LayerNorm(r.ctx(), x.dtype(), r.out(0), View{}, r.out(1), x.view(), ViewOrNone(weight), View{},
                             r.Real("eps"));
        })
        .Gradient("x, weight, rstd", RmsNormGradient);

[[maybe_unused]] const auto& rms_norm_backward =
    DefineOp(
        "rms_norm_backward(Tensor dy, Tensor x, Tensor rstd, Tensor? weight, int[] normalized_shape, bool with_x, bool "
        "with_weight) -> (Tensor dx, Tensor dweight)")
        .Doc("The gradients of root-mean-square normalization by input and weight.")
        .Infers([](Infer& i) { InferBackward(i, /*has_mean=*/false); })
        .Runs([](Run& r) {
          const Tensor dy = r.Contiguous("dy"), x = r.Contiguous("x"), rstd = r.Contiguous("rstd"),
                       weight = RowMajor(r.x("weight"));
          kernels::LayerNormBackward(r.ctx(), x.dtype(), r.Bool("with_x") ? r.out(0) : View{},
                                     r.Bool("with_weight") ? r.out(1) : View{}, View{}, dy.view(), x.view(), View{},
                                     rstd.view(), ViewOrNone(weight));
        });

}  // namespace
}  // namespace dragon
