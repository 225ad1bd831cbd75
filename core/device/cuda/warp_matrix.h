// A warp's products of small matrices of 16-bit floats on tensor cores, and the instructions that bring their operands
// from shared memory. For the machine of tests/cuda the same is done by exchanges between lanes, in the same layouts.
//
// Of a 16 x 16 left operand a lane holds, with g = lane / 4 and t = lane % 4, the pairs of columns 2t and 2t + 1 in row
// g, in row g + 8, and the same eight columns on; of a 16 x 8 right operand column g's rows 2t and 2t + 1, and eight
// rows on; of the 16 x 8 result the columns 2t and 2t + 1 of rows g and g + 8.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/base/half.h"
#include "core/device/cuda/block.h"

namespace dragon::cuda {

#if defined(__CUDACC__)

/// Two neighbours in one register, the first one in the lower half.
template <typename T>
__device__ __forceinline__ uint32_t PackPair(float low, float high) {
  uint32_t pair;
  if constexpr (std::is_same_v<T, float16>) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
}

__device__ __forceinline__ uint32_t SharedAddress(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

/// c += a b.
template <typename T>
__device__ __forceinline__ void MultiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  if constexpr (std::is_same_v<T, float16>) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  } else {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  }
}

/// Four 8 x 8 matrices, whose rows of 16 bytes lanes 0 to 7, 8 to 15, 16 to 23 and 24 to 31 point at in shared memory:
/// of matrix i a lane receives, in to[i], row g's elements 2t and 2t + 1.
template <typename T>
__device__ __forceinline__ void LoadMatrices(uint32_t (&to)[4], const T* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(SharedAddress(row))
               : "memory");
}
/// The same, with every matrix transposed: column g's elements 2t and 2t + 1.
template <typename T>
__device__ __forceinline__ void LoadTransposed(uint32_t (&to)[4], const T* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(SharedAddress(row))
               : "memory");
}

/// Sixteen bytes from global to shared memory, zeros where `there` is false; they arrive when waited for.
__device__ __forceinline__ void CopyAsync(void* shared, const void* global, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(SharedAddress(shared)), "l"(global),
               "r"(there ? 16 : 0)
               : "memory");
}
/// End a group of copies.
__device__ __forceinline__ void EndCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Wait until at most kLeft groups of this thread's copies are on their way.
template <int kLeft>
__device__ __forceinline__ void AwaitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

__device__ __forceinline__ float Exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

#else

template <typename T>
uint32_t PackPair(float low, float high) {
  return static_cast<uint32_t>(T(low).bits) | static_cast<uint32_t>(T(high).bits) << 16;
}

template <typename T>
float HalfOf(uint32_t pair, int which) {
  T half;
  half.bits = static_cast<uint16_t>(pair >> 16 * which);
  return static_cast<float>(half);
}

template <typename T>
void MultiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const int lane = threadIdx.x % kWarpThreads, g = lane / 4, t = lane % 4;
  for (int pair = 0; pair < 8; ++pair) {
    const int right = pair / 4, from = pair % 4;
    const uint32_t rows[2] = {__shfl_sync(kAllLanes, a[2 * right], g * 4 + from),
                              __shfl_sync(kAllLanes, a[2 * right + 1], g * 4 + from)};
    const uint32_t b = right ? b1 : b0;
    const uint32_t cols[2] = {__shfl_sync(kAllLanes, b, 2 * t * 4 + from),
                              __shfl_sync(kAllLanes, b, (2 * t + 1) * 4 + from)};
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < 2; ++k) c[i] += HalfOf<T>(rows[i / 2], k) * HalfOf<T>(cols[i % 2], k);
    }
  }
}

template <typename T>
void LoadMatrices(uint32_t (&to)[4], const T* row) {
  const int lane = threadIdx.x % kWarpThreads;
  for (int i = 0; i < 4; ++i) {
    const T* from =
        reinterpret_cast<const T*>(__shfl_sync(kAllLanes, reinterpret_cast<uintptr_t>(row), 8 * i + lane / 4));
    memcpy(&to[i], from + lane % 4 * 2, 4);
  }
}
template <typename T>
void LoadTransposed(uint32_t (&to)[4], const T* row) {
  const int lane = threadIdx.x % kWarpThreads;
  for (int i = 0; i < 4; ++i) {
    uint32_t halves[2];
    for (int k = 0; k < 2; ++k) {
      const auto from = __shfl_sync(kAllLanes, reinterpret_cast<uintptr_t>(row), 8 * i + lane % 4 * 2 + k);
      halves[k] = reinterpret_cast<const T*>(from)[lane / 4].bits;
    }
    to[i] = halves[0] | halves[1] << 16;
  }
}

inline void CopyAsync(void* shared, const void* global, bool there) {
  there ? memcpy(shared, global, 16) : memset(shared, 0, 16);
}
inline void EndCopies() {}
template <int kLeft>
void AwaitCopies() {}

inline float Exp2(float x) { return std::exp2(x); }

#endif

}  // namespace dragon::cuda
