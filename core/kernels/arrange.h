// Kernels that put elements in another order: everything here is a list of boxes copied from one tensor into another.
#pragma once

#include <vector>

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// Part of one axis of a result: places [to, to + count) come from `from`, `from + step`, ... of the source's axis, or
/// from no place at all (`outside`): those get the fill value.
struct Piece {
  int64_t to = 0, count = 0, from = 0, step = 1;
  bool outside = false;
};
using Pieces = std::vector<Piece>;

/// y = x for one dtype and shape; x may repeat itself by strides of 0.
inline const Kernel<void(View y, View x)> Move{"move"};
/// y += x, element by element in order, so that y may overlap itself.
inline const Kernel<void(View y, View x)> Accumulate{"accumulate"};
/// y = xs[0], xs[1], ... one after the other along `axis`; all have y's dtype and any strides.
inline const Kernel<void(View y, const View* xs, int count, int axis)> Concat{"cat"};
/// Write `count` elements of one size, side by side, in reverse; there are uint8, int16 and int32 for all dtypes.
inline const Kernel<void(void* to, const void* from, int64_t count)> ReverseLine{"reverse_line"};
/// y is made of x by one list of pieces per axis, which cover y; `fill` is a number of y's dtype, if any piece is
/// outside.
inline const Kernel<void(View y, View x, const Pieces* pieces, View fill)> Assemble{"assemble"};
/// dx = the sum over all places of y that came from x of dy: the gradient of Assemble, written whole.
inline const Kernel<void(View dx, View dy, const Pieces* pieces)> AssembleBackward{"assemble_backward"};

}  // namespace dragon::kernels
