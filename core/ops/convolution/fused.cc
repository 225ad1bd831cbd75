// A convolution with bias, residual and activation as one call: what passes make of the four.
#include "core/ops/fused.h"

#include "core/ops/convolution/geometry.h"

namespace dragon {
namespace {

using namespace windows;  // NOLINT: this file is about nothing else

void InferConvFused(Infer& i) {
  const Tensor& x = i.x("x");
  const int spatial = SpatialRank(i.name(), x);
  CheckGeometry(i, spatial);
  fused::CheckTail(i, x.ndim());
  const Dims& w = fused::WeightShapeOf(i);
  const int64_t groups = i.Int("groups");
  CheckChannels(i.name(), x.shape(), w, w[1] * groups);
  if (w[0] % groups != 0) {
    throw ValueError(i.name())
        .Got("x ", x.shape(), ", weight ", w, " and groups ", groups)
        .Expected("weight (O, C / groups, window...) for x (N, C, spatial...), groups dividing both");
  }
  CheckBias(i, w[0]);
  const Dims shape = ImageShape(x.size(0), w[0], i.Ints("size"));
  fused::CheckResidual(i, shape);
  SetImage(i, 0, shape, x.dtype(), LikesChannelsLast(x.dtype()));
}

void RunConvFused(Run& r) {
  const ConvGeometry geometry = GeometryOf(r, r.x("x").ndim() - 2);
  const FusedTail tail = fused::TailOf(r, r.in("residual"));
  if (kernels::ConvFusedOneDnn.Has(r.ctx().device.type, r.dtype())) {
    bool done = false;
    kernels::ConvFusedOneDnn(r.ctx(), r.dtype(), r.out(), r.in("x"), fused::WeightOf(r).view, r.in("bias"), geometry,
                             tail, fused::LayoutOf(r), &done);
    if (done) return;
  }
  const fused::PlainWeight weight(r, geometry.groups);
  kernels::Conv(r.ctx(), r.dtype(), r.out(), r.in("x"), weight.view(), r.in("bias"), geometry, Activation::kNone);
  fused::RunTail(r, tail);
}

[[maybe_unused]] const auto& conv_fused =
    DefineOp(
        std::string("conv_fused(Tensor x, Tensor weight, Tensor? bias, Tensor? residual, int[] size, int[] stride, "
                    "int[] padding, int[] dilation, int groups, ") +
        fused::kTailArguments + ") -> Tensor")
        .Doc(
            "activation(conv_forward(x, weight, bias) + residual). With a weight_layout, weight is the memory of "
            "weights of weight_shape arranged so.")
        .Infers(InferConvFused)
        .Runs(RunConvFused)
        .NotDifferentiable();

/// The arrangement as letters, and the weights so arranged; both empty where nothing is gained.
void RunPackConv(Run& r) {
  const Tensor& w = r.x(0);
  const Dims& x_shape = r.Ints("x_shape");
  const int spatial = SpatialRank(r.name(), w);
  CheckGeometry(r, spatial);
  const int64_t groups = r.Int("groups");
  if (x_shape.size() != w.ndim() || w.size(1) * groups != x_shape[1] || w.size(0) % groups != 0) {
    throw ValueError(r.name()).Got("x ", x_shape, ", weight ", w.shape(), " and groups ", groups).Expected("a fit");
  }
  // Sizes beyond 32 bits, whose products wrap around, are not for oneDNN to see.
  const auto is_huge = [](int64_t size) { return size < 0 || size > INT32_MAX; };
  if (std::any_of(x_shape.begin(), x_shape.end(), is_huge)) return fused::SetPacked(r, groups, WeightLayout{});
  const Dims y_shape = ImageShape(x_shape[0], w.size(0), r.Ints("size"));
  const OwnedView x(nullptr, w.dtype(), x_shape, ChannelsLastStrides(x_shape));
  const OwnedView y(nullptr, w.dtype(), y_shape, ChannelsLastStrides(y_shape));
  const OwnedView bias(nullptr, w.dtype(), {w.size(0)}, {1});
  const FusedTail tail{r.Bool("residual") ? y.view : View{}, fused::ActivationOf(r).kind, r.Real("alpha"),
                       r.Real("beta")};
  WeightLayout layout;
  if (kernels::ConvLayout.Has(r.ctx().device.type, w.dtype())) {
    kernels::ConvLayout(r.ctx(), w.dtype(), y.view, x.view, r.in(0), r.Bool("bias") ? bias.view : View{},
                        GeometryOf(r, spatial), tail, &layout);
  }
  fused::SetPacked(r, groups, layout);
}

[[maybe_unused]] const auto& pack_conv_weight =
    DefineOp(
        "pack_conv_weight(Tensor weight, int[] size, int[] stride, int[] padding, int[] dilation, int groups, int[] "
        "x_shape, bool bias, bool residual, str activation=\"none\", float alpha=0.0, float beta=0.0) -> (Tensor "
        "packed, Tensor layout)")
        .Doc("The weight arranged as conv_fused reads it fastest, and that layout's letters; both empty if as it is.")
        .Dynamic()
        .Runs(RunPackConv)
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
