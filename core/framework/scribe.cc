// Writing down what a program asks for.
#include "core/framework/scribe.h"

#include <algorithm>
#include <cstring>

#include "core/framework/autograd/meta.h"
#include "core/framework/known.h"

namespace dragon {

namespace {

using Kind = ProcedureStep::Kind;

thread_local Scribe* t_scribe = nullptr;

/// What is being called is part of what was written down.
class Within {
 public:
  explicit Within(int* depth) : depth_(depth) { ++*depth_; }
  ~Within() { --*depth_; }

 private:
  int* depth_;
};

}  // namespace

Scribe* Scribe::Current() { return t_scribe; }

Scribe::~Scribe() { Stop(); }

void Scribe::Start() {
  if (t_scribe) throw RuntimeError("scribe").Says("this thread's calls are being written down already");
  auto* trace = dynamic_cast<Trace*>(Door().tracer);
  if (!trace) throw RuntimeError("scribe").Says("no trace is at work on this thread");
  trace_ = trace;
  trace->listener = this;
  trace->when_told = [this](const Tensor& tensor, const Value& number) { NoteTold(tensor, number); };
  Enter();
  mark_ = Storage::Mark();
  knew_numbers_ = std::exchange(KnowsNumbers(), true);
  trace->looked = [this](const Tensor& tensor) { FixElements(tensor); };
  t_scribe = this;
  running_ = true;
}

void Scribe::Stop() {
  if (!running_) return;
  running_ = false;
  t_scribe = nullptr;
  trace_->listener = nullptr;
  trace_->when_told = nullptr;
  trace_->looked = nullptr;
  KnowsNumbers() = knew_numbers_;
  Leave();
}

void Scribe::Fail(const std::string& what) {
  if (!failure_.empty()) return;
  failure_ = what;
  if (place) {
    if (const std::string where = place(); !where.empty()) failure_ += " at " + where;
  }
}

int Scribe::AddSymbol(const std::string& name) {
  procedure_.symbols.push_back(name);
  return static_cast<int>(procedure_.symbols.size()) - 1;
}

// --- tensors

TensorId Scribe::NewId(const Tensor& tensor, bool open) {
  const TensorId id = procedure_.tensor_count++;
  seen_.push_back(tensor);
  open_.push_back(open);
  ids_[tensor.impl()] = id;
  Storage* storage = tensor.defined() ? tensor.impl()->storage.get() : nullptr;  // undefined: a gradient that is none
  const auto piece = pieces_.try_emplace(storage, static_cast<int32_t>(pieces_.size()));
  procedure_.pieces.push_back(piece.first->second);
  open_pieces_.resize(pieces_.size()), written_.resize(pieces_.size());
  procedure_.bytes.push_back(tensor.defined() ? tensor.numel() * tensor.item_size() : 0);
  return id;
}

void Scribe::AddArgument(const Tensor& tensor, std::span<const int> open_axes) {
  const auto known = ids_.find(tensor.impl());
  procedure_.arguments.push_back(known == ids_.end() ? NewId(tensor, !open_axes.empty()) : known->second);
  procedure_.ranks.push_back(tensor.ndim());
  axes_.emplace_back(open_axes.begin(), open_axes.end());
}

TensorId Scribe::IdOf(const Tensor& tensor) {
  if (!tensor.defined()) return kNoTensor;
  if (const auto known = ids_.find(tensor.impl()); known != ids_.end()) return known->second;
  if (!tensor.impl()->storage) {
    Fail("a tensor without memory (a meta tensor)");
  } else if (tensor.impl()->storage->mark >> kMarkBits == mark_ >> kMarkBits) {
    Fail("a tensor that came about without a call of an operator");
  } else {
    for (size_t i = 0; i < procedure_.arguments.size(); ++i) {
      if (seen_[procedure_.arguments[i]].impl()->storage == tensor.impl()->storage) {
        Fail("another look at an argument's memory");
      }
    }
    const TensorId id = NewId(tensor, false);
    procedure_.outside.push_back({id, tensor});
    return id;
  }
  return kNoTensor;
}

std::vector<TensorId> Scribe::IdsOf(std::span<const Tensor> tensors) {
  std::vector<TensorId> ids;
  for (const Tensor& tensor : tensors) ids.push_back(IdOf(tensor));
  return ids;
}

bool Scribe::IsOpen(std::span<const TensorId> ids) const {
  return std::any_of(ids.begin(), ids.end(), [&](TensorId id) { return id != kNoTensor && IsOpen(id); });
}

// --- numbers

NumberId Scribe::NumberOf(const Tensor& tensor, NumberKind kind, int axis, int64_t now) {
  if (!IsListening()) return -1;
  const TensorId id = IdOf(tensor);
  if (id == kNoTensor || !IsOpen(id)) return -1;
  const auto argument = std::find(procedure_.arguments.begin(), procedure_.arguments.end(), id);
  if (argument != procedure_.arguments.end() && kind == NumberKind::kSize) {
    const std::vector<int>& axes = axes_[argument - procedure_.arguments.begin()];
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) return -1;
  }
  return sizes().Note(kind, id, axis, Position(), Value(now));
}

