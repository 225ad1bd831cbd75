// What a kernel is given besides its views: where it runs, and memory for the duration of the call.
#pragma once

#include <cstddef>
#include <utility>

#include "core/device/device.h"

namespace dragon {

/// Device memory that goes back to the caching allocator when it leaves scope.
class DRAGON_API Scratch {
 public:
  Scratch(Device device, size_t bytes);
  Scratch(Scratch&& other) noexcept
      : device_(other.device_), bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();
  void* data() const { return data_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Device device_;
  size_t bytes_;
  void* data_;
};

struct Context {
  Device device;
  void* stream = nullptr;

  /// Uninitialised memory for `count` elements of T on this device.
  template <typename T>
  Scratch Allocate(int64_t count) const {
    return Scratch(device, static_cast<size_t>(count) * sizeof(T));
  }
};

}  // namespace dragon
