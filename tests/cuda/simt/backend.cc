// The machine as the engine's CUDA device: loading this library is as if a GPU had been put in.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "core/base/error.h"
#include "core/device/accelerator.h"
#include "core/device/cuda/capability.h"
#include "core/device/cuda/faults.h"
#include "tests/cuda/simt/machine.h"
#include "tests/cuda/simt/shared.h"

namespace simt {
namespace {

constexpr size_t kCapacity = size_t{4} << 30;

/// Whose instructions the machine has, as 90: $DRAGON_SIMT_CAPABILITY has kernels chosen as on another card.
int Capability() {
  static const int capability = [] {
    const char* const asked = std::getenv("DRAGON_SIMT_CAPABILITY");
    return asked && *asked ? std::atoi(asked) : 90;
  }();
  return capability;
}

/// One range of addresses, closed to the host unless somebody holds it open. DRAGON_ALLOCATOR=naive has every tensor
/// ask for its own block, behind which AddressSanitizer knows of bytes that are nobody's.
class Arena {
 public:
  static Arena& Get() {
    static auto* arena = new Arena;
    return *arena;
  }

  void* Allocate(size_t bytes) {
    const OpenMemory open;
    std::lock_guard<std::mutex> lock(mutex_);
    const size_t size = (bytes + 256) / 256 * 256;
    for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
      const auto [offset, room] = *gap;
      if (room < size) continue;
      free_.erase(gap);
      if (room > size) free_[offset + size] = room - size;
      used_[offset] = size;
      Mark(memory_ + offset, size, true);
      std::memset(memory_ + offset, FillByte(), size);
      Mark(memory_ + offset, size, false);
      Mark(memory_ + offset, bytes, true);
      return memory_ + offset;
    }
    return nullptr;
  }

  void Free(void* pointer) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto block = used_.find(static_cast<char*>(pointer) - memory_);
    if (block == used_.end())
      throw dragon::RuntimeError("simt").Got("a free of unknown memory").Expected("a live block");
    auto [offset, size] = *block;
    used_.erase(block);
    Mark(pointer, size, false);
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && offset + size == next->first) size += next->second, next = free_.erase(next);
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
      std::prev(next)->second += size;
    } else {
      free_[offset] = size;
    }
  }

  bool Has(const void* address) const {
    const char* at = static_cast<const char*>(address);
    return at >= memory_ && at < memory_ + kCapacity;
  }

  int64_t Room() {
    std::lock_guard<std::mutex> lock(mutex_);
    int64_t room = 0;
    for (const auto& gap : free_) room += static_cast<int64_t>(gap.second);
    return room;
  }

  void Open() {
    std::lock_guard<std::mutex> lock(door_);
    if (holders_++ == 0) mprotect(memory_, kCapacity, PROT_READ | PROT_WRITE);
  }
  void Close() {
    std::lock_guard<std::mutex> lock(door_);
    if (--holders_ == 0) mprotect(memory_, kCapacity, PROT_NONE);
  }

 private:
  Arena() : free_{{0, kCapacity}} {
    void* range = mmap(nullptr, kCapacity, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) throw dragon::MemoryError("simt").Says("no address space for a device");
    memory_ = static_cast<char*>(range);
  }

  std::mutex mutex_, door_;
  int holders_ = 0;
  char* memory_ = nullptr;
  std::map<size_t, size_t> free_, used_;  // offset -> size
};

/// Work is done when calls return: streams and events are those of a device that has nothing to queue, pinned memory is
/// the host's.
class SimtBackend : public dragon::Accelerator {
 public:
  int Count() const override { return 1; }
  void* Allocate(int, size_t bytes) override { return Arena::Get().Allocate(bytes); }
  void Free(int, void* pointer, size_t) override { Arena::Get().Free(pointer); }
  void CopyFromHost(int, void* device, const void* host, size_t bytes) override { Copy(device, host, bytes); }
  /// A GPU's backend waits here.
  void CopyToHost(int index, void* host, const void* device, size_t bytes) override {
    if (bytes) dragon::NoteWait("copy to the host");
    Copy(host, device, bytes);
    dragon::cuda::RaiseFault(index);
  }
  void Synchronize(int index) override { dragon::cuda::RaiseFault(index); }
  void CopyWithin(int, void* to, const void* from, size_t bytes) override { Copy(to, from, bytes); }
  std::pair<int64_t, int64_t> Memory(int) override { return {Arena::Get().Room(), kCapacity}; }
  dragon::DeviceFacts Facts(int) override {
    return {"a machine of fibres",
            std::string(16, '\0'),
            {{"total_memory", kCapacity},
             {"major", Capability() / 10},
             {"minor", Capability() % 10},
             {"multi_processor_count", 1},
             {"warp_size", 32},
             {"max_threads_per_block", 1024},
             {"max_threads_per_multi_processor", 2048},
             {"L2_cache_size", 0}}};
  }

 private:
  static void Copy(void* to, const void* from, size_t bytes) {
    const OpenMemory open;
    if (bytes) std::memmove(to, from, bytes);
  }
};

[[maybe_unused]] const bool g_entered =
    (dragon::RegisterBackend(dragon::DeviceType::kCUDA, std::make_unique<SimtBackend>()), true);

}  // namespace

void RequireDevice(const char* who, const void* address) {
  if (!address || Arena::Get().Has(address)) return;
  throw dragon::RuntimeError(who).Got("an address of the host").Expected("device memory: a GPU would fault here");
}

OpenMemory::OpenMemory() { Arena::Get().Open(); }
OpenMemory::~OpenMemory() { Arena::Get().Close(); }

}  // namespace simt

namespace dragon::cuda {
int CapabilityOf(int) { return simt::Capability(); }
}  // namespace dragon::cuda
