// PyTorch's promotion table and rule.
#include "core/framework/promotion.h"

#include <atomic>

namespace dragon {

namespace {

int Category(DType dtype) {
  if (dtype == DType::kBool) return 0;
  if (IsIntegral(dtype)) return 1;
  return IsComplex(dtype) ? 3 : 2;
}

/// What a Python number of this category becomes when no tensor of the category is there.
DType NumberDefault(DType dtype) {
  switch (Category(dtype)) {
    case 0:
      return DType::kBool;
    case 1:
      return DType::kInt64;
    case 2:
      return DefaultDType();
    default:
      return ComplexDType(DefaultDType());
  }
}

thread_local PromotionRule g_rule = &ResultType;
std::atomic<DType> g_default_dtype{DType::kFloat32};

}  // namespace

namespace {

/// PyTorch's rules where a dtype is one that numbers are only kept in.
DType PromoteKept(DType a, DType b) {
  if (IsFloat8(a) || IsFloat8(b)) {
    throw RuntimeError("promote_types")
        .Says("Promotion for Float8 Types is not supported, attempted to promote ", a, " and ", b,
              "; cast one of them");
  }
  if (!IsKept(a)) std::swap(a, b);
  if (IsUnsigned(a)) {
    if (IsFloating(b)) return b;
    throw RuntimeError("promote_types")
        .Says("Promotion for uint16, uint32, uint64 types is not supported, attempted to promote ", a, " and ", b,
              "; cast one of them");
  }
  if (IsUnsigned(b) && IsKept(b)) return PromoteKept(b, a);
  if (IsComplex(b)) return b;
  if (!IsFloating(b) || b == DType::kFloat16) return a;  // complex32, whose parts are float16
  return ComplexDType(b);
}

}  // namespace

DType PromoteTypes(DType a, DType b) {
  if (a == b) return a;
  if (DRAGON_UNLIKELY(IsKept(a) || IsKept(b))) return PromoteKept(a, b);
  if (a > b) std::swap(a, b);  // dtypes are ordered by category, then by width
  if (IsComplex(b)) {
    if (RealDType(a) == DType::kFloat64) return DType::kComplex128;
    return b;
  }
  if (IsFloating(b)) return a == DType::kFloat16 && b == DType::kBFloat16 ? DType::kFloat32 : b;
  if (a == DType::kUInt8) return b == DType::kInt8 ? DType::kInt16 : b;
  return b;
}

DType ResultType(const char* /*who*/, std::span<const Tensor> inputs) {
  // Ranks: 0 tensors with axes, 1 zero-d tensors, 2 Python numbers.
  DType dtypes[3] = {DType::kBool, DType::kBool, DType::kBool};
  bool present[3] = {false, false, false};
  for (const Tensor& x : inputs) {
    if (!x.defined()) continue;
    const int rank = x.impl()->weak ? 2 : x.ndim() == 0 ? 1 : 0;
    const DType dtype = rank == 2 ? NumberDefault(x.dtype()) : x.dtype();
    dtypes[rank] = present[rank] ? PromoteTypes(dtypes[rank], dtype) : dtype;
    present[rank] = true;
  }
  DType result = DType::kBool;
  bool any = false;
  for (int rank = 0; rank < 3; ++rank) {
    if (!present[rank]) continue;
    if (!any) {
      result = dtypes[rank];
    } else if (Category(dtypes[rank]) > Category(result)) {
      // A float of higher rank decides the width even of a complex result.
      if (IsFloating(result)) {
        result = ComplexDType(result);
      } else {
        result = rank < 2 ? PromoteTypes(result, dtypes[rank]) : dtypes[rank];
      }
    }
    any = true;
  }
  return result;
}

bool CanCast(DType from, DType to) {
  if (to == DType::kBool) return from == DType::kBool;
  return Category(from) <= Category(to);
}

DType DefaultDType() { return g_default_dtype.load(std::memory_order_relaxed); }

void SetDefaultDType(DType dtype) {
  if (!IsFloating(dtype)) throw TypeError("set_default_dtype").Got(dtype).Expected("a floating dtype");
  g_default_dtype = dtype;
}

PromotionRule CurrentPromotionRule() { return g_rule; }
void SetPromotionRule(PromotionRule rule) { g_rule = rule ? rule : &ResultType; }

}  // namespace dragon
