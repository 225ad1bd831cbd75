// The machine as the engine's CUDA devices: loading this library is as if GPUs had been put in.
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "core/base/error.h"
#include "core/device/accelerator.h"
#include "core/device/cuda/capability.h"
#include "core/device/cuda/cudnn.h"
#include "core/device/cuda/faults.h"
#include "tests/cuda/simt/arena.h"
#include "tests/cuda/simt/machine.h"

namespace simt {
namespace {

std::atomic<bool> g_forked{false};
[[maybe_unused]] const int g_watches_forks = pthread_atfork(nullptr, nullptr, [] { g_forked = true; });

/// Whose instructions the machine has, as 90: $DRAGON_SIMT_CAPABILITY has kernels chosen as on another card.
int Capability() {
  static const int capability = [] {
    const char* const asked = std::getenv("DRAGON_SIMT_CAPABILITY");
    return asked && *asked ? std::atoi(asked) : 90;
  }();
  return capability;
}

/// Work is done when calls return, unless it is noted down for a graph: streams and events are those of a device that
/// has nothing to queue, pinned memory is the host's.
class SimtBackend : public dragon::Accelerator {
 public:
  int Count() const override { return DeviceCount(); }
  bool IsLostToFork() override { return g_forked; }
  void* Allocate(int index, size_t bytes) override {
    Enter(index);
    return Arena::Of(index).Allocate(bytes);
  }
  void Free(int index, void* pointer, size_t) override {
    if (!IsLostToFork()) Arena::Of(index).Free(pointer);
  }
  void CopyFromHost(int index, void* device, const void* host, size_t bytes) override {
    if (!NotedByThread()) return Copy(index, device, host, bytes);
    const char* const from = static_cast<const char*>(host);
    Queue([device, copy = std::vector<char>(from, from + bytes)] { std::memcpy(device, copy.data(), copy.size()); });
  }
  /// Copies of pinned memory read it when a graph runs.
  void QueueFromHost(int index, void* device, const void* host, size_t bytes) override {
    Move(index, device, host, bytes);
  }
  void QueueToHost(int index, void* host, const void* device, size_t bytes) override {
    if (NotedByThread()) return Move(index, host, device, bytes);
    CopyToHost(index, host, device, bytes);
  }
  /// At once, whatever is noted down.
  void Bring(int index, void* device, const void* host, size_t bytes) override { Copy(index, device, host, bytes); }
  /// A GPU's backend waits here.
  void CopyToHost(int index, void* host, const void* device, size_t bytes) override {
    if (bytes) NoteWait(index, "copy to the host");
    Copy(index, host, device, bytes);
    dragon::cuda::RaiseFault(index);
  }
  void Synchronize(int index) override {
    Enter(index);
    RefuseWait(index, CurrentStream(index), "synchronize");
    dragon::cuda::RaiseFault(index);
  }
  void SynchronizeStream(int index, void* stream) override { RefuseWait(index, stream, "synchronize"); }
  void CopyWithin(int index, void* to, const void* from, size_t bytes) override { Move(index, to, from, bytes); }
  void CopyBetween(int to_index, void* to, int from_index, const void* from, size_t bytes) override {
    Enter(to_index);
    const OpenMemory there(from_index);
    Copy(to_index, to, from, bytes);
  }
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
  void LaunchGraph(int index, void* graph, void*) override {
    if (NotedByThread()) throw dragon::RuntimeError("cuda graph: launch").Says("a graph is being noted down");
    Enter(index);
    const OpenMemory open(index);
    for (const auto& work : static_cast<Noted*>(graph)->works) work();
  }
  void DropGraph(int, void* graph) override { delete static_cast<Noted*>(graph); }
  void DumpGraph(void* graph, const std::string& path) override {
    std::ofstream(path) << "digraph dragon { works [label=\"" << static_cast<Noted*>(graph)->works.size() << "\"] }\n";
  }
  std::string LendMemory(int index, const void* base) override {
    const Arena::Lent lent = Arena::Of(index).Lend(base);
    return std::string(reinterpret_cast<const char*>(&lent), sizeof(lent));
  }
  /// Work is done when calls return: so an event of another process has come.
  std::string LendEvent(int, void*) override { return "event"; }
  void* BorrowEvent(int index, const std::string&) override { return NewEvent(index, false, false, true); }
  void* BorrowMemory(int index, const std::string& words) override {
    Enter(index);
    Arena::Lent lent;
    if (words.size() != sizeof(lent)) throw dragon::ValueError("simt").Got("a broken handle").Expected("a whole one");
    std::memcpy(&lent, words.data(), sizeof(lent));
    return Arena::Of(index).Borrow(lent);
  }
  void ReturnMemory(int index, void* base) override {
    if (!IsLostToFork()) Arena::Of(index).Return(base);
  }
  bool CanReach(int index, int peer) override { return Arena::Of(index).Room() >= 0 && index != peer; }
  std::pair<int64_t, int64_t> Memory(int index) override { return {Arena::Of(index).Room(), kCapacity}; }
  void* ReserveAddresses(int index, size_t bytes, size_t) override { return Arena::Of(index).pages().Reserve(bytes); }
  void ReleaseAddresses(int index, void* base, size_t bytes) override { Arena::Of(index).pages().Release(base, bytes); }
  std::optional<uint64_t> MapPage(int index, void* at, size_t page) override {
    if (Arena::Of(index).Room() < static_cast<int64_t>(page)) return std::nullopt;
    return Arena::Of(index).pages().Map(at, page), reinterpret_cast<uint64_t>(at);
  }
  void UnmapPage(int index, void* at, size_t page, uint64_t) override { Arena::Of(index).pages().Unmap(at, page); }
  int64_t LibraryVersion(const std::string& name) override {
    return name == "cudnn" && dragon::cudnn::Usable() ? static_cast<int64_t>(dragon::cudnn::Version()) : 0;
  }
  void* CurrentStream(int index) override {
    Enter(index);
    return Accelerator::CurrentStream(index);
  }
  dragon::DeviceFacts Facts(int index) override {
    std::string uuid(16, '\0');
    uuid.back() = static_cast<char>(index);
    return {"a machine of fibres",
            uuid,
            {{"total_memory", kCapacity},
             {"major", Capability() / 10},
             {"minor", Capability() % 10},
             {"multi_processor_count", 132},
             {"warp_size", 32},
             {"max_threads_per_block", 1024},
             {"max_threads_per_multi_processor", 2048},
             {"L2_cache_size", 0}}};
  }

 private:
  /// As with a GPU: a child of a process that has used it may not.
  void Enter(int index) {
    if (IsLostToFork()) {
      throw dragon::RuntimeError("cuda").Says(
          "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' "
          "start method");
    }
    SetCurrentDevice(index);
  }
  void Move(int index, void* to, const void* from, size_t bytes) {
    Enter(index);
    if (bytes) Queue([=] { std::memmove(to, from, bytes); });
  }
  void Copy(int index, void* to, const void* from, size_t bytes) {
    Enter(index);
    const OpenMemory open(index);
    if (bytes) std::memmove(to, from, bytes);
  }
};

[[maybe_unused]] const bool g_entered =
    (dragon::RegisterBackend(dragon::DeviceType::kCUDA, std::make_unique<SimtBackend>()), true);

}  // namespace
}  // namespace simt

namespace dragon::cuda {
int CapabilityOf(int) { return simt::Capability(); }
}  // namespace dragon::cuda
