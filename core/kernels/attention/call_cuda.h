// A call of attention as its kernels on CUDA see it: how the operands lie in memory, masks, and the softmax's sums.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "core/kernels/attention.h"
#include "core/kernels/attention/sizes.h"
#include "core/kernels/rows_cuda.h"

namespace dragon::DRAGON_DEVICE::attention {

/// The matrix of one head.
template <typename T>
struct Matrix {
  T* data;
  int64_t row, col;
};

/// A (B, H, rows, columns) operand of any strides.
template <typename T>
struct Operand {
  T* data = nullptr;
  int64_t strides[4] = {};

  Operand() = default;
  explicit Operand(const View& x) : data(x.as<T>()) {
    for (int axis = 0; axis < 4; ++axis) strides[axis] = x.strides[axis];
  }
  __device__ __forceinline__ Matrix<T> At(int64_t batch, int64_t head) const {
    return {data + batch * strides[0] + head * strides[1], strides[2], strides[3]};
  }
};

/// What scores are before the softmax: masked, and minus infinity where a query may not look.
template <typename T>
struct Masking {
  using W = Wide<T>;
  const void* data;
  int64_t strides[4];
  bool is_bool, causal;
  int64_t queries, keys;

  Masking(const View& mask, bool the_causal, const Sizes& size)
      : data(mask ? mask.data : nullptr),
        strides{},
        is_bool(mask && mask.dtype == DType::kBool),
        causal(the_causal),
        queries(size.queries),
        keys(size.keys) {
    for (int axis = 0; mask && axis < 4; ++axis) strides[axis] = mask.strides[axis];
  }
  __device__ __forceinline__ int64_t Offset(int64_t batch, int64_t head) const {
    return batch * strides[0] + head * strides[1];
  }
  __device__ __forceinline__ W Apply(W score, int64_t offset, int64_t query, int64_t key) const {
    constexpr W kNever = -std::numeric_limits<W>::infinity();
    if (query >= queries || key >= keys || (causal && key > query)) return kNever;
    if (!data) return score;
    const int64_t at = offset + query * strides[2] + key * strides[3];
    if (is_bool) return static_cast<const bool*>(data)[at] ? score : kNever;
    return score + static_cast<W>(static_cast<const T*>(data)[at]);
  }
  /// Keys from here on are seen by none of the queries before `last`.
  __device__ __forceinline__ int64_t Visible(int64_t last) const { return causal ? min(keys, last) : keys; }
  /// The first query that may see a key.
  __device__ __forceinline__ int64_t FirstQuery(int64_t key) const { return causal ? key : 0; }
};

/// exp(score - most), where a row that has seen nothing has weights of 0, but for scores that are NaN.
template <typename W>
__device__ __forceinline__ W Weight(W score, W most) {
  if (most == -std::numeric_limits<W>::infinity()) return score == score ? W(0) : score;
  return rows::Exp(score - most);
}

/// The sums of a query's softmax for the backward pass. A query that saw nothing has weights that are all 0, or all
/// NaN.
template <typename W>
struct RowSums {
  W most, log_sum;

  __device__ __forceinline__ RowSums(W the_most, W the_log_sum, bool nan_if_unseen)
      : most(the_most), log_sum(the_log_sum) {
    if (most != -std::numeric_limits<W>::infinity()) return;
    most =
        nan_if_unseen || log_sum != log_sum ? std::numeric_limits<W>::quiet_NaN() : std::numeric_limits<W>::infinity();
    log_sum = W(0);
  }
  __device__ __forceinline__ W Weight(W score) const { return rows::Exp((score - most) - log_sum); }
};

/// What the kernels are given.
template <typename T>
struct Call {
  using W = Wide<T>;
  Sizes size;
  Masking<T> masking;
  Operand<const T> q, k, v, y, dy;
  Operand<T> out, dk, dv;  // y or dq; the gradients of keys and values
  W *most, *log_sum, *meeting;
  W scale;
  bool nan_if_unseen;
  int64_t tiles;  // of queries, or of keys

  Call(View the_q, View the_k, View the_v, View mask, const AttentionOptions& options)
      : size(the_q, the_k, the_v),
        masking(mask, options.causal, size),
        q(the_q),
        k(the_k),
        v(the_v),
        most(nullptr),
        log_sum(nullptr),
        meeting(nullptr),
        scale(static_cast<W>(options.scale)),
        nan_if_unseen(options.nan_if_unseen),
        tiles(0) {}
};

}  // namespace dragon::DRAGON_DEVICE::attention
