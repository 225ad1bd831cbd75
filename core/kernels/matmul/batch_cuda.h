// A product as launches see it: three strided matrices, the batch axes that all of them walk, and what ends each sum.
#pragma once

#include <cuda_runtime.h>

#include <cstdlib>

#include "core/kernels/matmul/epilogue.h"

namespace dragon::DRAGON_DEVICE {

/// The axes that one launch or one call of a library walks; those outside of them are walked by the host.
inline constexpr int kBatchDims = 6;

/// Batch axes, outermost first, merged where y, a and b all go on from one into the next. Strides count elements.
struct BatchAxes {
  int32_t count = 0;
  int64_t size[kBatchDims], y[kBatchDims], a[kBatchDims], b[kBatchDims];

  /// False if there are more than `kBatchDims` even after merging.
  bool Add(int64_t more, int64_t y_stride, int64_t a_stride, int64_t b_stride) {
    if (more == 1) return true;
    const int last = count - 1;
    if (last >= 0 && y[last] == more * y_stride && a[last] == more * a_stride && b[last] == more * b_stride) {
      size[last] *= more;
    } else if (count == kBatchDims) {
      return false;
    } else {
      size[count++] = more;
    }
    y[count - 1] = y_stride, a[count - 1] = a_stride, b[count - 1] = b_stride;
    return true;
  }
  int64_t numel() const {
    int64_t product = 1;
    for (int i = 0; i < count; ++i) product *= size[i];
    return product;
  }
  /// Where the matrices of number i of the batch begin.
  DRAGON_FN void Offsets(int64_t i, int64_t* y_offset, int64_t* a_offset, int64_t* b_offset) const {
    *y_offset = 0, *a_offset = 0, *b_offset = 0;
    for (int axis = count - 1; axis >= 0; --axis) {
      const int64_t outer = axis > 0 ? i / size[axis] : 0, index = i - outer * size[axis];
      *y_offset += index * y[axis], *a_offset += index * a[axis], *b_offset += index * b[axis];
      i = outer;
    }
  }
};

/// The strides of a matrix.
struct Steps {
  int64_t row, col;
};

/// y (m, n) from a (m, k) and b (k, n), for every matrix of the batch.
struct Product {
  DType dtype;
  int64_t m, n, k;
  void *y, *a, *b;
  Steps y_steps, a_steps, b_steps;
  BatchAxes batch;
};

/// On the machine that stands for a GPU, a test says who multiplies.
inline bool AsksVendor() {
#if defined(DRAGON_SIMT)
  return std::getenv("DRAGON_SIMT_BLAS") != nullptr;
#else
  return true;
#endif
}

/// Do it by NVIDIA's library, which must be there for the dtypes that it multiplies. False, and nothing done, where it
/// has no way: the kernels of this folder then do it.
bool MatmulVendor(const Context& ctx, const Product& product, const View& bias, const MatmulPost& post);

}  // namespace dragon::DRAGON_DEVICE
