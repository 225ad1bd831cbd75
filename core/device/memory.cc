// The state machine of UnifiedMemory: which copy is true, and the copies between them.
#include "core/device/memory.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/device/absent.h"
#include "core/device/allocator.h"

namespace dragon {

namespace {

/// Copies are rare and long beside taking a lock, so all memories share a few.
std::mutex& LockOf(const UnifiedMemory* memory) {
  static auto* locks = new std::mutex[16];
  return locks[reinterpret_cast<uintptr_t>(memory) / 64 % 16];
}

void RefuseAbsent() {
  if (!NumbersAreAbsent()) return;
  throw NotImplementedError("memory").Got("a look at numbers that are not known yet").Expected("shapes only");
}

/// Whoever keeps a tensor of a run that only worked out shapes must not be given what lies in memory instead of
/// numbers.
void RefuseUnwritten(size_t bytes) {
  RefuseAbsent();
  if (bytes == 0) return;
  throw RuntimeError("memory")
      .Got(
          "a look at the numbers of a tensor that was made while only shapes were worked out, or whose storage was "
          "emptied")
      .Expected(
          "a tensor of this call, or one that was written since; one that is kept for later is to be made of "
          "data, or outside such a run");
}

}  // namespace

bool& NumbersAreAbsent() {
  static thread_local bool absent = false;
  return absent;
}

UnifiedMemory::UnifiedMemory(Device device, size_t bytes) : bytes_(bytes) {
  if (device.is_cpu()) {
    host_ = AllocateHost(bytes);
    set(State::kAtHost);
  } else {
    on_device_ = DeviceAllocator(device).Allocate(bytes);
    device_ = device;
    set(State::kAtDevice);
  }
}

UnifiedMemory::UnifiedMemory(void* host, size_t bytes, Release release)
    : UnifiedMemory(Device{}, host, bytes, std::move(release)) {}

UnifiedMemory::UnifiedMemory(Device device, void* data, size_t bytes, Release release)
    : bytes_(bytes), lender_(device), release_(std::move(release)) {
  if (!release_) throw ValueError("UnifiedMemory").Got("borrowed bytes without a release function").Expected("one");
  if (device.is_cpu()) {
    host_ = data;
    set(State::kAtHost);
  } else {
    on_device_ = data;
    device_ = device;
    set(State::kAtDevice);
  }
}

UnifiedMemory::~UnifiedMemory() {
  FreeHostCopy();
  FreeDeviceCopy();
  if (release_) release_();
}

void UnifiedMemory::FreeHostCopy() const {
  if (host_ && !(release_ && lender_.is_cpu())) FreeHost(host_, bytes_);
  host_ = nullptr;
}

void UnifiedMemory::FreeDeviceCopy() const {
  if (!on_device_) return;
  if (release_ && !lender_.is_cpu()) {
    // The data has moved on from the lender's bytes; nothing of ours is there any more.
    std::exchange(release_, nullptr)();
  } else {
    DeviceAllocator(device_).Free(on_device_, bytes_);
  }
  on_device_ = nullptr;
}

void UnifiedMemory::EnsureHost() const {
  if (state() == State::kUninitialized) RefuseAbsent();
  if (!host_) host_ = AllocateHost(bytes_);
  if (state() == State::kAtDevice) BackendOf(device_.type).CopyToHost(device_.index, host_, on_device_, bytes_);
}

void UnifiedMemory::EnsureDevice(Device device) const {
  if (on_device_ && device_ != device) {
    if (state() == State::kAtDevice) {
      EnsureHost();
      set(State::kSynced);
    }
    // Get the new memory before the old is gone: a failure leaves everything as it was.
    void* const fresh = DeviceAllocator(device).Allocate(bytes_);
    if (bits() & kDeviceBit) set(bits() & kHostBit ? State::kAtHost : State::kUninitialized);
    FreeDeviceCopy();
    on_device_ = fresh;
  } else if (!on_device_) {
    on_device_ = DeviceAllocator(device).Allocate(bytes_);
  }
  device_ = device;
  if (state() == State::kAtHost) {
    BackendOf(device.type).CopyFromHost(device.index, on_device_, host_, bytes_);
  }
}

const void* UnifiedMemory::HostSlow() const {
  std::lock_guard<std::mutex> lock(LockOf(this));
  if (bits() & kHostBit) return host_;
  if (state() == State::kUninitialized) RefuseUnwritten(bytes_);
  EnsureHost();
  set(state() == State::kAtDevice ? State::kSynced : State::kAtHost);
  return host_;
}

void* UnifiedMemory::MutableHostSlow() {
  std::lock_guard<std::mutex> lock(LockOf(this));
  EnsureHost();
  set(State::kAtHost);
  return host_;
}

const void* UnifiedMemory::DeviceSlow(Device device) const {
  std::lock_guard<std::mutex> lock(LockOf(this));
  if ((bits() & kDeviceBit) && device_ == device) return on_device_;
  if (state() == State::kUninitialized) RefuseUnwritten(bytes_);
  EnsureDevice(device);
  set(state() == State::kAtHost || state() == State::kSynced ? State::kSynced : State::kAtDevice);
  return on_device_;
}

void* UnifiedMemory::MutableDeviceSlow(Device device) {
  std::lock_guard<std::mutex> lock(LockOf(this));
  EnsureDevice(device);
  set(State::kAtDevice);
  return on_device_;
}

void UnifiedMemory::DropSpareCopy() {
  std::lock_guard<std::mutex> lock(LockOf(this));
  const bool borrowed = is_borrowed();
  if (state() == State::kAtDevice) {
    if (!(borrowed && lender_.is_cpu())) FreeHostCopy();
  } else if (!(borrowed && !lender_.is_cpu())) {
    if (state() == State::kSynced) set(State::kAtHost);
    FreeDeviceCopy();
  }
}

void UnifiedMemory::Grow(size_t bytes) {
  if (bytes <= bytes_) return;
  if (is_borrowed()) throw RuntimeError("memory").Got("borrowed bytes to grow").Expected("bytes of our own");
  std::lock_guard<std::mutex> lock(LockOf(this));
  const bool written = state() != State::kUninitialized;
  if (written) EnsureHost();
  void* const fresh = AllocateHost(bytes);
  if (written && bytes_ > 0) std::memcpy(fresh, host_, bytes_);
  FreeHostCopy();
  FreeDeviceCopy();
  host_ = fresh;
  bytes_ = bytes;
  set(State::kAtHost);
}

void UnifiedMemory::Empty() {
  if (is_borrowed()) return;
  std::lock_guard<std::mutex> lock(LockOf(this));
  set(State::kUninitialized);
  FreeHostCopy();
  FreeDeviceCopy();
}

}  // namespace dragon
