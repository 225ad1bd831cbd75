// Waiting for another thread that may need Python's lock to go on.
#pragma once

#include "core/base/macros.h"

namespace dragon {

/// Let other threads go on for a moment; whoever holds Python's lock lends it meanwhile.
DRAGON_API void WaitForThread();
/// What `WaitForThread` does; set by the bindings.
DRAGON_API void SetThreadWait(void (*wait)());

}  // namespace dragon
