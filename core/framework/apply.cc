// The door itself: who stands there, and in which dtype operands meet.
#include "core/framework/apply.h"

#include <new>
#include <stdexcept>

#include "core/framework/compute.h"
#include "core/framework/op.h"
#include "core/framework/parts.h"
#include "core/framework/writes.h"

namespace dragon {

namespace {

thread_local DoorState g_door;

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
  return op.schema.mutates() && (op.writes_when < 0 || attrs[op.writes_when].boolean());
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

/// Ground, where troubles from below (no memory, no device, no kernel) are told in the name of the operator called.
Tensors GroundInItsName(const Call& call, std::span<const Tensor> outs, DoorState& door) {
  try {
    return Ground(call, outs, door);
  } catch (const Error& error) {
    const std::string words = error.what(), name = call.name();
    const bool from_below = error.kind() == ErrorKind::kNotImplemented || words.starts_with("device: ") ||
                            words.starts_with("linalg: ") || words.starts_with("promote_types: ");
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

DoorState& Door() { return g_door; }

Tensors Apply(const Call& call, std::span<const Tensor> outs) {
  static const std::atomic<bool>& there_are_parts = ThereAreParts();
  if (DRAGON_UNLIKELY(there_are_parts.load(std::memory_order_relaxed)) && AnyOfParts(call, outs))
    return ApplyToParts(call, outs);
  DoorState& door = g_door;  // found once: that takes a function of the linker's
  if (DRAGON_UNLIKELY(door.top != nullptr)) return door.top->Handle(call, outs);
  return GroundInItsName(call, outs, door);
}

Tensors Interpreter::Below(const Call& call, std::span<const Tensor> outs) {
  // While `below_` handles the call, what it calls in turn starts at its own level, not at ours.
  struct Lower {
    explicit Lower(Interpreter* below) : top(g_door.top) { g_door.top = below; }
    ~Lower() { g_door.top = top; }
    Interpreter* top;
  } lower(below_);
  return below_ ? below_->Handle(call, outs) : GroundInItsName(call, outs, g_door);
}

Tensors Interpreter::Through(const Call& call, std::span<const Tensor> outs) {
  return below_ ? below_->Handle(call, outs) : GroundInItsName(call, outs, g_door);
}

bool Interpreter::CallsComeWhole() const {
  const Interpreter* place = g_door.top;
  while (place && place != this && place->passes_whole()) place = place->below_;
  return place == this;
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
