// Rules about sliding windows that convolutions and poolings share.
#pragma once

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/kernels/convolution.h"

namespace dragon::windows {

/// A list of one number for each spatial axis; a single number stands for all.
inline Dims PerAxis(const char* who, const char* what, const Dims& given, int spatial, int64_t least) {
  Dims values = given.size() == 1 ? Dims::Filled(spatial, given[0]) : given;
  if (values.size() != spatial) {
    throw ValueError(who).Got(what, " ", given).Expected("1 or ", spatial, " numbers");
  }
  for (int64_t value : values) {
    if (value < least || value > INT32_MAX) throw ValueError(who).Got(what, " ", given).Expected("at least ", least);
  }
  return values;
}

/// Elements between the first and the last of a window, both included.
inline int64_t Reach(const char* who, int64_t window, int64_t dilation) {
  int64_t reach;
  if (__builtin_mul_overflow(window - 1, dilation, &reach) || reach > INT64_MAX / 4) {
    throw ValueError(who).Got("window ", window, " and dilation ", dilation).Expected("a size that fits 64 bits");
  }
  return reach + 1;
}

/// Rank of the spatial part of (N, C, spatial...), 1 to 3.
inline int SpatialRank(const char* who, const Tensor& x) {
  const int spatial = x.ndim() - 2;
  if (spatial >= 1 && spatial <= kMaxSpatial) return spatial;
  throw ValueError(who)
      .Got("shape ", x.shape())
      .Expected("(N, C, spatial...) with 1 to ", kMaxSpatial, " spatial axes");
}

inline Dims SpatialOf(const Dims& shape) { return Dims(shape.data() + 2, shape.size() - 2); }

/// (n, c, spatial...)
inline Dims ImageShape(int64_t n, int64_t c, const Dims& spatial) {
  Dims shape{n, c};
  for (int64_t size : spatial) shape.push_back(size);
  return shape;
}

/// Strides with channels side by side.
inline Dims ChannelsLastStrides(const Dims& shape) {
  Dims strides = shape;
  int64_t step = 1;
  strides[1] = 1;
  step = std::max<int64_t>(shape[1], 1);
  for (int axis = shape.size() - 1; axis >= 2; --axis) {
    strides[axis] = step;
    step *= std::max<int64_t>(shape[axis], 1);
  }
  strides[0] = step;
  return strides;
}

/// Whether elements lie row by row with the channels side by side, and not in row-major order.
inline bool HasChannelsLast(const Tensor& x) {
  if (x.is_contiguous()) return false;
  const Dims strides = ChannelsLastStrides(x.shape());
  for (int axis = 0; axis < x.ndim(); ++axis) {
    if (x.shape()[axis] > 1 && x.strides()[axis] != strides[axis]) return false;
  }
  return true;
}

/// Declare result `i` in row-major order, or with channels side by side, which the user does not see.
inline void SetImage(Infer& infer, int i, const Dims& shape, DType dtype, bool channels_last) {
  int64_t numel = 1;
  for (int64_t size : shape) {
    if (__builtin_mul_overflow(numel, std::max<int64_t>(size, 1), &numel)) channels_last = false;  // refused later
  }
  if (channels_last) {
    infer.y(i, shape, dtype, ChannelsLastStrides(shape));
  } else {
    infer.y(i, shape, dtype);
  }
}

/// Call `f` with a batch axis that an image without one gets and loses again.
template <typename F>
Tensors WithBatch(const Tensor& x, int spatial, F&& f) {
  if (x.ndim() != spatial + 1) return f(x);
  Tensors results;
  for (const Tensor& y : f(Op<"unsqueeze">(x, 0))) results.push_back(Op<"squeeze">(y, 0));
  return results;
}

}  // namespace dragon::windows
