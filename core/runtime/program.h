// Program: a captured call made ready. Plans for its forward and backward pass, and what else the call did, done again
// in C++.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/framework/trace.h"
#include "core/passes/pass.h"
#include "core/runtime/plan.h"
#include "core/runtime/redo.h"

namespace dragon {

struct CompileOptions {
  PassOptions forward, backward;
  PlanOptions plan;
  bool freeze = true;  ///< inference takes tensors from outside for constants while nobody writes them
};

/// The graph optimised and planned.
DRAGON_API std::shared_ptr<Plan> Compile(Graph graph, const PassOptions& passes, const PlanOptions& options,
                                         std::vector<PassReport>* reports = nullptr);
class FrozenPlan;

/// An input lies in row-major order now, and did not when guards looked at it: its strides were the engine's choice,
/// and another thread was the first to look at them (Tensor::Settle). Nothing was done yet; another graph fits the
/// call.
struct InputMoved {};

/// A capture made ready to run.
class DRAGON_API Program {
 public:
  Program(Capture capture, CompileOptions options);
  ~Program();

  /// Do what the captured call did, with these arguments, which fit what was captured (see `Staleness`) or are a
  /// ValueError; InputMoved, where they did so until now. `symbols` are the values of the graph's symbols, for numbers
  /// that change from run to run. Any number of threads may call.
  std::vector<Tensor> Run(std::span<const Tensor> arguments, std::span<const double> symbols = {});
  /// Why this does not fit the present state; empty if it does.
  std::string Staleness(std::span<const Tensor> arguments) const;

  const Capture& capture() const { return capture_; }
  Plan& forward() { return *forward_; }
  Plan* backward() { return backward_.get(); }
  /// What passes have done, those of plans that were made anew for other parameters included.
  std::vector<PassReport> reports() const;
  /// How to find out what the program asked for, in case that somebody wants gradients of gradients.
  void SetAsker(Asker asker) { asker_ = std::make_shared<const Asker>(std::move(asker)); }

 private:
  friend class ProgramNode;
  Tensor LeafOf(const CapturedGradient& gradient, std::span<const Tensor> arguments) const {
    return gradient.argument < 0 ? gradient.leaf : arguments[gradient.argument];
  }
  void DropGradients(std::span<const Tensor> arguments) const;
  std::vector<uint8_t> GeneratorBefore() const;
  void Record(std::span<const Tensor> arguments, std::span<const double> symbols, std::span<const Tensor> inputs,
              std::span<const Tensor> values, std::span<const Tensor> results, std::vector<uint8_t> generator) const;
  std::vector<Tensor> Gather(std::span<const Tensor> arguments) const;
  void RequireUnmoved(std::span<const Tensor> inputs) const;
  Tensor Present(const CapturedOutput& output, std::span<const Tensor> inputs, std::span<const Tensor> values) const;

  Capture capture_;
  std::shared_ptr<const GradientFlow> flow_;  ///< null where nothing is to be differentiated
  std::vector<std::pair<int, std::string>> spent_;
  std::vector<std::vector<int>> spent_inputs_;  ///< by entry of `spent_`: the inputs that its gradient would flow to
  std::vector<int> kept_;    ///< what the backward plan reads: input of the capture (>= 0) or ~output of forward
  size_t result_count_ = 0;  ///< outputs of the forward plan that are the call's own
  std::shared_ptr<Plan> forward_, backward_;
  std::unique_ptr<FrozenPlan> frozen_;
  std::vector<std::pair<int32_t, ValueId>> updates_;
  std::vector<size_t> strided_;  ///< inputs that are not in row-major order
  std::vector<PassReport> reports_;
  std::shared_ptr<const Asker> asker_;
  const char* lasting_ = nullptr;  ///< what a call does that cannot be done twice, if anything
  bool draws_ = false;             ///< from the thread's random generator
};

}  // namespace dragon
