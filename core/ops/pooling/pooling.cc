// Poolings: the core operators with every size explicit, and what users call.
#include "core/kernels/pooling.h"

#include "core/ops/convolution/windows.h"

namespace dragon {
namespace {

using namespace windows;  // NOLINT: this file is about nothing else

/// What the core operators know but the result's spatial size.
PoolGeometry GeometryOf(const CallReader& c, int spatial) {
  PoolGeometry g;
  g.spatial = spatial;
  g.adaptive = c.Bool("adaptive");
  for (int i = 0; i < spatial; ++i) {
    g.window[i] = c.Ints("window")[i];
    g.stride[i] = c.Ints("stride")[i];
    g.padding[i] = c.Ints("padding")[i];
    g.dilation[i] = c.Ints("dilation")[i];
  }
  return g;
}

PoolGeometry AverageGeometryOf(const CallReader& c, int spatial) {
  PoolGeometry g = GeometryOf(c, spatial);
  g.count_padding = c.Bool("count_include_pad");
  g.divisor = c.Int("divisor");
  return g;
}

/// The image that result sizes are computed from must have elements on its channel and spatial axes.
void CheckImage(const CallReader& c, const Dims& image, const Dims& places) {
  const int spatial = image.size() - 2;
  const struct {
    ArgumentName name;
    int64_t least;
  } lists[] = {{"size", 0}, {"window", 1}, {"stride", 1}, {"padding", 0}, {"dilation", 1}};
  for (const auto& [name, least] : lists) {
    const Dims& given = c.Ints(name);
    if (given.size() != spatial) throw ValueError(c.name()).Got(name.text, " ", given).Expected(spatial, " numbers");
    PerAxis(c.name(), name.text, given, spatial, least);
  }
  for (int i = 0; i < spatial; ++i) {
    const bool reaches =
        c.Bool("adaptive") || (places[i] - 1) * c.Ints("stride")[i] - c.Ints("padding")[i] < image[2 + i];
    if (places[i] == 0 || (image[2 + i] > 0 && reaches)) continue;
    throw ValueError(c.name())
        .Got("image ", image, " for ", places, " windows")
        .Expected("windows that begin inside it");
  }
}

bool IsChannelsLast(const Tensor& x) {
  return x.size(1) > 1 && x.strides()[1] == 1 && IsDense(x.shape(), x.strides()) && !x.is_contiguous();
}

void SetLike(Infer& i, int result, const Dims& shape, DType dtype) {
  SetImage(i, result, shape, dtype, IsChannelsLast(i.x(0)));
}

void InferPool(Infer& i, bool with_indices) {
  const Tensor& x = i.x(0);
  SpatialRank(i.name(), x);
  CheckImage(i, x.shape(), i.Ints("size"));
  const Dims shape = ImageShape(x.size(0), x.size(1), i.Ints("size"));
  SetLike(i, 0, shape, x.dtype());
  if (with_indices) SetLike(i, 1, shape, DType::kInt64);
}

[[maybe_unused]] const auto& max_pool_only =
    DefineOp(
        "max_pool(Tensor x, int[] size, int[] window, int[] stride, int[] padding, int[] dilation, bool adaptive) -> "
        "Tensor")
        .Doc("The largest element of each window, where nobody asks for its place: passes put it into graphs.")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) { InferPool(i, false); })
        .Runs([](Run& r) {
          kernels::MaxPool(r.ctx(), r.dtype(), r.out(0), View{}, r.in(0), GeometryOf(r, r.x(0).ndim() - 2));
        })
        .NotDifferentiable();

[[maybe_unused]] const auto& max_pool =
    DefineOp(
        "max_pool_with_indices(Tensor x, int[] size, int[] window, int[] stride, int[] padding, int[] dilation, bool "
        "adaptive) -> (Tensor out, Tensor indices)")
        .Doc("The largest element of each window of (N, C, spatial...), and its place in the flat plane.")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) { InferPool(i, true); })
        .Runs([](Run& r) {
          kernels::MaxPool(r.ctx(), r.dtype(), r.out(0), r.out(1), r.in(0), GeometryOf(r, r.x(0).ndim() - 2));
        })
        .Gradient("indices",
                  [](Grad& g) { g.dx(0, Op<"max_pool_backward">(g.dy(0), g.y(1), SpatialOf(g.x_shape(0)))); });

