// A device that lives in host memory and pretends not to: whoever touches its addresses on the host faults at once.
// Built as a library of its own and entered with LoadLibrary, as any device from outside would be.
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>

#include "core/base/error.h"
#include "core/device/device.h"

namespace dragon {
namespace {

constexpr int kDevices = 2;
constexpr size_t kCapacity = size_t{1} << 30;

/// How often and how much was copied, for tests that count.
struct Counts {
  int64_t from_host = 0, to_host = 0, within = 0, bytes = 0;
} g_counts;

/// One device: an address range without access that is handed out, and beside it the memory that stands behind it.
class Arena {
 public:
  Arena() : handles_(Reserve(PROT_NONE)), memory_(Reserve(PROT_READ | PROT_WRITE)), free_{{0, kCapacity}} {}

  /// First fit. nullptr when there is no gap of that size.
  void* Allocate(size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    const size_t size = (bytes + 64) / 64 * 64;
    for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
      const auto [offset, room] = *gap;
      if (room < size) continue;
      free_.erase(gap);
      if (room > size) free_[offset + size] = room - size;
      used_[offset] = size;
      std::memset(memory_ + offset, 0xFF, size);  // a NaN in every dtype
      return handles_ + offset;
    }
    return nullptr;
  }

  void Free(void* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto block = used_.find(static_cast<char*>(handle) - handles_);
    if (block == used_.end())
      throw RuntimeError("fake device").Got("a free of unknown memory").Expected("a live block");
    auto [offset, size] = *block;
    used_.erase(block);
    std::memset(memory_ + offset, 0xFF, size);
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && offset + size == next->first) size += next->second, next = free_.erase(next);
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
      std::prev(next)->second += size;
    } else {
      free_[offset] = size;
    }
  }

  /// What stands behind `bytes` bytes at an address, which must lie in one live block.
  char* Behind(const void* handle, size_t bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    const size_t offset = static_cast<const char*>(handle) - handles_;
    auto block = used_.upper_bound(offset);
    if (block == used_.begin() || (--block)->first + block->second < offset + bytes) {
      throw RuntimeError("fake device").Got("a copy outside of live memory").Expected("one inside a block");
    }
    return memory_ + offset;
  }

 private:
  static char* Reserve(int protection) {
    void* range = mmap(nullptr, kCapacity, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) throw MemoryError("fake device").Says("no address space for it");
    return static_cast<char*>(range);
  }

  std::mutex mutex_;
  char* handles_;
  char* memory_;
  std::map<size_t, size_t> free_, used_;  // offset -> size
};

class FakeBackend : public Backend {
 public:
  int Count() const override { return kDevices; }
  void* Allocate(int index, size_t bytes) override { return arenas_[index].Allocate(bytes); }
  void Free(int index, void* pointer, size_t) override { arenas_[index].Free(pointer); }
  void CopyFromHost(int index, void* device, const void* host, size_t bytes) override {
    ++g_counts.from_host;
    Copy(arenas_[index].Behind(device, bytes), host, bytes);
  }
  void CopyToHost(int index, void* host, const void* device, size_t bytes) override {
    ++g_counts.to_host;
    Copy(host, arenas_[index].Behind(device, bytes), bytes);
  }
  void CopyWithin(int index, void* to, const void* from, size_t bytes) override {
    ++g_counts.within;
    Copy(arenas_[index].Behind(to, bytes), arenas_[index].Behind(from, bytes), bytes);
  }

 private:
  static void Copy(void* to, const void* from, size_t bytes) {
    g_counts.bytes += static_cast<int64_t>(bytes);
    if (bytes) std::memmove(to, from, bytes);
  }

  Arena arenas_[kDevices];
};

[[maybe_unused]] const bool g_entered = (RegisterBackend(DeviceType::kFake, std::make_unique<FakeBackend>()), true);

}  // namespace
}  // namespace dragon

/// Copies from the host, to the host, within a device, and the bytes of all of them, since the library was loaded.
extern "C" DRAGON_API void dragon_fake_counts(int64_t counts[4]) {
  const auto& now = dragon::g_counts;
  counts[0] = now.from_host, counts[1] = now.to_host, counts[2] = now.within, counts[3] = now.bytes;
}
