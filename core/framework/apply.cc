// The door itself: promote, record, infer, allocate, run.
#include "core/framework/apply.h"

#include <new>
#include <stdexcept>

#include "core/framework/autograd/meta.h"
#include "core/framework/autograd/node.h"
#include "core/framework/destination.h"
#include "core/framework/known.h"
#include "core/framework/number.h"
#include "core/framework/op.h"
#include "core/framework/promotion.h"
#include "core/framework/writes.h"

namespace dragon {

namespace {

thread_local DoorState g_door;
std::atomic<DType> g_default_dtype{DType::kFloat32};

/// Inputs cast to one dtype; recorded, so that gradients come back in the dtypes they started from.
InlineVector<Tensor, 4> Promoted(const Call& call, DType dtype) {
  const Operator& op = *call.op;
  InlineVector<Tensor, 4> inputs(call.inputs);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Tensor& x = inputs[i];
    if (!x.defined() || x.dtype() == dtype || !(op.promoted_slots >> i & 1)) continue;
    if (!x.impl()->weak) {
      x = Op<"cast">(x, dtype);
      continue;
    }
    const Value number = x.Item();
    if (op.number_check) op.number_check(op.name().c_str(), static_cast<int>(i), dtype, number);
    x = Tensor::Scalar(number, dtype);
  }
  return inputs;
}

/// The dtype that the promoted inputs should have, or `same` if they are fine as they are.
bool NeedsPromotion(const Call& call, DType* dtype) {
  const Operator& op = *call.op;
  const Tensor* first = nullptr;
  bool mixed = false;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const Tensor& x = call.inputs[i];
    if (!x.defined() || !(op.promoted_slots >> i & 1)) continue;
    if (!first) {
      first = &x;
    } else if (x.dtype() != first->dtype()) {
      mixed = true;
    }
  }
  if (!first) return false;
  const bool to_float = op.promotion == Promotion::kFloat;
  if (DRAGON_LIKELY(!mixed && !(to_float && !IsInexact(first->dtype())))) return false;
  if (mixed) {
    InlineVector<Tensor, 4> taking_part;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      if (op.promoted_slots >> i & 1) taking_part.push_back(call.inputs[i]);
    }
    *dtype = CurrentPromotionRule()(call.name(), taking_part);
  } else {
    *dtype = first->dtype();
  }
  if (to_float && !IsInexact(*dtype)) *dtype = DefaultDType();
  return true;
}

}  // namespace

bool Writes(const Operator& op, std::span<const Value> attrs) {
  if (!op.schema.mutates()) return false;
  const int training = op.schema.Find("training");
  return training < 0 || attrs[op.schema.arguments()[training].slot].boolean();
}

Call Promote(const Call& call, InlineVector<Tensor, 4>* storage) {
  Call promoted = call;
  DType dtype;
  if (call.op->promotion == Promotion::kNone || DRAGON_LIKELY(!NeedsPromotion(call, &dtype))) return promoted;
  *storage = Promoted(call, dtype);
  promoted.inputs = *storage;
  return promoted;
}

Device CommonDevice(const Call& call) {
  const Tensor* first = nullptr;
  for (const Tensor& x : call.inputs) {
    if (!x.defined()) continue;
    if (!first || (first->ndim() == 0 && x.device() != first->device() && first->device().is_cpu())) {
      first = &x;
      continue;
    }
    if (x.device() == first->device()) continue;
    if (x.device().is_cpu() && x.ndim() == 0) continue;  // a CPU number goes anywhere
    throw ValueError(call.name())
        .Got("tensors on ", first->device(), " and ", x.device())
        .Expected("tensors on one device");
  }
  return first ? first->device() : Device{};
}

