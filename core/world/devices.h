// Communicators for tensors of devices: what a device's library offers, and a way by the host's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/macros.h"
#include "core/device/device.h"
#include "core/world/communicator.h"

namespace dragon {

/// Who carries a group's tensors of one kind of device.
enum class Service : uint8_t {
  kNobody,
  kHost,    ///< the host's communicator; bytes of devices go by pinned memory
  kDevice,  ///< the device's own library
};
DRAGON_API Service ParseService(const std::string& name);

/// Choices for communicators of devices; -1 leaves a number to the library.
struct DeviceOptions {
  double seconds = -1;  ///< after which a call that has not ended is given up; negative: never
  int cluster_size = -1, least_blocks = -1, most_blocks = -1;
  std::string net_name;
};

/// What a kind of device offers to groups. Registered by the device's library.
class DRAGON_API DeviceWorld {
 public:
  virtual ~DeviceWorld() = default;
  /// Whether the library that it needs is there.
  virtual bool IsThere() = 0;
  /// Its version; 0 without it.
  virtual int Version() = 0;
  /// A communicator for tensors of one device for each rank, which all ranks of `host` join at their first collective.
  virtual std::shared_ptr<Communicator> Join(std::shared_ptr<Communicator> host, Device device,
                                             const DeviceOptions& options) = 0;
  /// Communicators of this process alone, one for each of its devices.
  virtual std::vector<std::shared_ptr<Communicator>> JoinAlone(std::span<const int> indices) = 0;
  /// Between these two, calls of several communicators of one process go together; the second one begins them.
  virtual void BeginTogether() = 0;
  virtual void EndTogether() = 0;
};

DRAGON_API void RegisterDeviceWorld(DeviceType type, std::unique_ptr<DeviceWorld> world);
/// Null where a kind of device offers nothing; loads its library.
DRAGON_API DeviceWorld* DeviceWorldOf(DeviceType type);

/// Whether communicators of devices compare what ranks are about to do, as those of the host always do. It makes the
/// host wait for all others in each call.
DRAGON_API bool& DevicesCompare();

}  // namespace dragon
