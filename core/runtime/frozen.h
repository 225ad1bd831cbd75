// Inference over parameters that nobody writes: they are constants for as long as that holds.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/runtime/program.h"

namespace dragon {

/// A plan that takes what comes from outside (parameters, as a rule) for constants, so that weights are folded and
/// packed at compile time; made anew when somebody has written them.
class FrozenPlan {
 public:
  FrozenPlan(const Capture& capture, CompileOptions options);
  /// The plan for the present numbers; null where freezing does not pay (numbers change too often, or others may
  /// write).
  std::shared_ptr<Plan> Fresh();
  /// What passes have done to plans that were made so far.
  void AddReports(std::vector<PassReport>* reports) const;
  /// The inputs that are left.
  std::vector<Tensor> Arguments(std::span<const Tensor> inputs) const;

 private:
  struct Seen {
    Tensor tensor;
    ValueId value = kNoValue;
    const Storage* storage = nullptr;
    uint32_t writes = 0;
  };
  bool Unchanged() const;
  void Build();

  Graph graph_;
  std::vector<int> left_;  ///< positions among the capture's inputs of those that are given at each call
  std::vector<Seen> seen_;
  CompileOptions options_;
  std::shared_ptr<Plan> plan_;
  std::vector<PassReport> reports_;
  mutable std::mutex mutex_;
  int builds_ = 0;
  bool allowed_ = true;
};

}  // namespace dragon
