// Gathering a strided operand into a block of contiguous elements, and scattering it back.
#pragma once

#include <algorithm>

#include "core/kernels/plan.h"

namespace dragon::kernels {

/// Fill `rows` rows of n elements with one element each; those lie `row_stride` bytes apart.
DRAGON_API void RepeatRows(char* to, const char* from, int64_t row_stride, int64_t size, int64_t n, int64_t rows);

/// Move n elements, row by row, between a strided operand, whose element at `start` is at `address`, and a buffer.
/// Axes are outermost first; strides are in bytes.
template <bool kGather>
void Transfer(int ndim, const int64_t* shape, const int64_t* strides, const int64_t* start, int64_t size, char* address,
              char* buffer, int64_t n) {
  const int last = ndim - 1;
  const int64_t inner = shape[last], stride = strides[last];
  int64_t index[kMaxDims];
  std::copy(start, start + ndim, index);
  while (true) {
    int64_t run = std::min(n, inner - index[last]);
    if (kGather && stride == 0 && last > 0 && run == inner) {  // whole rows of one element each, many at a time
      const int64_t rows = std::min(n / inner, shape[last - 1] - index[last - 1]);
      RepeatRows(buffer, address, strides[last - 1], size, inner, rows);
      run = rows * inner;
      address += (rows - 1) * strides[last - 1];
      index[last - 1] += rows - 1;
    } else if constexpr (kGather) {
      CopyRun(buffer, size, address, stride, size, run);
    } else {
      CopyRun(address, stride, buffer, size, size, run);
    }
    if ((n -= run) == 0) return;
    buffer += run * size;
    address -= index[last] * stride;
    index[last] = 0;
    for (int axis = last - 1; axis >= 0; --axis) {
      address += strides[axis];
      if (++index[axis] < shape[axis]) break;
      address -= index[axis] * strides[axis];
      index[axis] = 0;
    }
  }
}

/// True if gathering an operand row by row would touch a cache line per element, though it is dense along another axis.
inline bool RunsAcross(int ndim, const int64_t* shape, const int64_t* strides, int64_t size) {
  const int last = ndim - 1;
  if (strides[last] == size || strides[last] == 0 || shape[last] < 16) return false;
  for (int axis = 0; axis < last; ++axis) {
    if (strides[axis] == size && shape[axis] >= 16) return true;
  }
  return false;
}

}  // namespace dragon::kernels
