// Graphs as arguments of operators that call other operators (`cond`, `while_loop`, `scan`): whether they fit, what
// runs them, and the graphs of their gradients.
#pragma once

#include <utility>
#include <vector>

#include "core/framework/apply.h"
#include "core/framework/graph_body.h"

namespace dragon {

/// Who knows more than operators do.
struct BodyRules {
  /// The outputs of a body for inputs that fit it, in memory of their own. Told by core/runtime.
  std::vector<Tensor> (*run)(const GraphBody& body, std::span<const Tensor> inputs) = nullptr;
  /// Called between the rounds of loops; throws where somebody wants them to end. Told by Python's bindings.
  void (*interrupt)() = nullptr;
  /// Calls a function of the program around by its number; what it throws ends the run. Told by Python's bindings.
  void (*host)(int64_t function, std::span<const Tensor> inputs) = nullptr;
};
DRAGON_API BodyRules& Bodies();

/// Nobody stands at the door for a while: what is worked out of a body, or by one, is no call of the program.
class DRAGON_API StepAside {
 public:
  StepAside() : before_(std::exchange(Door(), DoorState{})) { Door().grad_enabled = kGradOff; }
  StepAside(const StepAside&) = delete;
  ~StepAside() { Door() = before_; }

 private:
  DoorState before_;
};

/// The graph that an argument holds, checked from its first call to its last (once). One that has symbols, or updates
/// its inputs, is a ValueError.
DRAGON_API const Graph& CheckedBody(const CallReader& call, const Value& attr, const char* argument);
/// A ValueError if the tensors are not what the body's inputs say in number, shape, dtype and device.
DRAGON_API void CheckFits(const CallReader& call, const char* argument, const Graph& body,
                          std::span<const Tensor> inputs);
/// "float32 of shape (2, 3)", for letters.
DRAGON_API std::string FormOf(const ValueInfo& info);
/// A one-element tensor as a truth value.
DRAGON_API bool IsTrue(const char* who, const Tensor& predicate);
/// Run a body that has been checked; inputs may lie in any order in memory.
DRAGON_API std::vector<Tensor> RunBody(const Value& body, std::span<const Tensor> inputs);
/// Leave a loop here if somebody has asked for its end.
DRAGON_API void AllowInterrupt();

/// The graph that is made of a body by `make()` when it is asked for first, kept with the body under `key`.
DRAGON_API Value Derived(const Value& body, const std::vector<int64_t>& key,
                         Graph (*make)(const Graph& body, const std::vector<int64_t>& key));
/// What tells derived graphs apart: the first number of their keys.
enum DerivedKind : int64_t { kCheckedBody, kPlanOfBody, kGradientOfBody, kHistoryOfScan, kGradientOfScan };

/// The gradients of some of a body's inputs: its inputs are those of the body and then the gradients of `roots`, its
/// outputs those of the inputs `wanted`, zeros where none flows. A body that draws random numbers is a
/// NotImplementedError: others would be drawn for its gradient.
DRAGON_API Graph GradientGraph(const Graph& body, const std::vector<int>& wanted, const std::vector<int>& roots);
/// The same for `Derived`: behind its first number, a key lists the inputs that want gradients, and as numbers from
/// the count of inputs on the outputs that bring some.
DRAGON_API Graph GradientByKey(const Graph& body, const std::vector<int64_t>& key);

}  // namespace dragon
