// The table of what devices offer to groups.
#include "core/world/devices.h"

#include <array>

#include "core/base/error.h"

namespace dragon {

namespace {

std::array<std::unique_ptr<DeviceWorld>, kDeviceTypeCount>& Worlds() {
  static auto* worlds = new std::array<std::unique_ptr<DeviceWorld>, kDeviceTypeCount>;
  return *worlds;
}

}  // namespace

Service ParseService(const std::string& name) {
  if (name == "nobody") return Service::kNobody;
  if (name == "host") return Service::kHost;
  if (name == "device") return Service::kDevice;
  throw ValueError("group").Got("the service '", name, "'").Expected("nobody, host or device");
}

void RegisterDeviceWorld(DeviceType type, std::unique_ptr<DeviceWorld> world) {
  Worlds()[static_cast<int>(type)] = std::move(world);
}

DeviceWorld* DeviceWorldOf(DeviceType type) {
  (void)HasBackend(type);  // which loads what registers it
  return Worlds()[static_cast<int>(type)].get();
}

bool& DevicesCompare() {
  static bool compare = false;
  return compare;
}

}  // namespace dragon
