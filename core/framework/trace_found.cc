// Programs that look at numbers while they are traced: what they find is noted, or foretold.
#include <algorithm>

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/framework/trace.h"

namespace dragon {

namespace {

/// A program that looks more often (a whole training loop, say) is left to Python.
constexpr size_t kMostFindings = 256;

Tensor PhantomOf(const Tensor& like) {
  if (!like.defined()) return {};
  return Tensor::Phantom(like.shape(), like.strides(), like.dtype(), like.device());
}

}  // namespace

void Trace::Foretell(std::vector<Finding> findings) {
  findings_ = std::move(findings);
  notes_ = foretells_ = true;
}

bool Trace::MayFind() const { return notes_ && !backward_ && (foretells_ || findings_.size() < kMostFindings); }

const Finding& Trace::NextFinding(bool of_results) {
  const bool there = found_ < static_cast<int>(findings_.size());
  if (there && findings_[found_].results.empty() != of_results) return findings_[found_++];
  GiveUp("the program looks at other numbers than it did before");
  throw RuntimeError("trace").Says(failure_);
}

void Trace::NoteFinding(Finding finding, const std::string& what) {
  if (first_look_.empty()) first_look_ = AtPlace(what);
  findings_.push_back(std::move(finding));
  ++found_;
}

void Trace::NoteResults(const Tensors& results, const Operator& op) {
  Finding finding;
  for (const Tensor& result : results) finding.results.push_back(PhantomOf(result));
  NoteFinding(std::move(finding), op.name() + ": the shape of its result depends on numbers");
}

std::optional<Value> Trace::Tell(const Tensor& tensor) {
  if (looking_ || !MayFind() || tensor.numel() != 1 || !IsOpen(tensor)) return std::nullopt;
  if (!foretells_) {
    looking_ = true;
    struct Looked {
      bool& looking;
      ~Looked() { looking = false; }
    } looked{looking_};
    NoteFinding({tensor.Item(), {}}, "the program looks at a tensor's numbers (its value as a Python or C++ number)");
  } else {
    NextFinding(false);
  }
  const Value number = findings_[found_ - 1].number;
  if (when_told) when_told(tensor, number);
  return number;
}

/// A call whose inputs are known beforehand: so are its results, whatever their shapes depend on.
bool Trace::RecordKnown(const Call& call, std::span<const Tensor> outs, Tensors* results) {
  if (!outs.empty() || Door().phantom || call.op->schema.mutates()) return false;
  for (const Tensor& x : call.inputs) {
    const Cell* cell = x.defined() && x.impl()->storage ? Known(x) : nullptr;
    if (x.defined() && !(cell && cell->constant)) return false;
  }
  *results = Below(call, outs);
  for (const Tensor& result : *results) {
    if (!result.defined()) continue;
    const Call clone{&OpNamed<"clone">(), std::span<const Tensor>(&result, 1), {}, {}};
    const Tensor numbers = Below(clone, {})[0];
    const ValueId id = graph_.AddConstant(numbers);
    constant_.resize(graph_.values.size(), 1);
    Begin(result, id, true);
  }
  return true;
}

/// A call whose results have shapes that depend on numbers.
Tensors Trace::RecordFound(const Call& call, GraphCall record) {
  Tensors results;
  if (foretells_) {
    for (const Tensor& like : NextFinding(true).results) results.push_back(PhantomOf(like));
  } else {
    results = Below(call, {});
    NoteResults(results, *call.op);
  }
  std::vector<OutputSpec> specs(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].defined()) specs[i] = {results[i].shape(), {}, results[i].dtype(), false};
  }
  Record(call, {}, results, std::move(record), {specs.data(), specs.size()});
  return results;
}

}  // namespace dragon
