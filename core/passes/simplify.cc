// The walk of `simplify`: rules are tried on each call until none of them applies.
#include "core/passes/simplify.h"

#include <limits>

#include "core/passes/pass.h"

namespace dragon {

Simplifier::Simplifier(Graph& graph)
    : graph_(graph), rewrite_(graph), makers_(graph.Producers()), readers_(graph.values.size(), 0) {
  constexpr int kMany = 1000;  // somebody outside
  for (const GraphCall& call : graph.calls) {
    for (ValueId id : call.inputs) {
      if (id != kNoValue) ++readers_[id];
    }
  }
  for (ValueId id : graph.outputs) readers_[id] += kMany;
  for (const auto& [input, id] : graph.updates) readers_[id] += kMany;
}

const GraphCall* Simplifier::Maker(ValueId id) const {
  if (id == kNoValue || id >= static_cast<ValueId>(makers_.size()) || makers_[id] < 0) return nullptr;
  const GraphCall& call = graph_.calls[makers_[id]];
  return call.outputs[0] == id && !call.op->schema.mutates() ? &call : nullptr;
}

const GraphCall* Simplifier::Maker(ValueId id, std::string_view op) const {
  const GraphCall* maker = Maker(id);
  return maker && maker->op->name() == op ? maker : nullptr;
}

const GraphCall* Simplifier::Only(ValueId id, std::string_view op) const {
  const GraphCall* maker = Maker(id, op);
  if (!maker || !ReadOnce(id)) return nullptr;
  for (size_t k = 1; k < maker->outputs.size(); ++k) {
    if (maker->outputs[k] != kNoValue && readers_[maker->outputs[k]] > 0) return nullptr;
  }
  return maker;
}

double Simplifier::RealOf(ValueId id) const {
  const std::optional<Value> number = NumberOf(id);
  const bool real = number && number->is_number() && number->kind() != Value::Kind::kComplex;
  return real ? number->real() : std::numeric_limits<double>::quiet_NaN();
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
      // As its dtype has it: -1 is 255 among unsigned bytes.
      const DType dtype = graph_.values[id].dtype;
      return IsIntegral(dtype) ? Tensor::Scalar(maker->attrs[value], dtype).Item() : maker->attrs[value];
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
                          std::vector<GraphCall::Symbolic> symbolic, std::vector<int32_t> list_sizes) {
  GraphCall candidate = *call;
  candidate.op = &GetOp(op);
  candidate.inputs = std::move(inputs);
  candidate.attrs = std::move(attrs);
  candidate.symbolic = std::move(symbolic);
  candidate.list_sizes = std::move(list_sizes);
  std::vector<ValueInfo> made;
  try {
    made = InferCall(graph_, candidate);
  } catch (const Error&) {
    return false;
  }
  if (made.empty()) return false;
  candidate.outputs = {call->outputs[0]};
  candidate.outputs.resize(made.size(), kNoValue);
  made[0].symbolic = info(call->outputs[0]).symbolic;
  if (!SameForm(made[0], info(call->outputs[0]))) return false;
  if (candidate.op->view && !rewrite_.LookAt(call->outputs[0], candidate.inputs[0])) return false;
  *call = std::move(candidate);
  return true;
}

ValueId Simplifier::Insert(const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs,
                           std::vector<GraphCall::Symbolic> symbolic) {
  GraphCall call;
  call.op = &GetOp(op);
  call.inputs = std::move(inputs);
  call.attrs = std::move(attrs);
  call.symbolic = std::move(symbolic);
  std::vector<ValueInfo> made;
  try {
    made = InferCall(graph_, call);
  } catch (const Error&) {
    return kNoValue;
  }
  for (const ValueInfo& value : made) call.outputs.push_back(rewrite_.AddValue(value));
  const ValueId first = call.outputs[0];
  if (call.op->view) rewrite_.LookAt(first, call.inputs[0]);
  inserted_.emplace_back(position_, std::move(call));
  return first;
}

void Simplifier::Run(std::initializer_list<const SimplifyRules*> tables) {
  constexpr int kMostRounds = 16;  // every rule makes a call simpler, so this is never reached
  for (position_ = 0; position_ < graph_.calls.size(); ++position_) {
    GraphCall* call = &graph_.calls[position_];
    rewrite_.Rename(call);
    if (call->outputs.empty() || call->outputs[0] == kNoValue || call->op->schema.mutates()) continue;
    const ValueId made = call->outputs[0];
    bool changed = true;
    for (int round = 0; changed && round < kMostRounds && rewrite_.Now(made) == made; ++round) {
      changed = false;
      for (const SimplifyRules* rules : tables) {
        const auto [begin, end] = rules->equal_range(call->op->name());
        for (auto rule = begin; rule != end && !changed; ++rule) changed = rule->second(*this, call);
      }
    }
  }
  rewrite_.Finish(std::move(inserted_));
}

namespace {

void Simplify(Graph& graph) { Simplifier(graph).Run({&AlgebraRules(), &ViewRules()}); }

DRAGON_PASS(Simplify, 1, 120, "Leave out work that changes nothing, and merge chains of views.");

}  // namespace
}  // namespace dragon
