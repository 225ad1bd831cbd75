// Addresses apart from the memory behind them, by the driver's functions for that.
#include "core/device/cuda/backend.h"
#include "core/device/cuda/check.h"
#include "core/device/cuda/driver.h"

namespace dragon::cuda {

namespace {

/// What one page is made of: memory of one device.
CUmemAllocationProp MemoryOf(int index) {
  CUmemAllocationProp memory{};
  memory.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  memory.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  memory.location.id = index;
  return memory;
}

struct PageCalls {
  decltype(&cuMemGetAllocationGranularity) granularity;
  decltype(&cuMemAddressReserve) reserve;
  decltype(&cuMemAddressFree) release;
  decltype(&cuMemCreate) create;
  decltype(&cuMemRelease) drop;
  decltype(&cuMemMap) map;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemSetAccess) allow;

  PageCalls() {
    FindInDriver("cuMemGetAllocationGranularity", &granularity);
    FindInDriver("cuMemAddressReserve", &reserve), FindInDriver("cuMemAddressFree", &release);
    FindInDriver("cuMemCreate", &create), FindInDriver("cuMemRelease", &drop);
    FindInDriver("cuMemMap", &map), FindInDriver("cuMemUnmap", &unmap), FindInDriver("cuMemSetAccess", &allow);
  }
  static const PageCalls& Get() {
    static const PageCalls calls;
    return calls;
  }
};

constexpr const char* kWho = "cuda: allocate";

}  // namespace

void* CudaBackend::ReserveAddresses(int index, size_t bytes, size_t page) {
  Enter(index);
  int can = 0;
  CheckCuda(cudaDeviceGetAttribute(
                &can, static_cast<cudaDeviceAttr>(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), index),
            kWho);
  if (!can) return nullptr;
  const PageCalls& calls = PageCalls::Get();
  const CUmemAllocationProp memory = MemoryOf(index);
  size_t least = 0;
  CheckDriver(calls.granularity(&least, &memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM), kWho);
  if (page % least != 0) return nullptr;
  CUdeviceptr base = 0;
  CheckDriver(calls.reserve(&base, bytes, 0, 0, 0), kWho);
  return reinterpret_cast<void*>(base);
}

void CudaBackend::ReleaseAddresses(int index, void* base, size_t bytes) {
  if (IsLostToFork()) return;
  Enter(index);
  CheckDriver(PageCalls::Get().release(reinterpret_cast<CUdeviceptr>(base), bytes), "cuda: free");
}

std::optional<uint64_t> CudaBackend::MapPage(int index, void* at, size_t page) {
  Enter(index);
  const RelaxedCapture relaxed;
  const PageCalls& calls = PageCalls::Get();
  const CUmemAllocationProp memory = MemoryOf(index);
  CUmemGenericAllocationHandle name = 0;
  const CUresult status = calls.create(&name, page, &memory, 0);
  if (status == CUDA_ERROR_OUT_OF_MEMORY) return std::nullopt;
  CheckDriver(status, kWho);
  const auto address = reinterpret_cast<CUdeviceptr>(at);
  CUmemAccessDesc access{memory.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  try {
    CheckDriver(calls.map(address, page, 0, name, 0), kWho);
    CheckDriver(calls.allow(address, page, &access, 1), kWho);
  } catch (...) {
    (void)calls.unmap(address, page);
    (void)calls.drop(name);
    throw;
  }
  return name;
}

void CudaBackend::UnmapPage(int index, void* at, size_t page, uint64_t name) {
  if (IsLostToFork()) return;
  Enter(index);
  const RelaxedCapture relaxed;
  const PageCalls& calls = PageCalls::Get();
  CheckDriver(calls.unmap(reinterpret_cast<CUdeviceptr>(at), page), "cuda: free");
  CheckDriver(calls.drop(name), "cuda: free");
}

}  // namespace dragon::cuda
