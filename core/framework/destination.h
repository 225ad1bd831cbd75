// What happens to an `out=` whose shape is not the result's: an error, unless the caller's dialect resizes it.
#pragma once

#include "core/base/macros.h"

namespace dragon {

/// Of this thread's current call from a frontend.
struct DestinationRule {
  bool may_resize = false;  ///< give a destination the result's shape
  bool resized = false;     ///< one that had elements was given another shape: worth a warning
};
DRAGON_API DestinationRule& Destinations();

}  // namespace dragon
