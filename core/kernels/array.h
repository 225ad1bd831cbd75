// Kernels that move numbers without computing on them, and those that make numbers from nothing.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// y = x, whatever strides and dtypes the two have; dispatched on y's dtype. x broadcasts.
inline const Kernel<void(View y, View x)> Copy{"copy"};

// --- creation: y is contiguous

/// A number in both its forms: integers read the one, floats the other.
struct RampPoint {
  double real;
  int64_t integer;
};
/// y[i] = start + i * step
inline const Kernel<void(View y, RampPoint start, RampPoint step)> Ramp{"ramp"};
/// Evenly spaced numbers including both ends.
inline const Kernel<void(View y, complex128 start, complex128 stop)> Linspace{"linspace"};
/// base to the power of evenly spaced numbers.
inline const Kernel<void(View y, double start, double stop, double base)> Logspace{"logspace"};
/// Zero what lies above (or, if `upper`, below) a diagonal of y's last two axes.
inline const Kernel<void(View y, int64_t diagonal, bool upper)> KeepTriangle{"keep_triangle"};

}  // namespace dragon::kernels
