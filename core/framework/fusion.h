// What a pass must know of fusion before it fuses, asked of those who know kernels: `core/ops/fused` answers.
#pragma once

#include "core/framework/graph.h"

namespace dragon {

struct FusionRules {
  /// Whether a call is nothing but one loop over elements that a tile program can run.
  bool (*is_loop)(const Graph& graph, const GraphCall& call) = nullptr;
  /// Whether a `fused` call can run this body as one tile program.
  bool (*is_program)(const Graph& body) = nullptr;
};

/// The rules of the CPU's fused operator.
DRAGON_API FusionRules& Fusion();

}  // namespace dragon
