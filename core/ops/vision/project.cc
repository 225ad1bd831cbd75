// Pictures moved by projections of their coordinates.
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/vision.h"
#include "core/ops/convolution/windows.h"

namespace dragon {
namespace {

ProjectOutside OutsideOf(const CallReader& c) {
  const std::string& outside = c.String("outside");
  if (outside == "constant") return ProjectOutside::kConstant;
  if (outside == "nearest") return ProjectOutside::kNearest;
  if (outside == "reflect") return ProjectOutside::kReflect;
  if (outside == "wrap") return ProjectOutside::kWrap;
  throw ValueError(c.name()).Got("outside '", outside, "'").Expected("constant, nearest, reflect or wrap");
}

ProjectSpec ProjectionOf(const CallReader& c) {
  const std::string& mode = c.String("mode");
  if (mode != "bilinear" && mode != "nearest") {
    throw ValueError(c.name()).Got("mode '", mode, "'").Expected("bilinear or nearest");
  }
  return {mode == "nearest", OutsideOf(c), c.Real("fill")};
}

void CheckProjection(const CallReader& c, const Tensor& x, const Tensor& transforms) {
  if (transforms.dtype() != DType::kFloat32) {
    throw TypeError(c.name()).Got("transforms of dtype ", transforms.dtype()).Expected("float32");
  }
  if (x.ndim() != 4 || transforms.ndim() != 2 || transforms.size(1) != 8 ||
      (transforms.size(0) != 1 && transforms.size(0) != x.size(0))) {
    throw ValueError(c.name())
        .Got("pictures ", x.shape(), " and transforms ", transforms.shape())
        .Expected("(N, C, H, W) and (1, 8) or (N, 8)");
  }
  const Dims& size = c.Ints("size");
  if (size.size() != 2 || size[0] < 1 || size[1] < 1) {
    throw ValueError(c.name()).Got("size ", size).Expected("a height and a width of at least 1");
  }
  for (int64_t length : {x.size(2), x.size(3), size[0], size[1]}) {
    if (length > INT32_MAX) throw ValueError(c.name()).Got("a length of ", length).Expected("fewer than 2**31");
  }
  ProjectionOf(c);
}

/// The eight numbers of the projections that go back.
Tensor Inverted(const Tensor& transforms) {
  const int64_t count = transforms.size(0);
  const Tensor one = Op<"full">(Dims{count, 1}, 1.0, transforms.dtype(), transforms.device());
  const Tensor matrices = Op<"reshape">(Op<"cat">(std::vector<Tensor>{transforms, one}, 1), Dims{count, 3, 3});
  const Tensor flat = Op<"reshape">(Op<"linalg_inv">(matrices), Dims{count, 9});
  return Op<"narrow">(flat / Op<"narrow">(flat, 1, 8, 1), 1, 0, 8);
}

[[maybe_unused]] const auto& project_images =
    DefineOp(
        "project_images(Tensor x, Tensor transforms, int[2] size, str mode=\"bilinear\", str outside=\"constant\", "
        "float fill=0.0) -> Tensor")
        .Doc(
            "Pictures (N, C, H, W) in another size, whose pixels (x, y) are read where a row of `transforms` sends "
            "them: at ((t0 x + t1 y + t2) / k, (t3 x + t4 y + t5) / k) with k = t6 x + t7 y + 1. The gradient of "
            "pictures is that of the result read by the inverse transforms, as TensorFlow's.")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) {
          const Tensor& x = i.x("x");
          CheckProjection(i, x, i.x("transforms"));
          const Dims& size = i.Ints("size");
          windows::SetImage(i, 0, Dims{x.size(0), x.size(1), size[0], size[1]}, x.dtype(), windows::HasChannelsLast(x));
        })
        .Runs([](Run& r) {
          kernels::ProjectImages(r.ctx(), r.dtype(), r.out(), r.in("x"), r.rows("transforms"), ProjectionOf(r));
        })
        .Gradient("transforms", [](Grad& g) {
          const Dims& shape = g.x_shape("x");
          if (shape[2] == 0 || shape[3] == 0) {
            return g.dx("x", Op<"full">(shape, 0.0, g.dy().dtype(), g.dy().device()));
          }
          g.dx("x", Op<"project_images">(g.dy(), Inverted(g.x("transforms")), Dims{shape[2], shape[3]}, g.attr("mode"),
                                         g.attr("outside")));
        });

}  // namespace
}  // namespace dragon
