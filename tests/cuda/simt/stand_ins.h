// Kernels of vendors' libraries have no source to run here: the CPU's stand in for them, over the device's memory.
#pragma once

#include <utility>

#include "core/device/library.h"
#include "core/kernels/kernel.h"
#include "tests/cuda/simt/machine.h"

namespace simt {

template <const auto& kKernel, dragon::DType kDType>
struct StandIn;

template <typename... Args, const dragon::Kernel<void(Args...)>& kKernel, dragon::DType kDType>
struct StandIn<kKernel, kDType> {
  static void Call(dragon::Context&, Args... args) {
    if (NotedByThread()) {
      throw dragon::NotImplementedError("simt")
          .Got("a stand-in of a vendor's kernel while a graph is noted down")
          .Expected("none: it runs at once");
    }
    const OpenMemory open;
    dragon::Context host;
    kKernel(host, kDType, args...);
  }
};

/// Have the CPU's kernel do for all dtypes that it has, unless the device has one of its own.
template <const auto& kKernel>
bool Stand() {
  dragon::LoadCpuKernels();
  [&]<int... kDTypes>(std::integer_sequence<int, kDTypes...>) {
    (
        [&] {
          constexpr auto dtype = static_cast<dragon::DType>(kDTypes);
          if (kKernel.Has(dragon::DeviceType::kCUDA, dtype) || !kKernel.Has(dragon::DeviceType::kCPU, dtype)) return;
          kKernel.Set(dragon::DeviceType::kCUDA, dtype, &StandIn<kKernel, dtype>::Call);
        }(),
        ...);
  }(std::make_integer_sequence<int, dragon::kDTypeCount>{});
  return true;
}

}  // namespace simt