void Scribe::FixNumberOf(const Tensor& tensor, NumberKind kind, int axis, int64_t now) {
  const NumberId id = NumberOf(tensor, kind, axis, now);
  if (id >= 0) Fix(id);
}

bool Scribe::Decide(Relation relation, NumberId a, NumberId b) {
  return sizes().Decide(relation, a, b, Position(), place ? place() : std::string());
}

void Scribe::Fix(NumberId id) {
  const bool real = sizes()[id].hint.kind() == Value::Kind::kDouble;
  const auto sizes_do = [](TensorId) { return false; };
  if (real && sizes().DependsOnItems(id, sizes_do)) return Fail("a tensor's number becomes Python's own");
  Decide(Relation::kEqual, id, Constant(sizes()[id].hint));
}

std::pair<NumberId, Value> Scribe::ReadNumber(const Tensor& tensor) {
  struct Asking {
    bool& asked;
    ~Asking() { asked = false; }
  } asking{asked_};
  asked_ = true;
  told_ = -1;
  const Value number = tensor.Item();
  return {told_, number};
}

void Scribe::NoteTold(const Tensor& tensor, const Value& number) {
  if (!IsListening()) return;
  const TensorId id = IdOf(tensor);
  if (id == kNoTensor) return;
  if (number.kind() == Value::Kind::kComplex) return Fail("the program looks at a complex number");
  const Value hint = number.kind() == Value::Kind::kBool ? Value(number.integer()) : number;
  told_ = sizes().Note(NumberKind::kItem, id, trace_->found(), Position(), hint);
  procedure_.looks.push_back({Position(), place ? place() : std::string()});
  if (!asked_ || number.kind() == Value::Kind::kBool) Fix(told_);
}

void Scribe::Follow(const std::string& op, int attr, int element, NumberId number) {
  if (IsListening()) pending_.push_back({op, {attr, element, number}});
}

void Scribe::ForgetFollowed() {
  for (const Pending& pending : std::exchange(pending_, {})) Fix(pending.follows.number);
}

void Scribe::NoteNumber(const Tensor& tensor, NumberId number) {
  if (!IsListening()) return;
  const TensorId id = IdOf(tensor);
  if (id == kNoTensor || procedure_.steps.empty() || procedure_.steps.back().outputs != std::vector<TensorId>{id}) {
    return Fail("a number that follows a size in a place that cannot hold it");
  }
  ProcedureStep& step = procedure_.steps.back();
  step.kind = Kind::kNumber;
  step.number = number;
  step.dtype = tensor.dtype();
  step.made = Tensor();
  open_[id] = true;
}

// --- steps

ProcedureStep& Scribe::AddStep(Kind kind) {
  procedure_.steps.emplace_back();
  procedure_.steps.back().kind = kind;
  procedure_.steps.back().recorded = Door().grad_enabled;
  return procedure_.steps.back();
}

void Scribe::NoteDetached(const Tensor& from, const Tensor& alias, bool unversioned) {
  if (!IsListening()) return;
  const TensorId source = IdOf(from);
  if (source == kNoTensor) return;
  ProcedureStep& step = AddStep(Kind::kDetach);
  step.inputs = {source};
  step.unversioned = unversioned;
  step.outputs = {NewId(alias, IsOpen(source))};
}

void Scribe::Made(const Tensor& tensor) {
  if (!IsListening() || ids_.count(tensor.impl())) return;
  if (!tensor.device().is_cpu() || !IsDense(tensor.shape(), tensor.strides())) {
    return Fail("numbers that the program holds, on a device or with gaps");
  }
  ProcedureStep& step = AddStep(Kind::kMade);
  step.made = tensor;
  step.outputs = {NewId(tensor, false)};
}

