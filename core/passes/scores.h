// Scores of attention, before softmax, read back from the formula that made them.
#pragma once

#include "core/passes/products.h"

namespace dragon {

struct Scores {
  ValueId q = kNoValue, keys = kNoValue;  ///< keys as they are multiplied: their last two axes exchanged
  ValueId mask = kNoValue;                ///< added to the scores; or bool: true where a key is seen
  bool mask_hides = false;                ///< bool, and true where a key is not seen
  double scale = 1;
  bool causal = false;  ///< query i sees keys 0 to i, and there is no mask
};

/// scale q keys + mask, where nobody else reads what lies between.
bool ReadScores(const Simplifier& s, ValueId id, Scores* scores);

}  // namespace dragon
