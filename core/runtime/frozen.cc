// Noticing that a frozen parameter was written, and making the plan anew.
#include "core/runtime/frozen.h"

namespace dragon {

namespace {

/// Weights that change more often than this are not worth packing.
constexpr int kMostBuilds = 4;
/// Below this, folding and packing gain nothing.
constexpr int64_t kLeastElements = 256;

}  // namespace

FrozenPlan::FrozenPlan(const Capture& capture, CompileOptions options) : graph_(capture.graph), options_(options) {
  std::vector<ValueId> inputs;
  int64_t elements = 0;
  for (size_t i = 0; i < capture.inputs.size(); ++i) {
    const CapturedInput& input = capture.inputs[i];
    if (input.source != CapturedInput::Source::kOutside) {
      left_.push_back(static_cast<int>(i));
      inputs.push_back(graph_.inputs[i]);
      continue;
    }
    seen_.push_back({input.tensor, graph_.inputs[i]});
    elements += input.tensor.numel();
    allowed_ &= input.tensor.device().is_cpu() && input.tensor.is_contiguous();
  }
  allowed_ &= elements >= kLeastElements;
  graph_.inputs = inputs;
  graph_.updates.clear();  // they hand on what was there
}

bool FrozenPlan::Unchanged() const {
  for (const Seen& seen : seen_) {
    const Storage* storage = seen.tensor.impl()->storage.get();
    if (storage != seen.storage || storage->writes.load(std::memory_order_relaxed) != seen.writes) return false;
    if (DRAGON_UNLIKELY(storage->lent.load(std::memory_order_relaxed))) return false;
  }
  return true;
}

void FrozenPlan::Build() {
  plan_ = nullptr;
  allowed_ = ++builds_ <= kMostBuilds;
  Graph graph = graph_;
  for (Seen& seen : seen_) {
    const Storage* storage = seen.tensor.impl()->storage.get();
    allowed_ &= storage && !storage->lent && !storage->memory.is_borrowed();
    if (!allowed_) return;
    seen.storage = storage;
    seen.writes = storage->writes.load(std::memory_order_relaxed);
    graph.constants[seen.value] = seen.tensor.Detach();
  }
  plan_ = Compile(std::move(graph), options_.forward, options_.plan, &reports_);
}

std::shared_ptr<Plan> FrozenPlan::Fresh() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!allowed_) return nullptr;
  if (!plan_ || !Unchanged()) Build();
  return allowed_ ? plan_ : nullptr;
}

void FrozenPlan::AddReports(std::vector<PassReport>* reports) const {
  std::lock_guard<std::mutex> lock(mutex_);
  reports->insert(reports->end(), reports_.begin(), reports_.end());
}

std::vector<Tensor> FrozenPlan::Arguments(std::span<const Tensor> inputs) const {
  std::vector<Tensor> arguments;
  for (int i : left_) arguments.push_back(inputs[i]);
  return arguments;
}

}  // namespace dragon