/// What lies at the indexed places of each plane, 0 where the index is -1.
Tensor TakeFromPlanes(const Tensor& x, const Tensor& indices) {
  const Tensor flat = Op<"reshape">(indices, Dims{indices.size(0), indices.size(1), -1});
  const Tensor taken = Op<"gather">(Op<"reshape">(x, Dims{x.size(0), x.size(1), -1}), 2, Op<"clamp">(flat, Number(0)));
  const Tensor seen = Op<"cast">(Op<"ge">(flat, Number(0)), x.dtype());
  return Op<"reshape">(taken * seen, indices.shape());
}

void InferPlaces(Infer& i) {
  const Tensor &x = i.x(0), &indices = i.x("indices");
  const int spatial = SpatialRank(i.name(), x);
  if (indices.shape() != x.shape() || indices.dtype() != DType::kInt64) {
    throw ValueError(i.name())
        .Got("indices ", indices.shape(), " of ", indices.dtype(), " for x ", x.shape())
        .Expected("int64 indices of the same shape");
  }
  if (i.Ints("size").size() != spatial)
    throw ValueError(i.name()).Got("size ", i.Ints("size")).Expected(spatial, " numbers");
  PerAxis(i.name(), "size", i.Ints("size"), spatial, 0);
  SetLike(i, 0, ImageShape(x.size(0), x.size(1), i.Ints("size")), x.dtype());
}

[[maybe_unused]] const auto& max_pool_backward =
    DefineOp("max_pool_backward(Tensor dy, Tensor indices, int[] size) -> Tensor")
        .Doc("Zeros of the spatial size given, with dy added at the indices of each plane.")
        .Infers(InferPlaces)
        .Runs([](Run& r) {
          kernels::PlaceInPlanes(r.ctx(), r.dtype(), r.out(), r.in("dy"), r.in("indices"), r.name(), /*add=*/true);
        })
        .Gradient("indices", [](Grad& g) { g.dx("dy", TakeFromPlanes(g.dy(), g.x("indices"))); });

[[maybe_unused]] const auto& max_unpool =
    DefineOp("max_unpool(Tensor x, Tensor indices, int[] size) -> Tensor")
        .Doc("Zeros of the spatial size given, with x placed at the indices of each plane.")
        .Batches(Batching::kSamples)
        .Infers(InferPlaces)
        .Runs([](Run& r) {
          kernels::PlaceInPlanes(r.ctx(), r.dtype(), r.out(), r.in("x"), r.in("indices"), r.name(), /*add=*/false);
        })
        .Gradient("indices", [](Grad& g) { g.dx("x", TakeFromPlanes(g.dy(), g.x("indices"))); });

/// average_pool and its adjoint: either's gradient is the other, onto the spatial size that came.
template <OpName other>
void AveragePoolGradient(Grad& g) {
  g.dx(0, Op<other>(g.dy(), SpatialOf(g.x_shape(0)), g.attr("window"), g.attr("stride"), g.attr("padding"),
                    g.attr("dilation"), g.Bool("adaptive"), g.Bool("count_include_pad"), g.Int("divisor")));
}

[[maybe_unused]] const auto& average_pool =
    DefineOp(
        "average_pool(Tensor x, int[] size, int[] window, int[] stride, int[] padding, int[] dilation, bool adaptive, "
        "bool count_include_pad, int divisor) -> Tensor")
        .Doc("The mean of each window of (N, C, spatial...).")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) { InferPool(i, false); })
        .Runs([](Run& r) {
          kernels::AveragePool(r.ctx(), r.dtype(), r.out(), r.in(0), AverageGeometryOf(r, r.x(0).ndim() - 2));
        })
        .Gradient("", AveragePoolGradient<"average_pool_backward">);

