// How exact products in single precision must be: a device may have units that are faster and keep fewer digits.
#pragma once

#include "core/base/macros.h"

namespace dragon {

/// Whether float32 products may round their operands to TensorFloat32, ten bits of mantissa. They may not, unless told.
DRAGON_API bool AllowsTf32();
DRAGON_API void SetAllowsTf32(bool allowed);
/// The same for convolutions, which may, unless told otherwise: PyTorch's defaults are these two.
DRAGON_API bool ConvolutionsAllowTf32();
DRAGON_API void SetConvolutionsAllowTf32(bool allowed);

}  // namespace dragon
