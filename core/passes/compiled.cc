// Splitting a differentiated graph in two, and running captured calls with all that belongs to them.
#include "core/passes/compiled.h"

#include <algorithm>
#include <unordered_map>

#include "core/framework/autograd/meta.h"
#include "core/framework/graph_check.h"
#include "core/framework/op.h"
#include "core/framework/writes.h"

namespace dragon {

std::shared_ptr<Plan> Compile(Graph graph, const PassOptions& passes, const PlanOptions& options,
                              std::vector<PassReport>* reports) {
  std::vector<PassReport> done = Optimize(graph, passes);
  if (reports) reports->insert(reports->end(), done.begin(), done.end());
  return std::make_shared<Plan>(std::move(graph), options);
}

Graph Decompose(const Graph& graph) {
  bool composed = false;
  for (const GraphCall& call : graph.calls) composed |= static_cast<bool>(call.op->compose);
  if (!composed) return graph;
  Trace trace;
  std::vector<Tensor> values(graph.values.size());
  for (ValueId id : graph.inputs) {
    values[id] = graph.Phantom(id);
    trace.AddInput(values[id], graph.values[id].name);
  }
  struct Phantoms {
    ~Phantoms() { Door().phantom = false; }
  } phantoms;
  GradMode off(false);
  trace.Start();
  for (const auto& [id, tensor] : graph.constants) {
    values[id] = tensor;
    trace.AddConstant(tensor, graph.values[id].name);
  }
  Door().phantom = true;
  for (const GraphCall& call : graph.calls) {
    InlineVector<Tensor, 4> inputs;
    for (ValueId id : call.inputs) inputs.push_back(id == kNoValue ? Tensor() : values[id]);
    const std::vector<int> written = call.Written();
    for (int i : written) {  // the old value may be read later: the new one gets memory of its own
      inputs[i] = Op<"clone">(inputs[i]);
    }
    const Tensors results = Apply(Call{call.op, inputs, call.attrs, call.list_sizes});
    for (size_t k = 0; k < results.size(); ++k) {
      if (k < call.outputs.size() && call.outputs[k] != kNoValue) values[call.outputs[k]] = results[k];
    }
    for (size_t k = 0; k < written.size(); ++k) {
      const ValueId id = call.outputs[call.result_count() + k];
      if (id != kNoValue) values[id] = inputs[written[k]];
    }
  }
  std::vector<ValueId> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(trace.Read(values[id]));
  std::vector<std::pair<int32_t, ValueId>> updates;
  for (const auto& [input, id] : graph.updates) updates.push_back({input, trace.Read(values[id])});
  trace.Stop();
  if (!trace.failure().empty()) throw RuntimeError("decompose").Says(trace.failure());
  Graph result = trace.graph();
  result.name = graph.name;
  result.outputs = std::move(outputs);
  result.updates = std::move(updates);
  for (size_t k = 0; k < result.outputs.size(); ++k) {
    const std::string& name = graph.values[graph.outputs[k]].name;
    if (result.values[result.outputs[k]].name.empty()) result.values[result.outputs[k]].name = name;
  }
  return result;
}

/// Stands in the tape behind the results of a captured call.
class CompiledNode final : public Node {
 public:
  CompiledNode(std::shared_ptr<Plan> plan, const CompiledCapture& owner, std::span<const Tensor> inputs,
               std::span<const Tensor> values)
      : plan_(std::move(plan)),
        grad_index_(owner.grad_index_),
        reaches_(owner.reaches_),
        root_count_(owner.roots_.size()) {
    symbols_ = owner.symbols_;
    for (int kept : owner.kept_) {
      if (kept >= 0) {
        saved_.emplace_back(inputs[kept], /*is_output=*/false);
      } else {
        saved_.emplace_back(values[~kept], /*is_output=*/false);
      }
    }
    for (int wanted : owner.wanted_) edges.push_back(GradEdge(inputs[wanted]));
  }

