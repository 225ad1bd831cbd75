// Running captured calls with all that belongs to them.
#include "core/runtime/program.h"

#include <algorithm>

#include "core/framework/autograd/meta.h"
#include "core/framework/generator.h"
#include "core/framework/graph_check.h"
#include "core/framework/layout.h"
#include "core/framework/op.h"
#include "core/framework/writes.h"
#include "core/passes/attention_training.h"
#include "core/runtime/frozen.h"
#include "core/runtime/split.h"

namespace dragon {

std::shared_ptr<Plan> Compile(Graph graph, const PassOptions& passes, const PlanOptions& options,
                              std::vector<PassReport>* reports) {
  std::vector<PassReport> done = Optimize(graph, passes);
  if (reports) reports->insert(reports->end(), done.begin(), done.end());
  return std::make_shared<Plan>(std::move(graph), options);
}

/// Stands in the tape behind the results of a captured call.
class ProgramNode final : public Node {
 public:
  ProgramNode(std::shared_ptr<Plan> plan, const Program& owner, std::span<const double> symbols,
              std::span<const Tensor> inputs, std::span<const Tensor> values, std::unique_ptr<Redo> redo)
      : plan_(std::move(plan)),
        redo_(std::move(redo)),
        flow_(owner.flow_),
        lasting_(owner.lasting_),
        symbols_(symbols.begin(), symbols.end()) {
    for (int kept : owner.kept_) {
      if (kept >= 0) {
        saved_.emplace_back(inputs[kept], /*is_output=*/false);
      } else {
        saved_.emplace_back(values[~kept], /*is_output=*/false);
      }
    }
    for (int wanted : flow_->wanted) edges.push_back(GradEdge(inputs[wanted]));
  }

  Tensors Backward(const Tensors& grads, uint64_t /*unwanted*/) override {
    if (Door().grad_enabled) return Recorded(grads);
    const std::vector<char> flowing = Flowing(grads);
    return GradientsOf(plan_->Run(Inputs(grads), symbols_), flowing);
  }
  Tensors BackwardOnce(Tensors& grads, uint64_t /*unwanted*/) override {
    if (Door().grad_enabled) return Recorded(grads);
    const std::vector<char> flowing = Flowing(grads);
    std::vector<Tensor> inputs = Inputs(grads);
    ReleaseSaved();
    grads.clear();
    return GradientsOf(plan_->RunOnce(std::move(inputs), symbols_), flowing);
  }
  void ReleaseSaved() override {
    saved_.clear();
    redo_.reset();
    released_ = true;
  }
  std::string name() const override { return "compiled"; }

 private:
  void CheckKept() const {
    if (!released_) return;
    throw RuntimeError(name()).Says(
        "its saved tensors were freed by an earlier backward pass; pass retain_graph=True to that one to go through "
        "the graph again");
  }
  /// Gradients with a history of their own.
  Tensors Recorded(const Tensors& grads) const {
    CheckKept();
    if (redo_) return redo_->Gradients(grads);
    throw NotImplementedError(name()).Says(
        "the gradient of this compiled function has no gradient (create_graph=True): ",
        lasting_ ? lasting_ : "nobody knows what its program asked for", "; call the function uncompiled");
  }
  /// What the plan reads: what was saved, and the gradients of the roots.
  std::vector<Tensor> Inputs(const Tensors& grads) {
    CheckKept();
    std::vector<Tensor> inputs;
    for (const SavedTensor& saved : saved_)
      inputs.push_back(saved.Unpack("compiled function", Ref<Node>(this)).Detach());
    for (size_t i = 0; i < flow_->roots.size(); ++i) {
      const TensorMeta& meta = y_metas[i];
      Tensor grad = grads[i].defined() ? grads[i].Detach() : Op<"zeros">(meta.shape, meta.dtype, meta.device);
      inputs.push_back(grad.is_contiguous() ? grad : Op<"to_row_major">(grad));
    }
    return inputs;
  }
  /// To which inputs gradients flow: zeros are no gradient, and optimizers tell them from none.
  std::vector<char> Flowing(const Tensors& grads) const {
    std::vector<char> flowing(flow_->grad_index.size(), 0);
    for (size_t root = 0; root < flow_->roots.size(); ++root) {
      if (!grads[root].defined()) continue;
      for (size_t i = 0; i < flowing.size(); ++i) flowing[i] |= flow_->reaches[root][i];
    }
    return flowing;
  }
  Tensors GradientsOf(const std::vector<Tensor>& results, const std::vector<char>& flowing) const {
    Tensors gradients;
    for (size_t i = 0; i < flowing.size(); ++i) {
      const int index = flow_->grad_index[i];
      gradients.push_back(index < 0 || !flowing[i] ? Tensor() : results[index]);
    }
    return gradients;
  }

