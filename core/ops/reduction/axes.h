// What the reducing operators share: which axes, what shape, and how a gradient finds its way back.
#pragma once

#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {

/// The axes that are reduced, normalised; all of them for None or an empty list.
inline Dims AxesOf(const CallReader& c) {
  const Dims none;
  const Value& axis = c.attr("axis");
  return NormalizeAxes(c.name(), axis.is_none() ? none : axis.ints(), c.x(0).ndim());
}

/// The same inside a gradient, where only the input's shape may be left.
inline Dims AxesOf(const Grad& g) {
  const Dims none;
  const Value& axis = g.attr("axis");
  return NormalizeAxes(g.name(), axis.is_none() ? none : axis.ints(), g.x_shape(0).size());
}

/// A result as kernels want it: of the input's rank, with size 1 along reduced axes.
class Kept {
 public:
  Kept(const Tensor& y, const Dims& x_shape, const Dims& axes) {
    int next = axes.size() - 1;
    int64_t stride = 1;
    for (int i = x_shape.size() - 1; i >= 0; --i) {
      const bool reduced = next >= 0 && axes[next] == i;
      if (reduced) --next;
      shape_[i] = reduced ? 1 : x_shape[i];
      strides_[i] = stride;
      stride *= shape_[i];
    }
    view_ = {y.mutable_data(), shape_, strides_, y.numel(), x_shape.size(), y.dtype()};
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  operator View() const { return view_; }  // NOLINT: it stands for the view

 private:
  int64_t shape_[kMaxDims], strides_[kMaxDims];
  View view_;
};

/// A reduced tensor with its axes of size 1 put back, so that it broadcasts against the input.
inline Tensor Unreduced(const Tensor& y, const Dims& x_shape, const Dims& axes, bool keepdims) {
  if (keepdims || y.ndim() == x_shape.size() || y.ndim() == 0) return y;
  return Op<"reshape">(y, ReducedShape(x_shape, axes, /*keepdims=*/true));
}

/// The same repeated to the input's shape; a view.
inline Tensor Spread(const Tensor& y, const Dims& x_shape, const Dims& axes, bool keepdims) {
  return Op<"expand">(Unreduced(y, x_shape, axes, keepdims), x_shape);
}

/// The number of elements that make one result.
inline int64_t ReducedCount(const Dims& x_shape, const Dims& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= x_shape[axis];
  return count;
}

/// Sums and products of bool and integers are int64.
inline DType SumDType(DType dtype) { return IsInexact(dtype) ? dtype : DType::kInt64; }

/// The input in the dtype that is asked for.
inline Tensor InputAs(Run& r) {
  const DType own = r.x(0).dtype(), wanted = r.DTypeOr("dtype", own);
  return wanted == own ? r.x(0) : Op<"cast">(r.x(0), wanted);
}

/// Refuse a reduction of nothing, which has no result. An axis of size 0 is named when it is one of those reduced.
inline void RefuseEmpty(const CallReader& c, const Dims& axes) {
  for (int64_t axis : axes) {
    if (c.x(0).shape()[axis] != 0) continue;
    throw IndexError(c.name()).Got("shape ", c.x(0).shape()).Expected("a size other than 0 along axis ", axis);
  }
}

}  // namespace dragon
