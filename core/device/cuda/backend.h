// The CUDA backend: GPUs through the runtime's functions. What it does stands in backend.cc (memory and copies),
// pages.cc, streams.cc and graphs.cc.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "core/device/accelerator.h"

namespace dragon::cuda {

class CudaBackend : public Accelerator {
 public:
  /// 0 without a GPU or without its driver: that is a fact about the machine, not an error.
  int Count() const override;
  std::string WhyNone() override;
  bool IsLostToFork() override;
  void* Allocate(int index, size_t bytes) override;
  void Free(int index, void* pointer, size_t) override;
  void CopyFromHost(int index, void* device, const void* host, size_t bytes) override;
  void Bring(int index, void* device, const void* host, size_t bytes) override;
  void CopyToHost(int index, void* host, const void* device, size_t bytes) override;
  void CopyWithin(int index, void* to, const void* from, size_t bytes) override;
  void QueueFromHost(int index, void* device, const void* host, size_t bytes) override;
  void QueueToHost(int index, void* host, const void* device, size_t bytes) override;
  void CopyBetween(int to_index, void* to, int from_index, const void* from, size_t bytes) override;
  std::string LendMemory(int index, const void* base) override;
  std::string LendEvent(int index, void* event) override;
  void* BorrowMemory(int index, const std::string& words) override;
  void ReturnMemory(int index, void* base) override;
  void* BorrowEvent(int index, const std::string& words) override;
  void* MapPinned(size_t bytes) override;
  void UnmapPinned(void* pointer, size_t bytes) override;
  void* ReserveAddresses(int index, size_t bytes, size_t page) override;
  void ReleaseAddresses(int index, void* base, size_t bytes) override;
  std::optional<uint64_t> MapPage(int index, void* at, size_t page) override;
  void UnmapPage(int index, void* at, size_t page, uint64_t name) override;
  void Synchronize(int index) override;
  std::pair<int64_t, int64_t> Memory(int index) override;
  DeviceFacts Facts(int index) override;
  bool CanReach(int index, int peer) override;
  std::pair<int, int> Versions() override;
  int64_t LibraryVersion(const std::string& name) override;

  void* CurrentStream(int index) override;
  void* DefaultStream(int index) override;
  void* NewStream(int index, int priority) override;
  std::pair<int, int> PriorityRange() override;
  int Priority(int index, void* stream) override;
  bool StreamIsDone(int index, void* stream) override;
  void SynchronizeStream(int index, void* stream) override;
  void* NewEvent(int index, bool timed, bool blocking, bool shared) override;
  void DropEvent(int index, void* event) override;
  void RecordEvent(int index, void* event, void* stream) override;
  void AwaitEvent(int index, void* event, void* stream) override;
  bool EventIsDone(int index, void* event) override;
  void SynchronizeEvent(int index, void* event) override;
  double Elapsed(int index, void* from, void* to) override;

  void BeginCapture(int index, void* stream, int mode) override;
  void* EndCapture(int index, void* stream) override;
  bool IsCapturing(int index, void* stream) override;
  void LaunchGraph(int index, void* graph, void* stream) override;
  void DropGraph(int index, void* graph) override;
  void DumpGraph(void* graph, const std::string& path) override;

 private:
  static constexpr int kStreamsOfPriority = 32;

  /// A stream as CUDA knows it; nullptr stands for the device's default one.
  cudaStream_t StreamOf(int index, void* stream) {
    return static_cast<cudaStream_t>(stream ? stream : DefaultStream(index));
  }
  void Queue(int index, void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const char* who);
  /// Copy by way of pinned memory, which is free again when the stream has come past it.
  void Stage(int index, void* device, const void* host, size_t bytes);

  std::mutex mutex_;
  std::atomic<cudaStream_t> default_streams_[kMostDevices] = {};      // never destroyed: the driver may be gone before
  std::map<std::pair<int, int>, std::vector<cudaStream_t>> streams_;  // of a device and a priority
  std::map<std::pair<int, int>, size_t> turns_;
  std::map<int, cudaStream_t> bringing_;
  std::map<void*, std::vector<void*>> staged_;  // what graphs that are noted down read, by their streams
};

/// Make a device current, in a process that may use it: a RuntimeError in a child of one that used CUDA.
void Enter(int index);

/// While it lives, this thread may allocate although a graph is being noted down.
class RelaxedCapture {
 public:
  RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  ~RelaxedCapture() { (void)cudaThreadExchangeStreamCaptureMode(&mode_); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace dragon::cuda
