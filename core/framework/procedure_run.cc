// Doing a call again, step by step.
#include "core/framework/procedure_run.h"

#include <cstring>
#include <utility>

#include "core/framework/known.h"
#include "core/framework/number.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

using Kind = ProcedureStep::Kind;

/// The numbers that the program holds, which it may write; some may follow sizes.
Tensor MadeBy(const ProcedureStep& step, const SizesNow& now) {
  const Tensor& made = step.made;
  Tensor copy = Tensor::EmptyStrided(made.shape(), made.strides(), made.dtype(), made.device());
  if (made.numel()) std::memcpy(copy.mutable_data(), made.data(), made.numel() * made.item_size());
  copy.impl()->weak = made.impl()->weak;
  for (const ProcedureStep::Follows& follows : step.follows) SetElement(copy, follows.element, now[follows.number]);
  NoteImagined(copy);
  if (Door().tracer) Door().tracer->Made(copy);
  return copy;
}

Tensor NumberFor(const ProcedureStep& step, Value number) {
  if (IsInexact(step.dtype)) number = Value(number.real());
  if (!HasNumber(step.dtype, number)) throw ProcedureParts("a number is beyond its dtype: " + number.str());
  Tensor tensor = Tensor::Scalar(number, step.dtype);
  NoteImagined(tensor);
  tensor.impl()->weak = true;
  return tensor;
}

}  // namespace

ProcedureRun::ProcedureRun(const Procedure& procedure, std::span<const Tensor> arguments,
                           std::span<const double> symbols, std::span<const Value> known)
    : procedure_(procedure),
      tensors_(procedure.tensor_count),
      symbols_(symbols.begin(), symbols.end()),
      now_(procedure.sizes, tensors_, symbols_, known) {
  if (arguments.size() != procedure.arguments.size()) {
    throw ValueError(procedure.name).Got(arguments.size(), " tensors").Expected(procedure.arguments.size());
  }
  if (symbols.size() != procedure.symbols.size()) {
    throw ValueError(procedure.name).Got(symbols.size(), " symbols").Expected(procedure.symbols.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].ndim() != procedure.ranks[i]) {
      throw ValueError(procedure.name)
          .Got("argument ", i, " of shape ", arguments[i].shape())
          .Expected(procedure.ranks[i], " axes");
    }
    tensors_[procedure.arguments[i]] = arguments[i];
  }
  for (const auto& [id, tensor] : procedure.outside) tensors_[id] = tensor;
}

void ProcedureRun::Advance(int32_t step) {
  const GradMode as_before(Door().grad_enabled == kGradOn);
  while (position_ < step) {
    Reach();
    const ProcedureStep& next = procedure_.steps[position_];
    Do(next);
    LetGo(next);
    ++position_;
  }
}

void ProcedureRun::LetGo(const ProcedureStep& step) {
  for (TensorId id : step.last) tensors_[id] = Tensor();
}

std::vector<Tensor> ProcedureRun::Finish() {
  Reach();
  return TensorsOf(procedure_.outputs);
}

void ProcedureRun::MakeEarly(int32_t step) {
  const ProcedureStep& number = procedure_.steps[step];
  tensors_[number.outputs[0]] = NumberFor(number, now_.Early(number.number));
}

void ProcedureRun::Skip(int32_t step, std::span<const TensorId> ids, std::span<const Tensor> made) {
  for (size_t i = 0; i < ids.size(); ++i) tensors_[ids[i]] = made[i];
  for (; position_ < step; ++position_) {
    Reach();
    LetGo(procedure_.steps[position_]);
  }
}

void ProcedureRun::Reach() {
  now_.Reach(position_);
  const std::vector<Decision>& decisions = procedure_.sizes.decisions();
  for (; decided_ < decisions.size() && decisions[decided_].step <= position_; ++decided_) {
    const Decision& decision = decisions[decided_];
    if (decision.Holds(now_[decision.a], now_[decision.b])) continue;
    const auto name = [&](const Sizes::Number& number) { return procedure_.NameOf(number); };
    throw ProcedureParts(procedure_.sizes.Text(decision, name) + " no longer holds" +
                         (decision.place.empty() ? "" : " at " + decision.place));
  }
}

std::vector<Tensor> ProcedureRun::TensorsOf(std::span<const TensorId> ids) const {
  std::vector<Tensor> tensors;
  for (TensorId id : ids) tensors.push_back(id == kNoTensor ? Tensor() : tensors_[id]);
  return tensors;
}

