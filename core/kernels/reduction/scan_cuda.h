// What the scans of rows on CUDA are made of: how a warp's lanes and a block's parts meet, and how rows that begin at
// multiples of sixteen bytes are read and written so.
#pragma once

#include <algorithm>

#include "core/device/cuda/block.h"
#include "core/kernels/each_cuda.h"

namespace dragon::DRAGON_DEVICE {

inline constexpr int kRowThreads = 256, kRowWarps = kRowThreads / cuda::kWarpThreads;

/// Each lane's state becomes that of all lanes up to it.
template <typename R, typename S>
__device__ __forceinline__ S JoinLanes(const R& scan, S mine, int lane) {
#pragma unroll
  for (int distance = 1; distance < cuda::kWarpThreads; distance *= 2) {
    const S early = cuda::FromLaneAbove(mine, distance);
    if (lane >= distance) mine = scan.Join(early, mine);
  }
  return mine;
}

/// The states of the first `count` parts of a row, at least one, joined, for all threads of a block of kRowThreads, all
/// of which call.
template <typename R>
static __device__ typename R::State JoinParts(const R& scan, const typename R::State* parts, int count) {
  using State = typename R::State;
  alignas(16) __shared__ unsigned char memory[(kRowWarps + 1) * sizeof(State)];
  cuda::FillShared(memory);
  auto* totals = reinterpret_cast<State*>(memory);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % cuda::kWarpThreads;
  const int warp = thread / cuda::kWarpThreads, each = (count + kRowThreads - 1) / kRowThreads;
  const int begin = min(thread * each, count - 1), end = min(begin + each, count);
  // Threads beyond the last part repeat it: nobody before them, and so nobody who counts, sees what they hold.
  State mine = parts[begin];
  for (int i = begin + 1; i < end; ++i) mine = scan.Join(mine, parts[i]);
  mine = JoinLanes(scan, mine, lane);
  __syncthreads();  // an earlier call's totals have been read
  if (lane == cuda::kWarpThreads - 1) totals[warp] = mine;
  __syncthreads();
  if (thread == (count - 1) / each) {
    if (warp > 0) {
      State early = totals[0];
      for (int w = 1; w < warp; ++w) early = scan.Join(early, totals[w]);
      mine = scan.Join(early, mine);
    }
    totals[kRowWarps] = mine;
  }
  __syncthreads();
  return totals[kRowWarps];
}

/// Elements that a thread holds, next to one another: 32 bytes, so that no sector of memory is shared by two of them.
template <typename E>
inline constexpr int kHeld = std::clamp(32 / static_cast<int>(sizeof(E)), 2, 16);

/// row[first + i] for all i that are before `end`. `row` and `first` are multiples of sixteen bytes.
template <typename E, int kCount>
__device__ __forceinline__ void LoadHeld(E (&held)[kCount], const E* row, int64_t first, int64_t end) {
  constexpr int kWidth = std::min(kCount, 16 / static_cast<int>(sizeof(E)));
#pragma unroll
  for (int p = 0; p < kCount; p += kWidth) {
    Pack<E, kWidth> pack{};
    if (first + p + kWidth <= end) {
      pack = *reinterpret_cast<const Pack<E, kWidth>*>(row + first + p);
    } else {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        if (first + p + j < end) pack.at[j] = row[first + p + j];
      }
    }
#pragma unroll
    for (int j = 0; j < kWidth; ++j) held[p + j] = pack.at[j];
  }
}

template <typename E, int kCount>
__device__ __forceinline__ void StoreHeld(E* row, const E (&held)[kCount], int64_t first, int64_t end) {
  constexpr int kWidth = std::min(kCount, 16 / static_cast<int>(sizeof(E)));
#pragma unroll
  for (int p = 0; p < kCount; p += kWidth) {
    if (first + p + kWidth <= end) {
      Pack<E, kWidth> pack;
#pragma unroll
      for (int j = 0; j < kWidth; ++j) pack.at[j] = held[p + j];
      *reinterpret_cast<Pack<E, kWidth>*>(row + first + p) = pack;
    } else {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        if (first + p + j < end) row[first + p + j] = held[p + j];
      }
    }
  }
}

/// Write the results of a thread's elements, of a row that begins at y.
template <typename R, int kCount>
__device__ __forceinline__ void StoreStates(const R& scan, int64_t y, const typename R::State (&states)[kCount],
                                            int64_t first, int64_t end) {
  using E = typename R::Element;
  E values[kCount];
  if constexpr (requires { scan.place; }) {
    int64_t places[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) values[k] = static_cast<E>(states[k].value), places[k] = states[k].index;
    StoreHeld(scan.place + y, places, first, end);
  } else {
#pragma unroll
    for (int k = 0; k < kCount; ++k) values[k] = static_cast<E>(states[k]);
  }
  StoreHeld(scan.y + y, values, first, end);
}

/// The state of all that came before, if anything did.
template <typename S>
struct Before {
  S state{};
  bool is_there = false;

  template <typename R>
  __device__ __forceinline__ void Add(const R& scan, const S& later) {
    state = is_there ? scan.Join(state, later) : later;
    is_there = true;
  }
};

/// Scan a stretch of a row by kTeam warps, one or the whole block; `before` becomes the state at its end, unless that
/// is the row's. With `totals_only` nothing is written. `buffer` is which of two shared buffers comes next: with two, a
/// round takes one barrier.
///
/// A row's last threads may hold less than others, or nothing. What they join is of no consequence, since nobody comes
/// after them.
template <typename R, int kTeam>
static __device__ __forceinline__ void ScanStretch(const R& scan, const typename R::Element* x, int64_t y,
                                                   int64_t begin, int64_t end, bool totals_only, int* buffer,
                                                   Before<typename R::State>* before) {
  using State = typename R::State;
  constexpr int kCount = kHeld<typename R::Element>, kThreads = kTeam * cuda::kWarpThreads;
  alignas(16) __shared__ unsigned char memory[2 * kRowWarps * sizeof(State)];
  cuda::FillShared(memory);
  const int thread = static_cast<int>(threadIdx.x) % kThreads, lane = thread % cuda::kWarpThreads;
  for (int64_t round = begin; round < end; round += kThreads * kCount) {
    const int64_t first = round + thread * kCount;
    typename R::Element held[kCount];
    LoadHeld(held, x, first, end);
    State states[kCount];
    states[0] = scan.First(held[0], first);
#pragma unroll
    for (int k = 1; k < kCount; ++k) states[k] = scan.Step(states[k - 1], held[k], first + k);
    const State mine = JoinLanes(scan, states[kCount - 1], lane);
    Before<State> early = *before;
    if constexpr (kTeam > 1) {
      auto* totals = reinterpret_cast<State*>(memory) + *buffer * kRowWarps;
      *buffer = 1 - *buffer;
      if (lane == cuda::kWarpThreads - 1) totals[thread / cuda::kWarpThreads] = mine;
      __syncthreads();
      for (int w = 0; w < kTeam; ++w) {
        if (w == thread / cuda::kWarpThreads) early = *before;
        before->Add(scan, totals[w]);
      }
    } else {
      before->Add(scan, cuda::FromLane(mine, cuda::kWarpThreads - 1));
    }
    const State left = cuda::FromLaneAbove(mine, 1);
    if (totals_only) continue;
    if (lane > 0) early.Add(scan, left);
    if (early.is_there) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) states[k] = scan.Join(early.state, states[k]);
    }
    StoreStates(scan, y, states, first, end);
  }
}

}  // namespace dragon::DRAGON_DEVICE
