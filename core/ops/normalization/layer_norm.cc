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

/// dx, dweight and dbias of a backward operator's flags; an unwanted one has no elements. Tensors: 0 dy, 1 x,
/// statistics, and the weight last.
void InferBackward(Infer& i) {
  const Tensor& x = i.x(1);
  if (!x.is_floating()) throw TypeError(i.name()).Got(x.dtype()).Expected("a floating dtype");
  const Dims statistics = StatisticsShape(x.shape(), LeadingAxes(i, x.shape(), i.Ints(0)));
  const int weight = i.x_count() - 1;
  RequireShape(i, 0, x.shape(), x.dtype());
  for (int slot = 2; slot < weight; ++slot) RequireShape(i, slot, statistics, StatisticsDType(x.dtype()));
  RequireShape(i, weight, i.Ints(0), x.dtype());
  const Dims none{0};
  i.y(0, i.Bool(1) ? x.shape() : none, x.dtype());
  i.y(1, i.Bool(2) ? i.Ints(0) : none, x.dtype());
  if (i.op().schema.returns().size() > 2) i.y(2, i.Bool(3) ? i.Ints(0) : none, x.dtype());
}

// --- layer norm

[[maybe_unused]] const auto& layer_norm =
    DefineOp(
        "layer_norm(Tensor x, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-5) -> "
        "Tensor")
        .Doc("Normalise over the last axes to mean 0 and variance 1, then scale by weight and shift by bias.")
        .As([](const CallReader& c) -> Tensors {
          return {Op<"native_layer_norm">(c.x(0), c.Ints(0), ParameterLike(c, c.x(1)), ParameterLike(c, c.x(2)),
                                          c.Real(1))};
        });

void LayerNormGradient(Grad& g) {
  RefuseStatistics(g);
  if (!g.dy().defined()) return;
  const Tensor &x = g.x(0), &weight = g.x(1);
  const bool dweight = weight.defined() && g.needs(1), dbias = g.needs(2);
  if (Door().grad_enabled) {
    const int leading = x.ndim() - g.Ints(0).size();
    const auto all = DifferentiableNormGradients(g.dy(), x, weight, ShapeOf(x.shape(), leading, g.Real(1), true));
    g.dx(0, all.dx);
    if (dweight) g.dx(1, Op<"reshape">(all.dweight, g.Ints(0)));
    if (dbias) g.dx(2, Op<"reshape">(all.dbias, g.Ints(0)));
    return;
  }
  const Tensors all =
      OpN<"layer_norm_backward">(g.dy(), x, g.y(1), g.y(2), weight, g.Ints(0), g.needs(0), dweight, dbias);
  if (g.needs(0)) g.dx(0, all[0]);
  if (dweight) g.dx(1, all[1]);
  if (dbias) g.dx(2, all[2]);
}

[[maybe_unused]] const auto& native_layer_norm =
    DefineOp(
        "native_layer_norm(Tensor x, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor out, "
        "Tensor mean, Tensor rstd)")
        .Doc("Layer normalization, with the mean and the reciprocal deviation of each row.")
        .Batches(Batching::kRows, "", "weight, bias")
        .Infers([](Infer& i) {
          RequireFloating(i);
          const int leading = LeadingAxes(i, i.x(0).shape(), i.Ints(0));
          RequireShape(i, 1, i.Ints(0), i.x(0).dtype());
          RequireShape(i, 2, i.Ints(0), i.x(0).dtype());
          const Dims statistics = StatisticsShape(i.x(0).shape(), leading);
          i.y(0, i.x(0).shape(), i.x(0).dtype());
          i.y(1, statistics, StatisticsDType(i.x(0).dtype()));
          i.y(2, statistics, StatisticsDType(i.x(0).dtype()));
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0), weight = RowMajor(r.x(1)), bias = RowMajor(r.x(2));
          kernels::LayerNorm(r.ctx(), x.dtype(), r.out(0), r.out(1), r.out(2), x.view(), ViewOrNone(weight),
                             ViewOrNone(bias), r.Real(1));
        })
        .Gradient("x, weight, mean, rstd", LayerNormGradient);