  Tensors Backward(const Tensors& grads) override {
    if (released_) {
      throw RuntimeError(name()).Says(
          "its saved tensors were freed by an earlier backward pass; pass retain_graph=True to that one to go through "
          "the graph again");
    }
    if (Door().grad_enabled) {
      throw NotImplementedError(name()).Says(
          "the gradient of a compiled function has no gradient (create_graph=True); call the function uncompiled");
    }
    EdgesToSkip() = 0;
    std::vector<Tensor> inputs;
    for (const SavedTensor& saved : saved_)
      inputs.push_back(saved.Unpack("compiled function", Ref<Node>(this)).Detach());
    for (size_t i = 0; i < root_count_; ++i) {
      const TensorMeta& meta = y_metas[i];
      Tensor grad = grads[i].defined() ? grads[i].Detach() : Op<"zeros">(meta.shape, meta.dtype, meta.device);
      inputs.push_back(grad.is_contiguous() ? grad : Op<"to_row_major">(grad));
    }
    const std::vector<Tensor> results = plan_->Run(inputs, symbols_);
    Tensors out;
    for (size_t i = 0; i < grad_index_.size(); ++i) {
      bool flows = false;  // zeros are no gradient: optimizers tell them from none
      for (size_t root = 0; root < root_count_; ++root) flows |= grads[root].defined() && reaches_[root][i];
      out.push_back(grad_index_[i] < 0 || !flows ? Tensor() : results[grad_index_[i]]);
    }
    return out;
  }
  void ReleaseSaved() override {
    saved_.clear();
    released_ = true;
  }
  std::string name() const override { return "compiled"; }

 private:
  std::shared_ptr<Plan> plan_;
  std::vector<SavedTensor> saved_;
  std::vector<int> grad_index_;
  std::vector<std::vector<char>> reaches_;
  size_t root_count_;
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
  Tensors Backward(const Tensors&) override { throw RuntimeError("").Says(words_); }
  std::string name() const override { return "compiled"; }

 private:
  std::string words_;
};

/// Copies parts of one graph into another, value by value.
class Transplant {
 public:
  Transplant(const Graph& from, Graph* to) : from_(from), to_(to), known_(from.values.size(), kNoValue) {}

  bool Knows(ValueId id) const { return known_[id] != kNoValue; }
  ValueId operator[](ValueId id) const { return id == kNoValue ? kNoValue : known_[id]; }
  ValueId Input(ValueId id) { return known_[id] = to_->AddInput(from_.values[id]); }
  void Constant(ValueId id) { known_[id] = to_->AddConstant(from_.constants.at(id), from_.values[id].name); }
  void Call(const GraphCall& call) {
    GraphCall copy = call;
    for (ValueId& id : copy.inputs) id = (*this)[id];
    for (ValueId& id : copy.outputs) {
      if (id == kNoValue) continue;
      const ValueId before = id;
      id = known_[before] = to_->AddValue(from_.values[before]);
    }
    to_->calls.push_back(std::move(copy));
  }

 private:
  const Graph& from_;
  Graph* to_;
  std::vector<ValueId> known_;
};

}  // namespace

