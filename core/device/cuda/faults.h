// What a kernel finds wrong in the numbers that it is given: an index outside of its axis, rows that lead nowhere.
// Nobody waits for a kernel to end, so it skips the access, notes the first such number, and goes on; whoever next
// waits for the device (to read a result, or in a synchronize) gets the error that the CPU would have raised at once,
// with the name of the operator. The device and all of its memory stay usable.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/device/context.h"

namespace dragon::cuda {

enum class FaultKind : int32_t {
  kIndex,         ///< an index `got` outside of axis `axis`, which has `size` places
  kIndexFromEnd,  ///< the same, where negative indices count from the end
  kOffsets,       ///< bag `axis` begins at `got`, which does not lie between its neighbours, or beyond `size`
  kShort,         ///< `got` elements where a mask selects `size`
  kStarts,        ///< starts of rows that do not lead from 0 to `size`
  kPlace,         ///< a place `got` that is none of `size`
};

/// Memory of the host that the device writes to.
struct Fault {
  int32_t taken;
  FaultKind kind;
  int32_t axis;
  int64_t got, size;
  const char* who;
};

/// A device's fault as kernels see it. `who` lives as long as the process.
struct Faults {
  Fault* fault;
  const char* who;

  /// Only the first is kept, until it is raised.
  __device__ void Report(FaultKind kind, int64_t got, int64_t size, int32_t axis = 0) const {
    if (atomicCAS(&fault->taken, 0, 1) != 0) return;
    fault->kind = kind;
    fault->axis = axis;
    fault->got = got;
    fault->size = size;
    fault->who = who;
    __threadfence_system();
  }
};

/// For a kernel on the context's device that speaks in the name of `who`, which is copied.
Faults FaultsOf(const Context& ctx, const char* who);
/// Raise and forget what kernels have noted. The device's stream must have been waited for.
void RaiseFault(int device);
/// Have a function asked by RaiseFault as well, which throws what else went wrong on a device.
void SetTroubleTeller(void (*teller)(int device));

}  // namespace dragon::cuda