[[maybe_unused]] const auto& average_pool_backward =
    DefineOp(
        "average_pool_backward(Tensor dy, int[] size, int[] window, int[] stride, int[] padding, int[] dilation, bool "
        "adaptive, bool count_include_pad, int divisor) -> Tensor")
        .Doc("The adjoint of average_pool onto the spatial size given.")
        .Infers([](Infer& i) {
          const Tensor& dy = i.x(0);
          SpatialRank(i.name(), dy);
          const Dims shape = ImageShape(dy.size(0), dy.size(1), i.Ints("size"));
          CheckImage(i, shape, SpatialOf(dy.shape()));
          SetLike(i, 0, shape, dy.dtype());
        })
        .Runs([](Run& r) {
          kernels::AveragePoolBackward(r.ctx(), r.dtype(), r.out(), r.in(0), AverageGeometryOf(r, r.x(0).ndim() - 2));
        })
        .Gradient("", AveragePoolGradient<"average_pool">);

// --- what users call

struct Windows {
  Dims size, window, stride, padding, dilation;
};

/// Sizes of plain windows; `ceil_mode` keeps a last window that hangs over, if it begins inside.
Windows PlainWindows(const char* who, const Tensor& x, int spatial, const Dims& window, const Value& stride,
                     const Dims& padding, const Dims& dilation, bool ceil_mode) {
  Windows w;
  w.window = PerAxis(who, "kernel_size", window, spatial, 1);
  const bool own_stride = !stride.is_none() && !stride.ints().empty();
  w.stride = own_stride ? PerAxis(who, "stride", stride.ints(), spatial, 1) : w.window;
  w.padding = PerAxis(who, "padding", padding, spatial, 0);
  w.dilation = PerAxis(who, "dilation", dilation, spatial, 1);
  for (int i = 0; i < spatial; ++i) {
    const int64_t reach = Reach(who, w.window[i], w.dilation[i]), in = x.size(2 + i);
    if (w.padding[i] > w.window[i] / 2) {
      throw ValueError(who).Got("padding ", w.padding).Expected("at most half of kernel_size ", w.window);
    }
    const int64_t room = in + 2 * w.padding[i] - reach + (ceil_mode ? w.stride[i] - 1 : 0);
    int64_t out = room < 0 ? 0 : room / w.stride[i] + 1;
    if (ceil_mode && (out - 1) * w.stride[i] >= in + w.padding[i]) --out;
    if (out < 1 || in < 1) {
      throw ValueError(who).Got("shape ", x.shape(), " and kernel_size ", w.window).Expected("a window that fits");
    }
    w.size.push_back(out);
  }
  return w;
}

void CheckRank(const CallReader& c, int spatial) {
  const int ndim = c.x(0).ndim();
  if (ndim == spatial + 1 || ndim == spatial + 2) return;
  throw ValueError(c.name()).Got("shape ", c.x(0).shape()).Expected(spatial + 1, " or ", spatial + 2, " axes");
}

Tensors MaxPoolOf(const CallReader& c, int spatial) {
  CheckRank(c, spatial);
  return WithBatch(c.x(0), spatial, [&](const Tensor& x) {
    const Windows w = PlainWindows(c.name(), x, spatial, c.Ints("kernel_size"), c.attr("stride"), c.Ints("padding"),
                                   c.Ints("dilation"), c.Bool("ceil_mode"));
    return OpN<"max_pool_with_indices">(x, w.size, w.window, w.stride, w.padding, w.dilation, false);
  });
}

Tensors AveragePoolOf(const CallReader& c, int spatial, const Tensor& given, const Dims& window, const Value& stride,
                      const Dims& padding, bool ceil_mode, bool count_padding, int64_t divisor) {
  return WithBatch(given, spatial, [&](const Tensor& x) -> Tensors {
    const Windows w = PlainWindows(c.name(), x, spatial, window, stride, padding, {1}, ceil_mode);
    return {Op<"average_pool">(x, w.size, w.window, w.stride, w.padding, w.dilation, false, count_padding, divisor)};
  });
}

