// Casts between every two dtypes, of contiguous elements: what a cast, and an operand of another dtype, are made of.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

using ConvertKernel = Kernel<void(void* to, const void* from, int64_t n)>;

/// The conversions to one dtype; the kernel's dtype is the one converted from.
inline const ConvertKernel kConvertTo[kDTypeCount] = {ConvertKernel{"convert_to_bool"},
                                                      ConvertKernel{"convert_to_uint8"},
                                                      ConvertKernel{"convert_to_int8"},
                                                      ConvertKernel{"convert_to_int16"},
                                                      ConvertKernel{"convert_to_int32"},
                                                      ConvertKernel{"convert_to_int64"},
                                                      ConvertKernel{"convert_to_float16"},
                                                      ConvertKernel{"convert_to_bfloat16"},
                                                      ConvertKernel{"convert_to_float32"},
                                                      ConvertKernel{"convert_to_float64"},
                                                      ConvertKernel{"convert_to_complex64"},
                                                      ConvertKernel{"convert_to_complex128"},
                                                      ConvertKernel{"convert_to_uint16"},
                                                      ConvertKernel{"convert_to_uint32"},
                                                      ConvertKernel{"convert_to_uint64"},
                                                      ConvertKernel{"convert_to_float8_e4m3fn"},
                                                      ConvertKernel{"convert_to_float8_e5m2"},
                                                      ConvertKernel{"convert_to_float8_e4m3fnuz"},
                                                      ConvertKernel{"convert_to_float8_e5m2fnuz"},
                                                      ConvertKernel{"convert_to_complex32"}};

}  // namespace dragon::kernels