namespace {

Tensor MakeView(const Call& call) {
  const Tensor& x = call.inputs[0];
  x.Settle();
  ViewOf geometry(call);
  call.op->view(geometry);
  Tensor alias = x.Alias(std::move(geometry.shape), std::move(geometry.strides), geometry.offset, geometry.dtype);
  TensorImpl& impl = *alias.impl();
  impl.base = x.impl()->base ? x.impl()->base : x.ref();
  impl.view_version = impl.version_value();
  return alias;
}

/// May the result be computed straight into `out`?
bool CanWriteStraight(const Call& call, const OutputSpec& spec, const Tensor& out) {
  if (!(call.op->pointwise || call.op->edits) || out.shape() != spec.shape) return false;
  if (out.dtype() != spec.dtype && !call.op->casts_output) return false;
  for (const Tensor& x : call.inputs) {
    if (!x.defined() || !x.impl()->storage || x.impl()->storage != out.impl()->storage) continue;
    // The very same elements are fine, each is read before it is written; a shifted alias is not.
    const bool same = x.offset() == out.offset() && x.strides() == out.strides() && x.shape() == out.shape();
    if (!same || x.dtype() != out.dtype()) return false;
    if (call.op->edits && &x != &call.inputs[0]) return false;
  }
  return true;
}

/// A dialect's `out=` takes on the result's shape; other views of its old memory, and who borrowed it, keep that.
void ResizeDestination(const Dims& shape, const Tensor& out) {
  Destinations().resized |= out.numel() > 0;
  TensorImpl& impl = *out.impl();
  const Tensor fresh = Tensor::Empty(shape, out.dtype(), out.device());
  impl.storage = fresh.impl()->storage;
  impl.shape = shape;
  impl.strides = fresh.strides();
  impl.offset = 0;
  impl.numel = fresh.numel();
  impl.contiguous = true;
  impl.free_layout = false;
  impl.base = nullptr;
}

/// The call reads this very tensor: it must keep its shape until the result is there.
bool Reads(const Call& call, const Tensor& out) {
  for (const Tensor& x : call.inputs) {
    if (x.defined() && x.is_same(out)) return true;
  }
  return false;
}

void CheckDestination(const Call& call, const Dims& shape, DType dtype, const Tensor& out) {
  const bool resizes = DRAGON_UNLIKELY(out.shape() != shape) && Destinations().may_resize;
  if (DRAGON_UNLIKELY(out.shape() != shape) && !resizes) {
    throw ValueError(call.name()).Got("a destination of shape ", out.shape()).Expected("shape ", shape);
  }
  if (!CanCast(dtype, out.dtype()) && !call.op->casts_output) {
    throw TypeError(call.name())
        .Got("a result of ", dtype, " for a destination of ", out.dtype())
        .Expected("a destination that can hold it");
  }
  if (resizes) return;
  if (MayOverlap(out.shape(), out.strides())) {
    throw ValueError(call.name())
        .Got("a destination of shape ", out.shape(), " and strides ", out.strides())
        .Expected("one element per place (clone it first)");
  }
}

class RealNumbers {
 public:
  RealNumbers() { g_door.phantom = false; }
  ~RealNumbers() { g_door.phantom = true; }
};

/// Two results cannot be written to one tensor.
void RefuseRepeated(const Call& call, std::span<const Tensor> outs) {
  for (size_t i = 1; i < outs.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!outs[i].defined() || !outs[k].defined() || !outs[i].is_same(outs[k])) continue;
      throw ValueError(call.name()).Got("one tensor as destination ", k, " and ", i).Expected("a tensor for each");
    }
  }
}

/// Copy a result to where it was asked for.
void Deliver(const Tensor& result, const Tensor& out) {
  if (DRAGON_UNLIKELY(out.shape() != result.shape())) ResizeDestination(result.shape(), out);
  GradMode off(false);
  OpInto<"copy">(out.Detach(), result);
}

