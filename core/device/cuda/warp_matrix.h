// A warp's products of small matrices of 16-bit floats on tensor cores, and the instructions that bring their operands
// from shared memory; from compute capability 8.0 on: on older devices a kernel that uses them stops, and the host has
// to choose another one (capability.h). For the machine of tests/cuda the same is done by exchanges between lanes, in
// the same layouts.
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

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define DRAGON_NO_WARP_MATRICES
#endif

/// Two neighbours in one register, the first one in the lower half; on every device.
template <typename T>
__device__ __forceinline__ uint32_t PackPair(float low, float high) {
#if defined(DRAGON_NO_WARP_MATRICES)
  return static_cast<uint32_t>(T(low).bits) | static_cast<uint32_t>(T(high).bits) << 16;
#else
  uint32_t pair;
  if constexpr (std::is_same_v<T, float16>) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  }
  return pair;
#endif
}

__device__ __forceinline__ uint32_t SharedAddress(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

/// c += a b.
template <typename T>
__device__ __forceinline__ void MultiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if defined(DRAGON_NO_WARP_MATRICES)
  __trap();
#else
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
#endif
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
#if defined(DRAGON_NO_WARP_MATRICES)
  __trap();
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(SharedAddress(shared)), "l"(global),
               "r"(there ? 16 : 0)
               : "memory");
#endif
}
/// End a group of copies.
__device__ __forceinline__ void EndCopies() {
#if !defined(DRAGON_NO_WARP_MATRICES)
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Wait until at most kLeft groups of this thread's copies are on their way.
template <int kLeft>
__device__ __forceinline__ void AwaitCopies() {
#if !defined(DRAGON_NO_WARP_MATRICES)
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
#endif
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

/// What a lane brings to an instruction of the whole warp.
struct Brought {
  uint32_t a[4], b[2];
  const void* row;
};

/// Wait for the warp and return what its lanes brought. No lane is more than one meeting ahead: two sets are enough.
inline const Brought* Meet(const Brought& mine) {
  static Brought brought[32][2][kWarpThreads];
  static uint8_t turns[32][kWarpThreads];
  const int warp = threadIdx.x / kWarpThreads, lane = threadIdx.x % kWarpThreads, turn = turns[warp][lane] ^= 1;
  brought[warp][turn][lane] = mine;
  __syncwarp();
  return brought[warp][turn];
}

template <typename T>
void MultiplyAdd(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
  const int lane = threadIdx.x % kWarpThreads, g = lane / 4, t = lane % 4;
  const Brought* lanes = Meet({{a[0], a[1], a[2], a[3]}, {b0, b1}, nullptr});
  for (int k = 0; k < 16; ++k) {
    const int later = k / 8, from = k % 8 / 2;
    for (int i = 0; i < 4; ++i) {
      const uint32_t left = lanes[g * 4 + from].a[2 * later + i / 2],
                     right = lanes[(2 * t + i % 2) * 4 + from].b[later];
      c[i] += HalfOf<T>(left, k % 2) * HalfOf<T>(right, k % 2);
    }
  }
}

template <typename T>
void LoadMatrices(uint32_t (&to)[4], const T* row) {
  const int lane = threadIdx.x % kWarpThreads;
  const Brought* lanes = Meet({{}, {}, row});
  for (int i = 0; i < 4; ++i) {
    memcpy(&to[i], static_cast<const T*>(lanes[8 * i + lane / 4].row) + lane % 4 * 2, 4);
  }
}
template <typename T>
void LoadTransposed(uint32_t (&to)[4], const T* row) {
  const int lane = threadIdx.x % kWarpThreads;
  const Brought* lanes = Meet({{}, {}, row});
  for (int i = 0; i < 4; ++i) {
    const int first = 8 * i + lane % 4 * 2;
    const uint32_t low = static_cast<const T*>(lanes[first].row)[lane / 4].bits;
    const uint32_t high = static_cast<const T*>(lanes[first + 1].row)[lane / 4].bits;
    to[i] = low | high << 16;
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
