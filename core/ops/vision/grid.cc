// Reading images at the points of a grid, and the grids of affine maps.
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/vision.h"
#include "core/ops/vision/grid_again.h"

namespace dragon {
namespace {

GridMode ModeOf(const CallReader& c, int axes) {
  const std::string& mode = c.String("mode");
  if (mode == "bilinear") return GridMode::kLinear;
  if (mode == "nearest") return GridMode::kNearest;
  if (mode == "bicubic" && axes == 2) return GridMode::kCubic;
  throw ValueError("grid_sample")
      .Got("mode '", mode, "' for ", axes, " axes")
      .Expected("bilinear, nearest, or for images bicubic");
}

GridPadding PaddingOf(const CallReader& c) {
  const std::string& padding = c.String("padding_mode");
  if (padding == "zeros") return GridPadding::kZeros;
  if (padding == "border") return GridPadding::kBorder;
  if (padding == "reflection") return GridPadding::kReflection;
  throw ValueError("grid_sample").Got("padding_mode '", padding, "'").Expected("zeros, border or reflection");
}

/// x (N, C, [D,] H, W) and grid (N, [D,] H, W, 2 or 3)
void CheckGrid(const CallReader& c, const Tensor& x, const Tensor& grid) {
  const int axes = x.ndim() - 2;
  if (x.dtype() != grid.dtype() || !IsFloating(x.dtype())) {
    throw TypeError("grid_sample").Got(x.dtype(), " and ", grid.dtype()).Expected("one float dtype");
  }
  if ((axes != 2 && axes != 3) || grid.ndim() != x.ndim() || grid.size(-1) != axes || grid.size(0) != x.size(0)) {
    throw ValueError("grid_sample")
        .Got("x ", x.shape(), " and grid ", grid.shape())
        .Expected("(N, C, H, W) with (N, h, w, 2), or (N, C, D, H, W) with (N, d, h, w, 3)");
  }
  for (int i = 2; i < x.ndim(); ++i) {
    if (x.shape()[i] < 1) throw ValueError("grid_sample").Got("x ", x.shape()).Expected("images that are not empty");
  }
  ModeOf(c, axes);
  PaddingOf(c);
}

[[maybe_unused]] const auto& grid_sample =
    DefineOp(
        "grid_sample(Tensor x, Tensor grid, str mode=\"bilinear\", str padding_mode=\"zeros\", bool "
        "align_corners=False) -> Tensor")
        .Doc("Images or volumes read at points whose coordinates run from -1 to 1.")
        .Batches(Batching::kSamples)
        .Autocast(Precision::kFloat32)
        .Infers([](Infer& i) {
          const Tensor &x = i.x("x"), &grid = i.x("grid");
          CheckGrid(i, x, grid);
          Dims shape{x.size(0), x.size(1)};
          for (int axis = 1; axis + 1 < grid.ndim(); ++axis) shape.push_back(grid.shape()[axis]);
          i.y(0, shape, x.dtype());
        })
        .Runs([](Run& r) {
          kernels::GridSample(r.ctx(), r.dtype(), r.out(), r.rows("x"), r.rows("grid"), ModeOf(r, r.x("x").ndim() - 2),
                              PaddingOf(r), r.Bool("align_corners"));
        })
        .Gradient("x, grid", [](Grad& g) {
          const Tensors grads = OpN<"grid_sample_backward">(g.dy(), g.x("x"), g.x("grid"), g.attr("mode"),
                                                            g.attr("padding_mode"), g.Bool("align_corners"));
          if (g.needs("x")) g.dx("x", grads[0]);
          if (g.needs("grid")) g.dx("grid", grads[1]);
        });

[[maybe_unused]] const auto& grid_sample_backward =
    DefineOp(
        "grid_sample_backward(Tensor dy, Tensor x, Tensor grid, str mode, str padding_mode, bool align_corners) -> "
        "(Tensor dx, Tensor dgrid)")
        .Doc("The gradients of grid_sample's image and grid.")
        .Infers([](Infer& i) {
          CheckGrid(i, i.x("x"), i.x("grid"));
          i.y(0, i.x("x").shape(), i.x("x").dtype());
          i.y(1, i.x("grid").shape(), i.x("grid").dtype());
        })
        .Runs([](Run& r) {
          kernels::GridSampleBackward(r.ctx(), r.dtype(), r.out(0), r.out(1), r.rows("dy"), r.rows("x"), r.rows("grid"),
                                      ModeOf(r, r.x("x").ndim() - 2), PaddingOf(r), r.Bool("align_corners"));
        })
        .Gradient("dy, x, grid", [](Grad& g) {
          const Tensor &dy = g.x("dy"), &x = g.x("x"), &grid = g.x("grid");
          const GridReading reading{ModeOf(g, x.ndim() - 2), PaddingOf(g), g.Bool("align_corners")};
          const GridAgain again = GridSampleAgain(dy, x, grid, reading, g.dy(0), g.dy(1));
          if (g.needs("dy") && again.dy.defined()) g.dx("dy", again.dy);
          if (g.needs("x") && again.x.defined()) g.dx("x", again.x);
          if (g.needs("grid") && again.grid.defined()) g.dx("grid", again.grid);
        });

/// n coordinates from -1 to 1: of the corners' centers, or of all centers within the borders.
Tensor Coordinates(int64_t n, bool align_corners, const Tensor& like) {
  const Tensor counted = Op<"arange">(n, None, 1, DType::kInt64, like.device());
  const Tensor places = Op<"cast">(counted, like.dtype());
  if (align_corners) return n > 1 ? places * (2.0 / static_cast<double>(n - 1)) - 1.0 : places;
  return (places * 2.0 + 1.0) / static_cast<double>(n) - 1.0;
}

[[maybe_unused]] const auto& affine_grid =
    DefineOp("affine_grid(Tensor theta, int[] size, bool align_corners=False) -> Tensor")
        .Doc("The points that affine maps (N, 2, 3) or (N, 3, 4) send an image's places to.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& theta = c.x(0);
          const Dims& size = c.Ints("size");
          const int axes = size.size() - 2;
          if (!IsFloating(theta.dtype())) {
            throw TypeError(c.name()).Got("theta of dtype ", theta.dtype()).Expected("a float dtype");
          }
          if ((axes != 2 && axes != 3) || theta.ndim() != 3 || theta.size(0) != size[0] || theta.size(1) != axes ||
              theta.size(2) != axes + 1) {
            throw ValueError(c.name())
                .Got("theta ", theta.shape(), " for size ", size)
                .Expected("(N, 2, 3) for (N, C, H, W), or (N, 3, 4) for (N, C, D, H, W)");
          }
          Dims image(size.data() + 2, axes);
          int64_t count = 1;
          for (int64_t n : image) {
            if (n < 1) throw ValueError(c.name()).Got("size ", size).Expected("sizes of at least 1");
            count *= n;
          }
          std::vector<Tensor> columns;
          for (int axis = axes - 1; axis >= 0; --axis) {  // x first
            Dims lone = Dims::Filled(axes, 1);
            lone[axis] = image[axis];
            const Tensor line = Op<"reshape">(Coordinates(image[axis], c.Bool("align_corners"), theta), lone);
            columns.push_back(Op<"reshape">(Op<"broadcast_to">(line, image), Dims{count}));
          }
          columns.push_back(Op<"full">(Dims{count}, 1.0, theta.dtype(), theta.device()));
          const Tensor points = Op<"matmul">(Op<"stack">(columns, -1), Op<"transpose">(theta, 1, 2));
          Dims shape{size[0]};
          for (int64_t n : image) shape.push_back(n);
          shape.push_back(axes);
          return {Op<"reshape">(points, shape)};
        });

}  // namespace
}  // namespace dragon
