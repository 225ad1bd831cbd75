// Writing down a branch, or the round of a loop: what looks at numbers, what gradients do, and what it may not do.
#include <algorithm>

#include "core/framework/autograd/meta.h"
#include "core/framework/op.h"
#include "core/framework/trace.h"

namespace dragon {

bool Trace::IsOpen(const Tensor& tensor) {
  if (!failure_.empty() || !tensor.impl()->storage || tensor.impl()->weak) return false;
  const Cell* cell = Known(tensor);
  const bool there = tensor.impl()->storage->memory.state() != UnifiedMemory::State::kUninitialized;
  return !(there && (cell ? cell->constant : IsOurs(tensor)));
}

bool IsOpen(const Tensor& tensor) {
  auto* trace = dynamic_cast<Trace*>(Door().tracer);
  return trace && trace->IsOpen(tensor);
}

void Trace::Refuse(const std::string& what) {
  GiveUp(what);
  throw RuntimeError("trace").Says(failure_);
}

/// What a branch has made without numbers, and somebody kept, is of no use outside.
void Trace::RefuseLeaked(const Call& call) {
  if (Door().phantom) return;
  for (const Tensor& x : call.inputs) {
    const Storage* storage = x.defined() ? x.impl()->storage.get() : nullptr;
    if (!storage || !(storage->mark >> kMarkBits & 1)) continue;
    if (storage->memory.state() != UnifiedMemory::State::kUninitialized) continue;
    throw RuntimeError(call.name())
        .Got("a tensor that was made within a branch or loop while that was captured")
        .Expected("tensors that it returned: it was called for its graph, and has computed nothing");
  }
}

void Trace::Hooked() {
  if (branch_) Refuse("a hook on a gradient within a branch or loop");
}

bool Trace::Flows(const std::vector<ValueId>& values) const {
  const auto count = static_cast<ValueId>(flows_.size());
  return std::any_of(values.begin(), values.end(),
                     [&](ValueId id) { return id != kNoValue && id < count && flows_[id]; });
}

void Trace::SetFlow(ValueId value, bool flows) {
  flows_.resize(graph_.values.size(), 0);
  flows_[value] = flows;
}

/// The gradient of a branch is that of its calls. So where its program cut the way of gradients (`detach`, `no_grad`),
/// the graph must say so; and a way that its calls do not go (somebody's own gradient) is none that it could say.
ValueId Trace::WithFlowOf(const Tensor& tensor, ValueId value) {
  flows_.resize(graph_.values.size(), 0);
  if (value == kNoValue || !IsInexact(graph_.values[value].dtype) || tensor.impl()->weak) return value;
  const bool wanted = tensor.requires_grad();
  if (wanted == static_cast<bool>(flows_[value])) return value;
  if (wanted) Refuse("a gradient that is not that of the calls, within a branch or loop");
  const ValueId stopped = Emit("stop_gradient", {value}, {});
  SetFlow(stopped, false);
  return stopped;
}

/// What the call just written made, with what its program says of gradients.
void Trace::NoteFlows(const Tensors& results, std::vector<ValueId>* outputs) {
  const Operator& op = *graph_.calls.back().op;
  const bool flows = op.differentiable && Flows(graph_.calls.back().inputs);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) continue;
    const bool here = flows && !(op.nondifferentiable_outputs >> i & 1) && IsInexact(results[i].dtype());
    SetFlow((*outputs)[i], here);
    if (here) (*outputs)[i] = WithFlowOf(results[i], (*outputs)[i]);
  }
}

/// What is outside may be written, which is an update of the graph, but not so that gradients flow into it: its history
/// would be that of a branch which has computed nothing.
void Trace::RefuseEffects(const Call& call, std::span<const Tensor> outs) {
  if (!Door().grad_enabled) return;
  const auto has_history = [](const Tensor& x) { return x.defined() && x.requires_grad(); };
  const bool recorded = call.op->differentiable && std::any_of(call.inputs.begin(), call.inputs.end(), has_history);
  for (const Tensor& out : outs) {
    const bool outside = out.defined() && out.impl()->storage && !IsOurs(out);
    if (!outside || !(recorded || has_history(out))) continue;
    Refuse("a write that gradients flow through, to a tensor from outside, within a branch or loop (" +
           call.op->name() + ")");
  }
}

}  // namespace dragon