/// The ground floor's compute half: infer, allocate, run. `computed`: where results that were then copied into a
/// destination, perhaps of another dtype, are wanted as they were made.
Tensors Compute(const Call& call, std::span<const Tensor> outs, Tensors* computed = nullptr) {
  const Operator& op = *call.op;
  Tensors outputs;
  Infer infer(call);
  infer.device = CommonDevice(call);
  bool shapes_only = g_door.phantom;
  if (!op.dynamic) {
    op.infer(infer);
    if (DRAGON_UNLIKELY(shapes_only)) shapes_only = !IsKnown(call, outs, {infer.outputs.data(), infer.outputs.size()});
    for (size_t i = 0; i < infer.outputs.size(); ++i) {
      OutputSpec& spec = infer.outputs[i];
      if (i < outs.size() && outs[i].defined()) {
        CheckDestination(call, spec.shape, spec.dtype, outs[i]);
        if (DRAGON_UNLIKELY(outs[i].shape() != spec.shape) && !Reads(call, outs[i])) {
          ResizeDestination(spec.shape, outs[i]);
        }
        if (CanWriteStraight(call, spec, outs[i])) {
          outputs.push_back(outs[i]);
          continue;
        }
      }
      if (DRAGON_UNLIKELY(shapes_only)) {
        outputs.push_back(Tensor::Phantom(spec.shape, spec.strides, spec.dtype, infer.device));
        outputs.back().impl()->free_layout = spec.free_layout && !outputs.back().is_contiguous();
      } else if (spec.strides.empty()) {
        outputs.push_back(Tensor::Empty(spec.shape, spec.dtype, infer.device));
      } else {
        outputs.push_back(Tensor::EmptyStrided(spec.shape, spec.strides, spec.dtype, infer.device));
        outputs.back().impl()->free_layout = spec.free_layout && !outputs.back().is_contiguous();
      }
    }
  }
  for (const Tensor& out : outs) {
    if (!out.defined() || out.device() == infer.device) continue;
    throw ValueError(op.name()).Got("a destination on ", out.device()).Expected("one on ", infer.device);
  }
  if (infer.device.is_meta() || DRAGON_UNLIKELY(shapes_only)) {
    if (op.dynamic)
      throw NotImplementedError(op.name()).Got("a meta tensor").Expected("numbers: the result's shape depends on them");
  } else {
    Context ctx{infer.device,
                infer.device.is_cpu() ? nullptr : BackendOf(infer.device.type).CurrentStream(infer.device.index)};
    GradMode off(false);
    std::optional<RealNumbers> real;  // what the kernel calls in turn is computed as well
    if (DRAGON_UNLIKELY(g_door.phantom)) real.emplace();
    Run run(call, ctx, outputs);
    op.run(run);
  }
  if (computed) *computed = outputs;
  for (size_t i = 0; i < outs.size() && i < outputs.size(); ++i) {
    if (!outs[i].defined() || outputs[i].is_same(outs[i])) continue;
    if (DRAGON_UNLIKELY(g_door.phantom)) {
      if (outs[i].shape() != outputs[i].shape()) ResizeDestination(outputs[i].shape(), outs[i]);
      outputs[i] = outs[i];
      continue;
    }
    if (op.dynamic) CheckDestination(call, outputs[i].shape(), outputs[i].dtype(), outs[i]);
    Deliver(outputs[i], outs[i]);
    outputs[i] = outs[i];
  }
  return outputs;
}

/// One more write to the tensor's memory.
void CountWrite(const Tensor& x) {
  if (!x.defined() || !x.impl()->storage) return;
  x.impl()->version().Bump();
  if (DRAGON_LIKELY(!g_door.phantom)) x.impl()->storage->writes.fetch_add(1, std::memory_order_relaxed);
}

