// Group norm, and the normalisations that are compositions: by instance, over neighbouring channels, to unit length.
#include <cmath>

#include "core/kernels/normalization.h"
#include "core/ops/normalization/norm.h"

namespace dragon {
namespace {

[[maybe_unused]] const auto& group_norm =
    DefineOp("group_norm(Tensor x, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-5) -> Tensor")
        .Doc("Normalise the channels (axis 1) of each group together, then scale and shift every channel.")
        .As([](const CallReader& c) -> Tensors {
          return {Op<"native_group_norm">(c.x("x"), c.Int("num_groups"), ParameterLike(c, c.x("weight")),
                                          ParameterLike(c, c.x("bias")), c.Real("eps"))};
        });

/// x as (batch, groups, channels of a group, the rest).
Tensor Grouped(const Tensor& x, int64_t groups) {
  const int64_t batch = x.size(0), channels = x.size(1);
  const int64_t rest = x.numel() / std::max<int64_t>(1, batch * channels);
  return Op<"reshape">(x, Dims{batch, groups, channels / groups, rest});
}

void GroupNormGradient(Grad& g) {
  RefuseStatistics(g);
  if (!g.dy().defined()) return;
  const Tensor &x = g.x("x"), &weight = g.x("weight");
  const bool dweight = weight.defined() && g.needs("weight"), dbias = g.needs("bias");
  if (Door().grad_enabled) {
    const int64_t groups = g.Int("num_groups"), channels = x.size(1);
    NormShape shape;
    shape.axes = {2, 3};
    shape.parameter_axes = {0, 3};
    shape.eps = g.Real("eps");
    const Tensor w = weight.defined() ? Op<"reshape">(weight, Dims{1, groups, channels / groups, 1}) : weight;
    const auto all = DifferentiableNormGradients(Grouped(g.dy(), groups), Grouped(x, groups), w, shape);
    g.dx("x", Op<"reshape">(all.dx, x.shape()));
    if (dweight) g.dx("weight", Op<"reshape">(all.dweight, Dims{channels}));
    if (dbias) g.dx("bias", Op<"reshape">(all.dbias, Dims{channels}));
    return;
  }
  const Tensors all = OpN<"group_norm_backward">(g.dy(), x, g.y(1), g.y(2), weight, g.needs("x"), dweight, dbias);
  if (g.needs("x")) g.dx("x", all[0]);
  if (dweight) g.dx("weight", all[1]);
  if (dbias) g.dx("bias", all[2]);
}

[[maybe_unused]] const auto& native_group_norm =
    DefineOp(
        "native_group_norm(Tensor x, int num_groups, Tensor? weight, Tensor? bias, float eps) -> (Tensor out, Tensor "
        "mean, Tensor rstd)")
        .Doc("Group normalization, with the mean and the reciprocal deviation of each group.")
        .Batches(Batching::kSamples, "", "weight, bias")
        .Infers([](Infer& i) {
          RequireFloating(i);
          const Dims& shape = i.x("x").shape();
          const int64_t groups = i.Int("num_groups");
          if (shape.size() < 2) throw ValueError(i.name()).Got("shape ", shape).Expected("(batch, channels, ...)");
          if (groups <= 0 || shape[1] % groups != 0) {
            throw ValueError(i.name())
                .Got("num_groups ", groups, " for ", shape[1], " channels")
                .Expected("a positive divisor of the channels");
          }
          RequireShape(i, "weight", Dims{shape[1]}, i.x("x").dtype());
          RequireShape(i, "bias", Dims{shape[1]}, i.x("x").dtype());
          i.y(0, shape, i.x("x").dtype());
          i.y(1, Dims{shape[0], groups}, StatisticsDType(i.x("x").dtype()));
          i.y(2, Dims{shape[0], groups}, StatisticsDType(i.x("x").dtype()));
        })
        .Runs([](Run& r) {
          kernels::GroupNorm(r.ctx(), r.x("x").dtype(), r.out(0), r.out(1), r.out(2), r.rows("x"), r.rows("weight"),
                             r.rows("bias"), r.Real("eps"));
        })
        .Gradient("x, weight, mean, rstd", GroupNormGradient);

[[maybe_unused]] const auto& group_norm_backward =
    DefineOp(
        "group_norm_backward(Tensor dy, Tensor x, Tensor mean, Tensor rstd, Tensor? weight, bool with_x, bool "
        "with_weight, bool with_bias) -> (Tensor dx, Tensor dweight, Tensor dbias)")
        .Doc("The gradients of group normalization by input, weight and bias.")
        .Infers([](Infer& i) {
          const Tensor &x = i.x("x"), &mean = i.x("mean");
          if (!x.is_floating()) throw TypeError(i.name()).Got(x.dtype()).Expected("a floating dtype");
          const bool fits = x.ndim() >= 2 && mean.ndim() == 2 && mean.size(0) == x.size(0) && mean.size(1) > 0 &&
                            x.size(1) % mean.size(1) == 0;
          if (!fits) {
            throw ValueError(i.name())
                .Got("x of shape ", x.shape(), " and mean of shape ", mean.shape())
                .Expected("(batch, channels, ...) and (batch, groups)");
          }
          RequireShape(i, "dy", x.shape(), x.dtype());
          RequireShape(i, "mean", mean.shape(), StatisticsDType(x.dtype()));
          RequireShape(i, "rstd", mean.shape(), StatisticsDType(x.dtype()));
          RequireShape(i, "weight", Dims{x.size(1)}, x.dtype());
          i.y(0, i.Bool("with_x") ? x.shape() : Dims{0}, x.dtype());
          i.y(1, Dims{i.Bool("with_weight") ? x.size(1) : 0}, x.dtype());
          i.y(2, Dims{i.Bool("with_bias") ? x.size(1) : 0}, x.dtype());
        })
        .Runs([](Run& r) {
          kernels::GroupNormBackward(r.ctx(), r.x("x").dtype(), r.Bool("with_x") ? r.out(0) : View{},
                                     r.Bool("with_weight") ? r.out(1) : View{}, r.Bool("with_bias") ? r.out(2) : View{},
                                     r.rows("dy"), r.rows("x"), r.rows("mean"), r.rows("rstd"), r.rows("weight"));
        });

[[maybe_unused]] const auto& local_response_norm =
    DefineOp("local_response_norm(Tensor x, int size, float alpha=1e-4, float beta=0.75, float k=1.0) -> Tensor")
        .Doc("Divide by (k + alpha * mean of squares over `size` neighbouring channels) ** beta.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          const int64_t size = c.Int("size");
          if (x.ndim() < 3) throw ValueError(c.name()).Got("shape ", x.shape()).Expected("(batch, channels, ...)");
          if (size <= 0) throw ValueError(c.name()).Got("size ", size).Expected("at least 1");
          if (x.numel() == 0) return {Op<"clone">(x)};
          Dims pad = Dims::Filled(2 * (x.ndim() - 1), 0);  // pairs from the last axis backward
          pad[pad.size() - 2] = size / 2;
          pad[pad.size() - 1] = (size - 1) / 2;
          const Tensor squares = Op<"pad">(x * x, pad);
          const Tensor mean = Op<"mean">(Op<"unfold">(squares, 1, size, 1), Dims{-1});
          return {x / Op<"pow">(mean * c.Real("alpha") + c.Real("k"), Number(c.Real("beta")))};
        });

[[maybe_unused]] const auto& normalize =
    DefineOp("normalize(Tensor x, Scalar p=2.0, int[1] axis=1, float eps=1e-12) -> Tensor")
        .Doc("Divide by the norm of order p along an axis, or by eps where that is larger.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor length = Op<"linalg_vector_norm">(c.x(0), c.attr("p"), c.attr("axis"), /*keepdims=*/true);
          return {c.x(0) / Op<"clamp">(length, Number(c.Real("eps")))};
        });

}  // namespace
}  // namespace dragon
