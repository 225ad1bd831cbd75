// Cutting a procedure where its program looks at numbers.
#include "core/framework/procedure_parts.h"

#include <algorithm>
#include <set>

#include "core/framework/generator.h"
#include "core/framework/op.h"

namespace dragon {

namespace {

using Kind = ProcedureStep::Kind;

constexpr int64_t kMostUndone = 1 << 20;  ///< bytes that are kept before each run, to be taken back
constexpr int kWorthAPlan = 2;            ///< calls; of fewer, a plan costs more than it saves

bool IsGradient(Kind kind) {
  return kind == Kind::kBackward || kind == Kind::kGradients || kind == Kind::kGradRead || kind == Kind::kGradWrite;
}

bool Has(const std::vector<int32_t>& list, int32_t id) { return std::find(list.begin(), list.end(), id) != list.end(); }

/// Steps before which the program looks at something, or goes on by what it saw.
std::set<int32_t> CutsOf(const Procedure& procedure) {
  const auto end = static_cast<int32_t>(procedure.steps.size());
  std::set<int32_t> cuts{0, end};
  for (NumberId id = 0; id < procedure.sizes.count(); ++id) {
    if (procedure.sizes[id].kind == NumberKind::kItem) cuts.insert(procedure.sizes[id].step);
  }
  for (const Decision& decision : procedure.sizes.decisions()) cuts.insert(decision.step);
  for (int32_t i = 0; i < end; ++i) {
    if (procedure.steps[i].eager) cuts.insert({i, i + 1});
  }
  return cuts;
}

class Cutter {
 public:
  Cutter(const Procedure& procedure, int32_t begin, int32_t end)
      : procedure_(procedure), made_(procedure.tensor_count) {
    part_.begin = begin;
    part_.end = end;
  }

  ProcedurePart Cut() {
    bool eager = false, gradients = false;
    int calls = 0;
    for (int32_t i = part_.begin; i < part_.end; ++i) {
      const ProcedureStep& step = procedure_.steps[i];
      eager = eager || step.eager;
      gradients = gradients || IsGradient(step.kind);
      calls += step.kind == Kind::kCall;
    }
    if (eager || calls < kWorthAPlan) return std::move(part_);
    TakeSteps();
    FindGiven();
    part_.planned = !SharesWrittenMemory() && !(gradients && TakesResults());
    if (part_.planned) MakeProcedure();
    return std::move(part_);
  }

 private:
  /// Numbers that are there when the part begins.
  bool IsKnown(NumberId id) const {
    const Sizes::Number& number = procedure_.sizes[id];
    if (number.step <= part_.begin || number.kind < NumberKind::kSize) return true;
    if (IsRead(number.kind)) return false;
    return IsKnown(number.a) && (number.b < 0 || IsKnown(number.b));
  }

  void Take(TensorId id) {
    if (id == kNoTensor || made_[id] || IsOutside(id) || Has(part_.takes, id)) return;
    part_.takes.push_back(id);
  }

  bool IsOutside(TensorId id) const {
    return std::any_of(procedure_.outside.begin(), procedure_.outside.end(),
                       [&](const auto& entry) { return entry.first == id; });
  }

  /// A number of before that the part uses as it is, in attributes or sizes.
  void Key(NumberId id) {
    const Sizes::Number& number = procedure_.sizes[id];
    if (number.step <= part_.begin) {
      const bool plain = number.kind == NumberKind::kConstant || number.kind == NumberKind::kSymbol;
      if (!plain && !Has(part_.keys, id)) part_.keys.push_back(id);
    } else if (number.kind >= NumberKind::kAdd) {
      Key(number.a);
      if (number.b >= 0) Key(number.b);
    }
  }

  void TakeSteps() {
    for (int32_t i = part_.begin; i < part_.end; ++i) {
      const ProcedureStep& step = procedure_.steps[i];
      if (step.kind == Kind::kNumber && IsKnown(step.number) && procedure_.DependsOnItems(step.number)) {
        part_.early.push_back(i);
        part_.takes.push_back(step.outputs[0]);
        continue;
      }
      steps_.push_back(step);
      if (step.kind == Kind::kNumber) Key(step.number);
      for (const ProcedureStep::Follows& follows : step.follows) Key(follows.number);
      for (TensorId id : step.inputs) Take(id);
      for (TensorId id : step.outs) Take(id);
      for (TensorId id : step.outputs) {
        if (id != kNoTensor && !IsOutside(id) && !Has(part_.takes, id)) made_[id] = true;
      }
    }
    for (NumberId id = 0; id < procedure_.sizes.count(); ++id) {
      const Sizes::Number& number = procedure_.sizes[id];
      if (IsRead(number.kind) && number.step > part_.begin && number.step < part_.end) Take(number.a);
    }
  }

  void Give(TensorId id) {
    if (id != kNoTensor && made_[id] && !Has(part_.gives, id)) part_.gives.push_back(id);
  }

  /// What is needed later, and what its own numbers are read off.
  void FindGiven() {
    const auto end = static_cast<int32_t>(procedure_.steps.size());
    for (int32_t i = part_.end; i < end; ++i) {
      const ProcedureStep& step = procedure_.steps[i];
      for (const std::vector<TensorId>* ids : {&step.inputs, &step.outs, &step.outputs}) {
        for (TensorId id : *ids) Give(id);
      }
    }
    for (NumberId id = 0; id < procedure_.sizes.count(); ++id) {
      const Sizes::Number& number = procedure_.sizes[id];
      if (IsRead(number.kind) && number.step > part_.begin) Give(number.a);
    }
    for (TensorId id : procedure_.outputs) Give(id);
  }

