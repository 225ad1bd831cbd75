// NVIDIA GPUs as a device of the engine. Loading this library registers them; nothing above knows that they exist.
#include <cuda_runtime.h>

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>

#include "core/device/cuda/check.h"
#include "core/device/cuda/faults.h"
#include "core/device/device.h"

namespace dragon {

namespace {

class CudaBackend : public Backend {
 public:
  /// 0 without a GPU or without its driver: that is a fact about the machine, not an error.
  int Count() const override {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
    (void)cudaGetLastError();
    return 0;
  }

  void* Allocate(int index, size_t bytes) override {
    const CudaGuard guard(index);
    void* pointer = nullptr;
    const cudaError_t status = cudaMalloc(&pointer, bytes);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      return nullptr;
    }
    CheckCuda(status, "cuda: allocate");
    return pointer;
  }

  void Free(int index, void* pointer, size_t) override {
    const CudaGuard guard(index);
    CheckCuda(cudaFree(pointer), "cuda: free");
  }

  void CopyFromHost(int index, void* device, const void* host, size_t bytes) override {
    Copy(index, device, host, bytes, cudaMemcpyHostToDevice, "cuda: copy from the host");
  }
  void CopyToHost(int index, void* host, const void* device, size_t bytes) override {
    Copy(index, host, device, bytes, cudaMemcpyDeviceToHost, "cuda: copy to the host");
    cuda::RaiseFault(index);
  }
  void CopyWithin(int index, void* to, const void* from, size_t bytes) override {
    Copy(index, to, from, bytes, cudaMemcpyDeviceToDevice, "cuda: copy");
  }

  /// One stream per device, made at first use. It does not wait for the legacy stream, so other libraries don't stall
  /// us.
  void* CurrentStream(int index) override {
    std::lock_guard<std::mutex> lock(mutex_);
    cudaStream_t& stream = streams_[index];
    if (!stream) {
      const CudaGuard guard(index);
      CheckCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cuda: create a stream");
    }
    return stream;
  }

  void Synchronize(int index) override {
    const CudaGuard guard(index);
    CheckCuda(cudaStreamSynchronize(static_cast<cudaStream_t>(CurrentStream(index))), "cuda: synchronize");
    cuda::RaiseFault(index);
  }

 private:
  void Copy(int index, void* to, const void* from, size_t bytes, cudaMemcpyKind kind, const char* who) {
    if (bytes == 0) return;
    const CudaGuard guard(index);
    const auto stream = static_cast<cudaStream_t>(CurrentStream(index));
    CheckCuda(cudaMemcpyAsync(to, from, bytes, kind, stream), who);
    CheckCuda(cudaStreamSynchronize(stream), who);
  }

  std::mutex mutex_;
  std::map<int, cudaStream_t> streams_;  // never destroyed: the driver may be gone before static destructors run
};

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

}  // namespace dragon
