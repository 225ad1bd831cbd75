// One of two graphs, whichever a predicate asks for.
#include "core/framework/bodies.h"
#include "core/framework/op.h"

namespace dragon {
namespace {

void InferCond(Infer& i) {
  if (i.x("predicate").numel() != 1) {
    throw ValueError(i.name()).Got("a predicate of shape ", i.x("predicate").shape()).Expected("one element");
  }
  const Graph& then = CheckedBody(i, i.attr("then"), "then");
  const Graph& otherwise = CheckedBody(i, i.attr("otherwise"), "otherwise");
  CheckFits(i, "then", then, i.list("operands"));
  CheckFits(i, "otherwise", otherwise, i.list("operands"));
  if (then.outputs.size() != otherwise.outputs.size()) {
    throw ValueError(i.name())
        .Got("branches of ", then.outputs.size(), " and ", otherwise.outputs.size(), " results")
        .Expected("equally many");
  }
  for (size_t k = 0; k < then.outputs.size(); ++k) {
    const ValueInfo& one = then.values[then.outputs[k]];
    const ValueInfo& other = otherwise.values[otherwise.outputs[k]];
    if (one.shape != other.shape || one.dtype != other.dtype) {
      throw ValueError(i.name())
          .Got("branches whose result ", k, " is ", FormOf(one), ", or ", FormOf(other))
          .Expected("one shape and one dtype");
    }
    i.y(static_cast<int>(k), one.shape, one.dtype);
  }
}

void RunCond(Run& r) {
  const Value& chosen = IsTrue(r.name(), r.x("predicate")) ? r.attr("then") : r.attr("otherwise");
  const std::vector<Tensor> results = RunBody(chosen, r.list("operands"));
  for (int k = 0; k < r.y_count(); ++k) OpInto<"copy">(r.y(k), results[k]);
}

void CondGradient(Grad& g) {
  const std::span<const Tensor> operands = g.list("operands");
  const int first = g.x_count() - static_cast<int>(operands.size());
  std::vector<int64_t> key{kGradientOfBody};
  std::vector<int> wanted;
  std::vector<Tensor> inputs(operands.begin(), operands.end());
  for (int i = 0; i < static_cast<int>(operands.size()); ++i) {
    if (!g.needs(first + i)) continue;
    wanted.push_back(first + i);
    key.push_back(i);
  }
  for (int k = 0; k < g.y_count(); ++k) {
    if (!g.dy(k).defined()) continue;
    key.push_back(static_cast<int64_t>(operands.size()) + k);
    inputs.push_back(g.dy(k));
  }
  const Tensors grads = OpN<"cond">(g.x("predicate"), inputs, Derived(g.attr("then"), key, GradientByKey),
                                    Derived(g.attr("otherwise"), key, GradientByKey));
  for (size_t k = 0; k < wanted.size(); ++k) g.dx(wanted[k], grads[k]);
}

[[maybe_unused]] const auto& cond =
    DefineOp("cond(Tensor predicate, Tensor[] operands, *, Graph then, Graph otherwise) -> Tensor[]")
        .Doc(
            "The outputs of `then` where the predicate holds, else those of `otherwise`; both take the operands, and "
            "their outputs agree in shape and dtype.")
        .Infers(InferCond)
        .Runs(RunCond)
        .Batches(Batching::kApart)
        .Gradient("predicate, operands", CondGradient);

}  // namespace
}  // namespace dragon
