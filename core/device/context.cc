// Scratch memory of a kernel comes from the same caches as tensors.
#include "core/device/context.h"

#include "core/device/allocator.h"

namespace dragon {

Scratch::Scratch(Device device, size_t bytes)
    : device_(device),
      bytes_(bytes),
      data_(device.is_cpu() ? AllocateHost(bytes) : DeviceAllocator(device).Allocate(bytes)) {}

Scratch::~Scratch() {
  if (!data_) return;
  if (device_.is_cpu()) {
    FreeHost(data_, bytes_);
  } else {
    DeviceAllocator(device_).Free(data_, bytes_);
  }
}

}  // namespace dragon
