// The sweep of an optimizer on CUDA: tensors are cut into chunks, a block for each, and one launch has as many tensors
// as their addresses fit among a kernel's arguments. Nothing is uploaded, and nothing is waited for.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "core/device/cuda/launch.h"
#include "core/kernels/each_cuda.h"
#include "core/kernels/training/steps.h"

namespace dragon::DRAGON_DEVICE {

/// Bytes of a launch's 4096 that a table may have.
inline constexpr int kTableBytes = 3584;
/// Elements of a chunk: sixteen bytes of 2-byte numbers for each thread, four times over.
inline constexpr int64_t kChunk = 8192;

/// Some tensors of a set: arrays[k][i] is where tensor i's numbers of kind k begin, first[i] its first block.
template <int kArrays, typename Of>
struct SetTable {
  static constexpr int kMost = kTableBytes / (4 + 8 + 8 * kArrays + static_cast<int>(sizeof(Of)));
  int count = 0;
  int first[kMost + 1] = {};
  int64_t sizes[kMost];
  void* arrays[kArrays][kMost];
  Of of[kMost];

  __device__ int TensorOf(int block) const {
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (first[middle] <= block ? low : high) = middle;
    }
    return low;
  }
};

/// Call `launch(table, begin)` for tables that cover the set; `begin` is the set's first tensor in it. `of(i)` makes
/// what tensor i needs, and `array(k, i)` is where its numbers begin.
template <int kArrays, typename Of, typename MakeOf, typename Array, typename F>
void EachTable(const kernels::UpdateSet& set, int64_t chunk, MakeOf of, Array array, F launch) {
  using Table = SetTable<kArrays, Of>;
  constexpr int64_t kMostBlocks = int64_t{1} << 30;
  for (int64_t begin = 0; begin < set.count;) {
    Table table;
    int64_t i = begin, blocks = 0;
    for (; i < set.count && table.count < Table::kMost; ++i, ++table.count) {
      const int64_t more = (set.sizes[i] + chunk - 1) / chunk;
      if (table.count > 0 && blocks + more > kMostBlocks) break;
      blocks += more;
      table.sizes[table.count] = set.sizes[i];
      for (int k = 0; k < kArrays; ++k) table.arrays[k][table.count] = array(k, i);
      table.of[table.count] = of(i);
      table.first[table.count + 1] = static_cast<int>(blocks);
    }
    launch(table, begin);
    begin = i;
  }
}

/// Whether `n` numbers of T from all these addresses on can be read sixteen bytes at a time.
template <typename T, int kArrays>
__device__ __forceinline__ bool AllAligned(T* const (&at)[kArrays]) {
  uintptr_t bits = 0;
#pragma unroll
  for (int k = 0; k < kArrays; ++k) bits |= reinterpret_cast<uintptr_t>(at[k]);
  return bits % 16 == 0;
}

/// Arrays: the parameter, the gradient (which stays), the states.
template <typename T, typename S>
__global__ void StepKernel(const S step, const __grid_constant__ SetTable<2 + S::kSlots, typename S::Of> table) {
  using W = Wide<T>;
  constexpr int kArrays = 2 + S::kSlots, kWidth = 16 / static_cast<int>(sizeof(T));
  using Values = Pack<T, kWidth>;
  const int tensor = table.TensorOf(static_cast<int>(blockIdx.x));
  const int64_t begin = (static_cast<int>(blockIdx.x) - table.first[tensor]) * kChunk;
  const int64_t size = min(kChunk, table.sizes[tensor] - begin);
  const typename S::Of of = table.of[tensor];
  T* at[kArrays];
#pragma unroll
  for (int k = 0; k < kArrays; ++k) at[k] = static_cast<T*>(table.arrays[k][tensor]) + begin;
  const auto update = [&](const auto& load, const auto& store) {
    W slot[S::kSlots + 1];
    W param = static_cast<W>(load(0));
#pragma unroll
    for (int k = 0; k < S::kSlots; ++k) slot[k] = static_cast<W>(load(2 + k));
    step(of, param, static_cast<W>(load(1)), slot);
    store(0, static_cast<T>(param));
#pragma unroll
    for (int k = 0; k < S::kSlots; ++k) store(2 + k, static_cast<T>(slot[k]));
  };
  const int64_t packs = AllAligned<T, kArrays>(at) ? size / kWidth : 0;
  for (int64_t i = threadIdx.x; i < packs; i += blockDim.x) {
    Values values[kArrays];
#pragma unroll
    for (int k = 0; k < kArrays; ++k) values[k] = reinterpret_cast<const Values*>(at[k])[i];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      update([&](int k) { return values[k].at[j]; }, [&](int k, T value) { values[k].at[j] = value; });
    }
#pragma unroll
    for (int k = 0; k < kArrays; ++k) {
      if (k != 1) reinterpret_cast<Values*>(at[k])[i] = values[k];
    }
  }
  for (int64_t i = packs * kWidth + threadIdx.x; i < size; i += blockDim.x) {
    update([&](int k) { return at[k][i]; }, [&](int k, T value) { at[k][i] = value; });
  }
}

/// Take `step` on all tensors of the set.
template <typename T, typename S>
void Steps(Context& ctx, const kernels::UpdateSet& set, const S& step) {
  EachTable<2 + S::kSlots, typename S::Of>(
      set, kChunk, [&](int64_t i) { return step.For(set, i); },
      [&](int k, int64_t i) {
        return (k == 0 ? set.params : k == 1 ? set.grads : set.slots[SlotOf<S>(k - 2)])[i];
      },
      [&](const auto& table, int64_t) {
        if (table.first[table.count] == 0) return;
        cuda::Launch("optimizer step", ctx, &StepKernel<T, S>,
                     {dim3(static_cast<unsigned>(table.first[table.count])), dim3(cuda::kThreads)}, step, table);
      });
}

}  // namespace dragon::DRAGON_DEVICE
