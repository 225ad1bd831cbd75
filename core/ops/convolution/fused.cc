// A convolution with bias, residual and activation as one call: what passes make of the four.
#include "core/ops/fused.h"

#include "core/ops/convolution/geometry.h"

namespace dragon {
namespace {

using namespace windows;  // NOLINT: this file is about nothing else

constexpr int kTail = 5;  // attributes before the tail's: size, stride, padding, dilation, groups

void InferConvFused(Infer& i) {
  const Tensor& x = i.x(0);
  const int spatial = SpatialRank(i.name(), x);
  CheckGeometry(i, spatial);
  fused::CheckTail(i, kTail, x.ndim());
  const Dims& w = fused::WeightShapeOf(i, kTail);
  const int64_t groups = i.Int(4);
  if (w[1] * groups != x.size(1) || w[0] % groups != 0) {
    throw ValueError(i.name())
        .Got("x ", x.shape(), ", weight ", w, " and groups ", groups)
        .Expected("weight (O, C / groups, window...) for x (N, C, spatial...), groups dividing both");
  }
  CheckBias(i, w[0]);
  const Dims shape = ImageShape(x.size(0), w[0], i.Ints(0));
  fused::CheckResidual(i, shape);
  SetImage(i, 0, shape, x.dtype(), LikesChannelsLast(x.dtype()));
}

void RunConvFused(Run& r) {
  const ConvGeometry geometry = GeometryOf(r, r.x(0).ndim() - 2);
  const FusedTail tail = fused::TailOf(r, kTail, r.in(3));
  if (kernels::ConvFusedOneDnn.Has(r.ctx().device.type, r.dtype())) {
    bool done = false;
    kernels::ConvFusedOneDnn(r.ctx(), r.dtype(), r.out(), r.in(0), fused::WeightOf(r, kTail).view, r.in(2), geometry,
                             tail, fused::LayoutOf(r, kTail), &done);
    if (done) return;
  }
  const fused::PlainWeight weight(r, kTail, geometry.groups);
  kernels::Conv(r.ctx(), r.dtype(), r.out(), r.in(0), weight.view(), r.in(2), geometry, Activation::kNone);
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

}  // namespace
}  // namespace dragon
