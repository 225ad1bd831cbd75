// Small tables of numbers that the host makes for one launch.
#pragma once

#include <cuda_runtime.h>

#include <vector>

#include "core/device/cuda/launch.h"

namespace dragon::cuda {

/// A copy in the device's memory. The numbers are taken before this returns, without waiting for the device.
template <typename T>
Scratch Upload(const Context& ctx, const std::vector<T>& numbers) {
  Scratch copy = ctx.Allocate<T>(static_cast<int64_t>(numbers.size()));
  CheckCuda(
      cudaMemcpyAsync(copy.data(), numbers.data(), numbers.size() * sizeof(T), cudaMemcpyHostToDevice, StreamOf(ctx)),
      "upload");
  return copy;
}

}  // namespace dragon::cuda
