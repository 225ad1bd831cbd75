// Boxes that hide others.
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/vision.h"

namespace dragon {
namespace {

[[maybe_unused]] const auto& suppress_boxes =
    DefineOp("suppress_boxes(Tensor boxes, float threshold) -> Tensor")
        .Doc(
            "Of boxes (x1, y1, x2, y2), best first: whether each overlaps no better one that stays by more than a "
            "threshold of what both cover.")
        .Infers([](Infer& i) {
          const Tensor& boxes = i.x("boxes");
          if (!IsFloating(boxes.dtype())) throw TypeError(i.name()).Got(boxes.dtype()).Expected("a float dtype");
          if (boxes.ndim() != 2 || boxes.size(1) != 4) {
            throw ValueError(i.name()).Got("boxes of shape ", boxes.shape()).Expected("(N, 4)");
          }
          i.y(0, Dims{boxes.size(0)}, DType::kBool);
        })
        .Runs([](Run& r) {
          kernels::SuppressBoxes(r.ctx(), r.x("boxes").dtype(), r.out(), r.rows("boxes"), r.Real("threshold"));
        });

}  // namespace
}  // namespace dragon
