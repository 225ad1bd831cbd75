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
#include <vector>

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

/// Run `body` once for each thread of a grid, and return when all have ended. Where the thread's work is being noted
/// down for a graph, that happens when the graph runs: `body` holds what it needs.
DRAGON_API void Run(const char* who, Place blocks, Place threads, size_t shared_bytes, std::function<void()> body);

/// Do work on open device memory now, or whenever the graph runs for which this thread's work is being noted down.
DRAGON_API void Queue(std::function<void()> work);

/// Wait for all threads of the block that have not ended; return how many brought `vote`.
DRAGON_API int BlockBarrier(bool vote = false);
/// Wait for the lanes in `mask`.
DRAGON_API void WarpBarrier(uint32_t mask);
/// Give `bytes` (at most 16) to the warp, wait for the lanes in `mask`, and take what `source` gave.
DRAGON_API void Exchange(uint32_t mask, const void* given, void* taken, size_t bytes, unsigned source);
/// The lanes of `mask` that brought true.
DRAGON_API uint32_t Ballot(uint32_t mask, bool vote);

/// How many devices there are: DRAGON_SIMT_DEVICES, or one.
DRAGON_API int DeviceCount();
/// The device that this thread's launches and copies are for, as the runtime's cudaGetDevice has it.
DRAGON_API int CurrentDevice();
DRAGON_API void SetCurrentDevice(int index);

/// The work of a graph.
struct Noted {
  void* stream = nullptr;
  std::vector<std::function<void()>> works;
};
/// What this thread's work is noted in; nullptr for none.
DRAGON_API Noted*& NotedByThread();

/// A RuntimeError unless an address is in the memory of this thread's device: a GPU could not read it.
DRAGON_API void RequireDevice(const char* who, const void* address);
/// The same for a launch, whose stream has to be one of this thread's device.
DRAGON_API void RequireCurrent(const char* who, int index);
/// The device in whose memory an address lies; -1 for the host's.
DRAGON_API int DeviceOf(const void* address);

/// A device's memory, which the host may touch only while this lives: elsewhere it faults at once, and so does a kernel
/// that reads the memory of another device than its own.
class DRAGON_API OpenMemory {
 public:
  OpenMemory() : OpenMemory(CurrentDevice()) {}
  explicit OpenMemory(int index);
  ~OpenMemory();
  OpenMemory(const OpenMemory&) = delete;
  OpenMemory& operator=(const OpenMemory&) = delete;

 private:
  int index_;
};

}  // namespace simt
