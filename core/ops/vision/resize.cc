// Resizing images: interpolate in all its modes.
#include <cmath>

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/vision.h"
#include "core/ops/convolution/windows.h"

namespace dragon {
namespace {

/// A mode's name, which for linear and cubic also says how many axes are resized.
struct ModeName {
  const char* name;
  ResampleMode mode;
  int axes;  ///< 0: any
};
constexpr ModeName kModes[] = {
    {"nearest", ResampleMode::kNearest, 0},  {"nearest-exact", ResampleMode::kNearestExact, 0},
    {"linear", ResampleMode::kLinear, 1},    {"bilinear", ResampleMode::kLinear, 2},
    {"trilinear", ResampleMode::kLinear, 3}, {"bicubic", ResampleMode::kCubic, 2},
    {"area", ResampleMode::kArea, 0},        {"lanczos", ResampleMode::kLanczosAntialias, 2},
};
/// TensorFlow's ways, for any number of axes; nobody finds them by the names of PyTorch's.
constexpr ModeName kCenteredModes[] = {
    {"nearest-center", ResampleMode::kNearestCenter, 0},
    {"triangle", ResampleMode::kTriangle, 0},
    {"keys", ResampleMode::kKeys, 0},
    {"mitchell", ResampleMode::kMitchell, 0},
    {"gaussian", ResampleMode::kGaussian, 0},
    {"lanczos3", ResampleMode::kLanczos3, 0},
    {"lanczos5", ResampleMode::kLanczos5, 0},
    {"coverage", ResampleMode::kCoverage, 0},
    {"lanczos1", ResampleMode::kLanczos1, 0},
    {"box", ResampleMode::kBox, 0},
};

bool HasCorners(ResampleMode mode) { return mode == ResampleMode::kLinear || mode == ResampleMode::kCubic; }

ResampleMode FindMode(const CallReader& c, const std::string& name, int axes, bool antialias) {
  for (const ModeName& known : kModes) {
    if (name != known.name) continue;
    if (known.axes != 0 && known.axes != axes) {
      throw ValueError(c.name())
          .Got("mode '", name, "' for ", axes, " axes")
          .Expected(known.axes, " axes after N and C");
    }
    if (known.mode == ResampleMode::kLanczosAntialias || !antialias) return known.mode;
    if (known.mode == ResampleMode::kLinear && axes == 2) return ResampleMode::kLinearAntialias;
    if (known.mode == ResampleMode::kCubic) return ResampleMode::kCubicAntialias;
    throw ValueError(c.name()).Got("antialias=True in mode '", name, "'").Expected("mode bilinear or bicubic");
  }
  throw ValueError(c.name())
      .Got("mode '", name, "'")
      .Expected("nearest, nearest-exact, linear, bilinear, trilinear, bicubic, lanczos or area");
}

/// Attributes of resample and its gradient: a list of sizes, scales, mode, align_corners, antialias.
ResampleSpec SpecOf(const CallReader& c, int axes) {
  for (const ModeName& known : kCenteredModes) {
    if (c.String("mode") == known.name) return {known.mode, /*align_corners=*/false, c.Bool("antialias")};
  }
  ResampleSpec spec{FindMode(c, c.String("mode"), axes, c.Bool("antialias")), c.Bool("align_corners")};
  const auto& scales = c.attr("scales").doubles();
  for (int i = 0; i < axes && i < static_cast<int>(scales.size()); ++i) spec.scales[i] = scales[i];
  return spec;
}

void CheckImage(const CallReader& c, const Tensor& x, bool bytes_too) {
  if (x.ndim() < 3 || x.ndim() > 5) {
    throw ValueError(c.name()).Got("a tensor of shape ", x.shape()).Expected("3 to 5 axes: N, C and what is resized");
  }
  if (!IsFloating(x.dtype()) && !(bytes_too && x.dtype() == DType::kUInt8)) {
    throw TypeError(c.name()).Got("x of dtype ", x.dtype()).Expected("a float dtype", bytes_too ? " or uint8" : "");
  }
}

void CheckSizes(const CallReader& c, const Tensor& x, const Dims& sizes) {
  if (sizes.size() != x.ndim() - 2) {
    throw ValueError(c.name()).Got("size ", sizes, " for shape ", x.shape()).Expected(x.ndim() - 2, " sizes");
  }
  for (int i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || x.shape()[i + 2] < 1) {
      throw ValueError(c.name()).Got("sizes ", sizes, " from shape ", x.shape()).Expected("sizes of at least 1");
    }
  }
}

/// Images in the sizes that the call gives, on the way there as on the way back.
void InferResized(Infer& i, bool bytes_too) {
  const Tensor& x = i.x(0);
  CheckImage(i, x, bytes_too);
  CheckSizes(i, x, i.Ints("size"));
  SpecOf(i, x.ndim() - 2);
  Dims image{x.size(0), x.size(1)};
  for (int64_t size : i.Ints("size")) image.push_back(size);
  windows::SetImage(i, 0, image, x.dtype(), windows::HasChannelsLast(x));
}

/// Call `kernel` with images in the order that their result was declared in.
template <typename Kernel>
void RunResize(Run& r, const Kernel& kernel, const ResampleSpec& spec) {
  const Tensor& x = r.x(0);
  if (!windows::HasChannelsLast(r.y())) return kernel(r.ctx(), r.dtype(), r.out(), r.rows(0), spec);
  if (windows::HasChannelsLast(x)) return kernel(r.ctx(), r.dtype(), r.out(), r.in(0), spec);
  const Tensor turned = Op<"moveaxis">(Op<"contiguous">(Op<"moveaxis">(x, Dims{1}, Dims{-1})), Dims{-1}, Dims{1});
  kernel(r.ctx(), r.dtype(), r.out(), turned.view(), spec);
}

/// The operation is linear: either way's gradient is the other way, back to the sizes that came.
template <OpName other>
void ResizeBack(Grad& g) {
  const Dims& shape = g.x_shape(0);
  const Dims sizes(shape.data() + 2, shape.size() - 2);
  g.dx(0, Op<other>(g.dy(), sizes, g.attr("scales"), g.attr("mode"), g.Bool("align_corners"), g.Bool("antialias")));
}

[[maybe_unused]] const auto& resample =
    DefineOp(
        "resample(Tensor x, int[] size, float[] scales, str mode=\"nearest\", bool align_corners=False, bool "
        "antialias=False) -> Tensor")
        .Doc("Images resized to `size`; a scale that is not 0 says how far apart the results are.")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) { InferResized(i, /*bytes_too=*/true); })
        .Runs([](Run& r) { RunResize(r, kernels::Interpolate, SpecOf(r, r.x(0).ndim() - 2)); })
        .Gradient("", ResizeBack<"resample_backward">);

