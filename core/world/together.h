// Collectives of one process that has several devices.
#pragma once

#include <span>

#include "core/base/macros.h"
#include "core/world/communicator.h"
#include "core/world/devices.h"

namespace dragon {

/// What one device brings to a collective, and where it wants the result.
struct Share {
  int index;
  const char* in;
  char* out;
  Communicator::Elements elements;  ///< of `in`; of `out` where that is a part
};

/// All devices of one process do something together, each on its current stream. Their communicators are made when a
/// list of devices first comes, and kept.
DRAGON_API void DoTogether(DeviceType type, Collective collective, std::span<const Share> shares, Reduction reduction,
                           int root);

}  // namespace dragon
