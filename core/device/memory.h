// The bytes under tensors: on the host, on a device, or on both, moved only when somebody needs them elsewhere.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/base/macros.h"
#include "core/device/device.h"

namespace dragon {

/// A number of bytes with up to two copies, one on the host and one on one device, and a note which of them hold
/// the truth. `host` and `device` are for reading and leave both copies true; the `mutable_` ones make the other copy
/// stale. Readers may come from several threads; a writer must be alone, as with any memory. On the host the cost of
/// asking is one compare and one load. Staging through pinned memory is the business of a Backend's copies.
class DRAGON_API UnifiedMemory {
 public:
  /// Bit 0: the host's copy is true; bit 1: the device's copy is.
  enum class State : uint8_t { kUninitialized = 0, kAtHost = 1, kAtDevice = 2, kSynced = 3 };
  using Release = std::function<void()>;

  /// Bytes that are allocated where they are first asked for.
  explicit UnifiedMemory(size_t bytes) : bytes_(bytes) {}
  /// Uninitialised bytes on a device, allocated now.
  UnifiedMemory(Device device, size_t bytes);
  /// Host memory of somebody else's; `release` is called once, when it is no longer needed here.
  UnifiedMemory(void* host, size_t bytes, Release release);
  /// The same for memory of any device.
  UnifiedMemory(Device device, void* data, size_t bytes, Release release);
  UnifiedMemory(const UnifiedMemory&) = delete;
  UnifiedMemory& operator=(const UnifiedMemory&) = delete;
  ~UnifiedMemory();

  const void* host() const {
    if (DRAGON_LIKELY(bits() & kHostBit)) return host_;
    return HostSlow();
  }
  void* mutable_host() {
    if (DRAGON_LIKELY(state() == State::kAtHost)) return host_;
    return MutableHostSlow();
  }
  /// The CPU is a device as well here: device(cpu) is host().
  const void* device(Device device) const {
    if (device.is_cpu()) return host();
    if (DRAGON_LIKELY((bits() & kDeviceBit) && device_ == device)) return on_device_;
    return DeviceSlow(device);
  }
  void* mutable_device(Device device) {
    if (device.is_cpu()) return mutable_host();
    if (DRAGON_LIKELY(state() == State::kAtDevice && device_ == device)) return on_device_;
    return MutableDeviceSlow(device);
  }

  State state() const { return state_.load(std::memory_order_acquire); }
  size_t bytes() const { return bytes_; }
  /// The device of the second copy; meaningful once there is one.
  Device second_device() const { return device_; }
  bool is_borrowed() const { return static_cast<bool>(release_); }
  /// Free the copy that is stale, or the device's if both are true. Borrowed bytes stay.
  void DropSpareCopy();
  /// Have at least so many bytes, the first of which say what they said. Borrowed bytes cannot grow.
  void Grow(size_t bytes);
  /// Give the bytes back, until somebody writes here again. Borrowed bytes stay.
  void Empty();
  /// Whatever the bytes said, they say nothing from now on.
  void Forget() { set(State::kUninitialized); }

 private:
  static constexpr uint8_t kHostBit = 1, kDeviceBit = 2;

  uint8_t bits() const { return static_cast<uint8_t>(state()); }
  const void* HostSlow() const;
  void* MutableHostSlow();
  const void* DeviceSlow(Device device) const;
  void* MutableDeviceSlow(Device device);
  void EnsureHost() const;
  /// Have memory on `device`, with the truth in it if there is any; what another device holds moves by way of the host.
  void EnsureDevice(Device device) const;
  void FreeHostCopy() const;
  void FreeDeviceCopy() const;
  void set(State state) const { state_.store(state, std::memory_order_release); }

  mutable std::atomic<State> state_{State::kUninitialized};
  mutable Device device_;
  size_t bytes_;
  mutable void* host_ = nullptr;
  mutable void* on_device_ = nullptr;
  Device lender_;  // where the borrowed bytes are
  mutable Release release_;
};

}  // namespace dragon
