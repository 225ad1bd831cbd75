// What a pass must know of fusion before it fuses, asked of those who know kernels: `core/ops/fused` answers.
#pragma once

#include "core/framework/graph.h"

namespace dragon {

/// How a reduction fits into a tile program.
struct FoldForm {
  enum class Kind : uint8_t {
    kNone,     ///< it does not
    kRows,     ///< over the last `axes`: what it makes can be read within the program
    kColumns,  ///< over all but the last `axes`: complete when the program ends
    kAll       ///< over all axes: complete when the program ends
  };
  Kind kind = Kind::kNone;
  int axes = 0;
};

struct FusionRules {
  /// Whether a device has programs for `fused` calls.
  bool (*runs_on)(Device device) = nullptr;
  /// Whether a call is nothing but one loop over elements that a tile program can run.
  bool (*is_loop)(const Graph& graph, const GraphCall& call) = nullptr;
  FoldForm (*fold)(const Graph& graph, const GraphCall& call) = nullptr;
  /// Whether a `fused` call can run this body as one tile program.
  bool (*is_program)(const Graph& body) = nullptr;
};

/// The rules of the fused operator.
DRAGON_API FusionRules& Fusion();

}  // namespace dragon
