// What a plan is made of: calls with their operands in place, and what is bound to memory when it runs.
#pragma once

#include <memory>
#include <vector>

#include "core/runtime/plan.h"

namespace dragon {

/// One call with its operands in place.
struct Step {
  const Operator* op;
  std::vector<Tensor> inputs;
  std::vector<Value> attrs;
  std::vector<int32_t> list_sizes;
  Tensors outputs;
  Device device;
  int call;  ///< its position in the graph; -1: a copy that the plan added
  std::vector<GraphCall::Symbolic> symbolic = {};
};

/// A tensor whose memory is found when the plan runs.
struct Bound {
  TensorImpl* impl;
  int64_t bytes;  ///< from the start of the memory it is bound to
};

struct Plan::Instance {
  std::vector<Step> steps;
  std::vector<Tensor> values;              ///< placeholders by value
  std::vector<std::vector<Bound>> inputs;  ///< by input
  struct Arena {
    Device device;
    int64_t bytes = 0;
    std::vector<TensorImpl*> tensors;
    Ref<Storage> storage;
  };
  std::vector<Arena> arenas;
  /// Memory that is taken when it is first written, and given back after the last step that reads it.
  struct Own {
    Device device;
    int64_t bytes = 0;
    std::vector<TensorImpl*> tensors;
  };
  std::vector<Own> own;
  struct Output {
    Tensor like;
    int64_t bytes = 0;
    std::vector<Bound> tensors;
    int same_as = -1;  ///< an earlier output that is the same value
  };
  std::vector<Output> outputs;
  /// What nobody reads after a step: `index` of `own` or, where the caller gives them away, of `inputs`.
  struct Release {
    int step = -1;  ///< -1: before the first
    bool is_input = false;
    int index = 0;
  };
  std::vector<Release> releases;  ///< by step
};

/// Pieces of memory of this size and more are worth a place of their own: beside the time to fill them, taking and
/// giving back costs nothing.
inline constexpr int64_t kOwnMemory = 1 << 18;

/// Decide where every value of the graph lives.
std::unique_ptr<Plan::Instance> BuildInstance(const Graph& graph, const PlanOptions& options, PlanMemory* memory);

}  // namespace dragon