void BumpVersions(const Call& call, std::span<const Tensor> outs) {
  for (const Tensor& out : outs) {
    CountWrite(out);
  }
  const Schema& schema = call.op->schema;
  if (!Writes(*call.op, call.attrs)) return;
  size_t i = 0, list = 0;
  for (int slot = 0; slot < schema.tensor_count(); ++slot) {
    const size_t count = schema.tensor(slot).type == ArgumentType::kTensorList ? call.list_sizes[list++] : 1;
    for (size_t k = 0; k < count; ++k, ++i) {
      if (schema.tensor(slot).mutated) CountWrite(call.inputs[i]);
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

/// The ground floor: Record above Run.
Tensors Ground(const Call& original, std::span<const Tensor> outs) {
  const Operator& op = *original.op;
  if (DRAGON_UNLIKELY(outs.size() > 1)) RefuseRepeated(original, outs);
  InlineVector<Tensor, 4> promoted;
  Call call = Promote(original, &promoted);
  if (op.compose || (op.view && !outs.empty())) {
    InlineVector<Tensor, 4> kept;
    if (DRAGON_UNLIKELY(!outs.empty() && g_door.grad_enabled && AnyRequiresGrad(call.inputs))) {
      kept = Kept(call, outs);
      call.inputs = kept;
    }
    Tensors results = op.compose ? Compose(call) : Tensors{MakeView(call)};
    for (size_t i = 0; i < outs.size() && i < results.size(); ++i) {
      if (!outs[i].defined()) continue;
      CheckDestination(call, results[i].shape(), results[i].dtype(), outs[i]);
      if (DRAGON_UNLIKELY(outs[i].shape() != results[i].shape())) ResizeDestination(results[i].shape(), outs[i]);
      OpInto<"copy">(outs[i], results[i]);
      results[i] = outs[i];
    }
    return results;
  }
  const DoorState& door = g_door;
  if (DRAGON_UNLIKELY(op.schema.mutates() && door.grad_enabled)) RefuseMutatingHistory(call);
  const bool wanted =
      door.grad_enabled && ((op.differentiable && AnyRequiresGrad(call.inputs)) || AnyRequiresGrad(outs));
  if (DRAGON_LIKELY(!wanted)) {
    if (op.view) return {MakeView(call)};
    if (door.grad_enabled) {
      for (const Tensor& out : outs) {
        if (out.defined() && out.impl()->base) RefuseWritingLeaf(call, out);
      }
    }
    Tensors results = Compute(call, outs);
    if (!outs.empty() || op.schema.mutates()) BumpVersions(call, outs);
    return results;
  }
  for (const Tensor& out : outs) {
    if (out.defined()) RefuseWritingLeaf(call, out);
  }
  auto node = MakeRef<OpNode>(call, outs);
  Tensors computed;  // apart from the results only where those are copies of them
  Tensors results = op.view ? Tensors{MakeView(call)} : Compute(call, outs, outs.empty() ? nullptr : &computed);
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

/// Ground, where troubles from below (no memory, no device, no kernel) are told in the name of the operator called.
Tensors GroundInItsName(const Call& call, std::span<const Tensor> outs) {
  try {
    return Ground(call, outs);
  } catch (const Error& error) {
    const std::string words = error.what(), name = call.name();
    const bool from_below =
        error.kind() == ErrorKind::kNotImplemented || words.starts_with("device: ") || words.starts_with("linalg: ");
    if (from_below && !words.starts_with(name)) throw Error(error.kind(), name + ": " + words);
    const auto speaker = words.find(": got a request for");
    if (error.kind() != ErrorKind::kMemory || speaker == std::string::npos) throw;
    throw Error(ErrorKind::kMemory, name + words.substr(speaker));
  } catch (const std::bad_alloc&) {
    throw MemoryError(call.name()).Says("the system has no memory left for the bookkeeping");
  } catch (const std::length_error&) {
    throw MemoryError(call.name()).Says("more results or sizes than memory could ever hold");
  }
}

}  // namespace

DestinationRule& Destinations() {
  thread_local DestinationRule rule;
  return rule;
}

DoorState& Door() { return g_door; }

DType DefaultDType() { return g_default_dtype.load(std::memory_order_relaxed); }

void SetDefaultDType(DType dtype) {
  if (!IsFloating(dtype)) throw TypeError("set_default_dtype").Got(dtype).Expected("a floating dtype");
  g_default_dtype = dtype;
}

Tensors Apply(const Call& call, std::span<const Tensor> outs) {
  if (DRAGON_UNLIKELY(g_door.top != nullptr)) return g_door.top->Handle(call, outs);
  return GroundInItsName(call, outs);
}

Tensors Interpreter::Below(const Call& call, std::span<const Tensor> outs) {
  // While `below_` handles the call, what it calls in turn starts at its own level, not at ours.
  struct Lower {
    explicit Lower(Interpreter* below) : top(g_door.top) { g_door.top = below; }
    ~Lower() { g_door.top = top; }
    Interpreter* top;
  } lower(below_);
  return below_ ? below_->Handle(call, outs) : GroundInItsName(call, outs);
}

Tensors Interpreter::Through(const Call& call, std::span<const Tensor> outs) {
  return below_ ? below_->Handle(call, outs) : GroundInItsName(call, outs);
}

void Interpreter::Enter() {
  below_ = g_door.top;
  g_door.top = this;
}

void Interpreter::EnterBelow() {
  Interpreter** place = &g_door.top;
  while (*place) place = &(*place)->below_;
  *place = this;
  below_ = nullptr;
}

void Interpreter::Leave() {
  for (Interpreter** place = &g_door.top; *place; place = &(*place)->below_) {
    if (*place != this) continue;
    *place = below_;
    return;
  }
}

}  // namespace dragon
