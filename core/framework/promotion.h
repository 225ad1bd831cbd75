// Which dtype results when dtypes meet. PyTorch's rule is the default; a frontend may bring its own.
#pragma once

#include <span>

#include "core/framework/tensor.h"

namespace dragon {

/// The common dtype of the defined inputs.
using PromotionRule = DType (*)(const char* who, std::span<const Tensor> inputs);

/// The dtype that can hold both, by PyTorch's table.
DRAGON_API DType PromoteTypes(DType a, DType b);
/// PyTorch's rule: tensors with axes outrank 0-d tensors, which outrank Python numbers, within a category
/// (bool < integer < float < complex); a higher category wins with the dtype it came with, numbers with the default
/// dtype.
DRAGON_API DType ResultType(const char* who, std::span<const Tensor> inputs);
/// May a result of dtype `from` be written into a tensor of dtype `to`? Not complex into real, float into integer,
/// or anything into bool.
DRAGON_API bool CanCast(DType from, DType to);

/// The float dtype of Python floats and of integer tensors in float functions. Per process.
DRAGON_API DType DefaultDType();
DRAGON_API void SetDefaultDType(DType dtype);

/// The rule of this thread's current frontend.
DRAGON_API PromotionRule CurrentPromotionRule();
DRAGON_API void SetPromotionRule(PromotionRule rule);

}  // namespace dragon