void Scribe::GradRead(const Tensor& leaf) {
  if (!IsListening()) return;
  const TensorId id = IdOf(leaf);
  const Tensor grad = leaf.impl()->autograd ? leaf.impl()->autograd->grad : Tensor();
  if (id == kNoTensor) return;
  ProcedureStep& step = AddStep(Kind::kGradRead);
  step.inputs = {id};
  step.defined = grad.defined();
  const auto known = grad.defined() ? ids_.find(grad.impl()) : ids_.end();
  step.outputs = {known != ids_.end() ? known->second : NewId(grad, grad.defined() && IsOpen(id))};
}

void Scribe::GradWritten(const Tensor& leaf, const Tensor& grad) {
  if (!IsListening()) return;
  const std::vector<TensorId> ids{IdOf(leaf), IdOf(grad)};
  AddStep(Kind::kGradWrite).inputs = ids;
}

void Scribe::BackwardBegins(bool accumulates, const std::vector<Tensor>& roots, const std::vector<Tensor>& grads,
                            const std::vector<Tensor>& wanted, const BackwardOptions& options) {
  if (IsListening()) {
    std::vector<TensorId> ids = IdsOf(roots);
    for (TensorId id : IdsOf(grads)) ids.push_back(id);
    for (TensorId id : IdsOf(wanted)) ids.push_back(id);
    ProcedureStep& step = AddStep(accumulates ? Kind::kBackward : Kind::kGradients);
    step.inputs = std::move(ids);
    step.list_sizes = {static_cast<int32_t>(roots.size()), static_cast<int32_t>(grads.size())};
    step.backward = options;
  }
  ++depth_;
}

void Scribe::BackwardEnds(std::span<const Tensor> results) {
  --depth_;
  if (!IsListening() || results.empty()) return;
  ProcedureStep& step = procedure_.steps.back();
  for (const Tensor& result : results) {
    const auto known = result.defined() ? ids_.find(result.impl()) : ids_.end();
    step.outputs.push_back(!result.defined() ? kNoTensor : known != ids_.end() ? known->second : NewId(result, true));
  }
}

void Scribe::TakePending(const Call& call, ProcedureStep* step) {
  for (const Pending& pending : std::exchange(pending_, {})) {
    const auto& [attr, element, number] = pending.follows;
    if (pending.op != call.op->name() || attr >= static_cast<int>(call.attrs.size())) {
      return Fail("a number that follows a size reached no call of " + pending.op);
    }
    step->follows.push_back(pending.follows);
  }
}

Tensors Scribe::Handle(const Call& call, std::span<const Tensor> outs) {
  if (!IsListening()) return Through(call, outs);
  if (!CallsComeWhole()) Fail(call.op->name() + " under a transformation of calls");
  ProcedureStep step;
  step.recorded = Door().grad_enabled;
  step.op = call.op;
  step.attrs.assign(call.attrs.begin(), call.attrs.end());
  step.list_sizes.assign(call.list_sizes.begin(), call.list_sizes.end());
  step.inputs = IdsOf(call.inputs);
  step.outs = IdsOf(outs);
  TakePending(call, &step);
  for (const Argument& argument : call.op->schema.arguments()) {
    if (argument.type == ArgumentType::kGraph) Fail(call.op->name() + ", whose graphs are for one size");
  }
  NoteDraws(call);
  const std::vector<uint64_t> versions = VersionsOf(step);
  const int found = trace_->found();
  Tensors results;
  {
    const Within within(&depth_);
    results = Through(call, outs);
  }
  if (!failure_.empty()) return results;
  step.eager = trace_->found() != found;
  if (step.eager) procedure_.looks.push_back({Position(), place ? place() : std::string()});
  const bool open = step.eager || IsOpen(step.inputs) || IsOpen(step.outs) || !step.follows.empty();
  NoteWrites(step, versions, open);
  for (const Tensor& result : results) {
    const auto known = result.defined() ? ids_.find(result.impl()) : ids_.end();
    step.outputs.push_back(!result.defined() ? kNoTensor : known != ids_.end() ? known->second : NewId(result, open));
    step.ranks.push_back(result.defined() ? result.ndim() : -1);
  }
  procedure_.steps.push_back(std::move(step));
  return results;
}

