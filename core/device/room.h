// Asking the system for memory before a library does that would end the process if it got none.
#pragma once

#include <cstddef>

#include "core/base/macros.h"

namespace dragon {

/// Whether the system would give so many bytes of addresses more now; another thread may take them in the next moment.
DRAGON_API bool HasRoomFor(size_t bytes);

}  // namespace dragon
