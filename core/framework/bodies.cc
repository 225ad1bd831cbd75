// Checking, running and differentiating graphs that are arguments.
#include "core/framework/bodies.h"

#include <algorithm>
#include <sstream>

#include "core/framework/autograd/backward.h"
#include "core/framework/op.h"
#include "core/framework/trace.h"

namespace dragon {

namespace {

/// Something that was worked out of a body.
struct Note final : Preparation {
  explicit Note(Value graph = {}) : graph(std::move(graph)) {}
  Value graph;
};

}  // namespace

BodyRules& Bodies() {
  static BodyRules rules;
  return rules;
}

std::string FormOf(const ValueInfo& info) {
  std::ostringstream text;
  text << Name(info.dtype) << " of shape " << info.shape;
  return text.str();
}

const Graph& CheckedBody(const CallReader& call, const Value& attr, const char* argument) {
  const GraphBody& body = BodyOf(call.name(), attr);
  const Graph& graph = body.graph();
  body.Prepared({kCheckedBody}, [&] {
    if (!graph.symbols.empty() || !graph.updates.empty()) {
      throw ValueError(call.name())
          .Got("'", argument, "' with ", graph.symbols.size(), " symbols and ", graph.updates.size(), " updates")
          .Expected("a graph of known sizes that writes none of its inputs");
    }
    const StepAside aside;
    graph.Verify();
    return std::make_shared<Note>();
  });
  return graph;
}

void CheckFits(const CallReader& call, const char* argument, const Graph& body, std::span<const Tensor> inputs) {
  if (inputs.size() != body.inputs.size()) {
    throw ValueError(call.name())
        .Got(inputs.size(), " tensors for '", argument, "'")
        .Expected(body.inputs.size(), ", as its graph takes");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& info = body.values[body.inputs[i]];
    const Tensor& x = inputs[i];
    if (x.shape() == info.shape && x.dtype() == info.dtype) continue;
    throw ValueError(call.name())
        .Got("tensor ", i, " for '", argument, "', ", Name(x.dtype()), " of shape ", x.shape())
        .Expected(FormOf(info));
  }
}

bool IsTrue(const char* who, const Tensor& predicate) {
  if (predicate.numel() != 1)
    throw ValueError(who).Got("a predicate of shape ", predicate.shape()).Expected("one element");
  const Tensor unheard = predicate.Detach();
  unheard.impl()->weak = true;  // the choice is the operator's own business: no trace need hear of the look
  const Value value = unheard.Item();
  return value.real() != 0 || value.complex().im != 0;
}

void AllowInterrupt() {
  if (Bodies().interrupt) Bodies().interrupt();
}

namespace {

/// The numbers of a tensor in the order in memory that a body has noted for them.
Tensor Ordered(const Tensor& x, const Dims& strides) {
  if (strides.empty()) return x.is_contiguous() ? x.Detach() : Op<"to_row_major">(x.Detach());
  if (x.strides() == strides || !IsDense(x.shape(), strides)) return x.Detach();
  Tensor ordered = Tensor::EmptyStrided(x.shape(), strides, x.dtype(), x.device());
  OpInto<"copy">(ordered, x.Detach());
  return ordered;
}

}  // namespace

std::vector<Tensor> RunBody(const Value& body, std::span<const Tensor> inputs) {
  const StepAside aside;
  const auto& graph = static_cast<const GraphBody&>(*body.object());
  std::vector<Tensor> ordered;
  ordered.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    ordered.push_back(Ordered(inputs[i], graph.graph().values[graph.graph().inputs[i]].strides));
  }
  return Bodies().run(graph, ordered);
}

Value Derived(const Value& body, const std::vector<int64_t>& key,
              Graph (*make)(const Graph& body, const std::vector<int64_t>& key)) {
  const auto& holder = static_cast<const GraphBody&>(*body.object());
  const auto note = holder.Prepared(key, [&] {
    const StepAside aside;
    return std::make_shared<Note>(Value(Ref<Object>(MakeRef<GraphBody>(make(holder.graph(), key)))));
  });
  return static_cast<const Note&>(*note).graph;
}

