// Rules about shapes that more than one operator needs.
#pragma once

#include "core/framework/operator.h"

namespace dragon {

/// `axis` in [0, ndim); a negative one counts from the end. A 0-d tensor has axes -1 and 0, as in PyTorch.
DRAGON_API int64_t NormalizeAxis(const char* who, int64_t axis, int64_t ndim);
/// Normalised and sorted, without repetition (a repeated axis is a ValueError). An empty list means all axes if
/// `empty_is_all`.
DRAGON_API Dims NormalizeAxes(const char* who, const Dims& axes, int64_t ndim, bool empty_is_all = true);
/// NumPy's broadcasting of two shapes, or a ValueError that shows both.
DRAGON_API Dims BroadcastShapes(const char* who, const Dims& a, const Dims& b);
/// The shape after reducing over sorted, normalised axes.
DRAGON_API Dims ReducedShape(const Dims& shape, const Dims& axes, bool keepdims);
/// Strides with which a tensor repeats itself to look like `shape`.
DRAGON_API Dims ExpandedStrides(const Tensor& x, const Dims& shape);
/// The strides of a dense `shape` whose axes follow each other in memory as these strides have it.
DRAGON_API Dims StridesInOrder(const Dims& shape, const Dims& strides);
/// Replace one -1 in `shape` by what `numel` leaves for it; a ValueError if it cannot be.
DRAGON_API Dims ResolveShape(const char* who, Dims shape, int64_t numel);

/// Result 0: the inputs' broadcast shape and the first input's dtype; keeps a common dense layout.
DRAGON_API void InferPointwise(Infer& infer);
/// The same with a bool result.
DRAGON_API void InferCompare(Infer& infer);
/// The broadcast rule with an explicit dtype.
DRAGON_API void InferPointwiseAs(Infer& infer, DType dtype);
/// Result 0 is like input 0, row-major unless that was dense.
DRAGON_API void InferSame(Infer& infer);

}  // namespace dragon
