// What linear algebra on CUDA shares: batches of matrices, from rows to columns and back, and letters about trouble.
#pragma once

#include <string>
#include <vector>

#include "core/device/cuda/launch.h"
#include "core/kernels/array.h"
#include "core/kernels/linalg.h"
#include "core/kernels/linalg/solver_cuda.h"

namespace dragon::DRAGON_DEVICE {

/// The sizes of a contiguous batch of (rows, columns) matrices.
struct Batch {
  int64_t count = 1, rows, columns;

  explicit Batch(const View& view) : rows(view.dim(-2)), columns(view.dim(-1)) {
    for (int axis = 0; axis < view.ndim - 2; ++axis) count *= view.shape[axis];
  }
  int64_t size() const { return rows * columns; }
};

inline Scratch Bytes(const Context& ctx, DType dtype, int64_t count) {
  return Scratch(ctx.device, static_cast<size_t>(std::max<int64_t>(count, 1) * ItemSize(dtype)));
}

/// `count` matrices of (rows, columns) that lie by columns, `stride` elements from one to the next.
inline OwnedView ByColumns(void* data, DType dtype, int64_t count, int64_t rows, int64_t columns, int64_t leading,
                           int64_t stride) {
  return OwnedView(data, dtype, {count, rows, columns}, {stride, 1, leading});
}
/// The same by rows, without gaps.
inline OwnedView ByRows(void* data, DType dtype, int64_t count, int64_t rows, int64_t columns) {
  return OwnedView(data, dtype, {count, rows, columns}, {rows * columns, columns, 1});
}

/// Matrices by rows, as they are, laid down by columns.
inline void ToColumns(const Context& ctx, void* to, const View& from, int64_t stride = 0) {
  const Batch b(from);
  if (b.count * b.size() == 0) return;
  Context mine = ctx;
  kernels::Copy(mine, from.dtype,
                ByColumns(to, from.dtype, b.count, b.rows, b.columns, b.rows, stride ? stride : b.size()).view,
                ByRows(from.data, from.dtype, b.count, b.rows, b.columns).view);
}

/// The first rows and columns of matrices by columns, laid down by rows in `to`.
inline void ToRows(const Context& ctx, const View& to, void* from, int64_t leading, int64_t stride) {
  const Batch b(to);
  if (b.count * b.size() == 0) return;
  Context mine = ctx;
  kernels::Copy(mine, to.dtype, ByRows(to.data, to.dtype, b.count, b.rows, b.columns).view,
                ByColumns(from, to.dtype, b.count, b.rows, b.columns, leading, stride).view);
}

/// The same numbers in the same order: a copy of memory.
inline void CopyFlat(const Context& ctx, void* to, const void* from, DType dtype, int64_t count) {
  if (count == 0 || to == from) return;
  CheckCuda(cudaMemcpyAsync(to, from, static_cast<size_t>(count * ItemSize(dtype)), cudaMemcpyDeviceToDevice,
                            cuda::StreamOf(ctx)),
            "linalg");
}
inline void Zero(const Context& ctx, void* to, int64_t bytes) {
  if (bytes > 0) CheckCuda(cudaMemsetAsync(to, 0, static_cast<size_t>(bytes), cuda::StreamOf(ctx)), "linalg");
}

/// Make every matrix (n, n) the identity.
void FillIdentity(const Context& ctx, DType dtype, void* to, int64_t n, int64_t count);
/// Pivots within 1 to n, whatever they were: a user's may be wild, and must not swap memory that is not ours. The CPU
/// says which one is wrong; here that would mean to wait for the device.
void ClampPivots(const Context& ctx, int32_t* to, const int32_t* from, int64_t count, int64_t n);
/// -1000 to the info of each matrix that has elements which are not finite; 0 to that of the others.
void MarkNotFinite(const Context& ctx, DType dtype, const void* a, int64_t size, int64_t count, int32_t* info);
inline constexpr int32_t kNotFiniteCode = -1000;

/// Throw for the first matrix of the batch that has trouble. This waits for the device: an error is a host's matter.
void CheckInfo(const Context& ctx, const char* who, const View& batch, const void* info, int64_t count,
               const char* sentence);

}  // namespace dragon::DRAGON_DEVICE
