// How a kernel on a GPU walks the operands of a tile program: axes that all of them have in common, merged where
// possible, and packs of neighbours along the innermost.
#pragma once

#include <vector>

#include "core/kernels/tile_state.h"

namespace dragon::kernels {

/// Axes from the outermost in.
struct WalkAxes {
  std::vector<int64_t> shape;
  std::vector<std::vector<int64_t>> strides;  ///< in bytes, of each axis by operand
  int64_t numel = 1;
};

struct TileWalk {
  WalkAxes rows, elements;  ///< which row, and which element of it; one row where nothing is reduced by rows
  bool wide = false;        ///< offsets and indices that need 64 bits
  int width = 1;            ///< neighbours that a thread takes at once
};

/// Outputs (without folds) are operands before inputs. `cost` bounds how often a thread's work is written out.
TileWalk WalkOf(const std::vector<TileOperand>& outputs, const std::vector<TileOperand>& inputs, const Dims& shape,
                int row_axes, int64_t cost);

/// The step in bytes between an operand's neighbours.
int64_t InnerStride(const TileWalk& walk, size_t operand);

/// The walk with packs of `width`, if the sizes allow that.
bool TakesWidth(const TileWalk& walk, const std::vector<int64_t>& items, int width);

}  // namespace dragon::kernels
