// Reduce on CUDA. Rows are reduced by warps or blocks whose threads read side by side; where neighbouring outputs are
// neighbours in memory, threads stand side by side along those instead. Few outputs of many elements are cut into parts
// that meet in a second launch. Who adds what to what depends on the sizes alone: results are the same in every run.
#pragma once

#include <algorithm>
#include <limits>

#include "core/device/cuda/block.h"
#include "core/device/cuda/divide.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/reduce_plan.h"

namespace dragon::DRAGON_DEVICE {

namespace reduce_cuda {

inline constexpr int kThreads = 256, kColumnLanes = 32, kColumnRows = 8, kUnroll = 4;
/// Parts are made until there are so many blocks, and no part has fewer elements than this.
inline constexpr int64_t kEnoughBlocks = 1024, kLeastPart = 2048;

template <typename Index>
struct Axis {
  cuda::Divider<Index> size;
  int64_t x, y;
};

/// A ReducePlan with sizes that are fast to divide by. Part p of every output has elements [p * part, (p + 1) * part).
template <typename Index>
struct Walk {
  Axis<Index> kept[kMaxDims], reduced[kMaxDims];
  int kept_count, reduced_count;
  Index outputs, count, part;
  int parts;

  Walk(const ReducePlan& plan, int the_parts)
      : kept_count(plan.kept_count),
        reduced_count(plan.reduced_count),
        outputs(static_cast<Index>(plan.outputs)),
        count(static_cast<Index>(plan.count)),
        part(static_cast<Index>(((plan.count + the_parts - 1) / the_parts + 15) / 16 * 16)),
        parts(the_parts) {
    for (int i = 0; i < kept_count; ++i) {
      kept[i] = {cuda::Divider<Index>(plan.kept[i].size), plan.kept[i].x, plan.kept[i].y};
    }
    for (int i = 0; i < reduced_count; ++i) {
      reduced[i] = {cuda::Divider<Index>(plan.reduced[i].size), plan.reduced[i].x, 0};
    }
  }

