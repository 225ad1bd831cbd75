// Doing a call again: over tensors, or over phantoms before a trace.
#include "core/framework/procedure.h"

#include <algorithm>

#include "core/framework/autograd/meta.h"
#include "core/framework/known.h"
#include "core/framework/procedure_run.h"
#include "core/framework/shapes_only.h"
#include "core/framework/trace.h"

namespace dragon {

namespace {

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

std::vector<Tensor> Procedure::Run(std::span<const Tensor> given, std::span<const double> numbers,
                                   std::span<const Value> known) const {
  ProcedureRun run(*this, given, numbers, known);
  run.Advance(static_cast<int32_t>(steps.size()));
  return run.Finish();
}

std::string Procedure::Refusal(std::span<const Tensor> given, std::span<const double> numbers) const {
  const ShapesOnly shapes_only;
  const KnowingNumbers knowing;
  const GradientsKept kept(*this);
  try {
    Run(PhantomsOf(given), numbers);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::vector<Value> Procedure::NumbersAt(std::span<const Tensor> given, std::span<const double> numbers,
                                        std::span<const NumberId> wanted) const {
  const ShapesOnly shapes_only;
  const KnowingNumbers knowing;
  const GradientsKept kept(*this);
  ProcedureRun run(*this, PhantomsOf(given), numbers);
  run.Advance(static_cast<int32_t>(steps.size()));
  run.Reach();
  std::vector<Value> found;
  for (NumberId id : wanted) found.push_back(run.numbers().Early(id));
  return found;
}

Capture Procedure::Traced(std::span<const Tensor> given, const Capture& like, Trace* trace,
                          std::vector<Tensor>* results, std::span<const Value> known) const {
  const std::vector<Tensor> phantoms = PhantomsOf(given);
  for (const Tensor& phantom : phantoms) trace->AddInput(phantom);
  for (const std::string& symbol : symbols) trace->AddSymbol(symbol);
  const std::vector<double> numbers(symbols.size(), 1.0);
  const ShapesOnly shapes_only;
  const KnowingNumbers knowing;
  const GradientsKept kept(*this);
  trace->Start();
  try {
    *results = Run(phantoms, numbers, known);
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
    case NumberKind::kItem:
      return "the number in " + tensor;
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
    if (decision.relation != Relation::kEqual || !decision.held) continue;
    if (one.kind != NumberKind::kSize || other.kind != NumberKind::kConstant) continue;
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == one.a) found.push_back({static_cast<int>(i), one.b});
    }
  }
  return found;
}

bool Procedure::DependsOnItems(NumberId number) const {
  return sizes.DependsOnItems(number, [&](TensorId id) { return loose[id] != 0; });
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
    phantoms.back().impl()->free_layout = x.impl()->free_layout.load(std::memory_order_relaxed);
    phantoms.back().impl()->weak = x.impl()->weak;
    if (!x.requires_grad()) continue;
    phantoms.back().set_requires_grad(true);
    AutogradMeta::Of(phantoms.back()).when_asked = !RecordsUnasked(x);
  }
  return phantoms;
}

}  // namespace dragon
