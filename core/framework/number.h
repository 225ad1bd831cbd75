// Bare numbers on their way into a dtype: which of them it has, which a frontend takes, which are refused.
#pragma once

#include "core/framework/tensor.h"

namespace dragon {

/// Whether the dtype has this very number; of integers only, since a float nearby always stands for a number.
DRAGON_API bool HasNumber(DType dtype, const Value& number);
/// Whether a number may become the dtype, as PyTorch and C have it: fractions are cut, unsigned dtypes count down from
/// their end, finite numbers stay finite, and what is imaginary stays complex.
DRAGON_API bool TakesNumber(DType dtype, const Value& number);
/// A ValueError in the name of `who` unless the dtype takes the number.
DRAGON_API void RequireNumber(const char* who, DType dtype, const Value& number);
/// The number as a 0-d tensor of the dtype, which must take it.
DRAGON_API Tensor NumberIn(const char* who, DType dtype, const Value& number);
/// A tensor in another dtype: a bare number must be one that it takes, other tensors are cast.
DRAGON_API Tensor CastOrRefuse(const char* who, const Tensor& x, DType dtype);

}  // namespace dragon
