// The machine as the engine's CUDA device: loading this library is as if a GPU had been put in.
#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>

#include "core/base/error.h"
#include "core/device/cuda/faults.h"
#include "core/device/device.h"
#include "tests/cuda/simt/machine.h"

namespace simt {
namespace {

constexpr size_t kCapacity = size_t{4} << 30;

/// One range of addresses, closed to the host unless somebody holds it open.
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
      std::memset(memory_ + offset, 0xFF, size);  // a NaN in every dtype
      return memory_ + offset;
    }
    return nullptr;
  }

  void Free(void* pointer) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto block = used_.find(static_cast<char*>(pointer) - memory_);
    if (block == used_.end()) throw dragon::RuntimeError("simt").Got("a free of unknown memory").Expected("a live block");
    auto [offset, size] = *block;
    used_.erase(block);
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && offset + size == next->first) size += next->second, next = free_.erase(next);
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
      std::prev(next)->second += size;
    } else {
      free_[offset] = size;
    }
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

class SimtBackend : public dragon::Backend {
 public:
  int Count() const override { return 1; }
  void* Allocate(int, size_t bytes) override { return Arena::Get().Allocate(bytes); }
  void Free(int, void* pointer, size_t) override { Arena::Get().Free(pointer); }
  void CopyFromHost(int, void* device, const void* host, size_t bytes) override { Copy(device, host, bytes); }
  void CopyToHost(int index, void* host, const void* device, size_t bytes) override {
    Copy(host, device, bytes);
    dragon::cuda::RaiseFault(index);
  }
  void CopyWithin(int, void* to, const void* from, size_t bytes) override { Copy(to, from, bytes); }
  void Synchronize(int index) override { dragon::cuda::RaiseFault(index); }

 private:
  static void Copy(void* to, const void* from, size_t bytes) {
    const OpenMemory open;
    if (bytes) std::memmove(to, from, bytes);
  }
};

[[maybe_unused]] const bool g_entered =
    (dragon::RegisterBackend(dragon::DeviceType::kCUDA, std::make_unique<SimtBackend>()), true);

}  // namespace

OpenMemory::OpenMemory() { Arena::Get().Open(); }
OpenMemory::~OpenMemory() { Arena::Get().Close(); }

}  // namespace simt
