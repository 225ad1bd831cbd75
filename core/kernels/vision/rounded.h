// Products that are rounded before anything is added to them.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::DRAGON_DEVICE {

/// a times b in single precision: a compiler that fuses what is added to it would decide otherwise at the last bit.
#if defined(DRAGON_GPU)
DRAGON_FN float Rounded(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}
#else
__attribute__((noinline)) inline float Rounded(float a, float b) { return a * b; }
#endif

}  // namespace dragon::DRAGON_DEVICE