namespace {

/// A body on its way through the door, without numbers, recorded for gradients and written down.
class Differentiating {
 public:
  explicit Differentiating(const Graph& body) : body_(body), values_(body.values.size()) {}
  ~Differentiating() { trace_.Stop(); }

  Graph Run(const std::vector<int>& wanted, const std::vector<int>& roots) {
    std::vector<Tensor> inputs, upstream;
    for (ValueId id : body_.inputs) {
      inputs.push_back(values_[id] = body_.Phantom(id));
      trace_.AddInput(inputs.back());
    }
    for (int i : wanted) inputs[i].set_requires_grad(true);
    for (int root : roots) {
      const ValueInfo& info = body_.values[body_.outputs[root]];
      upstream.push_back(Tensor::Phantom(info.shape, {}, info.dtype, info.device));
      trace_.AddInput(upstream.back());
    }
    trace_.Start();
    for (const auto& [id, tensor] : body_.constants) trace_.AddConstant(values_[id] = tensor, "");
    Door().phantom = true;
    {
      const GradMode on(true);
      for (const GraphCall& call : body_.calls) Evaluate(call);
    }
    const std::vector<Tensor> grads = Flow(inputs, wanted, roots, upstream);
    std::vector<ValueId> outputs;
    for (const Tensor& grad : grads) outputs.push_back(trace_.Read(grad));
    trace_.Stop();
    if (!trace_.failure().empty()) throw RuntimeError("gradient of a graph").Says(trace_.failure());
    Graph result = trace_.graph();
    result.name = body_.name + "_gradient";
    result.outputs = std::move(outputs);
    return result;
  }

 private:
  void Evaluate(const GraphCall& call) {
    std::vector<Tensor> inputs;
    for (ValueId id : call.inputs) inputs.push_back(id == kNoValue ? Tensor() : values_[id]);
    const std::vector<int> written = call.Written();
    for (int i : written) inputs[i] = Op<"clone">(inputs[i]);  // the old value may be read later
    const Tensors results = Apply(Call{call.op, inputs, call.attrs, call.list_sizes});
    for (size_t k = 0; k < call.outputs.size(); ++k) {
      if (call.outputs[k] == kNoValue) continue;
      values_[call.outputs[k]] = k < results.size() ? results[k] : inputs[written[k - results.size()]];
    }
  }

  std::vector<Tensor> Flow(const std::vector<Tensor>& inputs, const std::vector<int>& wanted,
                           const std::vector<int>& roots, const std::vector<Tensor>& upstream) {
    std::vector<Tensor> from, with, into, grads(wanted.size());
    for (size_t k = 0; k < roots.size(); ++k) {
      const Tensor& root = values_[body_.outputs[roots[k]]];
      if (!root.requires_grad()) continue;
      from.push_back(root);
      with.push_back(upstream[k]);
    }
    for (int i : wanted) into.push_back(inputs[i]);
    BackwardOptions options;
    options.retain_graph = options.allow_unused = options.stop_at_inputs = true;
    if (!from.empty()) grads = Gradients(from, with, into, options);
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined()) grads[i] = Op<"zeros">(into[i].shape(), into[i].dtype(), into[i].device());
    }
    return grads;
  }

  const Graph& body_;
  std::vector<Tensor> values_;
  Trace trace_;
};

}  // namespace

Graph GradientGraph(const Graph& body, const std::vector<int>& wanted, const std::vector<int>& roots) {
  const bool draws =
      std::any_of(body.calls.begin(), body.calls.end(), [](const GraphCall& c) { return c.is_random(); });
  if (draws) {
    throw NotImplementedError("gradient of a graph")
        .Got("one that draws random numbers")
        .Expected("numbers that are drawn outside of branches and loops, and handed in");
  }
  return Differentiating(body).Run(wanted, roots);
}

Graph GradientByKey(const Graph& body, const std::vector<int64_t>& key) {
  std::vector<int> wanted, roots;
  const auto inputs = static_cast<int64_t>(body.inputs.size());
  for (size_t k = 1; k < key.size(); ++k) {
    if (key[k] < inputs) wanted.push_back(static_cast<int>(key[k]));
    if (key[k] >= inputs) roots.push_back(static_cast<int>(key[k] - inputs));
  }
  return GradientGraph(body, wanted, roots);
}

}  // namespace dragon
