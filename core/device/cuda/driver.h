// Functions of CUDA's driver, which is there where a device is: the library itself does not link it.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include "core/base/error.h"

namespace dragon::cuda {

template <typename F>
void FindInDriver(const char* name, F* function) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  *function = driver ? reinterpret_cast<F>(dlsym(driver, name)) : nullptr;
  if (!*function) throw RuntimeError("cuda").Got("a driver without ", name).Expected("one of CUDA 12 or later");
}

/// A RuntimeError in the name of `who`, with the driver's words, unless all went well.
inline void CheckDriver(CUresult status, const char* who) {
  if (status == CUDA_SUCCESS) return;
  static const auto words = [] {
    decltype(&cuGetErrorString) found;
    FindInDriver("cuGetErrorString", &found);
    return found;
  }();
  const char* text = nullptr;
  (void)words(status, &text);
  throw RuntimeError(who).Says(text ? text : "unknown error").Hint("CUDA: error ", static_cast<int>(status));
}

}  // namespace dragon::cuda
