// Where the buffers of a plan lie: offsets in one block of memory, from the calls between which each is needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/macros.h"

namespace dragon {

/// A buffer that is written first by call `first` and read last by call `last`.
struct BufferLifetime {
  int64_t bytes = 0;
  int32_t first = 0, last = 0;
  int64_t offset = 0;  ///< the result
};

enum class MemoryMode : uint8_t {
  kNaive,  ///< every buffer has its place for itself
  kArena,  ///< one block; offsets chosen so that buffers that live at the same time do not meet
  kFifo,   ///< a pool of whole buffers: the one that was given back first is taken next
  kLifo,   ///< the one that was given back last is
};

/// Sets the offsets, and returns how many bytes the block must have.
DRAGON_API int64_t PlanOffsets(std::vector<BufferLifetime>& buffers, MemoryMode mode);
/// "arena" and so on; a ValueError for other words.
DRAGON_API MemoryMode MemoryModeNamed(const std::string& name);

}  // namespace dragon