  /// Tensors that share memory are handed over singly by a plan: nobody may write to it then.
  bool SharesWrittenMemory() const {
    std::set<int32_t> once, shared;
    for (const std::vector<TensorId>* ids : {&part_.takes, &part_.gives}) {
      for (TensorId id : *ids) {
        if (!once.insert(procedure_.pieces[id]).second) shared.insert(procedure_.pieces[id]);
      }
    }
    for (const auto& [id, tensor] : procedure_.outside) {
      if (once.count(procedure_.pieces[id])) shared.insert(procedure_.pieces[id]);
    }
    return std::any_of(procedure_.writes.begin(), procedure_.writes.end(), [&](const Procedure::Write& write) {
      return write.step >= part_.begin && shared.count(write.piece);
    });
  }

  /// A backward pass of the part must not end at what an earlier part has computed.
  bool TakesResults() const {
    return std::any_of(part_.takes.begin(), part_.takes.end(),
                       [&](TensorId id) { return !Has(procedure_.arguments, id); });
  }

  void MakeProcedure() {
    Procedure& made = part_.procedure;
    made.name = procedure_.name;
    made.sizes = procedure_.sizes.Part(part_.begin, part_.end, part_.early);
    made.steps = std::move(steps_);
    for (ProcedureStep& step : made.steps) step.last.clear();  // the run lets go of what is no longer needed
    made.symbols = procedure_.symbols;
    made.tensor_count = procedure_.tensor_count;
    made.arguments = part_.takes;
    made.outputs = part_.gives;
    made.loose = procedure_.loose;
    made.outside = procedure_.outside;
  }

  const Procedure& procedure_;
  ProcedurePart part_;
  std::vector<ProcedureStep> steps_;
  std::vector<char> made_;
};

}  // namespace

std::vector<ProcedurePart> PartsOf(const Procedure& procedure) {
  const std::set<int32_t> cuts = CutsOf(procedure);
  std::vector<ProcedurePart> parts;
  for (auto begin = cuts.begin(); std::next(begin) != cuts.end(); ++begin) {
    parts.push_back(Cutter(procedure, *begin, *std::next(begin)).Cut());
  }
  return parts;
}

Undoing UndoingOf(const Procedure& procedure) {
  const std::vector<Decision>& decisions = procedure.sizes.decisions();
  const int32_t last = decisions.empty() ? 0 : decisions.back().step;
  const auto refuse = [&](const char* what) {
    const std::string& place = decisions.back().place;
    throw ProcedureParts("it goes on by a number after it has " + std::string(what) +
                         (place.empty() ? "" : " at " + place));
  };
  if (last > procedure.first_effect) refuse("changed what was there before");
  Undoing undoing;
  undoing.lasting = procedure.first_effect;
  std::vector<TensorId> outer = procedure.arguments;
  for (const auto& [id, tensor] : procedure.outside) outer.push_back(id);
  int64_t bytes = 0;
  for (const Procedure::Write& write : procedure.writes) {
    for (TensorId id : outer) {
      if (procedure.pieces[id] != write.piece) continue;
      if (write.step >= last) {
        undoing.lasting = std::min(undoing.lasting, write.step);
      } else if (!Has(undoing.written, id)) {
        undoing.written.push_back(id);
        bytes += procedure.bytes[id];
      }
    }
  }
  if (bytes > kMostUndone) refuse("written more than can be taken back");
  for (const ProcedureStep& step : procedure.steps) {
    if (step.kind == Kind::kGradWrite && !Has(undoing.leaves, step.inputs[0])) undoing.leaves.push_back(step.inputs[0]);
  }
  return undoing;
}

Before::Before(const Procedure& procedure, const Undoing& undoing, const ProcedureRun& run) {
  const GradMode off(false);
  for (TensorId id : undoing.written) {
    const Tensor alias = run.tensor(id).Detach();
    numbers_.emplace_back(alias, Op<"clone">(alias));
  }
  for (TensorId id : undoing.leaves) {
    if (const Tensor& leaf = run.tensor(id); leaf.defined()) gradients_.emplace_back(leaf, leaf.grad());
  }
  if (procedure.draws) drawn_ = CurrentGenerator().WholeState();
}

void Before::Restore() const {
  const GradMode off(false);
  for (const auto& [tensor, numbers] : numbers_) OpInto<"copy">(tensor, numbers);
  for (const auto& [leaf, grad] : gradients_) leaf.set_grad(grad);
  if (!drawn_.empty()) CurrentGenerator().SetWholeState(drawn_);
}

std::vector<Tensor> TakenBy(const ProcedurePart& part, ProcedureRun* run) {
  for (int32_t step : part.early) run->MakeEarly(step);
  std::vector<Tensor> taken;
  for (TensorId id : part.takes) taken.push_back(run->tensor(id));
  return taken;
}

Capture TracedPart(const ProcedurePart& part, const ProcedureRun& run, std::span<const Tensor> taken,
                   const Capture& like, Trace* trace, std::vector<Tensor>* results) {
  Procedure procedure = part.procedure;
  for (const Tensor& tensor : taken) procedure.ranks.push_back(tensor.ndim());
  return procedure.Traced(taken, like, trace, results, run.numbers().found());
}

std::string KeyOf(const ProcedurePart& part, const ProcedureRun& run, std::span<const Tensor> taken) {
  std::string key;
  const auto add = [&](int64_t number) { key.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
  for (const Tensor& tensor : taken) {
    add(tensor.ndim());
    for (int axis = 0; axis < tensor.ndim(); ++axis) add(tensor.shape()[axis]), add(tensor.strides()[axis]);
    add(tensor.requires_grad());
  }
  for (NumberId id : part.keys) key += run.numbers()[id].str() + ";";
  return key;
}

}  // namespace dragon
