// Running a plan's calls: binding their memory, then one call after another.
#include "core/runtime/plan_run.h"

#include "core/framework/profile.h"

namespace dragon {

namespace {

void* StreamOf(Device device) { return device.is_cpu() ? nullptr : BackendOf(device.type).CurrentStream(device.index); }

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

}  // namespace

void TakeMemory(std::span<const Tensor> outputs) {
  for (const Tensor& y : outputs) {
    if (!y.defined() || !y.impl()->storage) continue;
    if (y.impl()->storage->memory.state() == UnifiedMemory::State::kUninitialized) y.mutable_data();
  }
}

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

namespace {

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

}  // namespace

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

void RunSteps(const Graph& graph, Plan::Instance* instance, std::span<const double> symbols, std::span<Tensor> given,
              std::vector<PlanEvent>* events, const Step** now) {
  ClosedDoor closed;
  Releasing releasing(instance, given);
  for (size_t s = 0; s < instance->steps.size(); ++s) {
    Step& step = instance->steps[s];
    if (now) *now = &step;
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
          {step.op->name(), step.call < 0 ? "" : graph.calls[step.call].scope, start, ProfileClock(), bytes});
    }
    releasing.After(static_cast<int>(s));
  }
}

}  // namespace dragon
