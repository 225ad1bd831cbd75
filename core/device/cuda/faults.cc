// Where kernels note what is wrong, and the words in which it is told.
#include "core/device/cuda/faults.h"

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/base/outside.h"
#include "core/device/cuda/backend.h"
#include "core/device/cuda/check.h"

namespace dragon::cuda {

namespace {

std::atomic<Fault*> g_faults[kMostDevices];  // never freed: the driver may be gone before static destructors run
std::mutex g_mutex;
std::atomic<void (*)(int)> g_teller{nullptr};

/// The same words for the life of the process: a kernel may still run when the caller's are gone.
const char* Kept(const char* who) {
  static auto* names = new std::set<std::string, std::less<>>;
  const auto found = names->find(who);
  return (found != names->end() ? found : names->emplace(who).first)->c_str();
}

Fault* Made(int device) {
  const CudaGuard guard(device);
  const RelaxedCapture relaxed;  // the first call may be one that a graph notes down
  void* memory = nullptr;
  CheckCuda(cudaHostAlloc(&memory, sizeof(Fault), cudaHostAllocMapped | cudaHostAllocPortable),
            "cuda: a fault's memory");
  return new (memory) Fault{};
}

[[noreturn]] void Throw(const Fault& fault) {
  switch (fault.kind) {
    case FaultKind::kIndex:
    case FaultKind::kIndexFromEnd:
      ThrowOutside(fault.who, fault.kind == FaultKind::kIndexFromEnd, fault.got, fault.axis, fault.size);
    case FaultKind::kOffsets:
      throw ValueError(fault.who)
          .Got("offset ", fault.got, " of bag ", fault.axis)
          .Expected("increasing offsets from 0 to ", fault.size);
    case FaultKind::kShort:
      throw ValueError(fault.who)
          .Got(fault.got, " elements in src")
          .Expected("at least the ", fault.size, " that the mask selects");
    case FaultKind::kStarts:
      throw ValueError(fault.who).Got("starts that do not lead from 0 to ", fault.size).Expected("rising ones");
    case FaultKind::kPlace:
      throw IndexError(fault.who).Got("place ", fault.got).Expected("0 to ", fault.size - 1);
  }
  throw RuntimeError(fault.who).Says("a kernel met numbers that it cannot use");
}

}  // namespace

Faults FaultsOf(const Context& ctx, const char* who) {
  const int device = ctx.device.index;
  if (device < 0 || device >= kMostDevices)
    throw RuntimeError(who).Got(ctx.device).Expected("one of ", kMostDevices, " devices");
  static thread_local const char* last = "";  // programs index by the same few operators over and over
  Fault* fault = g_faults[device].load(std::memory_order_acquire);
  if (fault && std::strcmp(last, who) == 0) return {fault, last};
  std::lock_guard<std::mutex> lock(g_mutex);
  fault = g_faults[device].load(std::memory_order_relaxed);
  if (!fault) g_faults[device].store(fault = Made(device), std::memory_order_release);
  return {fault, last = Kept(who)};
}

void SetTroubleTeller(void (*teller)(int device)) { g_teller.store(teller, std::memory_order_release); }

void RaiseFault(int device) {
  if (device < 0 || device >= kMostDevices) return;
  if (const auto teller = g_teller.load(std::memory_order_acquire)) teller(device);
  Fault* fault = g_faults[device].load(std::memory_order_acquire);
  if (!fault || *static_cast<volatile int32_t*>(&fault->taken) == 0) return;
  const Fault found = *fault;
  *static_cast<volatile int32_t*>(&fault->taken) = 0;
  Throw(found);
}

}  // namespace dragon::cuda
