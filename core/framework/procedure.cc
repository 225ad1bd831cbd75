// Doing a call again, step by step.
#include "core/framework/procedure.h"

#include <cstring>
#include <utility>

#include "core/device/absent.h"
#include "core/framework/autograd/meta.h"
#include "core/framework/known.h"
#include "core/framework/number.h"
#include "core/framework/op.h"
#include "core/framework/trace.h"

namespace dragon {

namespace {

using Kind = ProcedureStep::Kind;

/// One run: the tensors and numbers so far.
class Doing {
 public:
  Doing(const Procedure& procedure, std::span<const Tensor> arguments, std::span<const double> symbols)
      : procedure_(procedure), tensors_(procedure.tensor_count), now_(procedure.sizes, tensors_, symbols) {
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

  std::vector<Tensor> Run() {
    for (size_t i = 0; i < procedure_.steps.size(); ++i) {
      Reach(static_cast<int32_t>(i));
      const ProcedureStep& step = procedure_.steps[i];
      Do(step);
      for (TensorId id : step.last) tensors_[id] = Tensor();
    }
    Reach(static_cast<int32_t>(procedure_.steps.size()));
    std::vector<Tensor> outputs;
    for (TensorId id : procedure_.outputs) outputs.push_back(tensors_[id]);
    return outputs;
  }

 private:
  /// The numbers and decisions that lie between two steps.
  void Reach(int32_t step) {
    now_.Reach(step);
    const std::vector<Decision>& decisions = procedure_.sizes.decisions();
    for (; decided_ < decisions.size() && decisions[decided_].step <= step; ++decided_) {
      const Decision& decision = decisions[decided_];
      if (decision.Holds(now_[decision.a], now_[decision.b])) continue;
      const auto name = [&](const Sizes::Number& number) { return procedure_.NameOf(number); };
      throw ProcedureParts(procedure_.sizes.Text(decision, name) + " no longer holds" +
                           (decision.place.empty() ? "" : " at " + decision.place));
    }
  }

  std::vector<Tensor> TensorsOf(std::span<const TensorId> ids) const {
    std::vector<Tensor> tensors;
    for (TensorId id : ids) tensors.push_back(id == kNoTensor ? Tensor() : tensors_[id]);
    return tensors;
  }

  /// The attributes of a call with what their numbers are now.
  void Fill(const ProcedureStep& step, InlineVector<Value, 6>* attrs) const {
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

  void Do(const ProcedureStep& step) {
    Door().grad_enabled = step.recorded;
    switch (step.kind) {
      case Kind::kCall:
        return DoCall(step);
      case Kind::kDetach:
        return DoDetach(step);
      case Kind::kNumber:
        tensors_[step.outputs[0]] = NumberOf(step);
        return;
      case Kind::kMade:
        tensors_[step.outputs[0]] = MadeBy(step);
        return;
      case Kind::kBackward:
      case Kind::kGradients:
        return DoBackward(step);
      case Kind::kGradRead: {
        const Tensor grad = tensors_[step.inputs[0]].grad();
        if (grad.defined() != step.defined) throw ProcedureParts("a gradient is there that was not, or the reverse");
        tensors_[step.outputs[0]] = grad;
        return;
      }
      case Kind::kGradWrite:
        tensors_[step.inputs[0]].set_grad(step.inputs[1] == kNoTensor ? Tensor() : tensors_[step.inputs[1]]);
    }
  }

  /// Numbers that are asked for anew before each run stay such in the graph that is being traced.
  void TellTrace(const ProcedureStep& step) const {
    auto* trace = dynamic_cast<Trace*>(Door().tracer);
    for (const ProcedureStep::Follows& follows : step.follows) {
      const Sizes::Number& number = procedure_.sizes[follows.number];
      if (trace && number.kind == NumberKind::kSymbol) {
        trace->NoteSymbol(follows.attr, follows.element, Expression{0, {{number.a, 1}}});
      }
    }
  }

  void DoCall(const ProcedureStep& step) {
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

  void DoDetach(const ProcedureStep& step) {
    const Tensor& x = tensors_[step.inputs[0]];
    x.Settle();
    const Tensor alias = x.Detach();
    if (step.unversioned) alias.impl()->own_version = MakeRef<VersionCounter>();
    tensors_[step.outputs[0]] = alias;
  }

  Tensor NumberOf(const ProcedureStep& step) const {
    Value number = now_[step.number];
    if (IsInexact(step.dtype)) number = Value(number.real());
    if (!HasNumber(step.dtype, number)) throw ProcedureParts("a number is beyond its dtype: " + number.str());
    Tensor tensor = Tensor::Scalar(number, step.dtype);
    tensor.impl()->weak = true;
    return tensor;
  }

  /// The numbers that the program holds, which it may write.
  Tensor MadeBy(const ProcedureStep& step) const {
    const Tensor& made = step.made;
    Tensor copy = Tensor::EmptyStrided(made.shape(), made.strides(), made.dtype(), made.device());
    if (made.numel()) std::memcpy(copy.mutable_data(), made.data(), made.numel() * made.item_size());
    copy.impl()->weak = made.impl()->weak;
    for (const ProcedureStep::Follows& follows : step.follows) SetElement(copy, follows.element, now_[follows.number]);
    if (Door().tracer) Door().tracer->Made(copy);
    return copy;
  }

  void DoBackward(const ProcedureStep& step) {
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

  const Procedure& procedure_;
  std::vector<Tensor> tensors_;
  SizesNow now_;
  size_t decided_ = 0;
};

/// Leaves' gradients stay what they are, whatever is done meanwhile.
class GradientsKept {
 public:
  explicit GradientsKept(const Procedure& procedure) {
    for (const auto& [id, tensor] : procedure.outside) {
      if (tensor.impl()->autograd) kept_.push_back({tensor, tensor.impl()->autograd->grad});
    }
  }
  ~GradientsKept() {
    for (auto& [tensor, grad] : kept_) tensor.impl()->autograd->grad = std::move(grad);
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> kept_;
};

/// Tensors from outside are read again from those that were found to own their memory.
void TakeOwners(const Capture& like, Trace* trace) {
  for (size_t i = 0; i < trace->inputs().size(); ++i) {
    const CapturedInput& input = trace->inputs()[i];
    if (input.source != CapturedInput::Source::kOutside) continue;
    const TensorImpl& mine = *input.tensor.impl();
    const auto owner = std::find_if(like.inputs.begin(), like.inputs.end(), [&](const CapturedInput& known) {
      if (known.source != CapturedInput::Source::kOutside) return false;
      const TensorImpl& other = *known.tensor.impl();
      return other.storage == mine.storage && other.offset == mine.offset && other.shape == mine.shape &&
             other.strides == mine.strides && other.dtype == mine.dtype;
    });
    if (owner == like.inputs.end()) throw ProcedureParts("another tensor from outside is used");
    trace->SetOwner(static_cast<int>(i), owner->tensor);
  }
}

}  // namespace

ShapesOnly::ShapesOnly()
    : phantom_(std::exchange(Door().phantom, true)), absent_(std::exchange(NumbersAreAbsent(), true)) {}
ShapesOnly::~ShapesOnly() { Door().phantom = phantom_, NumbersAreAbsent() = absent_; }

std::vector<Tensor> Procedure::Run(std::span<const Tensor> given, std::span<const double> numbers) const {
  const GradMode as_before(Door().grad_enabled == kGradOn);
  return Doing(*this, given, numbers).Run();
}

std::string Procedure::Refusal(std::span<const Tensor> given, std::span<const double> numbers) const {
  const ShapesOnly shapes_only;
  const KnowingNumbers knowing;
  const GradientsKept kept(*this);
  try {
    Run(PhantomsOf(given), numbers);
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

Capture Procedure::Traced(std::span<const Tensor> given, const Capture& like, Trace* trace,
                          std::vector<Tensor>* results) const {
  const std::vector<Tensor> phantoms = PhantomsOf(given);
  for (const Tensor& phantom : phantoms) trace->AddInput(phantom);
  for (const std::string& symbol : symbols) trace->AddSymbol(symbol);
  const std::vector<double> numbers(symbols.size(), 1.0);
  const ShapesOnly shapes_only;
  const KnowingNumbers knowing;
  const GradientsKept kept(*this);
  trace->Start();
  try {
    *results = Run(phantoms, numbers);
  } catch (...) {
    trace->Stop();
    throw;
  }
  trace->Stop();
  if (!trace->failure().empty()) throw ProcedureParts(trace->failure());
  TakeOwners(like, trace);
  return trace->Finish(*results);
}

std::string Procedure::NameOf(const Sizes::Number& number) const {
  if (number.kind == NumberKind::kSymbol) return symbols[number.a];
  const auto argument = std::find(arguments.begin(), arguments.end(), number.a);
  const std::string tensor = argument == arguments.end() ? "result " + std::to_string(number.a)
                                                         : "argument " + std::to_string(argument - arguments.begin());
  const std::string axis = std::to_string(number.b);
  switch (number.kind) {
    case NumberKind::kSize:
      return "size " + axis + " of " + tensor;
    case NumberKind::kStride:
      return "stride " + axis + " of " + tensor;
    case NumberKind::kCount:
      return "number of elements of " + tensor;
    case NumberKind::kElement:
      return "element " + axis + " of " + tensor;
    default:
      return "whether " + tensor + " is contiguous";
  }
}

std::vector<std::pair<int, int>> Procedure::FixedSizes() const {
  std::vector<std::pair<int, int>> found;
  for (const Decision& decision : sizes.decisions()) {
    const Sizes::Number &one = sizes[decision.a], &other = sizes[decision.b];
    if (decision.relation != Decision::Relation::kEqual || !decision.held) continue;
    if (one.kind != NumberKind::kSize || other.kind != NumberKind::kConstant) continue;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == one.a) found.push_back({static_cast<int>(i), one.b});
    }
  }
  return found;
}

std::vector<std::string> Procedure::Conditions() const {
  std::vector<std::string> lines;
  for (const Decision& decision : sizes.decisions()) {
    lines.push_back(sizes.Text(decision, [&](const Sizes::Number& number) { return NameOf(number); }));
  }
  return lines;
}

std::vector<Tensor> PhantomsOf(std::span<const Tensor> arguments) {
  std::vector<Tensor> phantoms;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Tensor& x = arguments[i];
    const auto same =
        std::find_if(arguments.begin(), arguments.begin() + i, [&](const Tensor& other) { return other.is_same(x); });
    if (same != arguments.begin() + i) {
      phantoms.push_back(phantoms[same - arguments.begin()]);
      continue;
    }
    phantoms.push_back(Tensor::Phantom(x.shape(), x.strides(), x.dtype(), x.device()));
    phantoms.back().impl()->free_layout = x.impl()->free_layout;
    if (!x.requires_grad()) continue;
    phantoms.back().set_requires_grad(true);
    AutogradMeta::Of(phantoms.back()).when_asked = !RecordsUnasked(x);
  }
  return phantoms;
}

}  // namespace dragon
