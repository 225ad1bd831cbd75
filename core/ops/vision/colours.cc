// Colours of pictures (..., C, H, W) changed in one pass.
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/vision.h"

namespace dragon {
namespace {

constexpr struct {
  const char* name;
  ColourBlend blend;
} kBlends[] = {{"black", ColourBlend::kBlack}, {"grey", ColourBlend::kGrey}, {"mean", ColourBlend::kMean}};

ColourBlend BlendOf(const CallReader& c) {
  const std::string& name = c.String("other");
  for (const auto& known : kBlends) {
    if (name == known.name) return known.blend;
  }
  throw ValueError(c.name()).Got("other '", name, "'").Expected("black, grey or mean");
}

/// Pictures come out as they came in: of bytes, or of one float dtype.
void InferColours(Infer& i, bool one_channel_too) {
  const Tensor& x = i.x(0);
  if (x.dtype() != DType::kUInt8 && x.dtype() != DType::kFloat32) {
    throw TypeError(i.name()).Got("x of dtype ", x.dtype()).Expected("uint8 or float32");
  }
  const int64_t channels = x.ndim() < 3 ? 0 : x.size(x.ndim() - 3);
  if (channels != 3 && !(channels == 1 && one_channel_too)) {
    throw ValueError(i.name())
        .Got("shape ", x.shape())
        .Expected("(..., C, H, W) with ", one_channel_too ? "1 or 3" : "3", " channels");
  }
  i.y(0, x.shape(), x.dtype());
}

[[maybe_unused]] const auto& blend_colours =
    DefineOp("blend_colours(Tensor x, float ratio, str other) -> Tensor")
        .Doc("Pictures times `ratio`, and black, their grey or its mean times what is left of 1; kept within range.")
        .Infers([](Infer& i) {
          const bool grey = BlendOf(i) == ColourBlend::kGrey;
          InferColours(i, /*one_channel_too=*/!grey);
        })
        .Runs(
            [](Run& r) { kernels::BlendColours(r.ctx(), r.dtype(), r.out(), r.rows(0), r.Real("ratio"), BlendOf(r)); })
        .NotDifferentiable();

[[maybe_unused]] const auto& turn_hue =
    DefineOp("turn_hue(Tensor x, float turn) -> Tensor")
        .Doc("Pictures whose hues are turned by a share of the circle.")
        .Infers([](Infer& i) { InferColours(i, /*one_channel_too=*/false); })
        .Runs([](Run& r) { kernels::TurnHue(r.ctx(), r.dtype(), r.out(), r.rows(0), r.Real("turn")); })
        .NotDifferentiable();

[[maybe_unused]] const auto& standardize =
    DefineOp("standardize(Tensor x, float[] mean, float[] deviation) -> Tensor")
        .Doc("Pictures, each channel's mean taken off and divided by its deviation; one of each serves all channels.")
        .Infers([](Infer& i) {
          const Tensor& x = i.x(0);
          if (x.dtype() != DType::kFloat32 && x.dtype() != DType::kFloat64) {
            throw TypeError(i.name()).Got("x of dtype ", x.dtype()).Expected("float32 or float64");
          }
          if (x.ndim() < 3) throw ValueError(i.name()).Got("shape ", x.shape()).Expected("(..., C, H, W)");
          const size_t means = i.attr("mean").doubles().size(), deviations = i.attr("deviation").doubles().size();
          const auto channels = static_cast<size_t>(x.size(x.ndim() - 3));
          if ((means != 1 && means != channels) || (deviations != 1 && deviations != channels)) {
            throw ValueError(i.name())
                .Got(means, " means and ", deviations, " deviations")
                .Expected("1 or ", channels, ", the channels");
          }
          i.y(0, x.shape(), x.dtype());
        })
        .Runs([](Run& r) {
          const auto& mean = r.attr("mean").doubles();
          kernels::Standardize(r.ctx(), r.dtype(), r.out(), r.rows(0), mean, r.attr("deviation").doubles());
        })
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
