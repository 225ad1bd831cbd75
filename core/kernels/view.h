// What a kernel sees of a tensor: numbers at strides. It owns nothing and knows nothing else.
#pragma once

#include <cstdint>

#include "core/base/dims.h"
#include "core/base/types.h"

namespace dragon {

/// A borrowed strided array. Strides count elements; a stride of 0 repeats. `shape` and `strides` outlive the call.
struct View {
  void* data = nullptr;
  const int64_t* shape = nullptr;
  const int64_t* strides = nullptr;
  int64_t numel = 0;
  int32_t ndim = -1;
  DType dtype = DType::kFloat32;

  /// False for an optional operand that was not given.
  explicit operator bool() const { return ndim >= 0; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
  /// Elements in row-major order without gaps. Axes of size 1 may have any stride.
  bool is_contiguous() const {
    int64_t expected = 1;
    for (int axis = ndim - 1; axis >= 0; --axis) {
      if (shape[axis] == 1) continue;
      if (strides[axis] != expected) return numel == 0;
      expected *= shape[axis];
    }
    return true;
  }
  /// The size of an axis; negative axes count from the end.
  int64_t dim(int axis) const { return shape[axis < 0 ? axis + ndim : axis]; }
  int64_t stride(int axis) const { return strides[axis < 0 ? axis + ndim : axis]; }
};

/// A View that owns its shape and strides, for kernels that reshape their operands.
struct OwnedView {
  Dims shape, strides;
  View view;

  OwnedView(void* data, DType dtype, Dims the_shape, Dims the_strides)
      : shape(std::move(the_shape)), strides(std::move(the_strides)) {
    int64_t numel = 1;
    for (int64_t size : shape) numel *= size;
    view = View{data, shape.data(), strides.data(), numel, shape.size(), dtype};
  }
  OwnedView(const OwnedView&) = delete;
  OwnedView& operator=(const OwnedView&) = delete;
};

}  // namespace dragon
