// Asking the runtime once for each device.
#include "core/device/cuda/capability.h"

#include <cuda_runtime.h>

#include <array>
#include <atomic>

#include "core/device/cuda/backend.h"
#include "core/device/cuda/launch.h"

namespace dragon::cuda {

namespace {

int Ask(cudaDeviceAttr attribute, int index) {
  int value = 0;
  CheckCuda(cudaDeviceGetAttribute(&value, attribute, index), "cuda");
  return value;
}

}  // namespace

int CapabilityOf(int index) {
  static std::array<std::atomic<int>, kMostDevices> known{};
  int capability = known[index].load(std::memory_order_relaxed);
  if (capability == 0) {
    capability = 10 * Ask(cudaDevAttrComputeCapabilityMajor, index) + Ask(cudaDevAttrComputeCapabilityMinor, index);
    known[index].store(capability, std::memory_order_relaxed);
  }
  return capability;
}

void AskForShared(const char* who, const Context& ctx, const void* kernel, size_t bytes) {
  const auto most = static_cast<size_t>(Ask(cudaDevAttrMaxSharedMemoryPerBlockOptin, ctx.device.index));
  if (bytes > most) {
    const int capability = CapabilityOf(ctx.device.index);
    throw RuntimeError(who)
        .Got(ctx.device, ", a GPU of compute capability ", capability / 10, ".", capability % 10,
             ", whose blocks may have ", most, " bytes of shared memory")
        .Expected("one with ", bytes, " or more, or another dtype");
  }
  CheckCuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), who);
}

}  // namespace dragon::cuda