template <typename F>
Tensors AdaptiveOf(const CallReader& c, int spatial, F&& f) {
  CheckRank(c, spatial);
  const Dims size = PerAxis(c.name(), "output_size", c.Ints("output_size"), spatial, 0),
             ones = Dims::Filled(spatial, 1);
  return WithBatch(c.x(0), spatial, [&](const Tensor& x) -> Tensors {
    for (int i = 0; i < spatial; ++i) {
      if (x.size(2 + i) == 0)
        throw ValueError(c.name()).Got("shape ", x.shape()).Expected("elements on every spatial axis");
    }
    return f(x, size, ones, Dims::Filled(spatial, 0));
  });
}

Tensors AdaptiveMaxOf(const CallReader& c, int spatial) {
  return AdaptiveOf(c, spatial, [](const Tensor& x, const Dims& size, const Dims& ones, const Dims& zeros) {
    return OpN<"max_pool_with_indices">(x, size, ones, ones, zeros, ones, true);
  });
}

/// (sum of x^p over each window)^(1/p), by way of the mean, as PyTorch computes it.
Tensors LpPoolOf(const CallReader& c, int spatial) {
  CheckRank(c, spatial);
  const double p = c.Real("norm_type");
  double count = 1;
  const Dims& window = c.Ints("kernel_size");
  for (int64_t size : PerAxis(c.name(), "kernel_size", window, spatial, 1)) count *= static_cast<double>(size);
  const Tensor means = AveragePoolOf(c, spatial, Op<"pow">(c.x(0), Number(p)), window, c.attr("stride"), {0},
                                     c.Bool("ceil_mode"), true, 0)[0];
  const Tensor sums = means * Number(count), none = Op<"eq">(sums, Number(0));
  // Of zeros alone the root is infinitely steep, and the powers are flat: no gradient, rather than NaN.
  return {Op<"where">(none, Number(0), Op<"pow">(Op<"where">(none, Number(1), sums), Number(1 / p)))};
}

Tensors MaxUnpoolOf(const CallReader& c, int spatial) {
  CheckRank(c, spatial);
  const Tensor& given = c.x("x");
  const Dims window = PerAxis(c.name(), "kernel_size", c.Ints("kernel_size"), spatial, 1);
  const Dims stride = c.Given("stride") ? PerAxis(c.name(), "stride", c.Ints("stride"), spatial, 1) : window;
  const Dims padding = PerAxis(c.name(), "padding", c.Ints("padding"), spatial, 0);
  Dims size;
  for (int i = 0; i < spatial; ++i) {
    const int64_t in = given.size(given.ndim() - spatial + i);
    size.push_back(c.Given("output_size") ? PerAxis(c.name(), "output_size", c.Ints("output_size"), spatial, 0)[i]
                                          : std::max<int64_t>(0, (in - 1) * stride[i] - 2 * padding[i] + window[i]));
  }
  const bool batched = given.ndim() == spatial + 2;
  const Tensor indices = batched ? c.x("indices") : Op<"unsqueeze">(c.x("indices"), 0);
  return WithBatch(given, spatial, [&](const Tensor& x) -> Tensors { return {Op<"max_unpool">(x, indices, size)}; });
}