  std::shared_ptr<Plan> plan_;
  std::unique_ptr<Redo> redo_;
  std::shared_ptr<const GradientFlow> flow_;
  const char* lasting_;
  std::vector<SavedTensor> saved_;
  std::vector<double> symbols_;
  bool released_ = false;
};

namespace {

/// Stands behind a result whose backward pass was run within the captured call.
class SpentNode final : public Node {
 public:
  SpentNode(std::string words, std::span<const Tensor> inputs, const std::vector<int>& reached)
      : words_(std::move(words)) {
    for (int input : reached) edges.push_back(GradEdge(inputs[input]));
  }
  Tensors Backward(const Tensors&, uint64_t) override { throw RuntimeError("").Says(words_); }
  std::string name() const override { return "compiled"; }

 private:
  std::string words_;
};

}  // namespace

namespace {

/// The updates without those that hand on what was there: a norm in evaluation returns its statistics as they are.
std::vector<std::pair<int32_t, ValueId>> TrueUpdates(const Graph& graph) {
  const std::vector<int> producers = graph.Producers();
  std::vector<std::pair<int32_t, ValueId>> updates;
  for (const auto& [input, value] : graph.updates) {
    const int made_by = producers[value];
    if (made_by < 0) {
      updates.push_back({input, value});
      continue;
    }
    const GraphCall& call = graph.calls[made_by];
    const std::vector<int> written = call.Written();
    bool same = false;
    for (size_t k = 0; k < written.size(); ++k) {
      const bool mine = call.outputs[call.result_count() + k] == value;
      same |= mine && call.inputs[written[k]] == graph.inputs[input];
    }
    if (!same || Writes(*call.op, call.attrs)) updates.push_back({input, value});
  }
  return updates;
}

}  // namespace

namespace {

/// What is to be found in both passes together is found first.
SplitGraph SplitWhole(const Capture& capture, Differentiation whole, const PassOptions& options) {
  const bool finds = options.level >= 3 && !options.skip.contains("find_attention_gradient");
  if (!finds) return Split(capture, whole, /*remakes=*/options.level >= 3);
  Graph& graph = whole.graph;
  graph.outputs = capture.graph.outputs;
  graph.updates = capture.graph.updates;
  for (ValueId grad : whole.grads) {
    if (grad != kNoValue) graph.outputs.push_back(grad);
  }
  const int found = FindAttentionAndGradient(graph, &whole.forward_calls);
  graph.outputs.clear();
  graph.updates.clear();
  if (found == 0) return Split(capture, whole, /*remakes=*/true);
  Capture changed = capture;
  changed.graph.values = graph.values;
  changed.graph.constants = graph.constants;
  changed.graph.calls.assign(graph.calls.begin(), graph.calls.begin() + whole.forward_calls);
  return Split(changed, whole, /*remakes=*/true);
}

}  // namespace

namespace {

/// Whether a call of the graph draws from the generator of whoever runs it.
bool Draws(const Graph& graph) {
  return std::any_of(graph.calls.begin(), graph.calls.end(), [](const GraphCall& call) {
    const std::span<const Argument> arguments = call.op->schema.arguments();
    return std::any_of(arguments.begin(), arguments.end(),
                       [](const Argument& argument) { return argument.type == ArgumentType::kGenerator; });
  });
}

/// What a call does besides computing results, for people; null if nothing.
const char* Lasting(const Capture& capture, bool writes) {
  if (writes) return "it writes tensors that were there before";
  return capture.gradients.empty() ? nullptr : "it has a backward pass within";
}

}  // namespace

Program::Program(Capture capture, CompileOptions options) : capture_(std::move(capture)) {
  Differentiation whole = std::exchange(capture_.backward, {});
  Graph forward = capture_.graph;
  result_count_ = forward.outputs.size();
  spent_ = whole.spent;
  for (const std::vector<char>& reached : whole.spent_reaches) {
    spent_inputs_.emplace_back();
    for (size_t i = 0; i < reached.size(); ++i) {
      if (reached[i]) spent_inputs_.back().push_back(whole.wanted[i]);
    }
  }
  if (!whole.roots.empty() && !whole.wanted.empty()) {
    GradientFlow flow{.roots = whole.roots, .wanted = whole.wanted, .reaches = whole.reaches};
    SplitGraph split = SplitWhole(capture_, std::move(whole), options.backward);
    forward = std::move(split.forward);
    kept_ = std::move(split.kept);
    flow.grad_index = std::move(split.grad_index);
    flow_ = std::make_shared<const GradientFlow>(std::move(flow));
    backward_ = Compile(std::move(split.backward), options.backward, options.plan, &reports_);
  }
  updates_ = TrueUpdates(forward);
  lasting_ = Lasting(capture_, !updates_.empty());
  draws_ = Draws(capture_.graph);
  const bool pure = !backward_ && capture_.gradients.empty() && updates_.empty();
  if (options.freeze && pure && options.forward.level >= 3) frozen_ = std::make_unique<FrozenPlan>(capture_, options);
  forward_ = Compile(std::move(forward), options.forward, options.plan, &reports_);
  for (size_t i = 0; i < forward_->graph().inputs.size(); ++i) {
    const ValueInfo& x = forward_->input(i);
    if (!x.strides.empty() && !IsContiguous(x.shape, x.strides)) strided_.push_back(i);
  }
}

Program::~Program() = default;

std::vector<Tensor> Program::Gather(std::span<const Tensor> arguments) const {
  std::vector<Tensor> inputs;
  inputs.reserve(capture_.inputs.size());
  size_t next = 0;
  for (const CapturedInput& input : capture_.inputs) {
    if (input.source == CapturedInput::Source::kArgument) {
      inputs.push_back(next < arguments.size() ? arguments[next] : Tensor());
      ++next;
    } else if (input.source == CapturedInput::Source::kGradient) {
      inputs.push_back((input.argument < 0 ? input.tensor : arguments[input.argument]).grad());
    } else {
      inputs.push_back(input.tensor);
    }
  }
  return inputs;
}

std::string Program::Staleness(std::span<const Tensor> arguments) const {
  for (const CapturedGradient& gradient : capture_.gradients) {
    const bool defined = LeafOf(gradient, arguments).grad().defined();
    if (gradient.guarded && defined != gradient.was_defined) {
      return defined ? "a tensor has a gradient now, and had none" : "a tensor has no gradient now, and had one";
    }
  }
  try {
    forward_->CheckInputs(Gather(arguments));
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

Tensor Program::Present(const CapturedOutput& output, std::span<const Tensor> inputs,
                        std::span<const Tensor> values) const {
  if (output.kind == CapturedOutput::Kind::kInput) return inputs[output.index];
  if (output.kind == CapturedOutput::Kind::kAlias) {
    const Tensor& x = inputs[output.index];
    if (output.requires_grad && x.requires_grad() && Door().grad_enabled) {
      return Op<"as_strided">(x, output.shape, output.strides, x.offset() + output.offset);
    }
    const int64_t start = x.offset() * x.item_size() / ItemSize(output.dtype);
    const auto bytes = static_cast<int64_t>(x.impl()->storage->bytes);
    if (!LiesWithin(output.shape, output.strides, start + output.offset, bytes / ItemSize(output.dtype))) {
      throw RuntimeError("compiled")
          .Got("an operand with ", bytes, " bytes of memory, for a view of shape ", output.shape, " at strides ",
               output.strides, " from ", start + output.offset)
          .Expected("memory that holds the view");
    }
    Tensor alias = x.Alias(output.shape, output.strides, start + output.offset, output.dtype);
    if (!output.requires_grad && x.requires_grad()) return alias;  // detached
    alias.impl()->base = x.impl()->base ? x.impl()->base : x.ref();
    alias.impl()->view_version = alias.impl()->version_value();
    return alias;
  }
  const Tensor& value = values[output.index];
  const bool whole = value.shape() == output.shape && value.strides() == output.strides && output.offset == 0 &&
                     value.dtype() == output.dtype;
  Tensor result = whole ? value.Detach() : value.Alias(output.shape, output.strides, output.offset, output.dtype);
  result.impl()->free_layout = output.free_layout && !result.is_contiguous();
  return result;
}

/// The state of the generator, where a call draws that may be done again.
std::vector<uint8_t> Program::GeneratorBefore() const {
  const bool kept = draws_ && backward_ && asker_ && !lasting_ && Door().grad_enabled;
  return kept ? CurrentGenerator().WholeState() : std::vector<uint8_t>();
}

std::vector<PassReport> Program::reports() const {
  std::vector<PassReport> all = reports_;
  if (frozen_) frozen_->AddReports(&all);
  return all;
}

void Program::Record(std::span<const Tensor> arguments, std::span<const double> symbols, std::span<const Tensor> inputs,
                     std::span<const Tensor> values, std::span<const Tensor> results,
                     std::vector<uint8_t> generator) const {
  if (backward_) {
    std::unique_ptr<Redo> redo;
    if (asker_ && !lasting_) {
      redo = std::make_unique<Redo>(asker_, flow_, arguments, inputs,
                                    std::vector<double>(symbols.begin(), symbols.end()), std::move(generator));
    }
    auto node = MakeRef<ProgramNode>(backward_, *this, symbols, inputs, values, std::move(redo));
    for (size_t i = 0; i < flow_->roots.size(); ++i) {
      const Tensor& root = results[flow_->roots[i]];
      node->y_metas.push_back(TensorMeta(root));
      SetHistory(root, Ref<Node>(node), static_cast<int>(i));
    }
  }
  for (size_t i = 0; i < spent_.size(); ++i) {
    const Tensor& result = results[spent_[i].first];
    auto node = MakeRef<SpentNode>(spent_[i].second, inputs, spent_inputs_[i]);
    node->y_metas.push_back(TensorMeta(result));
    SetHistory(result, Ref<Node>(node), 0);
  }
}

/// Gradients that get others, and that nobody looks at before, go first: as where the program itself drops them.
void Program::DropGradients(std::span<const Tensor> arguments) const {
  for (const CapturedGradient& gradient : capture_.gradients) {
    if (gradient.written && !gradient.guarded) AutogradMeta::Of(LeafOf(gradient, arguments)).grad = Tensor();
  }
}

void Program::RequireUnmoved(std::span<const Tensor> inputs) const {
  for (size_t i : strided_) {
    if (i >= inputs.size() || !inputs[i].defined()) continue;
    const TensorImpl& x = *inputs[i].impl();
    if (x.contiguous && x.numel > 1 && x.shape == forward_->input(i).shape) throw InputMoved();
  }
}

std::vector<Tensor> Program::Run(std::span<const Tensor> arguments, std::span<const double> symbols) {
  const std::vector<Tensor> inputs = Gather(arguments);
  const LayoutReaders reading(inputs);
  RequireUnmoved(inputs);
  DropGradients(arguments);
  std::vector<uint8_t> generator = GeneratorBefore();
  const std::shared_ptr<Plan> frozen = frozen_ ? frozen_->Fresh() : nullptr;
  const std::vector<Tensor> values =
      frozen ? frozen->Run(frozen_->Arguments(inputs), symbols) : forward_->Run(inputs, symbols);
  for (const auto& [input, value] : updates_) {
    if (!inputs[input].impl()->storage) continue;
    inputs[input].impl()->version().Bump();
    inputs[input].impl()->storage->writes.fetch_add(1, std::memory_order_relaxed);
  }
  std::vector<Tensor> results;
  for (const CapturedOutput& output : capture_.outputs) results.push_back(Present(output, inputs, values));
  if (Door().grad_enabled) Record(arguments, symbols, inputs, values, results, std::move(generator));
  for (const CapturedGradient& gradient : capture_.gradients) {
    if (!gradient.written) continue;
    AutogradMeta::Of(LeafOf(gradient, arguments)).grad =
        gradient.is_none ? Tensor() : Present(gradient.output, inputs, values);
  }
  return results;
}

}  // namespace dragon
