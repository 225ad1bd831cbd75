// The little of cuFFT that is called, as its public reference documents it: it is opened when first needed.
#pragma once

#include <cuda_runtime.h>

#include "core/base/error.h"
#include "core/device/cuda/vendor.h"

namespace dragon::cuda::cufft {

using Handle = int;
using Result = int;  ///< 0 is success
using Long = long long;
inline constexpr int kForward = -1, kInverse = 1;
/// cudaDataType of real and complex numbers.
enum class Numbers : int { kFloat = 0, kDouble = 1, kComplexFloat = 4, kComplexDouble = 5 };

/// Its functions, found once.
struct Api {
  using Create = Result (*)(Handle*);
  using Destroy = Result (*)(Handle);
  using SetAutoAllocation = Result (*)(Handle, int);
  /// plan, rank, n, inembed, istride, idist, input, onembed, ostride, odist, output, batch, work size, execution
  using MakePlan = Result (*)(Handle, int, Long*, Long*, Long, Long, Numbers, Long*, Long, Long, Numbers, Long, size_t*,
                              Numbers);
  using SetWorkArea = Result (*)(Handle, void*);
  using SetStream = Result (*)(Handle, cudaStream_t);
  /// plan, input, output, direction; the latter is for complex numbers alone
  using Execute = Result (*)(Handle, void*, void*, int);

  Create create = Cufft().Find<Create>("cufftCreate");
  Destroy destroy = Cufft().Find<Destroy>("cufftDestroy");
  SetAutoAllocation set_auto_allocation = Cufft().Find<SetAutoAllocation>("cufftSetAutoAllocation");
  MakePlan make_plan = Cufft().Find<MakePlan>("cufftXtMakePlanMany");
  SetWorkArea set_work_area = Cufft().Find<SetWorkArea>("cufftSetWorkArea");
  SetStream set_stream = Cufft().Find<SetStream>("cufftSetStream");
  Execute execute = Cufft().Find<Execute>("cufftXtExec");

  static const Api& Get() {
    static const Api* api = new Api;
    return *api;
  }
};

/// A RuntimeError with the name of what went wrong.
inline void Check(Result result, const char* call) {
  if (result == 0) return;
  const char* words = result == 0x2   ? "no memory for the plan"
                      : result == 0x4 ? "an invalid value"
                      : result == 0x5 ? "an internal error"
                      : result == 0x6 ? "the transform failed"
                      : result == 0x7 ? "cuFFT did not start"
                      : result == 0x8 ? "an invalid size"
                                      : "an error";
  throw RuntimeError(call).Says(words).Hint("cuFFT: result ", result);
}

}  // namespace dragon::cuda::cufft
