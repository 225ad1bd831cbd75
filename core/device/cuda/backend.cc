// NVIDIA GPUs as a device of the engine: memory and copies. Loading this library registers them; nothing above knows
// that they exist.
#include "core/device/cuda/backend.h"

#include <pthread.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "core/device/cuda/check.h"
#include "core/device/cuda/cudnn.h"
#include "core/device/cuda/faults.h"
#include "core/device/pinned.h"

namespace dragon::cuda {

namespace {

/// Pageable memory up to here is copied by way of pinned memory, so that nobody waits for the stream. More would spend
/// longer on the host's copy than on waiting: the driver then copies piece by piece.
constexpr size_t kStaged = size_t{1} << 20;

std::atomic<bool> g_used{false}, g_forked{false};

[[maybe_unused]] const int g_watches_forks =
    pthread_atfork(nullptr, nullptr, [] { g_forked.store(g_used.load(std::memory_order_relaxed)); });

void RefuseFork() {
  if (!g_forked.load(std::memory_order_relaxed)) return;
  throw RuntimeError("cuda").Says(
      "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' "
      "start method");
}

/// What cudaGetDeviceCount answered, asked once: a process gains no devices.
struct Presence {
  int count = 0;
  cudaError_t status = cudaSuccess;
  Presence() {
    status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
      (void)cudaGetLastError();
      count = 0;
    }
    g_used.store(count > 0);
  }
  static const Presence& Get() {
    static const Presence presence;
    return presence;
  }
};

}  // namespace

void Enter(int index) {
  RefuseFork();
  int current = -1;
  CheckCuda(cudaGetDevice(&current), "cuda");
  if (current != index) CheckCuda(cudaSetDevice(index), "cuda");
}

int CudaBackend::Count() const { return Presence::Get().count; }

std::string CudaBackend::WhyNone() {
  const Presence& presence = Presence::Get();
  if (presence.count > 0) return {};
  int driver = 0, runtime = 0;
  (void)cudaDriverGetVersion(&driver), (void)cudaRuntimeGetVersion(&runtime);
  const auto version = [](int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  };
  if (driver == 0) return "Found no NVIDIA driver on your system: install one from https://www.nvidia.com/drivers";
  if (presence.status == cudaErrorInsufficientDriver) {
    return "The NVIDIA driver on your system is too old: it knows CUDA " + version(driver) +
           ", and this build was made with CUDA " + version(runtime) + ". Update the driver";
  }
  if (presence.status == cudaSuccess || presence.status == cudaErrorNoDevice) return "No CUDA GPUs are available";
  return std::string("No CUDA GPUs are available: ") + cudaGetErrorString(presence.status);
}

bool CudaBackend::IsLostToFork() { return g_forked.load(std::memory_order_relaxed); }

void* CudaBackend::Allocate(int index, size_t bytes) {
  Enter(index);
  const RelaxedCapture relaxed;
  void* pointer = nullptr;
  const cudaError_t status = cudaMalloc(&pointer, bytes);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  CheckCuda(status, "cuda: allocate");
  return pointer;
}

void CudaBackend::Free(int index, void* pointer, size_t) {
  if (IsLostToFork()) return;
  Enter(index);
  const RelaxedCapture relaxed;
  CheckCuda(cudaFree(pointer), "cuda: free");
}

void CudaBackend::Queue(int index, void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const char* who) {
  const auto stream = static_cast<cudaStream_t>(CurrentStream(index));
  CheckCuda(cudaMemcpyAsync(to, from, bytes, kind, stream), who);
}

void CudaBackend::Stage(int index, void* device, const void* host, size_t bytes) {
  void* const staging = AllocatePinned(bytes);
  std::memcpy(staging, host, bytes);
  void* const stream = CurrentStream(index);
  if (CapturesUnderWay().load() > 0 && IsCapturing(index, stream)) {
    {  // the graph reads it whenever it runs
      std::lock_guard<std::mutex> lock(mutex_);
      staged_[stream].push_back(staging);
    }
    return QueueFromHost(index, device, staging, bytes);
  }
  try {
    QueueFromHost(index, device, staging, bytes);
  } catch (...) {
    FreePinned(staging);
    throw;
  }
  FreePinned(staging);
}

/// The caller's memory is its own again on return; the copy may still be on its way.
void CudaBackend::CopyFromHost(int index, void* device, const void* host, size_t bytes) {
  if (bytes == 0) return;
  Enter(index);
  if (bytes <= kStaged) return Stage(index, device, host, bytes);
  NoteWait(index, "copy from the host");
  Queue(index, device, host, bytes, cudaMemcpyHostToDevice, "cuda: copy from the host");
  SynchronizeStream(index, CurrentStream(index));
}

/// On a stream of its own, which waits for nothing, also while a graph is being noted down on another.
void CudaBackend::Bring(int index, void* device, const void* host, size_t bytes) {
  Enter(index);
  const RelaxedCapture relaxed;
  std::lock_guard<std::mutex> lock(mutex_);
  cudaStream_t& stream = bringing_[index];
  if (!stream) CheckCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cuda: create a stream");
  CheckCuda(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream), "cuda: bring");
  CheckCuda(cudaStreamSynchronize(stream), "cuda: bring");
}

void CudaBackend::CopyToHost(int index, void* host, const void* device, size_t bytes) {
  if (bytes == 0) return;
  NoteWait(index, "copy to the host");
  Queue(index, host, device, bytes, cudaMemcpyDeviceToHost, "cuda: copy to the host");
  SynchronizeStream(index, CurrentStream(index));
  RaiseFault(index);
}

