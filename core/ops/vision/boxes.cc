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

[[maybe_unused]] const auto& select_boxes =
    DefineOp(
        "select_boxes(Tensor boxes, Tensor scores, int limit, float overlap=0.5, float least=-inf, float sigma=0) -> "
        "(Tensor kept, Tensor values, Tensor counts)")
        .Doc(
            "Of each row of scores (R, N): the numbers of at most `limit` boxes, best first, that overlap no better "
            "one "
            "by more than a share, their scores, and how many they are; the rest is 0. Boxes (S, N, 4) are any two "
            "corners (y1, x1, y2, x2), each S for R / S rows. With sigma, overlaps cost a part of the score instead.")
        .Infers([](Infer& i) {
          const Tensor &boxes = i.x("boxes"), &scores = i.x("scores");
          if (boxes.dtype() != scores.dtype() || !IsFloating(boxes.dtype())) {
            throw TypeError(i.name()).Got(boxes.dtype(), " and ", scores.dtype()).Expected("one float dtype");
          }
          if (boxes.ndim() != 3 || scores.ndim() != 2 || boxes.size(2) != 4 || boxes.size(1) != scores.size(1) ||
              (boxes.size(0) == 0 ? scores.size(0) != 0 : scores.size(0) % boxes.size(0) != 0)) {
            throw ValueError(i.name())
                .Got("boxes ", boxes.shape(), " and scores ", scores.shape())
                .Expected("(S, N, 4) and (R, N), where S divides R");
          }
          const int64_t limit = i.Int("limit");
          if (limit < 0) throw ValueError(i.name()).Got("limit ", limit).Expected("0 or more");
          i.y(0, Dims{scores.size(0), limit}, DType::kInt32);
          i.y(1, Dims{scores.size(0), limit}, scores.dtype());
          i.y(2, Dims{scores.size(0)}, DType::kInt32);
        })
        .Runs([](Run& r) {
          const SelectBoxesSpec spec{r.Int("limit"), r.Real("overlap"), r.Real("least"), r.Real("sigma")};
          kernels::SelectBoxes(r.ctx(), r.x("scores").dtype(), r.out(0), r.out(1), r.out(2), r.rows("boxes"),
                               r.rows("scores"), spec);
        })
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
