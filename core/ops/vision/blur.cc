// Images blurred by weights across and weights down.
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/vision.h"
#include "core/ops/convolution/windows.h"

namespace dragon {
namespace {

void CheckWeights(const CallReader& c, const char* name, const std::vector<double>& weights, int64_t size) {
  const auto count = static_cast<int64_t>(weights.size());
  if (count % 2 == 1 && (count == 1 || count / 2 < size)) return;
  throw ValueError(c.name())
      .Got(count, " weights in ", name, " for ", size, " pixels")
      .Expected("an odd number, half of which is less than there are pixels to mirror");
}

[[maybe_unused]] const auto& blur =
    DefineOp("blur(Tensor x, float[] across, float[] down) -> Tensor")
        .Doc("Images (N, C, H, W), each pixel the sum of its neighbours by weights across and down; edges are mirrors.")
        .Batches(Batching::kSamples)
        .Infers([](Infer& i) {
          const Tensor& x = i.x(0);
          if (!IsFloating(x.dtype()) && x.dtype() != DType::kUInt8) {
            throw TypeError(i.name()).Got("x of dtype ", x.dtype()).Expected("a float dtype or uint8");
          }
          if (x.ndim() != 4) throw ValueError(i.name()).Got("shape ", x.shape()).Expected("(N, C, H, W)");
          CheckWeights(i, "across", i.attr("across").doubles(), x.size(3));
          CheckWeights(i, "down", i.attr("down").doubles(), x.size(2));
          windows::SetImage(i, 0, x.shape(), x.dtype(), windows::HasChannelsLast(x));
        })
        .Runs([](Run& r) {
          const auto& across = r.attr("across").doubles();
          const auto& down = r.attr("down").doubles();
          if (windows::HasChannelsLast(r.y())) return kernels::Blur(r.ctx(), r.dtype(), r.out(), r.in(0), across, down);
          kernels::Blur(r.ctx(), r.dtype(), r.out(), r.rows(0), across, down);
        })
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
