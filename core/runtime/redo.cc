// Gradients of a call that was done again.
#include "core/runtime/redo.h"

#include <utility>

#include "core/framework/autograd/meta.h"
#include "core/framework/generator.h"
#include "core/framework/procedure_run.h"

namespace dragon {

namespace {

/// Stands behind a tensor that the call takes. While gradients are found nothing is behind it, so that what one operand
/// of the call owes to another is no part of what the call owes to that; afterwards the tensor's own history is.
class Doorstep final : public Node {
 public:
  Tensors Backward(const Tensors& grads, uint64_t) override { return grads; }
  std::string name() const override { return "compiled"; }
};

/// The tensors that the call takes instead of the given ones.
class Doorsteps {
 public:
  Tensor Of(const Tensor& x) {
    if (!x.requires_grad()) return x;
    for (const auto& [given, alias] : known_) {
      if (given.is_same(x)) return alias;
    }
    const Tensor alias = x.Detach();
    auto node = MakeRef<Doorstep>();
    node->y_metas.push_back(TensorMeta(x));
    SetHistory(alias, Ref<Node>(node), 0);
    node->when_asked = !RecordsUnasked(x);
    known_.emplace_back(x, alias);
    return alias;
  }
  void Open() {
    for (const auto& [given, alias] : known_) GradNode(alias)->edges.push_back(GradEdge(given));
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> known_;
};

/// Has the generator draw what it drew once, and go on afterwards as if nothing had been.
class DrawnAgain {
 public:
  explicit DrawnAgain(const std::vector<uint8_t>& state) {
    if (state.empty()) return;
    now_ = CurrentGenerator().WholeState();
    CurrentGenerator().SetWholeState(state);
  }
  ~DrawnAgain() {
    if (!now_.empty()) CurrentGenerator().SetWholeState(now_);
  }
  DrawnAgain(const DrawnAgain&) = delete;
  DrawnAgain& operator=(const DrawnAgain&) = delete;

 private:
  std::vector<uint8_t> now_;
};

}  // namespace

Redo::Redo(std::shared_ptr<const Asker> asker, std::shared_ptr<const GradientFlow> flow,
           std::span<const Tensor> arguments, std::span<const Tensor> inputs, std::vector<double> symbols,
           std::vector<uint8_t> generator)
    : asker_(std::move(asker)),
      flow_(std::move(flow)),
      arguments_(Keep(arguments)),
      inputs_(Keep(inputs)),
      symbols_(std::move(symbols)),
      generator_(std::move(generator)) {}

std::vector<Redo::Kept> Redo::Keep(std::span<const Tensor> tensors) {
  std::vector<Kept> kept;
  kept.reserve(tensors.size());
  for (const Tensor& tensor : tensors) kept.push_back({tensor, tensor.impl()->version_value()});
  return kept;
}

void Redo::CheckUnwritten(const std::vector<Kept>& kept) {
  for (const Kept& one : kept) {
    if (one.tensor.impl()->version_value() == one.version) continue;
    throw RuntimeError("compiled")
        .Says("the gradient of its gradient needs a tensor of shape ", one.tensor.shape(),
              " as it was at the call, and that has been modified by an in-place operation since");
  }
}

Tensors Redo::Gradients(const Tensors& grads) const {
  CheckUnwritten(arguments_);
  CheckUnwritten(inputs_);
  std::vector<Tensor> arguments, wanted;
  for (const Kept& kept : arguments_) arguments.push_back(kept.tensor);
  const Asked asked = (*asker_)(arguments);
  if (!asked.procedure) {
    throw NotImplementedError("compiled")
        .Says(
            "the gradient of this compiled function has no gradient "
            "(create_graph=True): ",
            asked.refusal, "; call the function uncompiled");
  }
  Doorsteps doorsteps;
  for (Tensor& argument : arguments) argument = doorsteps.Of(argument);
  ProcedureRun run(*asked.procedure, arguments, symbols_, asked.known);
  for (const auto& [id, tensor] : asked.procedure->outside) run.Put(id, doorsteps.Of(tensor));
  for (const int input : flow_->wanted) wanted.push_back(doorsteps.Of(inputs_[input].tensor));
  std::vector<Tensor> found;
  {
    const DrawnAgain drawn(generator_);
    const AutocastGuard as_at_the_call(autocast_);
    run.Advance(static_cast<int32_t>(asked.procedure->steps.size()));
    found = run.Finish();
  }
  std::vector<Tensor> roots, upstream;
  for (size_t i = 0; i < flow_->roots.size(); ++i) {
    const Tensor& result = found[flow_->roots[i]];
    if (!grads[i].defined() || !result.requires_grad()) continue;
    roots.push_back(result);
    upstream.push_back(grads[i]);
  }
  Tensors gradients;
  if (roots.empty()) {
    gradients.resize(wanted.size());
  } else {
    const BackwardOptions options{.retain_graph = true, .create_graph = true, .allow_unused = true};
    for (Tensor& grad : dragon::Gradients(roots, upstream, wanted, options)) gradients.push_back(std::move(grad));
  }
  doorsteps.Open();
  return gradients;
}

}  // namespace dragon
