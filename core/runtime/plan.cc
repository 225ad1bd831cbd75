// Running a plan: binding its memory, then one call after another.
#include "core/runtime/plan.h"

#include "core/device/allocator.h"
#include "core/framework/apply.h"
#include "core/framework/profile.h"
#include "core/framework/stand_in.h"
#include "core/runtime/plan_instance.h"

namespace dragon {

namespace {

/// No interpreter stands at the door while a plan runs: what it runs went through the door when it was traced.
class ClosedDoor {
 public:
  ClosedDoor() : before_(Door()) {
    Door() = DoorState{};
    Door().grad_enabled = kGradOff;
  }
  ~ClosedDoor() { Door() = before_; }

 private:
  DoorState before_;
};

void* StreamOf(Device device) { return device.is_cpu() ? nullptr : BackendOf(device.type).CurrentStream(device.index); }

}  // namespace

Plan::Plan(Graph graph, PlanOptions options) : graph_(std::move(graph)), options_(options) {
  idle_.push_back(BuildInstance(graph_, options_, &memory_));
}

Plan::~Plan() = default;

int Plan::step_count() const { return idle_.empty() ? 0 : static_cast<int>(idle_.front()->steps.size()); }

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
    const ValueInfo& info = graph_.values[graph_.inputs[i]];
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

namespace {

/// Give an attribute that follows symbols its number.
void SetNumber(const GraphCall::Symbolic& symbolic, std::span<const double> symbols, Step* step) {
  double number = static_cast<double>(symbolic.value.offset);
  for (const Term& term : symbolic.value.terms) {
    const int32_t symbol = term.lone_symbol();  // what is asked for anew may be any number, and is no size
    if (symbol < 0 || symbol >= static_cast<int>(symbols.size())) {
      throw ValueError(step->op->name()).Got(symbols.size(), " numbers for symbols").Expected("more than ", symbol);
    }
    number += term.coefficient * symbols[symbol];
  }
  Value& attr = step->attrs[symbolic.attr];
  if (symbolic.element >= 0) {
    Dims dims = attr.ints();
    dims[symbolic.element] = static_cast<int64_t>(number);
    attr = Value(std::move(dims));
  } else {
    attr = attr.kind() == Value::Kind::kInt ? Value(static_cast<int64_t>(number)) : Value(number);
  }
}

/// Memory that small plans keep from one run to the next.
constexpr int64_t kKeptArena = 1 << 18;

/// Memory for a result; if it is much, taken when the result is first written.
Tensor ResultLike(const Tensor& like, int64_t bytes) {
  if (bytes >= kOwnMemory) return Tensor::Phantom(like.shape(), like.strides(), like.dtype(), like.device());
  return like.strides() == ContiguousStrides(like.shape())
             ? Tensor::Empty(like.shape(), like.dtype(), like.device())
             : Tensor::EmptyStrided(like.shape(), like.strides(), like.dtype(), like.device());
}

/// Take the memory of what a step is about to write, if nobody has yet: kernels ask for operands and results alike.
void TakeMemory(std::span<const Tensor> outputs) {
  for (const Tensor& y : outputs) {
    if (!y.defined() || !y.impl()->storage) continue;
    if (y.impl()->storage->memory.state() == UnifiedMemory::State::kUninitialized) y.mutable_data();
  }
}

/// Give inputs, intermediate values and results their memory; returns the results.
std::vector<Tensor> Bind(std::span<const Tensor> inputs, Plan::Instance* instance) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorImpl& actual = *inputs[i].impl();
    for (const Bound& bound : instance->inputs[i]) {
      bound.impl->storage = actual.storage;
      bound.impl->offset = (bound.bytes + actual.offset * ItemSize(actual.dtype)) / ItemSize(bound.impl->dtype);
    }
  }
  for (Plan::Instance::Arena& arena : instance->arenas) {
    if (arena.storage) continue;
    arena.storage = MakeRef<Storage>(arena.device, arena.bytes);
    for (TensorImpl* impl : arena.tensors) impl->storage = arena.storage;
  }
  for (const Plan::Instance::Own& own : instance->own) {
    const auto storage = MakeRef<Storage>(Storage::Later{}, own.device, own.bytes);
    for (TensorImpl* impl : own.tensors) impl->storage = storage;
  }
  std::vector<Tensor> results(instance->outputs.size());
  for (size_t k = 0; k < results.size(); ++k) {
    const Plan::Instance::Output& output = instance->outputs[k];
    if (output.same_as >= 0) {
      results[k] = results[output.same_as];
      continue;
    }
    results[k] = ResultLike(output.like, output.bytes);
    for (const Bound& bound : output.tensors) bound.impl->storage = results[k].impl()->storage;
  }
  return results;
}

