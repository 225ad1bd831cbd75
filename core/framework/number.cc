// The range of every dtype, for numbers that come without one.
#include "core/framework/number.h"

#include <cmath>
#include <limits>

#include "core/framework/op.h"

namespace dragon {

namespace {

/// The least and the largest integer of a dtype, as far as values hold them.
struct Range {
  int64_t low, high;
};
Range RangeOf(DType dtype) {
  if (dtype == DType::kBool) return {0, 1};
  if (dtype == DType::kUInt64) return {0, std::numeric_limits<int64_t>::max()};
  const int bits = 8 * static_cast<int>(ItemSize(dtype));
  if (IsUnsigned(dtype)) return {0, (int64_t{1} << bits) - 1};
  const int64_t high = static_cast<int64_t>(~uint64_t{0} >> (65 - bits));
  return {-high - 1, high};
}

double LargestFloat(DType dtype) {
  switch (RealDType(dtype)) {
    case DType::kFloat16:
      return 65504.0;
    case DType::kBFloat16:
      return 0x1.FEp127;
    case DType::kFloat32:
      return std::numeric_limits<float>::max();
    case DType::kFloat8E4M3FN:
      return 448.0;
    case DType::kFloat8E4M3FNUZ:
      return 240.0;
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
      return 57344.0;
    default:
      return std::numeric_limits<double>::max();
  }
}

bool TakesReal(DType dtype, double number) {
  if (dtype == DType::kBool) return true;
  if (IsInexact(dtype)) return !std::isfinite(number) || std::abs(number) <= LargestFloat(dtype);
  const Range range = RangeOf(dtype);
  // 2^63 - 1 is no double: the comparison is with the number after the last.
  return number >= static_cast<double>(range.low) && number < static_cast<double>(range.high) + 1;
}

}  // namespace

bool HasNumber(DType dtype, const Value& number) {
  if (!IsIntegral(dtype) || number.kind() != Value::Kind::kInt) return true;
  const Range range = RangeOf(dtype);
  return number.integer() >= range.low && number.integer() <= range.high;
}

bool TakesNumber(DType dtype, const Value& number) {
  if (number.kind() == Value::Kind::kComplex) {
    const complex128 z = number.complex();
    if (dtype == DType::kBool) return true;
    if (!IsComplex(dtype) && z.im != 0) return false;
    return TakesReal(dtype, z.re) && TakesReal(dtype, z.im);
  }
  if (number.kind() == Value::Kind::kDouble || IsInexact(dtype)) return TakesReal(dtype, number.real());
  if (dtype == DType::kBool) return true;
  const Range range = RangeOf(dtype);
  const int64_t low = IsUnsigned(dtype) ? -range.high : range.low;
  return number.integer() >= low && number.integer() <= range.high;
}

void RequireNumber(const char* who, DType dtype, const Value& number) {
  if (DRAGON_LIKELY(TakesNumber(dtype, number))) return;
  if (number.kind() == Value::Kind::kComplex) {
    throw ValueError(who).Got(number.str()).Expected("a number that ", dtype, " can hold");
  }
  if (IsInexact(dtype)) {
    throw ValueError(who).Got(number.str()).Expected("at most ", LargestFloat(dtype), ", the largest ", dtype);
  }
  const Range range = RangeOf(dtype);
  throw ValueError(who).Got(number.str()).Expected(range.low, " to ", range.high, ", which ", dtype, " can hold");
}

Tensor NumberIn(const char* who, DType dtype, const Value& number) {
  RequireNumber(who, dtype, number);
  return Tensor::Scalar(number, dtype);
}

Tensor CastOrRefuse(const char* who, const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (x.impl()->weak) RequireNumber(who, dtype, x.Item());
  return Op<"cast">(x, dtype);
}

}  // namespace dragon