[[maybe_unused]] const auto& layer_norm_backward =
    DefineOp(
        "layer_norm_backward(Tensor dy, Tensor x, Tensor mean, Tensor rstd, Tensor? weight, int[] normalized_shape, "
        "bool with_x, bool with_weight, bool with_bias) -> (Tensor dx, Tensor dweight, Tensor dbias)")
        .Doc("The gradients of layer normalization by input, weight and bias.")
        .Infers([](Infer& i) { InferBackward(i); })
        .Runs([](Run& r) {
          const Tensor dy = r.Contiguous(0), x = r.Contiguous(1), mean = r.Contiguous(2), rstd = r.Contiguous(3);
          const Tensor weight = RowMajor(r.x(4));
          kernels::LayerNormBackward(r.ctx(), x.dtype(), r.Bool(1) ? r.out(0) : View{}, r.Bool(2) ? r.out(1) : View{},
                                     r.Bool(3) ? r.out(2) : View{}, dy.view(), x.view(), mean.view(), rstd.view(),
                                     ViewOrNone(weight));
        });

// --- root-mean-square norm

/// The distance from 1 to the next number of the dtype it is computed in, which PyTorch takes where no eps is given.
double EpsilonOf(DType dtype) { return StatisticsDType(dtype) == DType::kFloat64 ? 0x1p-52 : 0x1p-23; }

[[maybe_unused]] const auto& rms_norm =
    DefineOp("rms_norm(Tensor x, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor")
        .Doc("Divide by the root of the mean square over the last axes, then scale by weight.")
        .As([](const CallReader& c) -> Tensors {
          const double eps = c.Given(1) ? c.Real(1) : EpsilonOf(c.x(0).dtype());
          return {Op<"native_rms_norm">(c.x(0), c.Ints(0), ParameterLike(c, c.x(1)), eps)};
        });

void RmsNormGradient(Grad& g) {
  RefuseStatistics(g);
  if (!g.dy().defined()) return;
  const Tensor &x = g.x(0), &weight = g.x(1);
  const bool dweight = weight.defined() && g.needs(1);
  if (Door().grad_enabled) {
    const int leading = x.ndim() - g.Ints(0).size();
    const auto all = DifferentiableNormGradients(g.dy(), x, weight, ShapeOf(x.shape(), leading, g.Real(1), false));
    g.dx(0, all.dx);
    if (dweight) g.dx(1, Op<"reshape">(all.dweight, g.Ints(0)));
    return;
  }
  const Tensors all = OpN<"rms_norm_backward">(g.dy(), x, g.y(1), weight, g.Ints(0), g.needs(0), dweight);
  if (g.needs(0)) g.dx(0, all[0]);
  if (dweight) g.dx(1, all[1]);
}

[[maybe_unused]] const auto& native_rms_norm =
    DefineOp(
        "native_rms_norm(Tensor x, int[] normalized_shape, Tensor? weight, float eps) -> (Tensor out, Tensor rstd)")
        .Doc("Root-mean-square normalization, with the reciprocal root of each row.")
        .Batches(Batching::kRows, "", "weight")
        .Infers([](Infer& i) {
          RequireFloating(i);
          const int leading = LeadingAxes(i, i.x(0).shape(), i.Ints(0));
          RequireShape(i, 1, i.Ints(0), i.x(0).dtype());
          i.y(0, i.x(0).shape(), i.x(0).dtype());
          i.y(1, StatisticsShape(i.x(0).shape(), leading), StatisticsDType(i.x(0).dtype()));
        })
        .Runs([](Run& r) {
          const Tensor x = r.Contiguous(0), weight = RowMajor(r.x(1));
          kernels::LayerNorm(r.ctx(), x.dtype(), r.out(0), View{}, r.out(1), x.view(), ViewOrNone(weight), View{},
                             r.Real(1));
        })
        .Gradient("x, weight, rstd", RmsNormGradient);

[[maybe_unused]] const auto& rms_norm_backward =
    DefineOp(
        "rms_norm_backward(Tensor dy, Tensor x, Tensor rstd, Tensor? weight, int[] normalized_shape, bool with_x, bool "
        "with_weight) -> (Tensor dx, Tensor dweight)")
        .Doc("The gradients of root-mean-square normalization by input and weight.")
        .Infers([](Infer& i) { InferBackward(i); })
        .Runs([](Run& r) {
          const Tensor dy = r.Contiguous(0), x = r.Contiguous(1), rstd = r.Contiguous(2), weight = RowMajor(r.x(3));
          kernels::LayerNormBackward(r.ctx(), x.dtype(), r.Bool(1) ? r.out(0) : View{}, r.Bool(2) ? r.out(1) : View{},
                                     View{}, dy.view(), x.view(), View{}, rstd.view(), ViewOrNone(weight));
        });

}  // namespace
}  // namespace dragon
