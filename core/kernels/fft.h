// Fourier transforms of contiguous arrays. Tables are indexed by the complex dtype. `forward` means exp(-i ...), and
// results are multiplied by `scale`; nothing else is normalised.
#pragma once

#include "core/base/dims.h"
#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// Transform over each of `axes`; y and x have the same shape.
inline const Kernel<void(View y, View x, const Dims& axes, bool forward, double scale)> FftC2C{"fft_c2c"};
/// Transform a real array over `axis`, whose size becomes n / 2 + 1: the half that determines the other.
inline const Kernel<void(View y, View x, int64_t axis, bool forward, double scale)> FftR2C{"fft_r2c"};
/// Transform the half of a Hermitian spectrum over `axis` into reals; y's size there says which of n or n + 1 is meant.
inline const Kernel<void(View y, View x, int64_t axis, bool forward, double scale)> FftC2R{"fft_c2r"};

}  // namespace dragon::kernels
