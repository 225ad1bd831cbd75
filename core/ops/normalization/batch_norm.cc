// Batch norm, row-major or channels-last, and instance norm, which is batch norm of every sample by itself.
#include <algorithm>

#include "core/kernels/normalization.h"
#include "core/ops/normalization/norm.h"

namespace dragon {
namespace {

View ViewOrNone(const Tensor& x) { return x.defined() ? x.view() : View{}; }
Tensor RowMajor(const Tensor& x) { return !x.defined() || x.is_contiguous() ? x : Op<"to_row_major">(x); }

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

void CheckInput(const CallReader& c, bool training) {
  RequireFloating(c);
  const Dims& shape = c.x(0).shape();
  if (shape.size() < 2) throw ValueError(c.name()).Got("shape ", shape).Expected("(batch, channels, ...)");
  for (int slot = 1; slot <= 2; ++slot) RequireShape(c, slot, Dims{shape[1]}, c.x(0).dtype());
  for (int slot = 3; slot <= 4; ++slot) CheckParameter(c, slot, Dims{shape[1]});
  if (training && c.x(0).numel() == shape[1] && shape[1] > 0) {
    throw ValueError(c.name()).Got("shape ", shape).Expected("more than one value per channel when training");
  }
  if (!training && (!c.has(3) || !c.has(4))) {
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
  const bool training = r.Bool(0);
  const Tensor x = InLayout(r.x(0), LayoutOf(r.x(0))), weight = RowMajor(r.x(1)), bias = RowMajor(r.x(2));
  const Tensor &mean = r.y(1), &rstd = r.y(2);
  if (training) {
    const Tensor variance = Tensor::Empty(mean.shape(), mean.dtype(), mean.device());
    if (x.numel() > 0) {
      kernels::ChannelMoments(r.ctx(), x.dtype(), r.out(1), variance.mutable_view(), x.view());
      const double count = static_cast<double>(x.numel()) / static_cast<double>(x.size(1));
      Follow(r.x(3), mean, r.Real(1));
      Follow(r.x(4), variance * (count / (count - 1)), r.Real(1));
    } else {  // nothing came: there is nothing to follow, and the gradients of weight and bias are to be zeros
      for (const Tensor& moment : {mean, variance}) OpInto<"fill">(moment, moment, 0.0);
    }
    OpInto<"rsqrt">(rstd, variance + r.Real(2));
  } else {
    OpInto<"copy">(mean, r.x(3));
    OpInto<"rsqrt">(rstd, Op<"cast">(r.x(4), rstd.dtype()) + r.Real(2));
  }
  kernels::ChannelAffine(r.ctx(), x.dtype(), r.out(0), x.view(), r.out(1), r.out(2), ViewOrNone(weight),
                         ViewOrNone(bias));
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
  const Tensor &x = g.x(0), &weight = g.x(1);
  const bool training = g.Bool(0), dweight = weight.defined() && g.needs(1), dbias = g.needs(2);
  if (Door().grad_enabled) {
    NormShape shape;
    for (int i = 0; i < x.ndim(); ++i) {
      if (i != 1) shape.axes.push_back(i), shape.parameter_axes.push_back(i);
    }
    shape.eps = g.Real(2);
    if (!training) {
      shape.mean = Op<"cast">(AlongChannels(g.y(1).Detach(), x.ndim()), x.dtype());
      shape.rstd = Op<"cast">(AlongChannels(g.y(2).Detach(), x.ndim()), x.dtype());
    }
    const auto all = DifferentiableNormGradients(g.dy(), x, AlongChannels(weight, x.ndim()), shape);
    g.dx(0, all.dx);
    if (dweight) g.dx(1, Op<"reshape">(all.dweight, weight.shape()));
    if (dbias) g.dx(2, Op<"reshape">(all.dbias, Dims{x.size(1)}));
    return;
  }
  const Tensors all =
      OpN<"batch_norm_backward">(g.dy(), x, g.y(1), g.y(2), weight, training, g.needs(0), dweight, dbias);
  if (g.needs(0)) g.dx(0, all[0]);
  if (dweight) g.dx(1, all[1]);
  if (dbias) g.dx(2, all[2]);
}

[[maybe_unused]] const auto& native_batch_norm =
    DefineOp(
        "native_batch_norm(Tensor x, Tensor? weight, Tensor? bias, Tensor?! running_mean, Tensor?! running_var, bool "
        "training, float momentum, float eps) -> (Tensor out, Tensor mean, Tensor rstd)")
        .Doc("Batch normalization, with the mean and the reciprocal deviation it used.")
        .WritesWhen("training")
        .Infers([](Infer& i) {
          CheckInput(i, i.Bool(0));
          SetLike(i, 0, i.x(0));
          i.y(1, Dims{i.x(0).size(1)}, StatisticsDType(i.x(0).dtype()));
          i.y(2, Dims{i.x(0).size(1)}, StatisticsDType(i.x(0).dtype()));
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
          const Tensor& x = i.x(1);
          if (!x.is_floating()) throw TypeError(i.name()).Got(x.dtype()).Expected("a floating dtype");
          if (x.ndim() < 2) throw ValueError(i.name()).Got("shape ", x.shape()).Expected("(batch, channels, ...)");
          RequireShape(i, 0, x.shape(), x.dtype());
          RequireShape(i, 2, Dims{x.size(1)}, StatisticsDType(x.dtype()));
          RequireShape(i, 3, Dims{x.size(1)}, StatisticsDType(x.dtype()));
          RequireShape(i, 4, Dims{x.size(1)}, x.dtype());
          if (i.Bool(1)) {
            SetLike(i, 0, x);
          } else {
            i.y(0, Dims{0}, x.dtype());
          }
          i.y(1, Dims{i.Bool(2) ? x.size(1) : 0}, x.dtype());
          i.y(2, Dims{i.Bool(3) ? x.size(1) : 0}, x.dtype());
        })
        .Runs([](Run& r) {
          const Dims layout = LayoutOf(r.x(1));
          const Tensor x = InLayout(r.x(1), layout), dy = InLayout(r.x(0), layout);
          const Tensor mean = r.Contiguous(2), rstd = r.Contiguous(3), weight = RowMajor(r.x(4));
          kernels::BatchNormBackward(r.ctx(), x.dtype(), r.Bool(1) ? r.out(0) : View{}, r.Bool(2) ? r.out(1) : View{},
                                     r.Bool(3) ? r.out(2) : View{}, dy.view(), x.view(), mean.view(), rstd.view(),
                                     ViewOrNone(weight), r.Bool(0));
        });

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
          return {Op<"native_batch_norm">(c.x(0), ParameterLike(c, c.x(3)), ParameterLike(c, c.x(4)), c.x(1), c.x(2),
                                          c.Bool(0), c.Real(1), c.Real(2))};
        });

/// Every sample's channels become channels of one sample. Running statistics follow the mean over samples.
Tensor InstanceNorm(const CallReader& c) {
  const Tensor& x = c.x(0);
  if (x.ndim() < 2) throw ValueError(c.name()).Got("shape ", x.shape()).Expected("(batch, channels, ...)");
  const int64_t batch = x.size(0), channels = x.size(1);
  if (!c.Bool(0)) {
    return Op<"batch_norm">(x, c.x(1), c.x(2), c.x(3), c.x(4), false, c.Real(1), c.Real(2));
  }
  if (std::all_of(x.shape().begin() + 2, x.shape().end(), [](int64_t size) { return size == 1; })) {
    throw ValueError(c.name()).Got("shape ", x.shape()).Expected("more than one value per channel");
  }
  if (x.numel() == 0) return Op<"batch_norm">(x, c.x(1), c.x(2), c.x(3), c.x(4), true, c.Real(1), c.Real(2));
  Dims folded = x.shape();
  folded[0] = 1;
  folded[1] = batch * channels;
  const auto repeated = [&](const Tensor& t) {
    return t.defined() ? Op<"reshape">(Op<"expand">(t, Dims{batch, channels}), Dims{batch * channels}) : t;
  };
  const auto running = [&](const Tensor& t) { return t.defined() ? Op<"clone">(repeated(t.Detach())) : t; };
  const Tensor mean = running(c.x(1)), variance = running(c.x(2));
  const Tensor y = Op<"batch_norm">(Op<"reshape">(x, folded), mean, variance, repeated(c.x(3)), repeated(c.x(4)), true,
                                    c.Real(1), c.Real(2));
  GradMode off(false);
  const auto keep = [&](const Tensor& to, const Tensor& from) {
    if (to.defined()) OpInto<"copy">(to, Op<"mean">(Op<"reshape">(from, Dims{batch, channels}), Dims{0}));
  };
  keep(c.x(1), mean);
  keep(c.x(2), variance);
  return y;
}

[[maybe_unused]] const auto& instance_norm =
    DefineOp(
        "instance_norm(Tensor x, Tensor?! running_mean=None, Tensor?! running_var=None, Tensor? weight=None, Tensor? "
        "bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-5) -> Tensor")
        .Doc("Normalise every channel of every sample by itself.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor y = InstanceNorm(c);
          return {y.shape() == c.x(0).shape() ? y : Op<"reshape">(y, c.x(0).shape())};
        });

}  // namespace
}  // namespace dragon