/// The backward pass reads values of the forward pass: those become results of the one and inputs of the other.
void CompiledCapture::SplitForward(const Differentiation& whole, Graph* forward, Graph* backward) {
  const Graph& graph = whole.graph;
  const std::vector<int> producers = graph.Producers();
  backward->name = forward->name + "_backward";
  backward->symbols = graph.symbols;
  Transplant into(graph, backward);
  std::vector<char> updated(capture_.inputs.size(), 0);
  for (const auto& [input, value] : forward->updates) updated[input] = 1;
  std::unordered_map<ValueId, int> input_of;
  for (size_t i = 0; i < graph.inputs.size(); ++i) input_of.emplace(graph.inputs[i], static_cast<int>(i));
  // What the backward pass needs, through views back to what they are views of.
  std::vector<char> needed(graph.values.size(), 0);
  const auto need = [&](ValueId id) {
    for (; id != kNoValue && !needed[id]; id = graph.calls[producers[id]].inputs[0]) {
      needed[id] = 1;
      const int made_by = producers[id];
      if (made_by < 0 || made_by >= whole.forward_calls || !graph.calls[made_by].op->view) break;
    }
  };
  for (size_t t = whole.forward_calls; t < graph.calls.size(); ++t) {
    for (ValueId id : graph.calls[t].inputs) need(id);
  }
  for (ValueId id : whole.grads) need(id);
  const auto keep = [&](ValueId id, int from) {
    into.Input(id);
    kept_.push_back(from);
  };
  for (size_t i = 0; i < capture_.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    if (!needed[id]) continue;
    if (updated[i]) {
      forward->outputs.push_back(id);
      keep(id, ~static_cast<int>(forward->outputs.size() - 1));
    } else {
      keep(id, static_cast<int>(i));
    }
  }
  for (const auto& [id, tensor] : graph.constants) {
    if (needed[id]) into.Constant(id);
  }
  std::vector<int> views;
  for (int t = 0; t < whole.forward_calls; ++t) {
    const GraphCall& call = graph.calls[t];
    for (ValueId id : call.outputs) {
      if (id == kNoValue || !needed[id]) continue;
      if (call.op->view) {
        views.push_back(t);
      } else {
        forward->outputs.push_back(id);
        keep(id, ~static_cast<int>(forward->outputs.size() - 1));
      }
    }
  }
  for (size_t i = capture_.inputs.size(); i < graph.inputs.size(); ++i) into.Input(graph.inputs[i]);
  for (int t : views) into.Call(graph.calls[t]);
  for (size_t t = whole.forward_calls; t < graph.calls.size(); ++t) into.Call(graph.calls[t]);
  for (ValueId id : whole.grads) {
    grad_index_.push_back(id == kNoValue ? -1 : static_cast<int>(backward->outputs.size()));
    if (id != kNoValue) backward->outputs.push_back(into[id]);
  }
}

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

CompiledCapture::CompiledCapture(Capture capture, Differentiation whole, CompileOptions options)
    : capture_(std::move(capture)) {
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
    roots_ = whole.roots;
    wanted_ = whole.wanted;
    reaches_ = whole.reaches;
    Graph backward;
    SplitForward(whole, &forward, &backward);
    backward_ = Compile(std::move(backward), options.backward, options.plan, &reports_);
  }
  updates_ = TrueUpdates(forward);
  const bool pure = !backward_ && capture_.gradients.empty() && updates_.empty();
  if (options.freeze && pure && options.forward.level >= 3) frozen_ = std::make_unique<FrozenPlan>(capture_, options);
  forward_ = Compile(std::move(forward), options.forward, options.plan, &reports_);
}

std::vector<Tensor> CompiledCapture::Gather(std::span<const Tensor> arguments) const {
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

std::string CompiledCapture::Staleness(std::span<const Tensor> arguments) const {
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

Tensor CompiledCapture::Present(const CapturedOutput& output, std::span<const Tensor> inputs,
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

void CompiledCapture::Record(std::span<const Tensor> inputs, std::span<const Tensor> values,
                             std::span<const Tensor> results) {
  if (backward_) {
    auto node = MakeRef<CompiledNode>(backward_, *this, inputs, values);
    for (size_t i = 0; i < roots_.size(); ++i) {
      const Tensor& root = results[roots_[i]];
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

std::vector<Tensor> CompiledCapture::Run(std::span<const Tensor> arguments) {
  const std::vector<Tensor> inputs = Gather(arguments);
  const std::shared_ptr<Plan> frozen = frozen_ ? frozen_->Fresh(&reports_) : nullptr;
  const std::vector<Tensor> values =
      frozen ? frozen->Run(frozen_->Arguments(inputs), symbols_) : forward_->Run(inputs, symbols_);
  for (const auto& [input, value] : updates_) {
    if (!inputs[input].impl()->storage) continue;
    inputs[input].impl()->version().Bump();
    inputs[input].impl()->storage->writes.fetch_add(1, std::memory_order_relaxed);
  }
  std::vector<Tensor> results;
  for (const CapturedOutput& output : capture_.outputs) results.push_back(Present(output, inputs, values));
  if (Door().grad_enabled) Record(inputs, values, results);
  for (const CapturedGradient& gradient : capture_.gradients) {
    if (!gradient.written) continue;
    AutogradMeta::Of(LeafOf(gradient, arguments)).grad =
        gradient.is_none ? Tensor() : Present(gradient.output, inputs, values);
  }
  return results;
}

}  // namespace dragon
