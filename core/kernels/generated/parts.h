// What the text of a generated kernel leans on: packs of elements, and states that threads of a warp or a block share.
#pragma once

#include <cuda_runtime.h>

#include "core/base/types.h"
#include "core/device/cuda/block.h"
#include "core/device/cuda/divide.h"
#include "core/kernels/cast.h"
#include "core/kernels/pointwise.h"
#include "core/kernels/reduce.h"

namespace dragon::generated {

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T at[kWidth];
};

/// The first `count` of kWidth neighbours.
template <typename T, int kWidth>
__device__ __forceinline__ Pack<T, kWidth> Load(const char* from, int64_t count) {
  if (count >= kWidth) return *reinterpret_cast<const Pack<T, kWidth>*>(from);
  Pack<T, kWidth> pack{};
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    if (j < count) pack.at[j] = reinterpret_cast<const T*>(from)[j];
  }
  return pack;
}
/// The first `count` of kWidth numbers that lie `step` bytes apart.
template <typename T, int kWidth>
__device__ __forceinline__ Pack<T, kWidth> LoadEach(const char* from, int64_t step, int64_t count) {
  Pack<T, kWidth> pack{};
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    if (j < count) pack.at[j] = *reinterpret_cast<const T*>(from + j * step);
  }
  return pack;
}
template <typename T>
__device__ __forceinline__ T LoadOne(const char* from) {
  return *reinterpret_cast<const T*>(from);
}

template <typename T, int kWidth>
__device__ __forceinline__ void Store(char* to, const Pack<T, kWidth>& pack, int64_t count) {
  if (count >= kWidth) {
    *reinterpret_cast<Pack<T, kWidth>*>(to) = pack;
    return;
  }
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    if (j < count) reinterpret_cast<T*>(to)[j] = pack.at[j];
  }
}
template <typename T, int kWidth>
__device__ __forceinline__ void StoreEach(char* to, int64_t step, const Pack<T, kWidth>& pack, int64_t count) {
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    if (j < count) *reinterpret_cast<T*>(to + j * step) = pack.at[j];
  }
}

/// A number as it is, out of the compiler's sight: a product and a sum of two operators must not become one instruction
/// that rounds once. `zero` is -0, which the compiler does not know.
template <typename T>
__device__ __forceinline__ T Kept(T x, float zero) {
  if constexpr (kIsComplex<T>) {
    return {Kept(x.re, zero), Kept(x.im, zero)};
  } else if constexpr (std::is_floating_point_v<T>) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(T) == 4) {
      return __fadd_rn(x, zero);
    } else {
      return __dadd_rn(x, zero);
    }
#else
    return x + zero;
#endif
  } else {
    return x;
  }
}

/// What a reducer's state is when it is written.
template <typename Y, typename R, typename S>
__device__ __forceinline__ Y Finished(R reducer, S state, int64_t count) {
  Y y;
  reducer.y = &y;
  reducer.Store(0, state, count);
  return y;
}

/// The state of all threads of a warp, or of a block, for each of them; the same bits for all.
template <bool kByBlock, typename R, typename S>
__device__ __forceinline__ S Share(const R& reducer, S state) {
  const auto meet = [reducer](S a, S b) { return reducer.Combine(a, b); };
  if constexpr (kByBlock) {
    return cuda::BlockReduce(state, meet);
  } else {
    return cuda::FromLane(cuda::WarpReduce(state, meet), 0);
  }
}

/// The states of a pack of columns, which eight lines of a block have, go to memory from `place` on.
template <int kWidth, typename R, typename S>
static __device__ __forceinline__ void LeaveColumns(const R& reducer, const S (&states)[kWidth], char* parts,
                                                    int64_t place, int64_t count) {
  alignas(16) __shared__ unsigned char memory[256 * sizeof(S)];
  cuda::FillShared(memory);
  S* shared = reinterpret_cast<S*>(memory);
#pragma unroll
  for (int j = 0; j < kWidth; ++j) {
    __syncthreads();  // the states before these have been read
    shared[threadIdx.x] = states[j];
    __syncthreads();
    if (threadIdx.x >= 32 || j >= count) continue;
    S state = shared[threadIdx.x];
    for (int line = 1; line < 8; ++line) state = reducer.Combine(state, shared[32 * line + threadIdx.x]);
    reinterpret_cast<S*>(parts)[place + j] = state;
  }
}
/// The states of one column, in their order.
template <typename R, typename S>
__device__ __forceinline__ S MeetParts(const R& reducer, const char* parts, int64_t place, int64_t step,
                                       int64_t count) {
  S state = reducer.Identity();
  for (int64_t i = 0; i < count; ++i) {
    state = reducer.Combine(state, reinterpret_cast<const S*>(parts)[i * step + place]);
  }
  return state;
}

/// The states that blocks left behind, combined in an order that depends on their number alone.
template <typename R, typename S>
__device__ __forceinline__ S ShareParts(const R& reducer, const char* parts, int count) {
  S state = reducer.Identity();
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    state = reducer.Combine(state, reinterpret_cast<const S*>(parts)[i]);
  }
  return Share<true>(reducer, state);
}

}  // namespace dragon::generated
