// Small tables of numbers that the host makes for one launch.
#pragma once

#include <vector>

#include "core/device/context.h"

namespace dragon::cuda {

/// A copy in the device's memory. The numbers are taken before this returns, without waiting for the device; a graph
/// that is being noted down keeps them.
template <typename T>
Scratch Upload(const Context& ctx, const std::vector<T>& numbers) {
  Scratch copy = ctx.Allocate<T>(static_cast<int64_t>(numbers.size()));
  BackendOf(ctx.device.type).CopyFromHost(ctx.device.index, copy.data(), numbers.data(), numbers.size() * sizeof(T));
  return copy;
}

}  // namespace dragon::cuda
