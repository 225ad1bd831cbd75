// How the threads of a warp and of a block make one result of many.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace dragon::cuda {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFu;
inline constexpr int kWarpThreads = 32;

/// To be called where a kernel declares shared memory, with nobody's numbers in it. A GPU has those of whoever came
/// before; the machine that stands for one fills it, once in each block, with what makes a NaN.
template <typename T>
__device__ __forceinline__ void FillShared([[maybe_unused]] T& memory) {
#if !defined(__CUDACC__)
  simt::FillShared(&memory, sizeof(T));
#endif
}

/// A trivially copyable value of another lane's, which `shuffle` brings word by word.
template <typename S, typename Shuffle>
__device__ __forceinline__ S FromOther(const S& state, Shuffle shuffle) {
  constexpr int kWords = (sizeof(S) + 3) / 4;
  unsigned words[kWords] = {};
  memcpy(words, &state, sizeof(S));
#pragma unroll
  for (int i = 0; i < kWords; ++i) words[i] = shuffle(words[i]);
  S other;
  memcpy(&other, words, sizeof(S));
  return other;
}

/// What the lane `distance` further on holds.
template <typename S>
__device__ __forceinline__ S FromLaneBelow(const S& state, int distance) {
  return FromOther(state, [distance](unsigned word) { return __shfl_down_sync(kAllLanes, word, distance); });
}

/// What the lane `distance` before holds; the first lanes keep their own.
template <typename S>
__device__ __forceinline__ S FromLaneAbove(const S& state, int distance) {
  return FromOther(state, [distance](unsigned word) { return __shfl_up_sync(kAllLanes, word, distance); });
}

/// What lane `source` holds, for all lanes of the warp.
template <typename S>
__device__ __forceinline__ S FromLane(const S& state, int source) {
  return FromOther(state, [source](unsigned word) { return __shfl_sync(kAllLanes, word, source); });
}

/// Lane 0's result is the combination of all 32 lanes; whole warps must call.
template <typename S, typename Combine>
__device__ __forceinline__ S WarpReduce(S state, Combine combine) {
#pragma unroll
  for (int distance = kWarpThreads / 2; distance > 0; distance /= 2) {
    const S other = FromLaneBelow(state, distance);
    state = combine(state, other);
  }
  return state;
}

/// Every thread's result is the combination of all of the block's. blockDim.x is a multiple of 32, at most 1024, and
/// the block has one axis. The whole block must call, as often as it likes.
template <typename S, typename Combine>
static __device__ S BlockReduce(S state, Combine combine) {
  alignas(16) __shared__ unsigned char memory[kWarpThreads * sizeof(S)];
  FillShared(memory);
  S* parts = reinterpret_cast<S*>(memory);
  const int lane = threadIdx.x % kWarpThreads, warp = threadIdx.x / kWarpThreads;
  const int warps = static_cast<int>(blockDim.x) / kWarpThreads;
  state = WarpReduce(state, combine);
  __syncthreads();  // an earlier call's parts have been read
  if (lane == 0) parts[warp] = state;
  __syncthreads();
  state = parts[0];
  for (int i = 1; i < warps; ++i) state = combine(state, parts[i]);
  return state;
}

}  // namespace dragon::cuda
