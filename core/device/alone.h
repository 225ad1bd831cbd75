// Threads that are among several which share their work out already: kernels of theirs wake no others.
#pragma once

#include "core/base/macros.h"

namespace dragon {

/// From now on all that this thread asks kernels for runs on it alone.
DRAGON_API void WorkAlone();

}  // namespace dragon
