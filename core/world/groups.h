// Groups of processes by number: attributes of operators are numbers, and a group may be gone when a call comes.
#pragma once

#include <memory>

#include "core/base/macros.h"
#include "core/world/communicator.h"

namespace dragon {

/// The number of a group that begins.
DRAGON_API int64_t AddGroup(std::shared_ptr<Communicator> communicator);
/// False if there was none.
DRAGON_API bool RemoveGroup(int64_t number);
/// A ValueError, in the name of `who`, where there is no such group, or it belongs to the process this one is a fork
/// of.
DRAGON_API std::shared_ptr<Communicator> GroupOf(const char* who, int64_t number);

}  // namespace dragon
