// The one door by which kernels wait: numbers of the device that the host needs before it can go on.
#pragma once

#include "core/device/accelerator.h"
#include "core/device/context.h"

namespace dragon::cuda {

/// Copy to the host and wait for it, in the name of `who`: that is told where such waits are
/// (`torch.cuda.set_sync_debug_mode`), and refused while the stream is noted down for a graph.
inline void FetchBytes(const char* who, const Context& ctx, void* host, const void* device, size_t bytes) {
  const WaitingFor waiting(who);
  BackendOf(ctx.device.type).CopyToHost(ctx.device.index, host, device, bytes);
}

template <typename T>
void Fetch(const char* who, const Context& ctx, T* host, const T* device, size_t count = 1) {
  FetchBytes(who, ctx, host, device, count * sizeof(T));
}

}  // namespace dragon::cuda
