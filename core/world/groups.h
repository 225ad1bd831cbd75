// Groups of processes by number: attributes of operators are numbers, and a group may be gone when a call comes.
#pragma once

#include <memory>

#include "core/base/macros.h"
#include "core/world/communicator.h"
#include "core/world/devices.h"

namespace dragon {

/// The number of a group that begins.
DRAGON_API int64_t AddGroup(std::shared_ptr<Communicator> communicator);
/// False if there was none.
DRAGON_API bool RemoveGroup(int64_t number);
/// Over memory of the host. A ValueError, in the name of `who`, where there is no such group, or it belongs to the
/// process this one is a fork of.
DRAGON_API std::shared_ptr<Communicator> GroupOf(const char* who, int64_t number);

/// Say who carries a group's tensors of a kind of device: at the beginning the host its own ones, and each other kind's
/// library theirs.
DRAGON_API void ServeGroup(int64_t number, DeviceType type, Service service, const DeviceOptions& options);
/// Have all of a group wait so long for the others from the next call on; negative: for ever.
DRAGON_API void SetGroupTimeout(int64_t number, double seconds);
/// For tensors on a device; a RuntimeError in the name of `who` where nobody carries them. That of a device's library
/// is joined by all ranks together at their first collective.
DRAGON_API std::shared_ptr<Communicator> GroupOf(const char* who, int64_t number, Device device);

}  // namespace dragon
