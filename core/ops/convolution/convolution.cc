// Convolution and its two adjoints: three bilinear operators whose gradients are each other, so any order exists.
#include "core/ops/convolution/geometry.h"

namespace dragon {
namespace {

using namespace windows;  // NOLINT: this file is about nothing else

Tensor ConjOf(const Tensor& x) { return x.is_complex() ? Op<"conj">(x) : x; }

/// One of the three operators with the strides, paddings, dilations and groups of this one, to the spatial size of what
/// its result is the gradient of.
template <OpName name, typename... Bias>
Tensor Adjoint(const Grad& g, const Tensor& a, const Tensor& b, const Tensor& like, Bias... bias) {
  return Op<name>(a, b, bias..., SpatialOf(like.shape()), g.attr("stride"), g.attr("padding"), g.attr("dilation"),
                  g.Int("groups"));
}

void BiasGradient(Grad& g) {
  if (!g.needs("bias")) return;
  Dims axes{0};
  for (int axis = 2; axis < g.dy().ndim(); ++axis) axes.push_back(axis);
  g.dx("bias", Op<"sum">(g.dy(), axes));
}

void InferForward(Infer& i) {
  const Tensor &x = i.x("x"), &w = i.x("weight");
  CheckDTypes(i);
  const int spatial = SpatialRank(i.name(), x);
  CheckGeometry(i, spatial);
  const int64_t groups = i.Int("groups");
  if (w.ndim() == x.ndim()) CheckChannels(i.name(), x.shape(), w.shape(), w.size(1) * groups);
  if (w.ndim() != x.ndim() || w.size(0) % groups != 0) {
    throw ValueError(i.name())
        .Got("x ", x.shape(), ", weight ", w.shape(), " and groups ", groups)
        .Expected("weight (O, C / groups, window...) for x (N, C, spatial...), groups dividing both");
  }
  CheckBias(i, w.size(0));
  SetImage(i, 0, ImageShape(x.size(0), w.size(0), i.Ints("size")), x.dtype(), LikesChannelsLast(x.dtype()));
}

[[maybe_unused]] const auto& forward =
    DefineOp(
        "conv_forward(Tensor x, Tensor weight, Tensor? bias, int[] size, int[] stride, int[] padding, int[] dilation, "
        "int groups) -> Tensor")
        .Doc("Convolution whose result has the spatial size given; padding after the last element follows from it.")
        .Batches(Batching::kSamples, "", "weight, bias")
        .Infers(InferForward)
        .Runs([](Run& r) {
          kernels::Conv(r.ctx(), r.dtype(), r.out(), r.in("x"), r.in("weight"), r.in("bias"),
                        GeometryOf(r, r.x("x").ndim() - 2), Activation::kNone);
        })
        .Gradient("x, weight", [](Grad& g) {
          const Tensor &x = g.x("x"), &w = g.x("weight"), &dy = g.dy();
          if (g.needs("x")) g.dx("x", Adjoint<"conv_backward_data">(g, dy, ConjOf(w), x, None));
          if (g.needs("weight")) g.dx("weight", Adjoint<"conv_backward_weights">(g, dy, ConjOf(x), w));
          BiasGradient(g);
        });

[[maybe_unused]] const auto& backward_data =
    DefineOp(
        "conv_backward_data(Tensor dy, Tensor weight, Tensor? bias, int[] size, int[] stride, int[] padding, int[] "
        "dilation, int groups) -> Tensor")
        .Doc("The adjoint of conv_forward in x: a transposed convolution onto the spatial size given, plus a bias.")
        .Batches(Batching::kSamples, "", "weight, bias")
        .Infers([](Infer& i) {
          const Tensor &dy = i.x("dy"), &w = i.x("weight");
          CheckDTypes(i);
          const int spatial = SpatialRank(i.name(), dy);
          CheckGeometry(i, spatial);
          if (w.ndim() == dy.ndim()) CheckChannels(i.name(), dy.shape(), w.shape(), w.size(0));
          if (w.ndim() != dy.ndim() || w.size(0) % i.Int("groups") != 0) {
            throw ValueError(i.name())
                .Got("x ", dy.shape(), ", weight ", w.shape(), " and groups ", i.Int("groups"))
                .Expected("weight (C, O / groups, window...) for x (N, C, spatial...), groups dividing C");
          }
          CheckBias(i, w.size(1) * i.Int("groups"));
          SetImage(i, 0, ImageShape(dy.size(0), w.size(1) * i.Int("groups"), i.Ints("size")), dy.dtype(),
                   LikesChannelsLast(dy.dtype()));
        })
        .Runs([](Run& r) {
          kernels::ConvBackwardData(r.ctx(), r.dtype(), r.out(), r.in("dy"), r.in("weight"), r.in("bias"),
                                    GeometryOf(r, r.x("dy").ndim() - 2));
        })
        .Gradient("dy, weight", [](Grad& g) {
          const Tensor &x = g.x("dy"), &w = g.x("weight"), &dy = g.dy();
          if (g.needs("dy")) g.dx("dy", Adjoint<"conv_forward">(g, dy, ConjOf(w), x, None));
          if (g.needs("weight")) g.dx("weight", Adjoint<"conv_backward_weights">(g, ConjOf(x), dy, w));
          BiasGradient(g);
        });

[[maybe_unused]] const auto& backward_weights =
    DefineOp(
        "conv_backward_weights(Tensor dy, Tensor x, int[] size, int[] stride, int[] padding, int[] dilation, int "
        "groups) "
        "-> Tensor")
        .Doc("The adjoint of conv_forward in its weight, of the window size given.")
        .Infers([](Infer& i) {
          const Tensor &dy = i.x("dy"), &x = i.x("x");
          CheckDTypes(i);
          const int spatial = SpatialRank(i.name(), x);
          CheckGeometry(i, spatial);
          const int64_t groups = i.Int("groups");
          const bool fits = dy.ndim() == x.ndim() && dy.size(0) == x.size(0);
          if (!fits || dy.size(1) % groups != 0 || x.size(1) % groups != 0) {
            throw ValueError(i.name())
                .Got("dy ", dy.shape(), ", x ", x.shape(), " and groups ", groups)
                .Expected("one batch size, and groups dividing the channels of both");
          }
          i.y(0, ImageShape(dy.size(1), x.size(1) / groups, i.Ints("size")), x.dtype());
        })
        .Runs([](Run& r) {
          kernels::ConvBackwardWeights(r.ctx(), r.dtype(), r.out(), View{}, r.in("dy"), r.in("x"),
                                       GeometryOf(r, r.x("dy").ndim() - 2));
        })
        .Gradient("dy, x", [](Grad& g) {
          const Tensor &dy = g.x("dy"), &x = g.x("x"), &dw = g.dy();
          if (g.needs("dy")) g.dx("dy", Adjoint<"conv_forward">(g, ConjOf(x), dw, dy, None));
          if (g.needs("x")) g.dx("x", Adjoint<"conv_backward_data">(g, ConjOf(dy), dw, x, None));
        });

// --- what users call

void CheckRanks(const CallReader& c, const Tensor& x, int spatial) {
  if (x.ndim() == spatial + 2 && c.x("weight").ndim() == spatial + 2) return;
  throw ValueError(c.name())
      .Got("x ", c.x("x").shape(), " and weight ", c.x("weight").shape())
      .Expected(spatial + 2, " axes each (or one less for x)");
}

Tensors Conv(const CallReader& c, const Tensor& x, int spatial, const Dims& after_given) {
  const char* who = c.name();
  const Tensor& w = c.x("weight");
  CheckRanks(c, x, spatial);
  const Dims stride = PerAxis(who, "stride", c.Ints("stride"), spatial, 1),
             dilation = PerAxis(who, "dilation", c.Ints("dilation"), spatial, 1);
  const Dims before = PerAxis(who, "padding", c.Ints("padding"), spatial, 0);
  const Dims after = after_given.empty() ? before : PerAxis(who, "padding_after", after_given, spatial, 0);
  Dims size;
  for (int i = 0; i < spatial; ++i) {
    const int64_t window = w.size(2 + i), reach = Reach(who, std::max<int64_t>(window, 1), dilation[i]);
    const int64_t padded = x.size(2 + i) + before[i] + after[i];
    if (window < 1 || padded < reach) {
      throw ValueError(who)
          .Got("a window of ", window, " (", reach, " with dilation) on ", padded, " padded elements of axis ", 2 + i)
          .Expected("a window that fits");
    }
    size.push_back((padded - reach) / stride[i] + 1);
  }
  return {Op<"conv_forward">(x, w, c.x("bias"), size, stride, before, dilation, c.Int("groups"))};
}

Tensors ConvTranspose(const CallReader& c, const Tensor& x, int spatial) {
  const char* who = c.name();
  const Tensor& w = c.x("weight");
  CheckRanks(c, x, spatial);
  const Dims stride = PerAxis(who, "stride", c.Ints("stride"), spatial, 1),
             padding = PerAxis(who, "padding", c.Ints("padding"), spatial, 0);
  const Dims extra = PerAxis(who, "output_padding", c.Ints("output_padding"), spatial, 0);
  const Dims dilation = PerAxis(who, "dilation", c.Ints("dilation"), spatial, 1);
  Dims size;
  for (int i = 0; i < spatial; ++i) {
    if (extra[i] >= stride[i] && extra[i] >= dilation[i]) {
      throw ValueError(who)
          .Got("output_padding ", extra)
          .Expected("less than stride ", stride, " or dilation ", dilation, " on each axis");
    }
    const int64_t reach = Reach(who, std::max<int64_t>(w.size(2 + i), 1), dilation[i]);
    int64_t steps;
    if (__builtin_mul_overflow(x.size(2 + i) - 1, stride[i], &steps) || steps > INT64_MAX / 4) {
      throw ValueError(who).Got("stride ", stride).Expected("a result whose size fits 64 bits");
    }
    size.push_back(steps - 2 * padding[i] + reach + extra[i]);
    if (x.size(2 + i) < 1 || w.size(2 + i) < 1 || size.back() < 1) {
      throw ValueError(who)
          .Got("x ", x.shape(), ", weight ", w.shape(), " and padding ", padding)
          .Expected("a result of at least one element on each axis");
    }
  }
  return {Op<"conv_backward_data">(x, w, c.x("bias"), size, stride, padding, dilation, c.Int("groups"))};
}

[[maybe_unused]] const auto& conv =
    DefineOp(
        "conv(Tensor x, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] dilation=1, int "
        "groups=1, int[1]? padding_after=None) -> Tensor")
        .Doc(
            "Convolve (N, C, spatial...) with (O, C / groups, window...) over 1 to 3 axes; padding may differ at the "
            "end.")
        .Autocast(Precision::kLower)
        .As([](const CallReader& c) {
          return Conv(c, c.x("x"), c.x("weight").ndim() - 2,
                      c.Given("padding_after") ? c.Ints("padding_after") : Dims());
        });

[[maybe_unused]] const auto& conv_transpose =
    DefineOp(
        "conv_transpose(Tensor x, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] "
        "output_padding=0, int groups=1, int[1] dilation=1) -> Tensor")
        .Doc("The adjoint of a convolution over 1 to 3 axes, from (N, C, spatial...) with (C, O / groups, window...).")
        .Autocast(Precision::kLower)
        .As([](const CallReader& c) { return ConvTranspose(c, c.x("x"), c.x("weight").ndim() - 2); });

/// conv1d, conv2d, conv3d and their transposes: the rank in the name, and images without a batch axis.
bool DefineRanks() {
  for (int spatial = 1; spatial <= kMaxSpatial; ++spatial) {
    const std::string n = std::to_string(spatial), ints = "int[" + n + "] ";
    DefineOp("conv" + n + "d(Tensor x, Tensor weight, Tensor? bias=None, " + ints + "stride=1, " + ints +
             "padding=0, " + ints + "dilation=1, int groups=1) -> Tensor")
        .Doc("Convolve (N, C, spatial...) or (C, spatial...) with (O, C / groups, window...).")
        .Autocast(Precision::kLower)
        .As([spatial](const CallReader& c) {
          return WithBatch(c.x("x"), spatial, [&](const Tensor& x) { return Conv(c, x, spatial, {}); });
        });
    DefineOp("conv_transpose" + n + "d(Tensor x, Tensor weight, Tensor? bias=None, " + ints + "stride=1, " + ints +
             "padding=0, " + ints + "output_padding=0, int groups=1, " + ints + "dilation=1) -> Tensor")
        .Doc(
            "The adjoint of a convolution, from (N, C, spatial...) or (C, spatial...) with (C, O / groups, window...).")
        .Autocast(Precision::kLower)
        .As([spatial](const CallReader& c) {
          return WithBatch(c.x("x"), spatial, [&](const Tensor& x) { return ConvTranspose(c, x, spatial); });
        });
  }
  return true;
}
[[maybe_unused]] const bool ranks = DefineRanks();

}  // namespace
}  // namespace dragon