/// The attributes of a call with what their numbers are now.
void ProcedureRun::Fill(const ProcedureStep& step, InlineVector<Value, 6>* attrs) const {
  for (const Value& attr : step.attrs) attrs->push_back(attr);
  for (const ProcedureStep::Follows& follows : step.follows) {
    Value& attr = (*attrs)[follows.attr];
    const Value& number = now_[follows.number];
    if (follows.element < 0) {
      attr = number;
    } else if (attr.kind() == Value::Kind::kInts) {
      Dims ints = attr.ints();
      ints[follows.element] = number.integer();
      attr = Value(std::move(ints));
    } else {
      std::vector<double> reals = attr.doubles();
      reals[follows.element] = number.real();
      attr = Value(std::move(reals));
    }
  }
}

void ProcedureRun::Do(const ProcedureStep& step) {
  Door().grad_enabled = step.recorded;
  switch (step.kind) {
    case Kind::kCall:
      return DoCall(step);
    case Kind::kDetach:
      return DoDetach(step);
    case Kind::kNumber:
      tensors_[step.outputs[0]] = NumberFor(step, now_[step.number]);
      return;
    case Kind::kMade:
      tensors_[step.outputs[0]] = MadeBy(step, now_);
      return;
    case Kind::kBackward:
    case Kind::kGradients:
      return DoBackward(step);
    case Kind::kGradRead:
      return DoGradRead(step);
    case Kind::kGradWrite:
      tensors_[step.inputs[0]].set_grad(step.inputs[1] == kNoTensor ? Tensor() : tensors_[step.inputs[1]]);
  }
}

void ProcedureRun::DoGradRead(const ProcedureStep& step) {
  const Tensor grad = tensors_[step.inputs[0]].grad();
  if (grad.defined() != step.defined) throw ProcedureParts("a gradient is there that was not, or the reverse");
  tensors_[step.outputs[0]] = grad;
}

/// Numbers that are asked for anew before each run stay such in the graph that is being traced.
void ProcedureRun::TellTrace(const ProcedureStep& step) const {
  auto* trace = dynamic_cast<Trace*>(Door().tracer);
  for (const ProcedureStep::Follows& follows : step.follows) {
    const Sizes::Number& number = procedure_.sizes[follows.number];
    if (trace && number.kind == NumberKind::kSymbol) {
      trace->NoteSymbol(follows.attr, follows.element, Expression::Of(number.a));
    }
  }
}

void ProcedureRun::DoCall(const ProcedureStep& step) {
  InlineVector<Tensor, 4> inputs, outs;
  for (TensorId id : step.inputs) inputs.push_back(id == kNoTensor ? Tensor() : tensors_[id]);
  for (TensorId id : step.outs) outs.push_back(id == kNoTensor ? Tensor() : tensors_[id]);
  InlineVector<Value, 6> attrs;
  Fill(step, &attrs);
  const Call call{step.op, inputs, attrs, step.list_sizes};
  if (!step.follows.empty()) TellTrace(step);
  const Tensors results = Apply(call, outs);
  if (results.size() != step.outputs.size()) {
    throw ProcedureParts(step.op->name() + " has another number of results");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if ((results[i].defined() ? results[i].ndim() : -1) != step.ranks[i]) {
      throw ProcedureParts("the result of " + step.op->name() + " has another number of axes");
    }
    if (results[i].defined()) tensors_[step.outputs[i]] = results[i];
  }
}

void ProcedureRun::DoDetach(const ProcedureStep& step) {
  const Tensor& x = tensors_[step.inputs[0]];
  x.Settle();
  const Tensor alias = x.Detach();
  if (step.unversioned) alias.impl()->own_version = MakeRef<VersionCounter>();
  tensors_[step.outputs[0]] = alias;
}

void ProcedureRun::DoBackward(const ProcedureStep& step) {
  const std::span<const TensorId> ids = step.inputs;
  const size_t roots = step.list_sizes[0], grads = step.list_sizes[1];
  const std::vector<Tensor> from = TensorsOf(ids.subspan(0, roots)), with = TensorsOf(ids.subspan(roots, grads)),
                            wanted = TensorsOf(ids.subspan(roots + grads));
  if (step.kind == Kind::kBackward) return Backward(from, with, step.backward, wanted);
  const std::vector<Tensor> found = Gradients(from, with, wanted, step.backward);
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].defined() != (step.outputs[i] != kNoTensor)) throw ProcedureParts("another input has a gradient");
    if (found[i].defined()) tensors_[step.outputs[i]] = found[i];
  }
}

}  // namespace dragon
