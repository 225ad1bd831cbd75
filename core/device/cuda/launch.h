// The door through which every kernel of ours is launched, on a GPU or on the machine of tests/cuda that stands for
// one.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "core/device/context.h"
#include "core/device/cuda/check.h"

namespace dragon::cuda {

/// How many blocks of how many threads, and the bytes of shared memory that `DynamicShared` has.
struct Grid {
  dim3 blocks, threads;
  size_t shared = 0;
};

inline constexpr int kThreads = 256;
inline constexpr int64_t kMostBlocks = 65535;

/// Blocks for n pieces of work, one per thread, where threads go on in steps of the whole grid.
inline Grid GridFor(int64_t n, int threads = kThreads, int64_t most = kMostBlocks) {
  const int64_t blocks = std::clamp<int64_t>((n + threads - 1) / threads, 1, most);
  return {dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads))};
}

inline cudaStream_t StreamOf(const Context& ctx) { return static_cast<cudaStream_t>(ctx.stream); }

#if defined(__CUDACC__)

/// The launch's shared memory, aligned to 16 bytes.
__device__ inline void* DynamicShared() {
  extern __shared__ uint4 dragon_dynamic_shared[];
  return dragon_dynamic_shared;
}

/// Have `kernel` take more shared memory than every device has; a RuntimeError where this one has less than that.
void AskForShared(const char* who, const Context& ctx, const void* kernel, size_t bytes);

/// Run `kernel` over `grid` on the context's stream. `who` is named if it cannot be launched.
template <typename... P, typename... A>
void Launch(const char* who, const Context& ctx, void (*kernel)(P...), const Grid& grid, const A&... args) {
  if (grid.shared > 48 * 1024) AskForShared(who, ctx, reinterpret_cast<const void*>(kernel), grid.shared);
  kernel<<<grid.blocks, grid.threads, grid.shared, StreamOf(ctx)>>>(static_cast<P>(args)...);
  CheckLaunch(who);
}

/// Nothing here: the GPU itself faults. The machine that stands for one could read the host's memory.
inline void RequireDevice(const char*, const void*) {}

#else

inline void RequireDevice(const char* who, const void* address) { simt::RequireDevice(who, address); }

inline void* DynamicShared() { return simt::DynamicShared(); }

/// An address among a kernel's arguments must be one that a GPU could read.
template <typename P>
void RequireArgument(const char* who, const P& argument) {
  if constexpr (std::is_pointer_v<P>) simt::RequireDevice(who, argument);
}

template <typename... P, typename... A>
void Launch(const char* who, const Context& ctx, void (*kernel)(P...), const Grid& grid, const A&... args) {
  simt::RequireCurrent(who, ctx.device.index);
  (RequireArgument(who, static_cast<P>(args)), ...);
  simt::Run(who, {grid.blocks.x, grid.blocks.y, grid.blocks.z}, {grid.threads.x, grid.threads.y, grid.threads.z},
            grid.shared, [kernel, all = std::tuple<std::remove_cvref_t<P>...>(static_cast<P>(args)...)] {
              std::apply(kernel, all);  // a graph that is noted down runs it later
            });
}

#endif

/// The place of this thread among all of the launch, and the step to its next piece of work.
__device__ inline int64_t FirstOfThread() { return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline int64_t StepOfThreads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

}  // namespace dragon::cuda