bool DefineRanks() {
  for (int spatial = 1; spatial <= kMaxSpatial; ++spatial) {
    const std::string n = std::to_string(spatial), ints = "int[" + n + "] ", maybe = "int[" + n + "]? ";
    const std::string max_args = "(Tensor x, " + ints + "kernel_size, " + maybe + "stride=None, " + ints +
                                 "padding=0, " + ints + "dilation=1, bool ceil_mode=False)";
    DefineOp("max_pool" + n + "d" + max_args + " -> Tensor")
        .Doc("The largest element of each window.")
        .Autocast(spatial == 3 ? Precision::kFloat32 : Precision::kAsGiven)
        .As([spatial](const CallReader& c) -> Tensors { return {MaxPoolOf(c, spatial)[0]}; });
    DefineOp("max_pool" + n + "d_with_indices" + max_args + " -> (Tensor out, Tensor indices)")
        .Doc("The largest element of each window, and its place in the flat plane.")
        .Autocast(spatial == 3 ? Precision::kFloat32 : Precision::kAsGiven)
        .As([spatial](const CallReader& c) { return MaxPoolOf(c, spatial); });
    DefineOp("avg_pool" + n + "d(Tensor x, " + ints + "kernel_size, " + maybe + "stride=None, " + ints +
             "padding=0, bool ceil_mode=False, bool count_include_pad=True" +
             (spatial > 1 ? ", int? divisor_override=None" : "") + ") -> Tensor")
        .Doc("The mean of each window.")
        .Autocast(spatial == 3 ? Precision::kFloat32 : Precision::kAsGiven)
        .As([spatial](const CallReader& c) {
          CheckRank(c, spatial);
          const bool given = spatial > 1 && c.Given("divisor_override");
          const int64_t divisor = given ? c.Int("divisor_override") : 0;
          if (given && divisor == 0) throw ValueError(c.name()).Got("divisor_override 0").Expected("another number");
          return AveragePoolOf(c, spatial, c.x(0), c.Ints("kernel_size"), c.attr("stride"), c.Ints("padding"),
                               c.Bool("ceil_mode"), c.Bool("count_include_pad"), divisor);
        });
    DefineOp("lp_pool" + n + "d(Tensor x, float norm_type, " + ints + "kernel_size, " + maybe +
             "stride=None, bool ceil_mode=False) -> Tensor")
        .Doc("The p-norm of each window.")
        .As([spatial](const CallReader& c) { return LpPoolOf(c, spatial); });
    DefineOp("adaptive_avg_pool" + n + "d(Tensor x, " + ints + "output_size) -> Tensor")
        .Doc("Means of as many nearly equal parts as the result has places.")
        .Autocast(spatial == 3 ? Precision::kFloat32 : Precision::kAsGiven)
        .As([spatial](const CallReader& c) {
          return AdaptiveOf(c, spatial,
                            [](const Tensor& x, const Dims& size, const Dims& ones, const Dims& zeros) -> Tensors {
                              return {Op<"average_pool">(x, size, ones, ones, zeros, ones, true, true, 0)};
                            });
        });
    DefineOp("adaptive_max_pool" + n + "d(Tensor x, " + ints + "output_size) -> Tensor")
        .Doc("Maxima of as many nearly equal parts as the result has places.")
        .Autocast(spatial == 3 ? Precision::kFloat32 : Precision::kAsGiven)
        .As([spatial](const CallReader& c) -> Tensors { return {AdaptiveMaxOf(c, spatial)[0]}; });
    DefineOp("adaptive_max_pool" + n + "d_with_indices(Tensor x, " + ints +
             "output_size) -> (Tensor out, Tensor indices)")
        .Doc("Maxima of as many nearly equal parts as the result has places, and where they are.")
        .Autocast(spatial == 3 ? Precision::kFloat32 : Precision::kAsGiven)
        .As([spatial](const CallReader& c) { return AdaptiveMaxOf(c, spatial); });
    DefineOp("max_unpool" + n + "d(Tensor x, Tensor indices, " + ints + "kernel_size, " + maybe + "stride=None, " +
             ints + "padding=0, " + maybe + "output_size=None) -> Tensor")
        .Doc("Zeros with x where max_pool found it.")
        .Autocast(spatial == 1 ? Precision::kAsGiven : Precision::kFloat32)
        .As([spatial](const CallReader& c) { return MaxUnpoolOf(c, spatial); });
  }
  return true;
}
[[maybe_unused]] const bool ranks = DefineRanks();

}  // namespace
}  // namespace dragon