[[maybe_unused]] const auto& resample_backward =
    DefineOp(
        "resample_backward(Tensor dy, int[] size, float[] scales, str mode, bool align_corners, bool antialias) -> "
        "Tensor")
        .Doc("The gradient of resample's input, whose images had sizes `size`.")
        .Infers([](Infer& i) { InferResized(i, /*bytes_too=*/false); })
        .Runs([](Run& r) { RunResize(r, kernels::InterpolateBackward, SpecOf(r, r.x(0).ndim() - 2)); })
        .Gradient("", ResizeBack<"resample">);

bool IsKernel(ResampleMode mode) { return mode >= ResampleMode::kTriangle && mode != ResampleMode::kCoverage; }

ResampleMode KernelModeOf(const CallReader& c) {
  for (const ModeName& known : kCenteredModes) {
    if (c.String("mode") == known.name && IsKernel(known.mode)) return known.mode;
  }
  throw ValueError(c.name())
      .Got("mode '", c.String("mode"), "'")
      .Expected("triangle, keys, mitchell, gaussian, lanczos1, lanczos3, lanczos5 or box");
}

/// Images in the sizes that the call gives, and a scale and a way for each axis.
void InferPlaced(Infer& i) {
  const Tensor& x = i.x(0);
  CheckImage(i, x, /*bytes_too=*/false);
  CheckSizes(i, x, i.Ints("size"));
  const auto check = [&](const char* name, const Tensor& given) {
    if (given.dtype() == DType::kFloat32 && given.ndim() == 1 && given.size(0) == x.ndim() - 2) return;
    throw ValueError(i.name())
        .Got(name, " of ", given.dtype(), " and shape ", given.shape())
        .Expected("float32, a number for each of ", x.ndim() - 2, " axes");
  };
  check("scale", i.x("scale"));
  check("translation", i.x("translation"));
  KernelModeOf(i);
  Dims image{x.size(0), x.size(1)};
  for (int64_t size : i.Ints("size")) image.push_back(size);
  windows::SetImage(i, 0, image, x.dtype(), windows::HasChannelsLast(x));
}

ResampleSpec PlacedSpecOf(Run& r) {
  ResampleSpec spec{KernelModeOf(r), /*align_corners=*/false, r.Bool("antialias")};
  spec.placed = true;
  // The host makes the weights, so it waits for a device that holds a few numbers of these.
  const auto here = [](const Tensor& given) {
    return given.device().is_cpu() ? given : Op<"to_device">(given, Device{});
  };
  const Tensor scale = here(r.Contiguous("scale")), translation = here(r.Contiguous("translation"));
  for (int64_t axis = 0; axis < scale.size(0); ++axis) {
    spec.scales[axis] = scale.view().as<float>()[axis], spec.moves[axis] = translation.view().as<float>()[axis];
  }
  return spec;
}

