// Boxes of images read in one size, with gradients of any order: all of them are readings again.
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/vision.h"

namespace dragon {
namespace {

CropSpec CropOf(const CallReader& c) {
  const std::string& mode = c.String("mode");
  if (mode != "bilinear" && mode != "nearest") {
    throw ValueError(c.name()).Got("mode '", mode, "'").Expected("bilinear or nearest");
  }
  const Dims &size = c.Ints("size"), &slopes = c.Ints("slopes");
  return {
      size[0], size[1], mode == "nearest", c.Real("outside"), static_cast<int>(slopes[0]), static_cast<int>(slopes[1])};
}

void CheckCrops(const CallReader& c, const Tensor& x, const Dims& image) {
  const Tensor &boxes = c.x("boxes"), &which = c.x("which");
  if (!IsFloating(x.dtype()) || boxes.dtype() != x.dtype() || which.dtype() != DType::kInt64) {
    throw TypeError(c.name())
        .Got(x.dtype(), ", boxes of ", boxes.dtype(), " and which of ", which.dtype())
        .Expected("images and boxes of one float dtype, which of int64");
  }
  if (x.ndim() != 4 || boxes.ndim() != 2 || boxes.size(1) != 4 || which.ndim() != 1 || which.size(0) != boxes.size(0)) {
    throw ValueError(c.name())
        .Got("images ", x.shape(), ", boxes ", boxes.shape(), " and which ", which.shape())
        .Expected("(N, H, W, C), (M, 4) and (M)");
  }
  const Dims& size = c.Ints("size");
  for (const Dims* sizes : {&image, &size}) {
    if ((*sizes)[0] < 1 || (*sizes)[1] < 1) {
      throw ValueError(c.name()).Got("images ", image, " to ", size).Expected("heights and widths of at least 1");
    }
  }
  CropOf(c);
}

/// Numbers that are outside the range of images would be read from anywhere. Other devices are not waited for: their
/// kernels read nothing of such boxes.
void CheckWhich(Run& r, int64_t images) {
  if (!r.x("which").device().is_cpu()) return;
  const Tensor which = r.Contiguous("which");
  const auto* numbers = which.view().as<int64_t>();
  for (int64_t i = 0; i < which.numel(); ++i) {
    if (numbers[i] < 0 || numbers[i] >= images) {
      throw IndexError(r.name()).Got("image ", numbers[i]).Expected("0 to ", images - 1);
    }
  }
}

/// What `dy` times the changes along the axes comes to for each box: (M, 4).
Tensor BoxesBack(const CallReader& c, const Tensor& dy, const Tensor& x, const Tensor& boxes, const Tensor& which,
                 const Dims& image) {
  std::vector<Tensor> begins, ends;
  const Dims &size = c.Ints("size"), &slopes = c.Ints("slopes");
  for (int axis = 0; axis < 2; ++axis) {
    Dims order = slopes;
    order[axis] += 1;
    const double scale = static_cast<double>(image[axis] - 1);
    if (order[axis] > 1 || c.String("mode") == "nearest") {
      begins.push_back(Op<"select">(boxes, 1, 0) * 0.0), ends.push_back(begins.back());
      continue;
    }
    const Tensor changes = Op<"crop_boxes">(x, boxes, which, size, c.attr("mode"), 0.0, order);
    const Tensor sums = Op<"sum">(dy * changes, Dims{2 - axis, 3}) * scale;  // (M, size of the axis)
    const int64_t count = size[axis];
    const Tensor steps = Op<"cast">(Op<"arange">(count, None, 1, DType::kInt64, dy.device()), dy.dtype());
    const Tensor shares = count > 1 ? steps / static_cast<double>(count - 1) : steps + 0.5;
    begins.push_back(Op<"sum">(sums * (1.0 - shares), Dims{1}));
    ends.push_back(Op<"sum">(sums * shares, Dims{1}));
  }
  return Op<"stack">(std::vector<Tensor>{begins[0], begins[1], ends[0], ends[1]}, 1);
}

[[maybe_unused]] const auto& crop_boxes =
    DefineOp(
        "crop_boxes(Tensor x, Tensor boxes, Tensor which, int[2] size, str mode=\"bilinear\", float outside=0.0, "
        "int[2] slopes=0) -> Tensor")
        .Doc(
            "Boxes (M, 4), rows of y1, x1, y2, x2 from 0 to 1, of the images `which` of x (N, H, W, C), in one size; "
            "with `slopes` how pixels change down or across.")
        .Infers([](Infer& i) {
          const Tensor& x = i.x("x");
          CheckCrops(i, x, x.ndim() == 4 ? Dims{x.size(1), x.size(2)} : Dims{1, 1});
          i.y(0, Dims{i.x("boxes").size(0), i.Ints("size")[0], i.Ints("size")[1], x.size(3)}, x.dtype());
        })
        .Runs([](Run& r) {
          CheckWhich(r, r.x("x").size(0));
          kernels::CropBoxes(r.ctx(), r.dtype(), r.out(), r.rows("x"), r.rows("boxes"), r.rows("which"), CropOf(r));
        })
        .Gradient("x, boxes, which", [](Grad& g) {
          const Tensor &x = g.x("x"), &boxes = g.x("boxes"), &which = g.x("which");
          const Dims image{x.size(1), x.size(2)};
          if (g.needs("x")) {
            g.dx("x",
                 Op<"crop_boxes_backward">(g.dy(), boxes, which, g.Ints("size"), Dims{x.size(0), x.size(1), x.size(2)},
                                           g.attr("mode"), g.Ints("slopes")));
          }
          if (g.needs("boxes")) g.dx("boxes", BoxesBack(g, g.dy(), x, boxes, which, image));
        });

[[maybe_unused]] const auto& crop_boxes_backward =
    DefineOp(
        "crop_boxes_backward(Tensor dy, Tensor boxes, Tensor which, int[2] size, int[] images, str mode, int[2] "
        "slopes, "
        "float outside=0.0) -> Tensor")
        .Doc("The gradient of crop_boxes's images, (N, H, W) of `images`.")
        .Infers([](Infer& i) {
          const Dims& images = i.Ints("images");
          if (images.size() != 3) throw ValueError(i.name()).Got("images ", images).Expected("(N, H, W)");
          CheckCrops(i, i.x("dy"), Dims{images[1], images[2]});
          i.y(0, Dims{images[0], images[1], images[2], i.x("dy").size(3)}, i.x("dy").dtype());
        })
        .Runs([](Run& r) {
          CheckWhich(r, r.Ints("images")[0]);
          kernels::CropBoxesBackward(r.ctx(), r.dtype(), r.out(), r.rows("dy"), r.rows("boxes"), r.rows("which"),
                                     CropOf(r));
        })
        .Gradient("dy, boxes, which", [](Grad& g) {
          const Tensor &dy = g.x("dy"), &boxes = g.x("boxes"), &which = g.x("which");
          const Dims& images = g.Ints("images");
          if (g.needs("dy")) {
            g.dx("dy", Op<"crop_boxes">(g.dy(), boxes, which, g.Ints("size"), g.attr("mode"), 0.0, g.Ints("slopes")));
          }
          if (g.needs("boxes")) {
            g.dx("boxes", BoxesBack(g, dy, g.dy(), boxes, which, Dims{images[1], images[2]}));
          }
        });

}  // namespace
}  // namespace dragon