void CudaBackend::CopyWithin(int index, void* to, const void* from, size_t bytes) {
  if (bytes) Queue(index, to, from, bytes, cudaMemcpyDeviceToDevice, "cuda: copy");
}

void CudaBackend::QueueFromHost(int index, void* device, const void* host, size_t bytes) {
  if (bytes == 0) return;
  UsePinned(host, index, CurrentStream(index));
  Queue(index, device, host, bytes, cudaMemcpyHostToDevice, "cuda: copy from the host");
}

void CudaBackend::QueueToHost(int index, void* host, const void* device, size_t bytes) {
  if (bytes == 0) return;
  UsePinned(host, index, CurrentStream(index));
  Queue(index, host, device, bytes, cudaMemcpyDeviceToHost, "cuda: copy to the host");
}

/// On the source's stream: its memory may be given to later work of that stream as soon as this returns.
void CudaBackend::CopyBetween(int to_index, void* to, int from_index, const void* from, size_t bytes) {
  if (bytes == 0) return;
  void *const there = CurrentStream(to_index), *const here = CurrentStream(from_index);
  const auto follow = [this](int first_index, void* first, int second_index, void* second) {
    void* const event = NewEvent(first_index, false, false, false);
    RecordEvent(first_index, event, first);
    AwaitEvent(second_index, event, second);
    DropEvent(first_index, event);
  };
  follow(to_index, there, from_index, here);
  Enter(from_index);
  CheckCuda(cudaMemcpyPeerAsync(to, to_index, from, from_index, bytes, static_cast<cudaStream_t>(here)),
            "cuda: copy between devices");
  follow(from_index, here, to_index, there);
}

void* CudaBackend::MapPinned(size_t bytes) {
  Enter(CurrentIndex());
  const RelaxedCapture relaxed;
  void* pointer = nullptr;
  const cudaError_t status = cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  CheckCuda(status, "cuda: pin memory");
  return pointer;
}

void CudaBackend::UnmapPinned(void* pointer, size_t) {
  if (IsLostToFork()) return;
  const RelaxedCapture relaxed;
  CheckCuda(cudaFreeHost(pointer), "cuda: give pinned memory back");
}

void CudaBackend::Synchronize(int index) {
  Enter(index);
  RefuseWait(index, CurrentStream(index), "synchronize");
  CheckCuda(cudaDeviceSynchronize(), "cuda: synchronize");
  RaiseFault(index);
}

std::pair<int64_t, int64_t> CudaBackend::Memory(int index) {
  Enter(index);
  size_t free = 0, total = 0;
  CheckCuda(cudaMemGetInfo(&free, &total), "cuda: memory");
  return {static_cast<int64_t>(free), static_cast<int64_t>(total)};
}

bool CudaBackend::CanReach(int index, int peer) {
  RefuseFork();
  int answer = 0;
  CheckCuda(cudaDeviceCanAccessPeer(&answer, index, peer), "cuda: peers");
  return answer != 0;
}

std::pair<int, int> CudaBackend::Versions() {
  int runtime = 0, driver = 0;
  (void)cudaRuntimeGetVersion(&runtime), (void)cudaDriverGetVersion(&driver);
  return {runtime, driver};
}

int64_t CudaBackend::LibraryVersion(const std::string& name) {
  return name == "cudnn" && cudnn::Usable() ? static_cast<int64_t>(cudnn::Version()) : 0;
}

DeviceFacts CudaBackend::Facts(int index) {
  RefuseFork();
  cudaDeviceProp found;
  CheckCuda(cudaGetDeviceProperties(&found, index), "cuda: properties");
  const auto attribute = [index](cudaDeviceAttr which) {
    int value = 0;
    CheckCuda(cudaDeviceGetAttribute(&value, which, index), "cuda: properties");
    return static_cast<int64_t>(value);
  };
  DeviceFacts facts{found.name, std::string(found.uuid.bytes, sizeof(found.uuid.bytes)), {}};
  facts.numbers = {
      {"total_memory", static_cast<int64_t>(found.totalGlobalMem)},
      {"major", found.major},
      {"minor", found.minor},
      {"multi_processor_count", found.multiProcessorCount},
      {"max_threads_per_block", found.maxThreadsPerBlock},
      {"max_threads_per_multi_processor", found.maxThreadsPerMultiProcessor},
      {"warp_size", found.warpSize},
      {"shared_memory_per_block", static_cast<int64_t>(found.sharedMemPerBlock)},
      {"shared_memory_per_block_optin", static_cast<int64_t>(found.sharedMemPerBlockOptin)},
      {"shared_memory_per_multiprocessor", static_cast<int64_t>(found.sharedMemPerMultiprocessor)},
      {"regs_per_multiprocessor", found.regsPerMultiprocessor},
      {"L2_cache_size", found.l2CacheSize},
      {"is_integrated", found.integrated},
      {"is_multi_gpu_board", found.isMultiGpuBoard},
      {"memory_bus_width", found.memoryBusWidth},
      {"pci_bus_id", found.pciBusID},
      {"pci_device_id", found.pciDeviceID},
      {"pci_domain_id", found.pciDomainID},
      {"clock_rate", attribute(cudaDevAttrClockRate)},
      {"memory_clock_rate", attribute(cudaDevAttrMemoryClockRate)},
  };
  return facts;
}

namespace {

/// An exception must not leave a static initialiser: it would end the process that loads the library.
[[maybe_unused]] const bool g_registered = [] {
  try {
    RegisterBackend(DeviceType::kCUDA, std::make_unique<CudaBackend>());
    return true;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dragon: the CUDA backend was not registered: %s\n", error.what());
    return false;
  }
}();

}  // namespace

}  // namespace dragon::cuda
