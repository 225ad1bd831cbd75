// A function of the program around, called whenever the graph runs and in the order of the calls.
#include "core/framework/bodies.h"
#include "core/framework/op.h"

namespace dragon {
namespace {

void InferHostCall(Infer& i) { i.y(0, {}, DType::kBool); }

void RunHostCall(Run& r) {
  if (!Bodies().host) {
    throw NotImplementedError(r.name())
        .Got("a function of another process")
        .Expected("the process that captured the graph: files do not hold functions");
  }
  const StepAside nobody;  // what the function computes is no part of the program
  Bodies().host(r.Int("function"), r.list("inputs"));
  OpInto<"copy">(r.y(0), Op<"zeros">(Dims{}, DType::kBool, r.y(0).device()));
}

// The generator stands for the world: calls that have one are neither left out nor joined, folded or taken to others.
[[maybe_unused]] const auto& host_call =
    DefineOp("host_call(Tensor[] inputs, *, int function, Generator? generator=None) -> Tensor")
        .Doc(
            "Calls a function of the program around with tensors, by the number that it has there; the result is only "
            "there to be asked for.")
        .Infers(InferHostCall)
        .Runs(RunHostCall)
        .Batches(Batching::kApart)
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
