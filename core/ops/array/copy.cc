// Copies: to another dtype, another layout, another device, another tensor.
#include "core/framework/across.h"
#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/array.h"

namespace dragon {
namespace {

void RunCopy(Run& r) { kernels::Copy(r.ctx(), r.y().dtype(), r.out(), r.in(0)); }

void PassGrad(Grad& g) { g.dx(0, g.dy()); }

/// The destination may have been on another device.
void PassGradBack(Grad& g) {
  const Tensor dy = g.dy();
  g.dx(0, dy.device() == g.x_device(0) ? dy : Op<"to_device">(dy, g.x_device(0)));
}

[[maybe_unused]] const auto& copy =
    DefineOp("copy(Tensor x) -> Tensor")
        .Doc("Return the same numbers in fresh memory; with a destination, convert them to its dtype.")
        .Pointwise()
        .CastsOutput()
        .Infers(InferSame)
        .TakesKept()
        .Runs(RunCopy)
        .Gradient("", PassGradBack);

[[maybe_unused]] const auto& clone = DefineOp("clone(Tensor x) -> Tensor")
                                         .Doc("Return a copy with the same layout.")
                                         .Pointwise()
                                         .Infers(InferSame)
                                         .TakesKept()
                                         .Runs(RunCopy)
                                         .Gradient("", PassGrad);

[[maybe_unused]] const auto& stop_gradient = DefineOp("stop_gradient(Tensor x) -> Tensor")
                                                 .Doc("Return a copy through which no gradient flows.")
                                                 .Pointwise()
                                                 .Infers(InferSame)
                                                 .TakesKept()
                                                 .Runs(RunCopy)
                                                 .NotDifferentiable();

[[maybe_unused]] const auto& to_row_major = DefineOp("to_row_major(Tensor x) -> Tensor")
                                                .Doc("Return a copy in row-major order.")
                                                .Pointwise()
                                                .Infers([](Infer& i) { i.y(0, i.x(0).shape(), i.x(0).dtype()); })
                                                .TakesKept()
                                                .Runs(RunCopy)
                                                .Gradient("", PassGrad);

[[maybe_unused]] const auto& contiguous =
    DefineOp("contiguous(Tensor x) -> Tensor")
        .Doc("Return the tensor itself if it is in row-major order, else a copy that is.")
        .As([](const CallReader& c) -> Tensors {
          c.x(0).Settle();
          return {c.x(0).is_contiguous() ? c.x(0) : Op<"to_row_major">(c.x(0))};
        });

[[maybe_unused]] const auto& cast = DefineOp("cast(Tensor x, dtype dtype) -> Tensor")
                                        .Doc(
                                            "Return the numbers in another dtype. Complex to real keeps the real part; "
                                            "to bool asks whether it is not zero.")
                                        .Pointwise()
                                        .CastsOutput()
                                        .Infers([](Infer& i) {
                                          InferSame(i);
                                          i.outputs[0].dtype = i.attr("dtype").dtype();
                                        })
                                        .TakesKept()
                                        .Runs(RunCopy)
                                        .Gradient("", PassGrad);

[[maybe_unused]] const auto& to_device =
    DefineOp("to_device(Tensor x, device device) -> Tensor")
        .TakesKept()
        .Doc("Return a copy of the tensor on a device.")
        .Batches(Batching::kRows)
        .Infers([](Infer& i) {
          i.y(0, i.x(0).shape(), i.x(0).dtype());
          i.device = i.attr("device").device();
        })
        .Runs([](Run& r) {
          // A number of the host is what `Contiguous` would bring by this very operator.
          MoveBytes(r.x(0).is_contiguous() ? r.x(0) : r.Contiguous(0), r.y());
        })
        .Gradient("", [](Grad& g) { g.dx(0, Op<"to_device">(g.dy(), g.x_device(0))); });

}  // namespace
}  // namespace dragon
