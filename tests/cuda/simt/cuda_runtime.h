// What device code of this project uses of CUDA, in terms of the machine beside this file. It stands in the way of the
// real header where a `.cu` file is compiled for the host.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>  // the C++ library uses some of the names below: whatever has them is read before
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cuda/simt/machine.h"

// Kernels are static, and so is what stands in them: AddressSanitizer guards variables that no other file may have.
#if defined(SIMT_GENERATED)
#define __global__  // extern "C", called from outside
#else
#define __global__ static
#endif
#define __device__
#define __host__
#define __shared__ static
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

#define threadIdx (::simt::Now().thread)
#define blockIdx (::simt::Now().block)
#define blockDim (::simt::Now().threads)
#define gridDim (::simt::Now().blocks)
inline constexpr int warpSize = 32;

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned the_x = 1, unsigned the_y = 1, unsigned the_z = 1) : x(the_x), y(the_y), z(the_z) {}
};

// --- the runtime's answers: there is no error that an exception does not tell
using cudaStream_t = void*;
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNotReady = 600,
  cudaErrorStreamCaptureUnsupported = 900
};
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
inline const char* cudaGetErrorName(cudaError_t) { return "cudaSuccess"; }
inline cudaError_t cudaGetDevice(int* device) { return *device = simt::CurrentDevice(), cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) { return simt::SetCurrentDevice(device), cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  if (bytes) simt::Queue([=] { std::memmove(to, from, bytes); });
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  if (bytes) simt::Queue([=] { std::memset(to, value, bytes); });
  return cudaSuccess;
}
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
namespace simt {
inline thread_local cudaStreamCaptureMode g_capture_mode = cudaStreamCaptureModeGlobal;
}
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, simt::g_capture_mode);
  return cudaSuccess;
}
enum { cudaHostAllocPortable = 1, cudaHostAllocMapped = 2 };
inline cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  if (simt::NotedByThread() && simt::g_capture_mode != cudaStreamCaptureModeRelaxed)
    return cudaErrorStreamCaptureUnsupported;
  *memory = std::calloc(1, bytes);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

enum cudaDataType_t { CUDA_R_32F, CUDA_R_64F, CUDA_R_16F, CUDA_C_32F = 4, CUDA_C_64F, CUDA_R_16BF = 14 };

// --- vectors
#define SIMT_VECTORS(T, name)                                                    \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                             \
  struct alignas(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; }; \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                     \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SIMT_VECTORS(float, float)
SIMT_VECTORS(double, double)
SIMT_VECTORS(int, int)
SIMT_VECTORS(unsigned, uint)
SIMT_VECTORS(short, short)
SIMT_VECTORS(unsigned short, ushort)
#undef SIMT_VECTORS

// --- a block's and a warp's meetings
inline void __syncthreads() { simt::BlockBarrier(); }
inline int __syncthreads_or(int vote) { return simt::BlockBarrier(vote) != 0; }
inline int __syncthreads_count(int vote) { return simt::BlockBarrier(vote); }
inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) { simt::WarpBarrier(mask); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline unsigned __activemask() { return 0xFFFFFFFFu; }
inline unsigned __ballot_sync(unsigned mask, int vote) { return simt::Ballot(mask, vote); }
inline int __any_sync(unsigned mask, int vote) { return simt::Ballot(mask, vote) != 0; }
inline int __all_sync(unsigned mask, int vote) { return simt::Ballot(mask, !vote) == 0; }

namespace simt {
template <typename T>
T Shuffle(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= 8, "the hardware shuffles 4 or 8 bytes");
  T taken;
  Exchange(mask, &value, &taken, sizeof(T), source);
  return taken;
}
}  // namespace simt
template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const unsigned lane = ::simt::Now().lane;
  return simt::Shuffle(mask, value, (lane & ~(width - 1)) + (static_cast<unsigned>(source) & (width - 1)));
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const unsigned lane = ::simt::Now().lane, other = lane ^ static_cast<unsigned>(bits);
  return simt::Shuffle(mask, value, (other & ~(width - 1)) > (lane & ~(width - 1)) ? lane : other);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = ::simt::Now().lane;
  return simt::Shuffle(mask, value, (lane & (width - 1)) + delta < static_cast<unsigned>(width) ? lane + delta : lane);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = ::simt::Now().lane;
  return simt::Shuffle(mask, value, (lane & (width - 1)) >= delta ? lane - delta : lane);
}

// --- atomics: one thread runs at a time
template <typename T, typename U>
T atomicAdd(T* at, U value) {
  const T before = *at;
  *at = static_cast<T>(before + static_cast<T>(value));
  return before;
}
template <typename T, typename U>
T atomicMax(T* at, U value) {
  const T before = *at;
  *at = std::max<T>(before, static_cast<T>(value));
  return before;
}
template <typename T, typename U>
T atomicMin(T* at, U value) {
  const T before = *at;
  *at = std::min<T>(before, static_cast<T>(value));
  return before;
}
template <typename T, typename U>
T atomicExch(T* at, U value) {
  const T before = *at;
  *at = static_cast<T>(value);
  return before;
}
template <typename T, typename U>
T atomicOr(T* at, U value) {
  const T before = *at;
  *at = before | static_cast<T>(value);
  return before;
}
template <typename T, typename U, typename V>
T atomicCAS(T* at, U expected, V value) {
  const T before = *at;
  if (before == static_cast<T>(expected)) *at = static_cast<T>(value);
  return before;
}

// --- small instructions
template <typename T>
T __ldg(const T* at) {
  return *at;
}
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return std::countl_zero(static_cast<unsigned long long>(x)); }
inline int __ffs(int x) { return x ? std::countr_zero(static_cast<unsigned>(x)) + 1 : 0; }
inline unsigned __brev(unsigned x) {
  unsigned y = 0;
  for (int i = 0; i < 32; ++i) y |= (x >> i & 1u) << (31 - i);
  return y;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>((uint64_t{a} * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __frcp_rn(float x) { return 1.0f / x; }
using std::max;
using std::min;