// --- what outlives the call

void Scribe::NoteDraws(const Call& call) {
  for (const Argument& argument : call.op->schema.arguments()) {
    if (argument.type != ArgumentType::kGenerator) continue;
    if (call.attrs[argument.slot].is_none()) {
      procedure_.draws = true;
    } else {
      procedure_.first_effect = std::min(procedure_.first_effect, Position());
    }
  }
}

std::vector<uint64_t> Scribe::VersionsOf(const ProcedureStep& step) const {
  std::vector<uint64_t> versions;
  for (const std::vector<TensorId>* ids : {&step.inputs, &step.outs}) {
    for (TensorId id : *ids) versions.push_back(id == kNoTensor ? 0 : seen_[id].impl()->version_value());
  }
  return versions;
}

void Scribe::NoteWrites(const ProcedureStep& step, std::span<const uint64_t> before, bool open) {
  const std::vector<uint64_t> after = VersionsOf(step);
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i] == before[i]) continue;
    const TensorId id = i < step.inputs.size() ? step.inputs[i] : step.outs[i - step.inputs.size()];
    const int32_t piece = procedure_.pieces[id];
    procedure_.writes.push_back({Position(), piece});
    written_[piece] = Position() + 1;
    open_pieces_[piece] |= open;
  }
}

// --- the end

/// Which tensors have sizes that follow what the program found by looking at numbers.
void Scribe::FindLoose() {
  std::vector<char>& loose = procedure_.loose;
  loose.assign(procedure_.tensor_count, 0);
  const auto is_loose = [&](TensorId id) { return id != kNoTensor && loose[id]; };
  for (const ProcedureStep& step : procedure_.steps) {
    if (step.kind == Kind::kBackward) {
      procedure_.first_effect =
          std::min(procedure_.first_effect, static_cast<int32_t>(&step - procedure_.steps.data()));
    }
    bool found = step.eager;
    for (const std::vector<TensorId>* ids : {&step.inputs, &step.outs}) {
      found = found || std::any_of(ids->begin(), ids->end(), is_loose);
    }
    for (const ProcedureStep::Follows& follows : step.follows) {
      found = found || sizes().DependsOnItems(follows.number, is_loose);
    }
    for (TensorId id : step.outputs) {
      if (id != kNoTensor && found) loose[id] = true;
    }
  }
}

/// After which step each tensor may be let go of.
void Scribe::FindLastUses() {
  std::vector<int32_t> last(procedure_.tensor_count, -1);
  const auto use = [&](TensorId id, int32_t step) {
    if (id != kNoTensor) last[id] = std::max(last[id], step);
  };
  const int32_t end = Position();
  for (int32_t i = 0; i < end; ++i) {
    const ProcedureStep& step = procedure_.steps[i];
    for (const std::vector<TensorId>* ids : {&step.inputs, &step.outs, &step.outputs}) {
      for (TensorId id : *ids) use(id, i);
    }
  }
  for (NumberId id = 0; id < sizes().count(); ++id) {
    const Sizes::Number& number = sizes()[id];
    if (IsRead(number.kind)) use(number.a, number.step);
  }
  for (TensorId id : procedure_.outputs) use(id, end);
  for (TensorId id = 0; id < procedure_.tensor_count; ++id) {
    if (last[id] >= 0 && last[id] < end) procedure_.steps[last[id]].last.push_back(id);
  }
}

Procedure Scribe::Finish(const std::vector<Tensor>& outputs) {
  if (running_) throw RuntimeError("scribe").Says("it has not stopped");
  procedure_.outputs = IdsOf(outputs);
  if (!pending_.empty()) Fail("a number that follows a size reached no call");
  if (!failure_.empty()) throw RuntimeError("scribe").Says(failure_);
  for (ProcedureStep& step : procedure_.steps) {
    if (step.kind != Kind::kMade) continue;
    Tensor copy = Tensor::EmptyStrided(step.made.shape(), step.made.strides(), step.made.dtype(), step.made.device());
    if (copy.numel()) std::memcpy(copy.mutable_data(), step.made.data(), copy.numel() * copy.item_size());
    copy.impl()->weak = step.made.impl()->weak;
    step.made = copy;
  }
  FindLastUses();
  FindLoose();
  seen_.clear();
  ids_.clear();
  return std::move(procedure_);
}

}  // namespace dragon
