// How a plan's calls are run: plans do it, and those who note a run down as a graph of the device.
#pragma once

#include <vector>

#include "core/framework/apply.h"
#include "core/framework/stand_in.h"
#include "core/runtime/plan_instance.h"

namespace dragon {

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

/// Give inputs, intermediate values and results their memory; returns the results.
std::vector<Tensor> Bind(std::span<const Tensor> inputs, Plan::Instance* instance);
/// Let go of the memory of a run.
void Unbind(Plan::Instance* instance);
/// Take the memory of what is about to be written, if nobody has yet: kernels ask for operands and results alike.
void TakeMemory(std::span<const Tensor> outputs);
/// Run all calls over what is bound. `given` are the inputs, if they are the plan's to drop; `now` is told each step.
void RunSteps(const Graph& graph, Plan::Instance* instance, std::span<const double> symbols, std::span<Tensor> given,
              std::vector<PlanEvent>* events, const Step** now = nullptr);

}  // namespace dragon
