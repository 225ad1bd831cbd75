// Batch norm, row-major or channels-last, and instance norm, which is batch norm of every sample by itself.
#include <algorithm>

#include "core/kernels/normalization.h"
#include "core/ops/normalization/norm.h"

namespace dragon {
namespace {

/// The strides of a dense tensor whose channels (axis 1) are innermost.
Dims ChannelsLastStrides(const Dims& shape) {
  Dims strides = shape;
  int64_t stride = shape[1];
  strides[1] = 1;
  for (int i = shape.size() - 1; i >= 2; --i) strides[i] = stride, stride *= shape[i];
  strides[0] = stride;
  return strides;
}

/// The layout in which a tensor is normalised: channels-last if it is that already, else row-major.
Dims LayoutOf(const Tensor& x) {
  if (!x.is_contiguous() && x.ndim() > 2 && x.strides() == ChannelsLastStrides(x.shape())) return x.strides();
  return ContiguousStrides(x.shape());
}

Tensor InLayout(const Tensor& x, const Dims& strides) {
  if (x.strides() == strides) return x;
  const Tensor copy = Tensor::EmptyStrided(x.shape(), strides, x.dtype(), x.device());
  OpInto<"copy">(copy, x);
  return copy;
}

void SetLike(Infer& i, int result, const Tensor& x) {
  const Dims strides = LayoutOf(x);
  if (strides == ContiguousStrides(x.shape())) {
    i.y(result, x.shape(), x.dtype());
  } else {
    i.y(result, x.shape(), x.dtype(), strides);
  }
}

/// Returns the shape of what there is one of per channel.
Dims CheckChannels(const CallReader& c) {
  RequireFloating(c);
  const Dims& shape = c.x("x").shape();
  if (shape.size() < 2) throw ValueError(c.name()).Got("shape ", shape).Expected("(batch, channels, ...)");
  const Dims channels{shape[1]};
  RequireShape(c, "weight", channels, c.x("x").dtype());
  RequireShape(c, "bias", channels, c.x("x").dtype());
  return channels;
}

void CheckInput(const CallReader& c, bool training) {
  const Dims channels = CheckChannels(c);
  const Dims& shape = c.x("x").shape();
  CheckParameter(c, "running_mean", channels);
  CheckParameter(c, "running_var", channels);
  if (training && c.x("x").numel() == shape[1] && shape[1] > 0) {
    throw ValueError(c.name()).Got("shape ", shape).Expected("more than one value per channel when training");
  }
  if (!training && (!c.has("running_mean") || !c.has("running_var"))) {
    throw ValueError(c.name()).Got("no running statistics").Expected("running_mean and running_var when not training");
  }
}

/// running = (1 - momentum) * running + momentum * now.
void Follow(const Tensor& running, const Tensor& now, double momentum) {
  if (!running.defined()) return;
  const Tensor next = Op<"cast">(running, now.dtype()) * (1 - momentum) + now * momentum;
  OpInto<"copy">(running, next);
}

// native_batch_norm. Tensors: 0 x, 1 weight, 2 bias, 3 running_mean, 4 running_var; attributes: 0 training, 1 momentum,
// 2 eps.

void RunBatchNorm(Run& r) {
  const bool training = r.Bool("training");
  const Tensor x = InLayout(r.x("x"), LayoutOf(r.x("x")));
  const Tensor &mean = r.y(1), &rstd = r.y(2);
  if (training) {
    const Tensor variance = Tensor::Empty(mean.shape(), mean.dtype(), mean.device());
    if (x.numel() > 0) {
      kernels::ChannelMoments(r.ctx(), x.dtype(), r.out(1), variance.mutable_view(), x.view());
      const double count = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
      Follow(r.x("running_mean"), mean, r.Real("momentum"));
      Follow(r.x("running_var"), variance * (count / (count - 1)), r.Real("momentum"));
    } else {  // nothing came: there is nothing to follow, and the gradients of weight and bias are to be zeros
      for (const Tensor& moment : {mean, variance}) OpInto<"fill">(moment, moment, 0.0);
    }
    OpInto<"rsqrt">(rstd, variance + r.Real("eps"));
  } else {
    OpInto<"copy">(mean, r.x("running_mean"));
    OpInto<"rsqrt">(rstd, Op<"cast">(r.x("running_var"), rstd.dtype()) + r.Real("eps"));
  }
  kernels::ChannelAffine(r.ctx(), x.dtype(), r.out(0), x.view(), r.out(1), r.out(2), r.rows("weight"), r.rows("bias"));
}

Tensor AlongChannels(const Tensor& x, int ndim) {
  if (!x.defined()) return x;
  Dims shape = Dims::Filled(ndim, 1);
  shape[1] = x.numel();
  return Op<"reshape">(x, shape);
}

void BatchNormGradient(Grad& g) {
  RefuseStatistics(g);
  if (!g.dy().defined()) return;
  const Tensor &x = g.x("x"), &weight = g.x("weight");
  const bool training = g.Bool("training"), dweight = weight.defined() && g.needs("weight"), dbias = g.needs("bias");
  if (Door().grad_enabled) {
    NormShape shape;
    for (int i = 0; i < x.ndim(); ++i) {
      if (i != 1) shape.axes.push_back(i), shape.parameter_axes.push_back(i);
    }
    shape.eps = g.Real("eps");
    if (!training) {
      shape.mean = Op<"cast">(AlongChannels(g.y(1).Detach(), x.ndim()), x.dtype());
      shape.rstd = Op<"cast">(AlongChannels(g.y(2).Detach(), x.ndim()), x.dtype());
    }
    const auto all = DifferentiableNormGradients(g.dy(), x, AlongChannels(weight, x.ndim()), shape);
    g.dx("x", all.dx);
    if (dweight) g.dx("weight", Op<"reshape">(all.dweight, weight.shape()));
    if (dbias) g.dx("bias", Op<"reshape">(all.dbias, Dims{x.size(1)}));
    return;
  }
  const Tensors all =
      OpN<"batch_norm_backward">(g.dy(), x, g.y(1), g.y(2), weight, training, g.needs("x"), dweight, dbias);
  if (g.needs("x")) g.dx("x", all[0]);
  if (dweight) g.dx("weight", all[1]);
  if (dbias) g.dx("bias", all[2]);
}

[[maybe_unused]] const auto& native_batch_norm =
    DefineOp(
        "native_batch_norm(Tensor x, Tensor? weight, Tensor? bias, Tensor?! running_mean, Tensor?! running_var, bool "
        "training, float momentum, float eps) -> (Tensor out, Tensor mean, Tensor rstd)")
        .Doc("Batch normalization, with the mean and the reciprocal deviation it used.")
        .WritesWhen("training")
        .Infers([](Infer& i) {
          CheckInput(i, i.Bool("training"));
          SetLike(i, 0, i.x("x"));
          i.y(1, Dims{i.x("x").size(1)}, StatisticsDType(i.x("x").dtype()));
          i.y(2, Dims{i.x("x").size(1)}, StatisticsDType(i.x("x").dtype()));
        })
        .Runs(RunBatchNorm)
        .Gradient("x, weight, mean, rstd", BatchNormGradient);

[[maybe_unused]] const auto& batch_norm_backward =
    DefineOp(
        "batch_norm_backward(Tensor dy, Tensor x, Tensor mean, Tensor rstd, Tensor? weight, bool training, bool "
        "with_x, "
        "bool with_weight, bool with_bias) -> (Tensor dx, Tensor dweight, Tensor dbias)")
        .Doc("The gradients of batch normalization by input, weight and bias.")
        .Infers([](Infer& i) {
          const Tensor& x = i.x("x");
          if (!x.is_floating()) throw TypeError(i.name()).Got(x.dtype()).Expected("a floating dtype");
          if (x.ndim() < 2) throw ValueError(i.name()).Got("shape ", x.shape()).Expected("(batch, channels, ...)");
          RequireShape(i, "dy", x.shape(), x.dtype());
          RequireShape(i, "mean", Dims{x.size(1)}, StatisticsDType(x.dtype()));
          RequireShape(i, "rstd", Dims{x.size(1)}, StatisticsDType(x.dtype()));
          RequireShape(i, "weight", Dims{x.size(1)}, x.dtype());
          if (i.Bool("with_x")) {
            SetLike(i, 0, x);
          } else {
            i.y(0, Dims{0}, x.dtype());
          }
          i.y(1, Dims{i.Bool("with_weight") ? x.size(1) : 0}, x.dtype());
          i.y(2, Dims{i.Bool("with_bias") ? x.size(1) : 0}, x.dtype());
        })
        .Runs([](Run& r) {
          const Dims layout = LayoutOf(r.x("x"));
          const Tensor x = InLayout(r.x("x"), layout), dy = InLayout(r.x("dy"), layout);
          kernels::BatchNormBackward(r.ctx(), x.dtype(), r.Bool("with_x") ? r.out(0) : View{},
                                     r.Bool("with_weight") ? r.out(1) : View{}, r.Bool("with_bias") ? r.out(2) : View{},
                                     dy.view(), x.view(), r.rows("mean"), r.rows("rstd"), r.rows("weight"),
                                     r.Bool("training"));
        });

[[maybe_unused]] const auto& normalize_channels =
    DefineOp("normalize_channels(Tensor x, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias) -> Tensor")
        .Doc("What native_batch_norm makes of its input, by the mean and reciprocal deviation that it used.")
        .Infers([](Infer& i) {
          const Dims channels = CheckChannels(i);
          const DType statistics = StatisticsDType(i.x("x").dtype());
          RequireShape(i, "mean", channels, statistics);
          RequireShape(i, "rstd", channels, statistics);
          SetLike(i, 0, i.x("x"));
        })
        .Runs([](Run& r) {
          const Tensor x = InLayout(r.x("x"), LayoutOf(r.x("x")));
          kernels::ChannelAffine(r.ctx(), x.dtype(), r.out(0), x.view(), r.rows("mean"), r.rows("rstd"),
                                 r.rows("weight"), r.rows("bias"));
        })
        .NotDifferentiable();

[[maybe_unused]] const auto& batch_norm =
    DefineOp(
        "batch_norm(Tensor x, Tensor?! running_mean, Tensor?! running_var, Tensor? weight=None, Tensor? bias=None, "
        "bool "
        "training=False, float momentum=0.1, float eps=1e-5) -> Tensor")
        .Doc(
            "Normalise every channel (axis 1) over the batch, or by running statistics; scale by weight, shift by "
            "bias.")
        .WritesWhen("training")
        .As([](const CallReader& c) -> Tensors {
          return {Op<"native_batch_norm">(c.x("x"), ParameterLike(c, c.x("weight")), ParameterLike(c, c.x("bias")),
                                          c.x("running_mean"), c.x("running_var"), c.Bool("training"),
                                          c.Real("momentum"), c.Real("eps"))};
        });

/// Every sample's channels become channels of one sample. Running statistics follow the mean over samples.
Tensor InstanceNorm(const CallReader& c) {
  const Tensor& x = c.x("x");
  if (x.ndim() < 2) throw ValueError(c.name()).Got("shape ", x.shape()).Expected("(batch, channels, ...)");
  const int64_t batch = x.size(0), channels = x.size(1);
  if (!c.Bool("use_input_stats")) {
    return Op<"batch_norm">(x, c.x("running_mean"), c.x("running_var"), c.x("weight"), c.x("bias"), false,
                            c.Real("momentum"), c.Real("eps"));
  }
  if (std::all_of(x.shape().begin() + 2, x.shape().end(), [](int64_t size) { return size == 1; })) {
    throw ValueError(c.name()).Got("shape ", x.shape()).Expected("more than one value per channel");
  }
  if (x.numel() == 0)
    return Op<"batch_norm">(x, c.x("running_mean"), c.x("running_var"), c.x("weight"), c.x("bias"), true,
                            c.Real("momentum"), c.Real("eps"));
  Dims folded = x.shape();
  folded[0] = 1;
  folded[1] = batch * channels;
  const auto repeated = [&](const Tensor& t) {
    return t.defined() ? Op<"reshape">(Op<"expand">(t, Dims{batch, channels}), Dims{batch * channels}) : t;
  };
  const auto running = [&](const Tensor& t) { return t.defined() ? Op<"clone">(repeated(t.Detach())) : t; };
  const Tensor mean = running(c.x("running_mean")), variance = running(c.x("running_var"));
  const Tensor y = Op<"batch_norm">(Op<"reshape">(x, folded), mean, variance, repeated(c.x("weight")),
                                    repeated(c.x("bias")), true, c.Real("momentum"), c.Real("eps"));
  GradMode off(false);
  const auto keep = [&](const Tensor& to, const Tensor& from) {
    if (to.defined()) OpInto<"copy">(to, Op<"mean">(Op<"reshape">(from, Dims{batch, channels}), Dims{0}));
  };
  keep(c.x("running_mean"), mean);
  keep(c.x("running_var"), variance);
  return y;
}

[[maybe_unused]] const auto& instance_norm =
    DefineOp(
        "instance_norm(Tensor x, Tensor?! running_mean=None, Tensor?! running_var=None, Tensor? weight=None, Tensor? "
        "bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-5) -> Tensor")
        .Doc("Normalise every channel of every sample by itself.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor y = InstanceNorm(c);
          return {y.shape() == c.x("x").shape() ? y : Op<"reshape">(y, c.x("x").shape())};
        });

}  // namespace
}  // namespace dragon
