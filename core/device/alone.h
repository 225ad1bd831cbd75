// Threads that are among several which share their work out already: kernels of theirs wake no others.
#pragma once

#include "core/base/macros.h"

namespace dragon {

/// Set whether all that this thread asks kernels for runs on it alone; whether it did so far.
DRAGON_API bool WorkAlone(bool alone);

}  // namespace dragon