/// Let go of what nobody reads after step `step`; `given` are the inputs, if they are ours to drop.
class Releasing {
 public:
  Releasing(Plan::Instance* instance, std::span<Tensor> given) : instance_(*instance), given_(given) { After(-1); }

  void After(int step) {
    for (; next_ < instance_.releases.size() && instance_.releases[next_].step <= step; ++next_) {
      const Plan::Instance::Release& release = instance_.releases[next_];
      if (!release.is_input) {
        for (TensorImpl* impl : instance_.own[release.index].tensors) impl->storage = nullptr;
      } else if (!given_.empty()) {
        for (const Bound& bound : instance_.inputs[release.index]) bound.impl->storage = nullptr;
        given_[release.index] = Tensor();
      }
    }
  }

 private:
  Plan::Instance& instance_;
  std::span<Tensor> given_;
  size_t next_ = 0;
};

/// Let go of the memory of a run.
void Unbind(Plan::Instance* instance) {
  for (Plan::Instance::Arena& arena : instance->arenas) {
    if (arena.bytes <= kKeptArena) continue;
    for (TensorImpl* impl : arena.tensors) impl->storage = nullptr;
    arena.storage = nullptr;
  }
  for (const auto& bounds : instance->inputs) {
    for (const Bound& bound : bounds) bound.impl->storage = nullptr;
  }
  for (const auto& output : instance->outputs) {
    for (const Bound& bound : output.tensors) bound.impl->storage = nullptr;
  }
}

}  // namespace

std::vector<Tensor> Plan::RunWith(std::span<const Tensor> inputs, std::span<const double> symbols,
                                  std::vector<PlanEvent>* events, std::span<Tensor> given) {
  CheckInputs(inputs);
  std::unique_ptr<Instance> instance = Borrow();
  std::vector<Tensor> results = Bind(inputs, instance.get());
  {
    ClosedDoor closed;
    Releasing releasing(instance.get(), given);
    for (size_t s = 0; s < instance->steps.size(); ++s) {
      Step& step = instance->steps[s];
      for (const GraphCall::Symbolic& symbolic : step.symbolic) SetNumber(symbolic, symbols, &step);
      const Call call{step.op, step.inputs, step.attrs, step.list_sizes};
      Context ctx{step.device, StreamOf(step.device)};
      TakeMemory({step.outputs.data(), step.outputs.size()});
      const int64_t start = events ? ProfileClock() : 0;
      RunOperator(call, ctx, step.outputs);
      if (events) {
        int64_t bytes = 0;
        for (const Tensor& y : step.outputs) bytes += y.defined() ? y.numel() * y.item_size() : 0;
        events->push_back(
            {step.op->name(), step.call < 0 ? "" : graph_.calls[step.call].scope, start, ProfileClock(), bytes});
      }
      releasing.After(static_cast<int>(s));
    }
  }
  TakeMemory(results);  // one that no kernel had anything to write to is memory as well
  Unbind(instance.get());
  std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(instance));
  return results;
}

/// Run, and tell a profile of it if one is made.
std::vector<Tensor> Plan::RunToldWith(std::span<const Tensor> inputs, std::span<const double> symbols,
                                      std::span<Tensor> given) {
  if (DRAGON_LIKELY(!IsProfiling())) return RunWith(inputs, symbols, nullptr, given);
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
