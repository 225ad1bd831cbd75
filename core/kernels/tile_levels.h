// Which pass over a row makes which of a tile program's values: reductions that need one another come one pass after
// another.
#pragma once

#include <set>
#include <vector>

#include "core/kernels/tile_state.h"

namespace dragon::kernels {

struct TileLevels {
  std::vector<int> depth;  ///< of each value: how many reductions come before it, one after another
  std::vector<int> level;  ///< of each value of elements: the pass that first needs it; -1: none does
  std::set<int32_t> held;  ///< values of elements that a later pass needs again
  int last = 0;            ///< the pass that makes outputs and folds
};

TileLevels LevelsOf(const TileProgram::State& state);

}  // namespace dragon::kernels
