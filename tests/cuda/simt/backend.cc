// The machine as the engine's CUDA device: loading this library is as if a GPU had been put in.
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <vector>

#include "core/base/error.h"
#include "core/device/accelerator.h"
#include "core/device/cuda/faults.h"
#include "tests/cuda/simt/machine.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace simt {
namespace {

constexpr size_t kCapacity = size_t{4} << 30;

/// AddressSanitizer is told which bytes are somebody's. DRAGON_ALLOCATOR=naive has every tensor ask for its own.
void Mark([[maybe_unused]] void* memory, [[maybe_unused]] size_t bytes, [[maybe_unused]] bool usable) {
#if defined(__SANITIZE_ADDRESS__)
  if (usable) {
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
  } else {
    ASAN_POISON_MEMORY_REGION(memory, bytes);
  }
#endif
}

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
      Mark(memory_ + offset, size, true);
      std::memset(memory_ + offset, 0xFF, size);  // a NaN in every dtype
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

/// Work is done when calls return, unless it is noted down for a graph: streams and events are those of a device that
/// has nothing to queue, pinned memory is the host's.
class SimtBackend : public dragon::Accelerator {
 public:
  int Count() const override { return 1; }
  void* Allocate(int, size_t bytes) override { return Arena::Get().Allocate(bytes); }
  void Free(int, void* pointer, size_t) override { Arena::Get().Free(pointer); }
  void CopyFromHost(int, void* device, const void* host, size_t bytes) override {
    if (!NotedByThread()) return Copy(device, host, bytes);
    const char* const from = static_cast<const char*>(host);
    Queue([device, copy = std::vector<char>(from, from + bytes)] { std::memcpy(device, copy.data(), copy.size()); });
  }
  /// Copies of pinned memory read it when a graph runs.
  void QueueFromHost(int, void* device, const void* host, size_t bytes) override { Move(device, host, bytes); }
  void QueueToHost(int index, void* host, const void* device, size_t bytes) override {
    if (NotedByThread()) return Move(host, device, bytes);
    CopyToHost(index, host, device, bytes);
  }
  /// At once, whatever is noted down.
  void Bring(int, void* device, const void* host, size_t bytes) override { Copy(device, host, bytes); }
  /// A GPU's backend waits here.
  void CopyToHost(int index, void* host, const void* device, size_t bytes) override {
    if (bytes) NoteWait(index, "copy to the host");
    Copy(host, device, bytes);
    dragon::cuda::RaiseFault(index);
  }
  void Synchronize(int index) override {
    RefuseWait(index, CurrentStream(index), "synchronize");
    dragon::cuda::RaiseFault(index);
  }
  void SynchronizeStream(int index, void* stream) override { RefuseWait(index, stream, "synchronize"); }
  void CopyWithin(int, void* to, const void* from, size_t bytes) override { Move(to, from, bytes); }

  void BeginCapture(int, void* stream, int) override {
    if (NotedByThread()) throw dragon::RuntimeError("cuda graph: begin").Says("a graph is being noted down");
    NotedByThread() = new Noted{stream, {}};
    dragon::CapturesUnderWay().fetch_add(1);
  }
  void* EndCapture(int, void* stream) override {
    Noted* const noted = NotedByThread();
    if (!noted || noted->stream != stream) throw dragon::RuntimeError("cuda graph: end").Says("an invalid capture");
    dragon::CapturesUnderWay().fetch_sub(1);
    NotedByThread() = nullptr;
    return noted;
  }
  bool IsCapturing(int, void* stream) override { return NotedByThread() && NotedByThread()->stream == stream; }
  void LaunchGraph(int, void* graph, void*) override {
    if (NotedByThread()) throw dragon::RuntimeError("cuda graph: launch").Says("a graph is being noted down");
    const OpenMemory open;
    for (const auto& work : static_cast<Noted*>(graph)->works) work();
  }
  void DropGraph(int, void* graph) override { delete static_cast<Noted*>(graph); }
  void DumpGraph(void* graph, const std::string& path) override {
    std::ofstream(path) << "digraph dragon { works [label=\"" << static_cast<Noted*>(graph)->works.size() << "\"] }\n";
  }
  std::pair<int64_t, int64_t> Memory(int) override { return {Arena::Get().Room(), kCapacity}; }
  dragon::DeviceFacts Facts(int) override {
    return {"a machine of fibres",
            std::string(16, '\0'),
            {{"total_memory", kCapacity},
             {"major", 9},
             {"minor", 0},
             {"multi_processor_count", 1},
             {"warp_size", 32},
             {"max_threads_per_block", 1024},
             {"max_threads_per_multi_processor", 2048},
             {"L2_cache_size", 0}}};
  }

 private:
  static void Move(void* to, const void* from, size_t bytes) {
    if (bytes) Queue([=] { std::memmove(to, from, bytes); });
  }
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
