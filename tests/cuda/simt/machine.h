// A small machine that runs CUDA kernels on the host: a block's threads are fibres, one block runs after another.
//
// It is no simulation of speed. It runs the project's own device code where there is no GPU, so that every kernel can
// be compared with the CPU's and seen by AddressSanitizer. Threads of a block take turns in an order that changes from
// block to block, so that a missing barrier shows; a barrier that not everybody reaches is an error with the kernel's
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/base/macros.h"

namespace simt {

struct Place {
  unsigned x = 0, y = 0, z = 0;
};

/// What a thread reads of itself and its launch.
struct Here {
  Place thread, block, threads, blocks;
  unsigned lane = 0, warp = 0;
};

/// Of the thread that runs now.
DRAGON_API const Here& Now();
/// The launch's dynamic shared memory; filled with FillByte before every block.
DRAGON_API void* DynamicShared();
/// Fill a kernel's variable with FillByte, unless another thread of this block has.
DRAGON_API void FillShared(void* memory, size_t bytes);
/// What nobody has written consists of this: $DRAGON_SIMT_FILL, two hexadecimal digits, or else ff, which makes a NaN
/// in every dtype. Results that differ between two of them depend on what nobody has written.
DRAGON_API unsigned char FillByte();

/// Run `body` once for each thread of a grid, and return when all have ended.
DRAGON_API void Run(const char* who, Place blocks, Place threads, size_t shared_bytes,
                    const std::function<void()>& body);

/// Wait for all threads of the block that have not ended; return how many brought `vote`.
DRAGON_API int BlockBarrier(bool vote = false);
/// Wait for the lanes in `mask`.
DRAGON_API void WarpBarrier(uint32_t mask);
/// Give `bytes` (at most 16) to the warp, wait for the lanes in `mask`, and take what `source` gave.
DRAGON_API void Exchange(uint32_t mask, const void* given, void* taken, size_t bytes, unsigned source);
/// The lanes of `mask` that brought true.
DRAGON_API uint32_t Ballot(uint32_t mask, bool vote);

/// A RuntimeError unless an address is in device memory: a GPU could not read it.
DRAGON_API void RequireDevice(const char* who, const void* address);

/// Device memory, which the host may touch only while this lives: elsewhere it faults at once.
class DRAGON_API OpenMemory {
 public:
  OpenMemory();
  ~OpenMemory();
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;
};

}  // namespace simt