  __device__ void Output(Index at, int64_t* x, int64_t* y) const {
    *x = 0, *y = 0;
#pragma unroll 1
    for (int i = kept_count - 1; i >= 0; --i) {
      const Index outer = i > 0 ? kept[i].size.Divide(at) : 0;
      const Index index = i > 0 ? at - outer * kept[i].size.divisor : at;
      *x += static_cast<int64_t>(index) * kept[i].x;
      *y += static_cast<int64_t>(index) * kept[i].y;
      at = outer;
    }
  }
  __device__ __forceinline__ int64_t Element(Index at) const {
    if (reduced_count == 1) return static_cast<int64_t>(at) * reduced[0].x;
    int64_t x = 0;
#pragma unroll 1
    for (int i = reduced_count - 1; i >= 0; --i) {
      const Index outer = i > 0 ? reduced[i].size.Divide(at) : 0;
      const Index index = i > 0 ? at - outer * reduced[i].size.divisor : at;
      x += static_cast<int64_t>(index) * reduced[i].x;
      at = outer;
    }
    return x;
  }
};

/// Map elements, and combine those with the ones half of all further on, then a quarter, and so on. There is no array
/// of states, which sixteen of them would have in memory: the compiler does not unroll so many loops.
template <int kCount, int kWidth = 1, typename R>
__device__ __forceinline__ typename R::State Together(const R& reducer, const typename R::Element* elements,
                                                      int64_t index, int64_t step, int j = 0) {
  if constexpr (kWidth == kCount) {
    return reducer.Map(elements[j], index + j * step);
  } else {
    const typename R::State state = Together<kCount, 2 * kWidth>(reducer, elements, index, step, j);
    return reducer.Combine(state, Together<kCount, 2 * kWidth>(reducer, elements, index, step, j + kWidth));
  }
}

/// Neighbouring elements, sixteen bytes at a time, two of those on their way; return where the rest of this thread
/// begins.
template <typename R>
__device__ __forceinline__ int64_t StrandOfPacks(const R& reducer, const typename R::Element* x, int64_t low,
                                                 int64_t high, int first, int step, typename R::State* state) {
  using Element = typename R::Element;
  constexpr int kWidth = sizeof(Element) >= 16 ? 1 : 16 / static_cast<int>(sizeof(Element));
  struct alignas(sizeof(Element) * kWidth) Pack {
    Element at[kWidth];
  };
  const Pack* packs = reinterpret_cast<const Pack*>(x + low);
  const int64_t count = (high - low) / kWidth;
  int64_t i = first;
#pragma unroll 1
  for (; i + step < count; i += 2 * step) {
    const Pack a = packs[i], b = packs[i + step];
    *state = reducer.Combine(*state, reducer.Combine(Together<kWidth>(reducer, a.at, low + i * kWidth, 1),
                                                     Together<kWidth>(reducer, b.at, low + (i + step) * kWidth, 1)));
  }
  if (i < count) {
    const Pack a = packs[i];
    *state = reducer.Combine(*state, Together<kWidth>(reducer, a.at, low + i * kWidth, 1));
  }
  return low + count * kWidth + first;
}

/// Elements low + first, low + first + step, ... below high; those along one axis with several loads on their way at
/// once.
template <typename R, typename Index>
__device__ __forceinline__ typename R::State Strand(const Walk<Index>& walk, const R& reducer,
                                                    const typename R::Element* x, int64_t low, int64_t high, int first,
                                                    int step) {
  using State = typename R::State;
  State state = reducer.Identity();
  int64_t i = low + first;
  if (walk.reduced_count == 1 && walk.reduced[0].x == 1 && (reinterpret_cast<uintptr_t>(x + low) & 15) == 0) {
    i = StrandOfPacks<R>(reducer, x, low, high, first, step, &state);
  } else if (walk.reduced_count == 1) {
    const int64_t stride = walk.reduced[0].x, next = step * stride;
    for (; i + (kUnroll - 1) * step < high; i += kUnroll * step) {
      typename R::Element elements[kUnroll];
#pragma unroll
      for (int j = 0; j < kUnroll; ++j) elements[j] = x[i * stride + j * next];
      state = reducer.Combine(state, Together<kUnroll>(reducer, elements, i, step));
    }
  }
#pragma unroll 1
  for (; i < high; i += step) {
    state = reducer.Combine(state, reducer.Map(x[walk.Element(static_cast<Index>(i))], i));
  }
  return state;
}

template <typename R, typename Index>
__device__ __forceinline__ void Deliver(const Walk<Index>& walk, const R& reducer, typename R::State state,
                                        Index output, int64_t y, typename R::State* parts) {
  if (parts) {
    parts[static_cast<int64_t>(blockIdx.y) * walk.outputs + output] = state;
  } else {
    reducer.Store(y, state, walk.count);
  }
}

/// A warp, or (kByBlock) a block, for every output.
template <typename R, typename Index, bool kByBlock>
__global__ void RowKernel(const __grid_constant__ Walk<Index> walk, const R reducer, const typename R::Element* x,
                          typename R::State* parts) {
  const auto combine = [&](const typename R::State& a, const typename R::State& b) { return reducer.Combine(a, b); };
  const Index low = walk.part * blockIdx.y, high = min(walk.count, static_cast<Index>(low + walk.part));
  const int lane = threadIdx.x % cuda::kWarpThreads, warp = threadIdx.x / cuda::kWarpThreads;
  const int64_t first =
      kByBlock ? blockIdx.x : static_cast<int64_t>(blockIdx.x) * (kThreads / cuda::kWarpThreads) + warp;
  const int64_t step = kByBlock ? gridDim.x : static_cast<int64_t>(gridDim.x) * (kThreads / cuda::kWarpThreads);
  for (int64_t at = first; at < static_cast<int64_t>(walk.outputs); at += step) {
    const Index output = static_cast<Index>(at);
    int64_t from, y;
    walk.Output(output, &from, &y);
    typename R::State state =
        Strand<R, Index>(walk, reducer, x + from, low, high, kByBlock ? static_cast<int>(threadIdx.x) : lane,
                         kByBlock ? kThreads : cuda::kWarpThreads);
    state = kByBlock ? cuda::BlockReduce(state, combine) : cuda::WarpReduce(state, combine);
    if (kByBlock ? threadIdx.x == 0 : lane == 0) Deliver(walk, reducer, state, output, y, parts);
  }
}

/// 32 outputs side by side for every block, whose other axis of threads shares their elements.
template <typename R, typename Index>
__global__ void ColumnKernel(const __grid_constant__ Walk<Index> walk, const R reducer, const typename R::Element* x,
                             typename R::State* parts) {
  using State = typename R::State;
  alignas(16) __shared__ unsigned char memory[kColumnRows * kColumnLanes * sizeof(State)];
  cuda::FillShared(memory);
  State* shared = reinterpret_cast<State*>(memory);
  const Index low = walk.part * blockIdx.y, high = min(walk.count, static_cast<Index>(low + walk.part));
  const int64_t step = static_cast<int64_t>(gridDim.x) * kColumnLanes;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * kColumnLanes; base < static_cast<int64_t>(walk.outputs);
       base += step) {
    const int64_t at = base + threadIdx.x;
    const Index output = static_cast<Index>(at);
    int64_t from = 0, y = 0;
    if (at < static_cast<int64_t>(walk.outputs)) {
      walk.Output(output, &from, &y);
      shared[threadIdx.y * kColumnLanes + threadIdx.x] =
          Strand<R, Index>(walk, reducer, x + from, low, high, static_cast<int>(threadIdx.y), kColumnRows);
    }
    __syncthreads();
    if (threadIdx.y == 0 && at < static_cast<int64_t>(walk.outputs)) {
      State state = shared[threadIdx.x];
      for (int i = 1; i < kColumnRows; ++i) state = reducer.Combine(state, shared[i * kColumnLanes + threadIdx.x]);
      Deliver(walk, reducer, state, output, y, parts);
    }
    __syncthreads();
  }
}

/// Parts of the same output meet: a warp for every output.
template <typename R, typename Index>
__global__ void MeetKernel(const __grid_constant__ Walk<Index> walk, const R reducer, const typename R::State* parts) {
  const auto combine = [&](const typename R::State& a, const typename R::State& b) { return reducer.Combine(a, b); };
  const int lane = threadIdx.x % cuda::kWarpThreads;
  const int64_t step = cuda::StepOfThreads() / cuda::kWarpThreads;
  for (int64_t at = cuda::FirstOfThread() / cuda::kWarpThreads; at < static_cast<int64_t>(walk.outputs); at += step) {
    typename R::State state = reducer.Identity();
    for (int p = lane; p < walk.parts; p += cuda::kWarpThreads) {
      state = reducer.Combine(state, parts[static_cast<int64_t>(p) * walk.outputs + at]);
    }
    state = cuda::WarpReduce(state, combine);
    if (lane > 0) continue;
    int64_t x, y;
    walk.Output(static_cast<Index>(at), &x, &y);
    reducer.Store(y, state, walk.count);
  }
}

template <typename R, typename Index>
void Run(Context& ctx, const ReducePlan& plan, const R& reducer, const typename R::Element* x) {
  constexpr bool kShort = sizeof(Index) == 4;  // sizes beyond that are rare: one form will do for them
  const bool columns = kShort && plan.columns() && plan.kept[plan.kept_count - 1].size >= kColumnLanes / 2;
  const bool by_block = !kShort || plan.count > 1024;
  const int64_t wide = columns ? kColumnLanes : by_block ? 1 : kThreads / cuda::kWarpThreads;
  const int64_t blocks = std::clamp<int64_t>((plan.outputs + wide - 1) / wide, 1, int64_t{1} << 20);
  // A part of columns is shared by fewer threads, so it may be shorter.
  const int64_t least = columns ? 128 : kLeastPart;
  const int64_t parts = std::clamp<int64_t>(std::min(kEnoughBlocks / blocks, plan.count / least), 1, 1024);
  const Walk<Index> walk(plan, static_cast<int>(parts));
  Scratch scratch = ctx.Allocate<typename R::State>(parts > 1 ? parts * plan.outputs : 0);
  auto* meeting = parts > 1 ? scratch.template as<typename R::State>() : nullptr;
  const dim3 grid(static_cast<unsigned>(blocks), static_cast<unsigned>(parts));
  if (by_block && !columns) {
    cuda::Launch("reduce", ctx, &RowKernel<R, Index, true>, {grid, dim3(kThreads)}, walk, reducer, x, meeting);
  } else if constexpr (kShort) {
    if (columns) {
      cuda::Launch("reduce", ctx, &ColumnKernel<R, Index>, {grid, dim3(kColumnLanes, kColumnRows)}, walk, reducer, x,
                   meeting);
    } else {
      cuda::Launch("reduce", ctx, &RowKernel<R, Index, false>, {grid, dim3(kThreads)}, walk, reducer, x, meeting);
    }
  }
  if (!meeting) return;
  cuda::Launch("reduce", ctx, &MeetKernel<R, Index>, cuda::GridFor(plan.outputs * cuda::kWarpThreads), walk, reducer,
               meeting);
}

}  // namespace reduce_cuda

/// Reduce `x` to `y`, whose shape is x's with size 1 along reduced axes.
template <typename R>
void Reduce(Context& ctx, View y, View x, const R& reducer) {
  for (const View* view : {&y, &x}) cuda::RequireDevice("reduce", view->numel ? view->data : nullptr);
  ReducePlan plan;
  MakeReducePlan(&plan, y, x, R::kOrdered);
  if (plan.outputs == 0) return;
  if (plan.count == 0) plan.reduced_count = 0, plan.reduced[plan.reduced_count++] = {1, 0, 0};
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  const auto* data = x.as<const typename R::Element>();
  if (plan.count <= kMost && plan.outputs <= kMost) {
    reduce_cuda::Run<R, uint32_t>(ctx, plan, reducer, data);
  } else {
    reduce_cuda::Run<R, int64_t>(ctx, plan, reducer, data);
  }
}

}  // namespace dragon::DRAGON_DEVICE
