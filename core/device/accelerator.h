// What a device with queues of work of its own offers beyond a Backend: streams, events, pinned memory, graphs.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/macros.h"
#include "core/device/device.h"

namespace dragon {

/// What a device is: its name, sixteen bytes that no other device has, and numbers by the names of CUDA's attributes.
struct DeviceFacts {
  std::string name, uuid;
  std::vector<std::pair<std::string, int64_t>> numbers;
};

/// A backend whose work is queued on streams. A stream, an event and a graph are addresses that the backend gave out;
/// the stream nullptr is the device's default one. What is written here is for a device whose calls have ended when
/// they return, with the host's memory for pinned memory; it cannot note graphs down.
class DRAGON_API Accelerator : public Backend {
 public:
  /// The stream on which this thread's work on a device goes; nullptr goes back to the default one.
  void* CurrentStream(int index) override;
  virtual void SetCurrentStream(int index, void* stream);
  virtual void* DefaultStream(int index);
  /// A stream that lives as long as the process: there is a fixed number of them, given out in turn. A priority below
  /// 0 goes before.
  virtual void* NewStream(int index, int priority);
  virtual std::pair<int, int> PriorityRange() { return {0, 0}; }
  virtual int Priority(int /*index*/, void* /*stream*/) { return 0; }
  virtual bool StreamIsDone(int /*index*/, void* /*stream*/) { return true; }
  virtual void SynchronizeStream(int /*index*/, void* /*stream*/) {}

  virtual void* NewEvent(int index, bool timed, bool blocking, bool shared);
  virtual void DropEvent(int index, void* event);
  virtual void RecordEvent(int index, void* event, void* stream);
  /// Have a stream's later work wait for an event; the host goes on.
  virtual void AwaitEvent(int /*index*/, void* /*event*/, void* /*stream*/) {}
  virtual bool EventIsDone(int /*index*/, void* /*event*/) { return true; }
  virtual void SynchronizeEvent(int /*index*/, void* /*event*/) {}
  /// Milliseconds between two events that were recorded and have come.
  virtual double Elapsed(int index, void* from, void* to);

  /// Copies that do not wait: the host's side is pinned, and stays as it is until the stream has come past the copy.
  virtual void QueueFromHost(int index, void* device, const void* host, size_t bytes);
  virtual void QueueToHost(int index, void* host, const void* device, size_t bytes);
  /// Copy from one device of the type to another, after earlier work on both devices' current streams and before what
  /// they are given later; the host does not wait where the devices can do it by themselves.
  virtual void CopyBetween(int to_index, void* to, int from_index, const void* from, size_t bytes);
  /// Words by which other processes of this machine find memory that Allocate gave out, and an event that is shared.
  virtual std::string LendMemory(int index, const void* base);
  virtual std::string LendEvent(int index, void* event);
  /// Memory of another process, as long as it is not given back; an event of one.
  virtual void* BorrowMemory(int index, const std::string& words);
  virtual void ReturnMemory(int /*index*/, void* /*base*/) {}
  virtual void* BorrowEvent(int index, const std::string& words);
  /// Memory of the host that the device reads and writes by itself; nullptr when there is none left.
  virtual void* MapPinned(size_t bytes);
  virtual void UnmapPinned(void* pointer, size_t bytes);

  /// Addresses without memory, to which pages of `page` bytes are given one by one; nullptr where that cannot be.
  virtual void* ReserveAddresses(int /*index*/, size_t /*bytes*/, size_t /*page*/) { return nullptr; }
  virtual void ReleaseAddresses(int /*index*/, void* /*base*/, size_t /*bytes*/) {}
  /// Put a page of memory behind addresses; what it is called, nothing where there is no memory left.
  virtual std::optional<uint64_t> MapPage(int /*index*/, void* /*at*/, size_t /*page*/) { return std::nullopt; }
  virtual void UnmapPage(int /*index*/, void* /*at*/, size_t /*page*/, uint64_t /*name*/) {}

  /// Why there is no device; empty where there is one.
  virtual std::string WhyNone() { return {}; }
  /// Whether this process was forked from one that used the device: nothing of it may be touched here.
  virtual bool IsLostToFork() { return false; }
  /// How many bytes of a device are free, and how many it has.
  virtual std::pair<int64_t, int64_t> Memory(int index) = 0;
  virtual DeviceFacts Facts(int index) = 0;
  virtual bool CanReach(int /*index*/, int /*peer*/) { return false; }
  /// The versions of the runtime that this was built with and of the driver, e.g. 13000; 0 for none.
  virtual std::pair<int, int> Versions() { return {0, 0}; }
  /// The version of a library that kernels would be handed to, by its name in small letters ("cudnn"); 0 where it is
  /// not there or not wanted.
  virtual int64_t LibraryVersion(const std::string& /*name*/) { return 0; }

  /// Note down what this thread queues on a stream instead of doing it; a mode is 0 (global), 1 (thread) or 2
  /// (relaxed).
  virtual void BeginCapture(int index, void* stream, int mode);
  /// What was noted, ready to run.
  virtual void* EndCapture(int index, void* stream);
  virtual bool IsCapturing(int /*index*/, void* /*stream*/) { return false; }
  virtual void LaunchGraph(int index, void* graph, void* stream);
  virtual void DropGraph(int index, void* graph);
  /// Write a graph as text for Graphviz.
  virtual void DumpGraph(void* graph, const std::string& path);

  /// To be called before a wait that nobody asked for by name: the watcher is told. `who` is the call, unless the
  /// operator has said its name (WaitingFor).
  void NoteWait(int index, const char* who);

 protected:
  /// To be called before every wait: a RuntimeError if the stream is being captured, which a wait would
  /// break.
  void RefuseWait(int index, void* stream, const char* who);
};

/// The accelerator of a type; a RuntimeError if its devices have no streams.
DRAGON_API Accelerator& AcceleratorOf(DeviceType type);

/// The index of the CUDA device that this thread means when it names none.
DRAGON_API int CurrentIndex();
/// Set it; a RuntimeError without such a device.
DRAGON_API void SetCurrentIndex(int index);

/// Whether copies that this thread asks for may return before they are done where memory is pinned. Those who turn it
/// on turn it off again.
DRAGON_API bool& CopiesMayBeQueued();

/// How many graphs are being noted down now: events may neither be recorded nor asked for meanwhile.
DRAGON_API std::atomic<int>& CapturesUnderWay();

/// Who is told of calls that make the host wait for a device; `who` names the call. It may throw.
using WaitWatcher = void (*)(const char* who);
DRAGON_API void SetWaitWatcher(WaitWatcher watcher);

/// While it lives, waits of this thread are told in the name of an operator.
class DRAGON_API WaitingFor {
 public:
  explicit WaitingFor(const char* who);
  ~WaitingFor();
  WaitingFor(const WaitingFor&) = delete;
  WaitingFor& operator=(const WaitingFor&) = delete;

 private:
  const char* before_;
};

}  // namespace dragon
