// How long work takes on the device, for those who choose among several ways of doing it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>

#include "core/device/accelerator.h"
#include "core/device/context.h"
#include "core/device/cuda/check.h"

namespace dragon::cuda {

/// Whether the context's stream does what it is given, instead of noting it down for a graph.
inline bool MayBeTimed(const Context& ctx) {
  return !AcceleratorOf(ctx.device.type).IsCapturing(ctx.device.index, ctx.stream);
}

/// The least of several times that what `once` queues on the context's stream takes. The host waits, and says so.
template <typename Once>
float LeastMilliseconds(const Context& ctx, int rounds, const Once& once) {
  Accelerator& device = AcceleratorOf(ctx.device.type);
  const int index = ctx.device.index;
  void* const begin = device.NewEvent(index, /*timed=*/true, /*blocking=*/false, /*shared=*/false);
  void* const end = device.NewEvent(index, /*timed=*/true, /*blocking=*/false, /*shared=*/false);
  device.NoteWait(index, "measure ways of a library");
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    device.RecordEvent(index, begin, ctx.stream);
    once();
    device.RecordEvent(index, end, ctx.stream);
    device.SynchronizeEvent(index, end);
    least = std::min(least, device.Elapsed(index, begin, end));
  }
  device.DropEvent(index, begin);
  device.DropEvent(index, end);
  return static_cast<float>(least);
}

}  // namespace dragon::cuda
