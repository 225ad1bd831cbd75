// Kernels that move numbers without computing on them.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// y = x, whatever strides and dtypes the two have; dispatched on y's dtype.
inline const Kernel<void(View y, View x)> Copy{"copy"};

}  // namespace dragon::kernels
