// What CUDA answers, as exceptions; and a guard that makes a device current while it lives.
#pragma once

#include <cuda_runtime.h>

#include "core/base/error.h"

namespace dragon {

/// A RuntimeError with the driver's words unless `status` is success. `who` names the call or the kernel.
inline void CheckCuda(cudaError_t status, const char* who) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // an error that lingers would be blamed on the next call
  throw RuntimeError(who).Says(cudaGetErrorString(status)).Hint("CUDA: ", cudaGetErrorName(status));
}

/// To be called after every launch: a launch itself returns nothing.
inline void CheckLaunch(const char* who) { CheckCuda(cudaGetLastError(), who); }

class CudaGuard {
 public:
  explicit CudaGuard(int index) {
    CheckCuda(cudaGetDevice(&previous_), "cuda");
    if (previous_ != index) CheckCuda(cudaSetDevice(index), "cuda");
    changed_ = previous_ != index;
  }
  ~CudaGuard() {
    if (changed_) (void)cudaSetDevice(previous_);
  }
  CudaGuard(const CudaGuard&) = delete;
  CudaGuard& operator=(const CudaGuard&) = delete;

 private:
  int previous_ = 0;
  bool changed_ = false;
};

}  // namespace dragon
