// The walk of `simplify`: rules are tried on each call until none of them applies.
#include "core/passes/simplify.h"

#include "core/passes/pass.h"

namespace dragon {

Simplifier::Simplifier(Graph& graph) : graph_(graph), rewrite_(graph), makers_(graph.Producers()) {}

const GraphCall* Simplifier::Maker(ValueId id) const {
  if (id == kNoValue || id >= static_cast<ValueId>(makers_.size()) || makers_[id] < 0) return nullptr;
  const GraphCall& call = graph_.calls[makers_[id]];
  return call.outputs.size() == 1 && !call.op->schema.mutates() ? &call : nullptr;
}

const GraphCall* Simplifier::Maker(ValueId id, std::string_view op) const {
  const GraphCall* maker = Maker(id);
  return maker && maker->op->name() == op ? maker : nullptr;
}

std::optional<Value> Simplifier::NumberOf(ValueId id) const {
  for (;;) {  // through what repeats a number
    if (const auto known = graph_.constants.find(id); known != graph_.constants.end()) {
      const Tensor& tensor = known->second;
      if (tensor.numel() != 1 || !tensor.device().is_cpu()) return std::nullopt;
      return tensor.Item();
    }
    const GraphCall* maker = Maker(id);
    if (!maker) return std::nullopt;
    const std::string& name = maker->op->name();
    if (name == "full" || name == "full_like") {
      const int value = name == "full" ? 1 : 0;
      for (const GraphCall::Symbolic& symbolic : maker->symbolic) {
        if (symbolic.attr == value) return std::nullopt;
      }
      return maker->attrs[value];
    }
    if (name == "zeros" || name == "zeros_like") return Value(0);
    if (name == "ones" || name == "ones_like") return Value(1);
    if (name != "expand" && name != "view" && name != "unsqueeze" && name != "squeeze") return std::nullopt;
    id = maker->inputs[0];
  }
}

ValueId Simplifier::Number(const Value& number, DType dtype) {
  auto& alike = numbers_[HashAttribute(number)];
  for (const auto& [known, id] : alike) {
    if (info(id).dtype == dtype && SameAttribute(number, known)) return id;
  }
  alike.emplace_back(number, rewrite_.AddConstant(Tensor::Scalar(number, dtype)));
  return alike.back().second;
}

bool Simplifier::Exchange(GraphCall* call, const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs,
                          std::vector<GraphCall::Symbolic> symbolic) {
  GraphCall candidate = *call;
  candidate.op = &GetOp(op);
  candidate.inputs = std::move(inputs);
  candidate.attrs = std::move(attrs);
  candidate.symbolic = std::move(symbolic);
  std::vector<ValueInfo> made;
  try {
    made = InferCall(graph_, candidate);
  } catch (const Error&) {
    return false;
  }
  if (made.size() != 1) return false;
  made[0].symbolic = info(call->outputs[0]).symbolic;
  if (!SameForm(made[0], info(call->outputs[0]))) return false;
  if (candidate.op->view && !rewrite_.LookAt(call->outputs[0], candidate.inputs[0])) return false;
  *call = std::move(candidate);
  return true;
}

void Simplifier::Run() {
  constexpr int kMostRounds = 16;  // every rule makes a call simpler, so this is never reached
  for (size_t i = 0; i < graph_.calls.size(); ++i) {
    GraphCall* call = &graph_.calls[i];
    rewrite_.Rename(call);
    if (call->outputs.size() != 1 || call->outputs[0] == kNoValue || call->op->schema.mutates()) continue;
    const ValueId made = call->outputs[0];
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds && rewrite_.Now(made) == made; ++round) {
      changed = false;
      for (const auto* rules : {&AlgebraRules(), &ViewRules()}) {
        const auto [begin, end] = rules->equal_range(call->op->name());
        for (auto rule = begin; rule != end && !changed; ++rule) changed = rule->second(*this, call);
      }
    }
  }
  rewrite_.Finish();
}

namespace {

void Simplify(Graph& graph) { Simplifier(graph).Run(); }

DRAGON_PASS(Simplify, 1, 120, "Leave out work that changes nothing, and merge chains of views.");

}  // namespace
}  // namespace dragon
