// Asking the system for memory before a library does that would end the process if it got none.
#pragma once

#include <cstddef>

#include "core/base/macros.h"

namespace dragon {

/// Whether the system would give so many bytes of addresses more now; another thread may take them in the next moment.
DRAGON_API bool HasRoomFor(size_t bytes);
/// The same for threads, their stacks and so many bytes more for each of them.
DRAGON_API bool HasRoomForThreads(int count, size_t bytes_each);

}  // namespace dragon
