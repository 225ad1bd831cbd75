// A device is a type and an index; a backend is what the engine must be told to use one.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "core/base/macros.h"

namespace dragon {

/// kMeta has shapes and no numbers. kFake is host memory that pretends to be elsewhere, for tests.
enum class DeviceType : uint8_t { kCPU, kCUDA, kMeta, kFake };
inline constexpr int kDeviceTypeCount = 4;
/// Devices of one type that are told apart where there is a table of them.
inline constexpr int kMostDevices = 64;

DRAGON_API const char* Name(DeviceType type);

struct Device {
  DeviceType type = DeviceType::kCPU;
  int16_t index = 0;

  bool is_cpu() const { return type == DeviceType::kCPU; }
  bool is_meta() const { return type == DeviceType::kMeta; }
  friend bool operator==(Device a, Device b) { return a.type == b.type && a.index == b.index; }
  friend bool operator!=(Device a, Device b) { return !(a == b); }
  /// "cpu", "meta", "cuda:1".
  std::string str() const {
    std::string name = Name(type);
    return type == DeviceType::kCPU || type == DeviceType::kMeta ? name : name + ":" + std::to_string(index);
  }
  friend std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }
  /// Read "cpu", "cuda" or "cuda:1"; anything else is a ValueError.
  DRAGON_API static Device Parse(const std::string& text);
};

/// What a kind of device must offer. Backends are registered from outside libdragon as well (CUDA, the fake device).
class DRAGON_API Backend {
 public:
  virtual ~Backend() = default;
  /// How many devices of this type exist now.
  virtual int Count() const = 0;
  /// Raw memory of the device, or nullptr when there is none left. Aligned to 64 bytes.
  virtual void* Allocate(int index, size_t bytes) = 0;
  virtual void Free(int index, void* pointer, size_t bytes) = 0;
  /// Copies are ordered after earlier work on the device's current stream. When they return, the host's memory is the
  /// caller's own again, and has what was asked for.
  virtual void CopyFromHost(int index, void* device, const void* host, size_t bytes) = 0;
  virtual void CopyToHost(int index, void* host, const void* device, size_t bytes) = 0;
  virtual void CopyWithin(int index, void* to, const void* from, size_t bytes) = 0;
  /// Copy to memory that no work has been queued for; it is there for all streams on return, and no work is waited for.
  virtual void Bring(int index, void* device, const void* host, size_t bytes) {
    CopyFromHost(index, device, host, bytes);
  }
  virtual void* CurrentStream(int /*index*/) { return nullptr; }
  virtual void Synchronize(int /*index*/) {}
};

/// Make a device type usable. Registering a type twice is a RuntimeError.
DRAGON_API void RegisterBackend(DeviceType type, std::unique_ptr<Backend> backend);
DRAGON_API bool HasBackend(DeviceType type);
/// The backend of a type; a RuntimeError that says how to get one when there is none.
DRAGON_API Backend& BackendOf(DeviceType type);

}  // namespace dragon
