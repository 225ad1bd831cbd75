// Sorting by digits on CUDA, which reads and writes the numbers once for each eight bits: CUB's radix sort.
#pragma once

#include <cstdint>

#include "core/device/context.h"
#include "core/kernels/kernel.h"

namespace dragon::DRAGON_DEVICE {

/// Sort n words by their bits from `first` on and before `end`, stably: words that agree there keep their order. The
/// result is where the answer points: in `data`, or in `spare`, which has as much room.
uint64_t* RadixSort(const Context& ctx, uint64_t* data, uint64_t* spare, int64_t n, int first, int end);

}  // namespace dragon::DRAGON_DEVICE
