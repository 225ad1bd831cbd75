// Streams and events of CUDA devices.
#include <algorithm>

#include "core/base/error.h"
#include "core/device/cuda/backend.h"
#include "core/device/cuda/check.h"

namespace dragon::cuda {

namespace {

/// Whether an answer of a query means that work is done; other answers than yes and no are errors.
bool IsDone(cudaError_t status, const char* who) {
  if (status == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  CheckCuda(status, who);
  return true;
}

cudaEvent_t EventOf(void* event) { return static_cast<cudaEvent_t>(event); }

}  // namespace

/// Who asks for a stream is about to give it work: its device is the current one from here on.
void* CudaBackend::CurrentStream(int index) {
  Enter(index);
  void* const stream = Accelerator::CurrentStream(index);
  return stream ? stream : DefaultStream(index);
}

/// One stream per device, made at first use. It does not wait for the legacy stream, so other libraries don't stall us.
void* CudaBackend::DefaultStream(int index) {
  if (index < 0 || index >= kMostDevices)
    throw ValueError("cuda").Got("device ", index).Expected("0 to ", kMostDevices - 1);
  if (cudaStream_t stream = default_streams_[index].load(std::memory_order_acquire)) return stream;
  std::lock_guard<std::mutex> lock(mutex_);
  cudaStream_t stream = default_streams_[index].load(std::memory_order_acquire);
  if (!stream) {
    const CudaGuard guard(index);
    CheckCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cuda: create a stream");
    default_streams_[index].store(stream, std::memory_order_release);
  }
  return stream;
}

std::pair<int, int> CudaBackend::PriorityRange() {
  Enter(CurrentIndex());
  int least = 0, greatest = 0;
  CheckCuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cuda: priorities");
  return {least, greatest};
}

void* CudaBackend::NewStream(int index, int priority) {
  Enter(index);
  const auto [least, greatest] = PriorityRange();
  priority = std::clamp(priority, greatest, least);
  std::lock_guard<std::mutex> lock(mutex_);
  auto& streams = streams_[{index, priority}];
  const size_t turn = turns_[{index, priority}]++ % kStreamsOfPriority;
  if (turn >= streams.size()) {
    const CudaGuard guard(index);
    cudaStream_t stream = nullptr;
    CheckCuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority), "cuda: create a stream");
    streams.push_back(stream);
  }
  return streams[turn];
}

int CudaBackend::Priority(int index, void* stream) {
  Enter(index);
  int priority = 0;
  CheckCuda(cudaStreamGetPriority(StreamOf(index, stream), &priority), "cuda: priority");
  return priority;
}

bool CudaBackend::StreamIsDone(int index, void* stream) {
  Enter(index);
  return IsDone(cudaStreamQuery(StreamOf(index, stream)), "cuda: query a stream");
}

void CudaBackend::SynchronizeStream(int index, void* stream) {
  Enter(index);
  RefuseWait(index, stream, "synchronize");
  CheckCuda(cudaStreamSynchronize(StreamOf(index, stream)), "cuda: synchronize");
}

void* CudaBackend::NewEvent(int index, bool timed, bool blocking, bool shared) {
  Enter(index);
  cudaEvent_t event = nullptr;
  const unsigned flags = (timed ? 0 : cudaEventDisableTiming) | (blocking ? cudaEventBlockingSync : 0) |
                         (shared ? cudaEventInterprocess : 0);
  CheckCuda(cudaEventCreateWithFlags(&event, flags), "cuda: create an event");
  return event;
}

/// The driver may be gone when the last objects go: nobody is told.
void CudaBackend::DropEvent(int, void* event) {
  if (!IsLostToFork()) (void)cudaEventDestroy(EventOf(event));
}

void CudaBackend::RecordEvent(int index, void* event, void* stream) {
  Enter(index);
  CheckCuda(cudaEventRecord(EventOf(event), StreamOf(index, stream)), "cuda: record an event");
}

void CudaBackend::AwaitEvent(int index, void* event, void* stream) {
  Enter(index);
  CheckCuda(cudaStreamWaitEvent(StreamOf(index, stream), EventOf(event), 0), "cuda: wait for an event");
}

bool CudaBackend::EventIsDone(int index, void* event) {
  Enter(index);
  return IsDone(cudaEventQuery(EventOf(event)), "cuda: query an event");
}

void CudaBackend::SynchronizeEvent(int index, void* event) {
  Enter(index);
  CheckCuda(cudaEventSynchronize(EventOf(event)), "cuda: wait for an event");
}

double CudaBackend::Elapsed(int index, void* from, void* to) {
  Enter(index);
  float milliseconds = 0;
  CheckCuda(cudaEventElapsedTime(&milliseconds, EventOf(from), EventOf(to)), "cuda: time between events");
  return milliseconds;
}

}  // namespace dragon::cuda
