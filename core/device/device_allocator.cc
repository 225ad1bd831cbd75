// The caching allocators of devices other than the host, over what their backends offer.
#include <map>
#include <memory>

#include "core/base/error.h"
#include "core/device/block_cache.h"
#include "core/device/stream_allocator.h"

namespace dragon {

namespace {

class BackendSource : public BlockSource {
 public:
  explicit BackendSource(Device device) : device_(device) {}
  void* Map(size_t bytes) override { return BackendOf(device_.type).Allocate(device_.index, bytes); }
  void Unmap(void* pointer, size_t bytes) override { BackendOf(device_.type).Free(device_.index, pointer, bytes); }

 private:
  Device device_;
};

class CachingDeviceAllocator : public Allocator {
 public:
  explicit CachingDeviceAllocator(Device device) : device_(device), source_(device), blocks_(&source_, &ledger_) {}

  void* Allocate(size_t bytes) override {
    void* pointer = bytes > SizeClass::kLargest ? nullptr : blocks_.Take(bytes);
    if (!pointer) ThrowOutOfMemory(device_, bytes, Stats());
    const auto size = static_cast<int64_t>(bytes);
    ledger_.Use(size, size);
    if (bytes > 32768) ledger_.large.fetch_add(size, std::memory_order_relaxed);
    ledger_.allocations.fetch_add(1, std::memory_order_relaxed);
    return pointer;
  }

  void Free(void* pointer, size_t bytes) override {
    if (!pointer) return;
    const auto size = static_cast<int64_t>(bytes);
    ledger_.Use(-size, 0);
    if (bytes > 32768) ledger_.large.fetch_sub(size, std::memory_order_relaxed);
    ledger_.frees.fetch_add(1, std::memory_order_relaxed);
    blocks_.Put(pointer, bytes);
  }

  MemoryStats Stats() const override { return ledger_.Stats(blocks_.cached()); }
  void ResetPeak() override { ledger_.ResetPeak(); }
  void SetLimit(int64_t bytes) override { ledger_.limit.store(bytes, std::memory_order_relaxed); }
  void EmptyCache() override { blocks_.Empty(); }

 private:
  Device device_;
  Ledger ledger_;
  BackendSource source_;
  BlockCache blocks_;
};

}  // namespace

Allocator& DeviceAllocator(Device device) {
  if (device.is_cpu()) return HostAllocator();
  // Never destroyed: memory may come back after static destructors have run.
  static auto* mutex = new std::mutex;
  static auto* allocators = new std::map<std::pair<DeviceType, int>, std::unique_ptr<Allocator>>;
  std::lock_guard<std::mutex> lock(*mutex);
  auto& allocator = (*allocators)[{device.type, device.index}];
  if (!allocator) {
    const int count = BackendOf(device.type).Count();
    if (auto* accelerator = dynamic_cast<Accelerator*>(&BackendOf(device.type)); accelerator && count == 0) {
      throw RuntimeError("device").Got(device).Says(accelerator->WhyNone());
    }
    if (device.index < 0 || device.index >= count) {
      throw ValueError("device").Got(device).Expected("an index below ", count, ", the number of such devices");
    }
    if (device.type == DeviceType::kCUDA) {
      allocator = std::make_unique<StreamAllocator>(device);
    } else {
      allocator = std::make_unique<CachingDeviceAllocator>(device);
    }
  }
  return *allocator;
}

}  // namespace dragon