/// Either way's gradient of images is the other way; scales and ways have none, as in TensorFlow.
template <OpName other>
void PlacedBack(Grad& g) {
  const Dims& shape = g.x_shape(0);
  const Dims sizes(shape.data() + 2, shape.size() - 2);
  g.dx(0, Op<other>(g.dy(), g.x("scale"), g.x("translation"), sizes, g.attr("mode"), g.Bool("antialias")));
}

[[maybe_unused]] const auto& scale_and_translate =
    DefineOp(
        "scale_and_translate(Tensor x, Tensor scale, Tensor translation, int[] size, str mode=\"triangle\", bool "
        "antialias=True) -> Tensor")
        .Doc(
            "Images (N, C, ...) whose place p comes to lie at p * scale + translation, in results of `size`; what is "
            "outside of an image is 0. Gradients are those of x alone.")
        .Infers(InferPlaced)
        .Runs([](Run& r) { RunResize(r, kernels::Interpolate, PlacedSpecOf(r)); })
        .Gradient("scale, translation", PlacedBack<"scale_and_translate_backward">);

[[maybe_unused]] const auto& scale_and_translate_backward =
    DefineOp(
        "scale_and_translate_backward(Tensor dy, Tensor scale, Tensor translation, int[] size, str mode, bool "
        "antialias) -> Tensor")
        .Doc("The gradient of scale_and_translate's images, which had sizes `size`.")
        .Infers(InferPlaced)
        .Runs([](Run& r) { RunResize(r, kernels::InterpolateBackward, PlacedSpecOf(r)); })
        .Gradient("scale, translation", PlacedBack<"scale_and_translate">);

/// Sizes from `size` or from `scale_factor`, one for all axes or one each.
struct Target {
  Dims sizes;
  std::vector<double> scales;
};

Target TargetOf(const CallReader& c, const Tensor& x) {
  const int axes = x.ndim() - 2;
  if (c.Given("size") == c.Given("scale_factor")) {
    throw ValueError(c.name())
        .Got(c.Given("size") ? "both" : "neither", " size and scale_factor")
        .Expected("one of them");
  }
  Target target;
  target.scales.assign(axes, 0);
  if (c.Given("size")) {
    target.sizes = c.Ints("size").size() == 1 ? Dims::Filled(axes, c.Ints("size")[0]) : c.Ints("size");
    return target;
  }
  const auto& factors = c.attr("scale_factor").doubles();
  if (factors.size() != 1 && static_cast<int>(factors.size()) != axes) {
    throw ValueError(c.name()).Got(factors.size(), " scale factors").Expected("1 or ", axes);
  }
  // Recomputed, the scale is that of the rounded sizes, not the one given.
  const bool recompute = c.Given("recompute_scale_factor") && c.Bool("recompute_scale_factor");
  for (int i = 0; i < axes; ++i) {
    const double factor = factors.size() == 1 ? factors[0] : factors[i];
    const double size = std::floor(static_cast<double>(x.shape()[i + 2]) * factor);
    if (!(factor > 0) || !(size < 9e15)) {
      throw ValueError(c.name()).Got("scale factor ", factor).Expected("a positive number that leaves a size");
    }
    target.sizes.push_back(static_cast<int64_t>(size));
    if (!recompute) target.scales[i] = factor;
  }
  return target;
}

[[maybe_unused]] const auto& interpolate =
    DefineOp(
        "interpolate(Tensor x, int[]? size=None, float[]? scale_factor=None, str mode=\"nearest\", bool? "
        "align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor")
        .Doc("Images (N, C, ...) resized to sizes or by factors.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          CheckImage(c, x, /*bytes_too=*/true);
          const Target target = TargetOf(c, x);
          CheckSizes(c, x, target.sizes);
          const ResampleMode mode = FindMode(c, c.String("mode"), x.ndim() - 2, /*antialias=*/false);
          if (c.Given("align_corners") && !HasCorners(mode)) {
            throw ValueError(c.name())
                .Got("align_corners in mode '", c.String("mode"), "'")
                .Expected("None, or mode linear, bilinear, bicubic or trilinear");
          }
          const bool corners = c.Given("align_corners") && c.Bool("align_corners");
          return {Op<"resample">(x, target.sizes, Value(target.scales), c.attr("mode"), corners, c.Bool("antialias"))};
        });

}  // namespace
}  // namespace dragon
