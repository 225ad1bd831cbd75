// Memory and events of CUDA devices in several processes of one machine.
#include <cstring>
#include <type_traits>

#include "core/base/error.h"
#include "core/device/cuda/backend.h"
#include "core/device/cuda/check.h"

namespace dragon::cuda {

namespace {

/// What the driver calls a handle is so many bytes.
template <typename Handle>
std::string WordsOf(const Handle& handle) {
  static_assert(std::is_trivially_copyable_v<Handle>);
  return std::string(reinterpret_cast<const char*>(&handle), sizeof(handle));
}
template <typename Handle>
Handle HandleOf(const std::string& words) {
  Handle handle;
  if (words.size() != sizeof(handle))
    throw ValueError("cuda: borrow").Got("a handle of ", words.size(), " bytes").Expected(sizeof(handle));
  std::memcpy(&handle, words.data(), sizeof(handle));
  return handle;
}

}  // namespace

std::string CudaBackend::LendMemory(int index, const void* base) {
  Enter(index);
  cudaIpcMemHandle_t handle;
  CheckCuda(cudaIpcGetMemHandle(&handle, const_cast<void*>(base)), "cuda: lend memory");
  return WordsOf(handle);
}

std::string CudaBackend::LendEvent(int index, void* event) {
  Enter(index);
  cudaIpcEventHandle_t handle;
  CheckCuda(cudaIpcGetEventHandle(&handle, static_cast<cudaEvent_t>(event)), "cuda: lend an event");
  return WordsOf(handle);
}

void* CudaBackend::BorrowMemory(int index, const std::string& words) {
  Enter(index);
  void* base = nullptr;
  CheckCuda(cudaIpcOpenMemHandle(&base, HandleOf<cudaIpcMemHandle_t>(words), cudaIpcMemLazyEnablePeerAccess),
            "cuda: borrow memory");
  return base;
}

void CudaBackend::ReturnMemory(int index, void* base) {
  if (IsLostToFork()) return;
  Enter(index);
  CheckCuda(cudaIpcCloseMemHandle(base), "cuda: return memory");
}

void* CudaBackend::BorrowEvent(int index, const std::string& words) {
  Enter(index);
  cudaEvent_t event = nullptr;
  CheckCuda(cudaIpcOpenEventHandle(&event, HandleOf<cudaIpcEventHandle_t>(words)), "cuda: borrow an event");
  return event;
}

}  // namespace dragon::cuda
