// Streams and events of a device whose calls have ended when they return, and what a thread says of devices.
#include "core/device/accelerator.h"

#include <array>
#include <atomic>
#include <chrono>
#include <utility>

#include "core/base/error.h"
#include "core/device/allocator.h"

namespace dragon {

namespace {

constexpr int kStreams = 32;

/// Streams that are only told from one another.
char g_streams[kStreams];
std::atomic<unsigned> g_next_stream{0};

/// When an event was recorded; nothing before that.
struct Moment {
  bool recorded = false;
  std::chrono::steady_clock::time_point at;
};

thread_local std::array<void*, kMostDevices> t_streams{};
thread_local int t_index = 0;
thread_local const char* t_waiting_for = nullptr;
std::atomic<WaitWatcher> g_watcher{nullptr};

[[noreturn]] void RefuseLending() {
  throw RuntimeError("CUDA").Got("a device whose memory other processes cannot see").Expected("one that can lend it");
}

[[noreturn]] void RefuseCapture() {
  throw RuntimeError("CUDA graph").Got("a device whose work is done at once").Expected("one that can note it down");
}

}  // namespace

void* Accelerator::CurrentStream(int index) { return index >= 0 && index < kMostDevices ? t_streams[index] : nullptr; }
void Accelerator::SetCurrentStream(int index, void* stream) { t_streams.at(index) = stream; }
void* Accelerator::DefaultStream(int) { return nullptr; }
void* Accelerator::NewStream(int, int) { return &g_streams[g_next_stream.fetch_add(1) % kStreams]; }

void* Accelerator::NewEvent(int, bool, bool, bool) { return new Moment; }
void Accelerator::DropEvent(int, void* event) { delete static_cast<Moment*>(event); }
void Accelerator::RecordEvent(int, void* event, void*) {
  *static_cast<Moment*>(event) = {true, std::chrono::steady_clock::now()};
}
double Accelerator::Elapsed(int, void* from, void* to) {
  const auto *first = static_cast<Moment*>(from), *last = static_cast<Moment*>(to);
  return std::chrono::duration<double, std::milli>(last->at - first->at).count();
}

void Accelerator::QueueFromHost(int index, void* device, const void* host, size_t bytes) {
  CopyFromHost(index, device, host, bytes);
}
void Accelerator::QueueToHost(int index, void* host, const void* device, size_t bytes) {
  CopyToHost(index, host, device, bytes);
}
void Accelerator::CopyBetween(int to_index, void* to, int from_index, const void* from, size_t bytes) {
  if (bytes == 0) return;
  void* const host = AllocateHost(bytes);
  try {
    CopyToHost(from_index, host, from, bytes);
    CopyFromHost(to_index, to, host, bytes);
  } catch (...) {
    FreeHost(host, bytes);
    throw;
  }
  FreeHost(host, bytes);
}
std::string Accelerator::LendMemory(int, const void*) { RefuseLending(); }
std::string Accelerator::LendEvent(int, void*) { RefuseLending(); }
void* Accelerator::BorrowMemory(int, const std::string&) { RefuseLending(); }
void* Accelerator::BorrowEvent(int, const std::string&) { RefuseLending(); }
void* Accelerator::MapPinned(size_t bytes) { return AllocateHost(bytes); }
void Accelerator::UnmapPinned(void* pointer, size_t bytes) { FreeHost(pointer, bytes); }

void Accelerator::BeginCapture(int, void*, int) { RefuseCapture(); }
void* Accelerator::EndCapture(int, void*) { RefuseCapture(); }
void Accelerator::LaunchGraph(int, void*, void*) { RefuseCapture(); }
void Accelerator::DropGraph(int, void*) {}
void Accelerator::DumpGraph(void*, const std::string&) { RefuseCapture(); }

Accelerator& AcceleratorOf(DeviceType type) {
  if (auto* found = dynamic_cast<Accelerator*>(&BackendOf(type))) return *found;
  throw RuntimeError("device").Got(Name(type), ", which has no streams").Expected("a CUDA device");
}

int CurrentIndex() { return t_index; }

void SetCurrentIndex(int index) {
  const int count = HasBackend(DeviceType::kCUDA) ? BackendOf(DeviceType::kCUDA).Count() : 0;
  if (index < 0 || index >= count) {
    throw RuntimeError("cuda")
        .Says("CUDA error: invalid device ordinal")
        .Got("device ", index)
        .Expected("an index below ", count, ", the number of CUDA devices");
  }
  t_index = index;
}

bool& CopiesMayBeQueued() {
  static thread_local bool may = false;
  return may;
}

std::atomic<int>& CapturesUnderWay() {
  static std::atomic<int> count{0};
  return count;
}

void SetWaitWatcher(WaitWatcher watcher) { g_watcher.store(watcher); }

WaitingFor::WaitingFor(const char* who) : before_(std::exchange(t_waiting_for, who)) {}
WaitingFor::~WaitingFor() { t_waiting_for = before_; }

void Accelerator::RefuseWait(int index, void* stream, const char* who) {
  if (DRAGON_LIKELY(CapturesUnderWay().load(std::memory_order_relaxed) == 0)) return;
  if (!IsCapturing(index, stream)) return;
  throw RuntimeError(t_waiting_for ? t_waiting_for : who)
      .Says("operation not permitted when stream is capturing")
      .Got("a wait of the host for the device, whose work is being noted down for a graph")
      .Expected("calls that leave their results on the device");
}

void Accelerator::NoteWait(int index, const char* who) {
  RefuseWait(index, CurrentStream(index), who);
  const WaitWatcher watcher = g_watcher.load(std::memory_order_relaxed);
  if (watcher) watcher(t_waiting_for ? t_waiting_for : who);
}

}  // namespace dragon
