// Infer, allocate, run; and where results go that were given a destination.
#include "core/framework/compute.h"

#include <algorithm>

#include "core/framework/across.h"
#include "core/framework/known.h"
#include "core/framework/known_call.h"
#include "core/framework/layout.h"
#include "core/framework/op.h"
#include "core/framework/promotion.h"
#include "core/framework/stand_in.h"

namespace dragon {

Tensors MakeView(const Call& call) {
  const Tensor& x = call.inputs[0];
  x.Settle();
  ViewOf geometry(call);
  call.op->view(geometry);
  Tensors alias;
  alias.push_back(x.Alias(std::move(geometry.shape), std::move(geometry.strides), geometry.offset, geometry.dtype));
  TensorImpl& impl = *alias[0].impl();
  impl.base = x.impl()->base ? x.impl()->base : x.ref();
  impl.view_version = impl.version_value();
  return alias;
}

void Resize(const Call& call, const Dims& shape, const Tensor& out) {
  *call.resized |= out.numel() > 0;
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

void CheckDestination(const Call& call, const Dims& shape, DType dtype, const Tensor& out) {
  const bool resizes = DRAGON_UNLIKELY(out.shape() != shape) && call.resized != nullptr;
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

namespace {

/// May an operator whose results' shapes depend on numbers say what they are like without any?
bool IsSupposed(const Call& call) {
  return Door().phantom && SizeByNumbers().size >= 0 && call.op->infer && !IsKnown(call, {}, {});
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

/// The call reads this very tensor: it must keep its shape until the result is there.
bool Reads(const Call& call, const Tensor& out) {
  for (const Tensor& x : call.inputs) {
    if (x.defined() && x.is_same(out)) return true;
  }
  return false;
}

/// While a kernel runs nothing is recorded, and what it calls in turn is computed even where shapes are wanted.
class BehindTheDoor {
 public:
  explicit BehindTheDoor(DoorState& door) : door_(door), recorded_(door.grad_enabled), phantom_(door.phantom) {
    door_.grad_enabled = kGradOff, door_.phantom = false;
  }
  ~BehindTheDoor() { door_.grad_enabled = recorded_, door_.phantom = phantom_; }

 private:
  DoorState& door_;
  GradSaid recorded_;
  bool phantom_;
};

/// Copy a result to where it was asked for.
void Deliver(const Call& call, const Tensor& result, const Tensor& out) {
  if (DRAGON_UNLIKELY(out.shape() != result.shape())) Resize(call, result.shape(), out);
  GradMode off(false);
  OpInto<"copy">(out.Detach(), result);
}

/// Memory for a result: new, or that of its destination where it may be computed straight into it.
Tensor Place(const Call& call, const OutputSpec& spec, const Tensor& out, Device device, bool shapes_only) {
  if (out.defined()) {
    CheckDestination(call, spec.shape, spec.dtype, out);
    if (DRAGON_UNLIKELY(out.shape() != spec.shape) && !Reads(call, out)) Resize(call, spec.shape, out);
    if (CanWriteStraight(call, spec, out)) return out;
  }
  if (!shapes_only && spec.strides.empty()) return Tensor::Empty(spec.shape, spec.dtype, device);
  const Tensor y = DRAGON_UNLIKELY(shapes_only) ? Tensor::Phantom(spec.shape, spec.strides, spec.dtype, device)
                                                : Tensor::EmptyStrided(spec.shape, spec.strides, spec.dtype, device);
  y.impl()->free_layout.store(spec.free_layout && !y.is_contiguous(), std::memory_order_relaxed);
  return y;
}

void RunKernel(const Call& call, Device device, DoorState& door, Tensors& outputs) {
  Context ctx{device, device.is_cpu() ? nullptr : BackendOf(device.type).CurrentStream(device.index)};
  BehindTheDoor behind(door);
  RunOperator(call, ctx, outputs);
}

/// A copy into memory of another device, which no kernel of either could make.
bool IsCopyAcross(const Call& call, std::span<const Tensor> outs) {
  if (outs.size() != 1 || !outs[0].defined() || call.inputs.size() != 1 || !call.inputs[0].defined()) return false;
  const Device from = call.inputs[0].device(), to = outs[0].device();
  return from != to && !from.is_meta() && !to.is_meta() && call.op == &OpNamed<"copy">();
}

/// Bring results to where they were asked for.
void DeliverAll(const Call& call, std::span<const Tensor> outs, Tensors& outputs, bool shapes_only) {
  for (size_t i = 0; i < outs.size() && i < outputs.size(); ++i) {
    if (!outs[i].defined() || outputs[i].is_same(outs[i])) continue;
    if (DRAGON_UNLIKELY(shapes_only)) {
      if (outs[i].shape() != outputs[i].shape()) Resize(call, outputs[i].shape(), outs[i]);
    } else {
      if (call.op->dynamic) CheckDestination(call, outputs[i].shape(), outputs[i].dtype(), outs[i]);
      Deliver(call, outputs[i], outs[i]);
    }
    outputs[i] = outs[i];
  }
}

}  // namespace

Tensors Compute(const Call& call, std::span<const Tensor> outs, DoorState& door, Tensors* computed) {
  const Operator& op = *call.op;
  const LayoutReaders reading(call.inputs);
  if (DRAGON_UNLIKELY(IsCopyAcross(call, outs)) && !door.phantom) {
    CheckDestination(call, call.inputs[0].shape(), call.inputs[0].dtype(), outs[0]);
    BehindTheDoor behind(door);
    CopyAcross(call.inputs[0], outs[0]);
    if (computed) *computed = {outs[0]};
    return {outs[0]};
  }
  Tensors outputs;
  Infer infer(call);
  infer.device = CommonDevice(call);
  bool shapes_only = door.phantom;
  const bool supposed = op.dynamic && DRAGON_UNLIKELY(shapes_only) && IsSupposed(call);
  if (op.dynamic && !supposed && DRAGON_UNLIKELY(shapes_only)) shapes_only = !IsKnown(call, outs, {});
  if (!op.dynamic || supposed) {
    static const Tensor none;
    op.infer(infer);
    if (DRAGON_UNLIKELY(shapes_only)) shapes_only = !IsKnown(call, outs, {infer.outputs.data(), infer.outputs.size()});
    for (size_t i = 0; i < infer.outputs.size(); ++i) {
      outputs.push_back(Place(call, infer.outputs[i], i < outs.size() ? outs[i] : none, infer.device, shapes_only));
    }
  }
  for (const Tensor& out : outs) {
    if (!out.defined() || out.device() == infer.device) continue;
    throw ValueError(op.name()).Got("a destination on ", out.device()).Expected("one on ", infer.device);
  }
  if (infer.device.is_meta() || DRAGON_UNLIKELY(shapes_only)) {
    if (op.dynamic && !supposed)
      throw NotImplementedError(op.name()).Got("a meta tensor").Expected("numbers: the result's shape depends on them");
    if (door.phantom) ForgetWritten(call, outs);
  } else {
    RunKernel(call, infer.device, door, outputs);
    if (DRAGON_UNLIKELY(door.phantom) && outs.empty()) NoteImagined(call, outputs);
  }
  if (computed) *computed = outputs;
  if (!outs.empty()) DeliverAll(call, outs, outputs, shapes_only);
  return outputs;
}

namespace {

/// One more write to the tensor's memory.
void CountWrite(const Tensor& x) {
  if (!x.impl()->storage) return;
  x.impl()->version().Bump();
  if (DRAGON_LIKELY(!Door().phantom)) x.impl()->storage->writes.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void BumpVersions(const Call& call, std::span<const Tensor> outs) { EachWritten(call, outs, &CountWrite); }

}  // namespace dragon
