// Plans: what they are given, and who runs them.
#include "core/runtime/plan.h"

#include "core/device/allocator.h"
#include "core/framework/profile.h"
#include "core/runtime/plan_graphs.h"
#include "core/runtime/plan_run.h"

namespace dragon {

Plan::Plan(Graph graph, PlanOptions options) : graph_(std::move(graph)), options_(options) {
  idle_.push_back(BuildInstance(graph_, options_, &memory_));
  step_count_ = static_cast<int>(idle_.front()->steps.size());
  if (PlanGraphs::Wanted(options_.device_graphs, *idle_.front())) {
    graphs_ = std::make_unique<PlanGraphs>(graph_, options_, *idle_.front());
  }
}

Plan::~Plan() = default;

Plan::DeviceGraphFacts Plan::device_graphs() const { return graphs_ ? graphs_->facts() : DeviceGraphFacts{}; }

namespace {

/// The strides of axes of one element mean nothing.
bool WalksAlike(const Tensor& x, const Dims& strides) {
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (x.size(axis) != 1 && x.strides()[axis] != strides[axis]) return false;
  }
  return true;
}

}  // namespace

void Plan::CheckInputs(std::span<const Tensor> inputs) const {
  if (inputs.size() != graph_.inputs.size()) {
    throw ValueError(graph_.name).Got(inputs.size(), " inputs").Expected(graph_.inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueInfo& info = input(i);
    const auto who = [&] { return info.name.empty() ? "input " + std::to_string(i) : "input '" + info.name + "'"; };
    const Tensor& x = inputs[i];
    if (!x.defined()) throw ValueError(graph_.name).Got("nothing for ", who()).Expected("a tensor");
    if (x.shape() != info.shape || x.dtype() != info.dtype || x.device() != info.device) {
      throw ValueError(graph_.name)
          .Got(who(), " of shape ", x.shape(), ", ", x.dtype(), " on ", x.device())
          .Expected("shape ", info.shape, ", ", info.dtype, " on ", info.device);
    }
    const bool fits = info.strides.empty() ? x.is_contiguous() : WalksAlike(x, info.strides);
    if (x.numel() > 1 && !fits) {
      const Dims strides = info.strides.empty() ? ContiguousStrides(info.shape) : info.strides;
      throw ValueError(graph_.name).Got(who(), " with strides ", x.strides()).Expected("strides ", strides);
    }
  }
}

std::unique_ptr<Plan::Instance> Plan::Borrow() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<Instance> instance = std::move(idle_.back());
      idle_.pop_back();
      return instance;
    }
  }
  PlanMemory same;
  return BuildInstance(graph_, options_, &same);
}

std::vector<Tensor> Plan::RunWith(std::span<const Tensor> inputs, std::span<const double> symbols,
                                  std::vector<PlanEvent>* events, std::span<Tensor> given) {
  CheckInputs(inputs);
  std::unique_ptr<Instance> instance = Borrow();
  std::vector<Tensor> results = Bind(inputs, instance.get());
  RunSteps(graph_, instance.get(), symbols, given, events);
  TakeMemory(results);  // one that no kernel had anything to write to is memory as well
  Unbind(instance.get());
  std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(instance));
  return results;
}

/// Run, and tell a profile of it if one is made.
std::vector<Tensor> Plan::RunToldWith(std::span<const Tensor> inputs, std::span<const double> symbols,
                                      std::span<Tensor> given) {
  if (DRAGON_LIKELY(!IsProfiling())) {
    std::vector<Tensor> results;
    if (graphs_) {
      CheckInputs(inputs);
      if (graphs_->Run(inputs, symbols, &results)) return results;
    }
    return RunWith(inputs, symbols, nullptr, given);
  }
  std::vector<PlanEvent> events;
  std::vector<Tensor> results = RunWith(inputs, symbols, &events, given);
  const std::string around = ProfilePlace();
  for (PlanEvent& event : events) {
    const char* const between = around.empty() || event.scope.empty() ? "" : ";";
    AddProfileEvent({event.name, event.start, event.end, false, event.bytes, {}, around + between + event.scope});
  }
  return results;
}

std::vector<Tensor> Plan::Run(std::span<const Tensor> inputs, std::span<const double> symbols) {
  return RunToldWith(inputs, symbols, {});
}

std::vector<Tensor> Plan::RunOnce(std::vector<Tensor> inputs, std::span<const double> symbols) {
  return RunToldWith(inputs, symbols, inputs);
}

std::vector<Tensor> Plan::Profile(std::span<const Tensor> inputs, std::vector<PlanEvent>* events) {
  return RunWith(inputs, {}, events);
}

std::vector<Tensor> Plan::Measure(std::span<const Tensor> inputs) {
  CheckInputs(inputs);  // before the first one is asked for its device
  const Device device = inputs.empty() ? Device{} : inputs[0].device();
  ResetPeak(device);
  const int64_t before = MemoryStatsOf(device).current;
  std::vector<Tensor> results = RunWith(inputs, {}, nullptr);
  memory_.measured = MemoryStatsOf(device).peak - before;
  return results;
}

}  // namespace dragon
