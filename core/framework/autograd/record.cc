// The ground floor: record what is computed, so that gradients find their way back.
#include "core/framework/autograd/meta.h"
#include "core/framework/autograd/node.h"
#include "core/framework/compute.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

/// Two results cannot be written to one tensor.
void RefuseRepeated(const Call& call, std::span<const Tensor> outs) {
  for (size_t i = 1; i < outs.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!outs[i].defined() || !outs[k].defined() || !outs[i].is_same(outs[k])) continue;
      throw ValueError(call.name()).Got("one tensor as destination ", k, " and ", i).Expected("a tensor for each");
    }
  }
}

void RefuseWritingLeaf(const Call& call, const Tensor& out) {
  const Tensor base = out.impl()->base ? Tensor(out.impl()->base) : out;
  if (!base.requires_grad() || !base.is_leaf()) return;
  throw RuntimeError(call.name())
      .Got(out.impl()->base ? "a view of a leaf that requires grad" : "a leaf that requires grad", " to write in place")
      .Expected("no_grad() around it, or a tensor that was computed");
}

/// The destination's history becomes the node that wrote it; for a view, that of its base.
void Rebase(const Call& call, const Tensor& out, const Ref<OpNode>& node, int index) {
  if (!IsInexact(out.dtype())) return;
  if (!out.impl()->base) {
    SetHistory(out, Ref<Node>(node), index);
    return;
  }
  std::vector<int> own_inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].is_same(out)) own_inputs.push_back(static_cast<int>(i));
  }
  const Tensor base(out.impl()->base);
  if (base.dtype() != out.dtype()) {
    throw NotImplementedError(call.name())
        .Got("a view that reads its base as ", out.dtype(), " to write in place under autograd")
        .Expected("a view of the base's own dtype");
  }
  SetHistory(base, MakeRef<WriteThroughView>(base, out, node, std::move(own_inputs)), 0);
  out.impl()->view_version = out.impl()->version_value() - 1;  // stale: it is read again from the base when asked for
}

/// Mutated arguments have no history: writing one that gradients flow through would lose them silently.
void RefuseMutatingHistory(const Call& call) {
  const Schema& schema = call.op->schema;
  size_t i = 0, list = 0;
  for (int slot = 0; slot < schema.tensor_count(); ++slot) {
    const size_t count = schema.tensor(slot).type == ArgumentType::kTensorList ? call.list_sizes[list++] : 1;
    for (size_t k = 0; k < count; ++k, ++i) {
      const Tensor& x = call.inputs[i];
      if (!schema.tensor(slot).mutated || !x.defined() || !x.requires_grad()) continue;
      throw RuntimeError(call.name())
          .Got("argument '", schema.tensor(slot).name, "' that requires grad, to write in place")
          .Expected("no_grad() around the call");
    }
  }
}

bool AnyRequiresGrad(std::span<const Tensor> tensors) {
  for (const Tensor& x : tensors) {
    if (x.defined() && (x.impl()->autograd || x.impl()->base) && x.requires_grad()) return true;
  }
  return false;
}

/// The results of a composition. Errors of its parts begin with the name that was called.
Tensors Compose(const Call& call) {
  try {
    return call.op->compose(CallReader(call));
  } catch (const Error& error) {
    const std::string message = error.what(), who = call.name();
    if (message.compare(0, who.size(), who) == 0) throw;
    throw Error(error.kind(), who + ": " + message);
  }
}

/// The inputs of a composition that is about to be written onto some of them, which its parts may have saved: those as
/// copies.
InlineVector<Tensor, 4> Kept(const Call& call, std::span<const Tensor> outs) {
  InlineVector<Tensor, 4> kept;
  for (const Tensor& x : call.inputs) {
    bool written = false;
    for (const Tensor& out : outs) {
      written |= x.defined() && out.defined() && x.impl()->storage && x.impl()->storage == out.impl()->storage;
    }
    kept.push_back(written ? Op<"clone">(x) : x);
  }
  return kept;
}

}  // namespace

Tensors Ground(const Call& original, std::span<const Tensor> outs, DoorState& door) {
  const Operator& op = *original.op;
  if (DRAGON_UNLIKELY(outs.size() > 1)) RefuseRepeated(original, outs);
  InlineVector<Tensor, 4> promoted;
  Call call = Promote(original, &promoted);
  if (op.compose || (op.view && !outs.empty())) {
    InlineVector<Tensor, 4> kept;
    if (DRAGON_UNLIKELY(!outs.empty() && door.grad_enabled && AnyRequiresGrad(call.inputs))) {
      kept = Kept(call, outs);
      call.inputs = kept;
    }
    Tensors results = op.compose ? Compose(call) : MakeView(call);
    for (size_t i = 0; i < outs.size() && i < results.size(); ++i) {
      if (!outs[i].defined()) continue;
      CheckDestination(call, results[i].shape(), results[i].dtype(), outs[i]);
      if (DRAGON_UNLIKELY(outs[i].shape() != results[i].shape())) Resize(call, results[i].shape(), outs[i]);
      OpInto<"copy">(outs[i], results[i]);
      results[i] = outs[i];
    }
    return results;
  }
  if (DRAGON_UNLIKELY(op.schema.mutates() && door.grad_enabled)) RefuseMutatingHistory(call);
  const bool wanted =
      door.grad_enabled && ((op.differentiable && AnyRequiresGrad(call.inputs)) || AnyRequiresGrad(outs));
  if (DRAGON_LIKELY(!wanted)) {
    if (op.view) return MakeView(call);
    if (door.grad_enabled) {
      for (const Tensor& out : outs) {
        if (out.defined() && out.impl()->base) RefuseWritingLeaf(call, out);
      }
    }
    Tensors results = Compute(call, outs, door);
    if (!outs.empty() || op.schema.mutates()) BumpVersions(call, outs);
    return results;
  }
  for (const Tensor& out : outs) {
    if (out.defined()) RefuseWritingLeaf(call, out);
  }
  auto node = MakeRef<OpNode>(call, outs);
  Tensors computed;  // apart from the results only where those are copies of them
  Tensors results = op.view ? MakeView(call) : Compute(call, outs, door, outs.empty() ? nullptr : &computed);
  if (!outs.empty() || op.schema.mutates()) BumpVersions(call, outs);
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined() || !IsInexact(results[i].dtype())) continue;
    if (i < outs.size() && results[i].is_same(outs[i])) {
      Rebase(call, outs[i], node, static_cast<int>(i));
    } else if (op.differentiable && !(op.nondifferentiable_outputs >> i & 1)) {
      SetHistory(results[i], Ref<Node>(node), static_cast<int>(i));
    }
  }
  node->SaveOutputs(computed.empty() ? results : computed);
  return results;
}

}  // namespace dragon
