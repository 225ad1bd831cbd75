// Every value is made as late as it can be: then the fewest are kept from pass to pass.
#include "core/kernels/tile_levels.h"

#include <algorithm>

namespace dragon::kernels {

namespace {

using Kind = TileStep::Kind;

/// Elements that a value is made of belong to this pass, unless an earlier one had them.
void Need(const TileProgram::State& state, int32_t value, int level, TileLevels* levels) {
  if (state.values[value].row) return;
  if (levels->level[value] >= 0) {
    if (levels->level[value] < level) levels->held.insert(value);
    return;
  }
  levels->level[value] = level;
  const int32_t step = state.made_by[value];
  if (step < 0) return;
  const auto& operands = state.steps[step].operands;
  for (size_t k = 1; k < operands.size(); ++k) Need(state, operands[k], level, levels);
}

}  // namespace

TileLevels LevelsOf(const TileProgram::State& state) {
  TileLevels levels;
  levels.depth.assign(state.values.size(), 0);
  levels.level.assign(state.values.size(), -1);
  for (const TileStep& step : state.steps) {
    if (step.operands[0] < 0) continue;
    int& depth = levels.depth[step.operands[0]];
    for (size_t k = 1; k < step.operands.size(); ++k) depth = std::max(depth, levels.depth[step.operands[k]]);
    if (step.kind == Kind::kReduce) levels.last = std::max(levels.last, ++depth);
  }
  for (int level = 0; level <= levels.last; ++level) {
    for (const TileStep& step : state.steps) {
      const bool reduces = step.kind == Kind::kReduce && levels.depth[step.operands[0]] == level + 1;
      const bool folds = step.kind == Kind::kFold && level == levels.last;
      if (reduces || folds) Need(state, step.operands[1], level, &levels);
    }
  }
  for (const int32_t value : state.output_values) Need(state, value, levels.last, &levels);
  return levels;
}

}  // namespace dragon::kernels
