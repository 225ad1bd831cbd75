// The C library's functions under one name for float and double, declared so that loops over them become vector code.
//
// glibc brings vector versions within 4 ulp that treat NaN, infinities and signed zeros as the scalar ones do; the
// attribute tells the compiler they exist (vector/libmvec.cc has them where a machine's glibc is older than they are).
// A call must stand unconditionally in the loop for that: compute, then `Select`, instead of calling in a branch.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/base/half.h"
#include "core/base/types.h"
#include "core/kernels/exponent.h"
#include "core/kernels/libmvec.h"

#if defined(__x86_64__) && !defined(__CUDACC__)
#define DRAGON_VECTOR_FN __attribute__((simd("notinbranch")))
extern "C" {
#define DRAGON_DECLARE1(name)                     \
  DRAGON_VECTOR_FN float name##f(float) noexcept; \
  DRAGON_VECTOR_FN double name(double) noexcept;
#define DRAGON_DECLARE2(name)                            \
  DRAGON_VECTOR_FN float name##f(float, float) noexcept; \
  DRAGON_VECTOR_FN double name(double, double) noexcept;
DRAGON_VECTOR_FIRST1(DRAGON_DECLARE1)
DRAGON_VECTOR_FIRST2(DRAGON_DECLARE2)
DRAGON_VECTOR_LATER1(DRAGON_DECLARE1)
DRAGON_VECTOR_LATER2(DRAGON_DECLARE2)
#undef DRAGON_DECLARE1
#undef DRAGON_DECLARE2
}
#undef DRAGON_VECTOR_FN
#endif

namespace dragon::libm {

#define DRAGON_LIBM1(Name, name)                         \
  DRAGON_FN float Name(float x) { return ::name##f(x); } \
  DRAGON_FN double Name(double x) { return ::name(x); }
#define DRAGON_LIBM2(Name, name)                                     \
  DRAGON_FN float Name(float x, float y) { return ::name##f(x, y); } \
  DRAGON_FN double Name(double x, double y) { return ::name(x, y); }
DRAGON_LIBM1(PlainExp, exp)
DRAGON_LIBM1(Exp2, exp2)
DRAGON_LIBM1(PlainExpm1, expm1)
DRAGON_LIBM1(PlainLog, log)
DRAGON_LIBM1(PlainLog2, log2)
DRAGON_LIBM1(PlainLog10, log10)
DRAGON_LIBM1(PlainLog1p, log1p)
DRAGON_LIBM1(Sqrt, sqrt)
DRAGON_LIBM1(Cbrt, cbrt)
DRAGON_LIBM1(Sin, sin)
DRAGON_LIBM1(Cos, cos)
DRAGON_LIBM1(Tan, tan)
DRAGON_LIBM1(Asin, asin)
DRAGON_LIBM1(Acos, acos)
DRAGON_LIBM1(Atan, atan)
DRAGON_LIBM1(Sinh, sinh)
DRAGON_LIBM1(Cosh, cosh)
DRAGON_LIBM1(Tanh, tanh)
DRAGON_LIBM1(Asinh, asinh)
DRAGON_LIBM1(Acosh, acosh)
DRAGON_LIBM1(Atanh, atanh)
DRAGON_LIBM1(Erf, erf)
DRAGON_LIBM1(Erfc, erfc)
DRAGON_LIBM1(Ceil, ceil)
DRAGON_LIBM1(Floor, floor)
DRAGON_LIBM1(Trunc, trunc)
DRAGON_LIBM1(Rint, rint)
DRAGON_LIBM1(Abs, fabs)
DRAGON_LIBM2(Pow, pow)
DRAGON_LIBM2(Atan2, atan2)
DRAGON_LIBM2(Hypot, hypot)
DRAGON_LIBM2(Fmod, fmod)
DRAGON_LIBM2(CopySign, copysign)
DRAGON_LIBM2(NextAfter, nextafter)
#undef DRAGON_LIBM1
#undef DRAGON_LIBM2

/// Bits of a float as an integer of its size.
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

/// `condition ? a : b` of which both sides are always computed: keeps calls out of branches, so that they vectorise.
template <typename T>
DRAGON_FN T Select(bool condition, T a, T b) {
  using Word = BitsOf<T>;
  const Word mask = Word(0) - static_cast<Word>(condition);
  return bits::Cast<T>((bits::Cast<Word>(a) & mask) | (bits::Cast<Word>(b) & ~mask));
}

// The vector functions hand numbers near the ends of their domain to the scalar ones, one by one, ten times slower.
// Masks of -inf under an exponential, and logarithms of what is later masked away, are too common for that: keep them
// inside. A GPU's functions do not mind, and are called as they are.

/// e^x, with the plain function called only where the result is neither 0 nor infinite.
template <typename T>
DRAGON_FN T Exp(T x) {
  if constexpr (kOnGpu) return PlainExp(x);
  if constexpr (sizeof(T) == 4) return ExpOfFloat(x);
  constexpr T kLeast = sizeof(T) == 4 ? T(-104) : T(-746), kMost = sizeof(T) == 4 ? T(89) : T(710);
  const bool inside = x > kLeast && x < kMost;
  const T outside = x > 0 ? std::numeric_limits<T>::infinity() : x == x ? T(0) : x;
  return Select(inside, PlainExp(Select(inside, x, T(0))), outside);
}

template <typename T>
DRAGON_FN T Expm1(T x) {
  if constexpr (sizeof(T) == 4) return Expm1OfFloat(x);
  return PlainExpm1(x);
}

/// What a logarithm is outside (0, inf).
template <typename T>
DRAGON_FN T LogOutside(T x) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  return x == 0 ? -kInfinity : x == kInfinity ? kInfinity : x == x ? std::numeric_limits<T>::quiet_NaN() : x;
}
template <typename T>
DRAGON_FN bool HasLog(T x) {
  return x > 0 && x < std::numeric_limits<T>::infinity();
}
template <typename T>
DRAGON_FN T Log(T x) {
  if constexpr (kOnGpu) return PlainLog(x);
  if constexpr (sizeof(T) == 4) return Select(HasLog(x), LogOfFloat(Select(HasLog(x), x, T(1))), LogOutside(x));
  return Select(HasLog(x), PlainLog(Select(HasLog(x), x, T(1))), LogOutside(x));
}
template <typename T>
DRAGON_FN T Log2(T x) {
  if constexpr (kOnGpu) return PlainLog2(x);
  return Select(HasLog(x), PlainLog2(Select(HasLog(x), x, T(1))), LogOutside(x));
}
template <typename T>
DRAGON_FN T Log10(T x) {
  if constexpr (kOnGpu) return PlainLog10(x);
  return Select(HasLog(x), PlainLog10(Select(HasLog(x), x, T(1))), LogOutside(x));
}
template <typename T>
DRAGON_FN T Log1p(T x) {
  if constexpr (kOnGpu) return PlainLog1p(x);
  const bool inside = x > -1 && x < std::numeric_limits<T>::infinity();
  const T given = Select(inside, x, T(0));
  T result;
  if constexpr (sizeof(T) == 4) {
    result = Log1pOfFloat(given);
  } else {
    result = PlainLog1p(given);
  }
  return Select(inside, result, LogOutside(x == -1 ? T(0) : x == x ? (x < 0 ? T(-1) : x) : x));
}

template <typename T>
DRAGON_FN bool IsNan(T x) {
  return x != x;
}
template <typename T>
DRAGON_FN bool IsInf(T x) {
  return Abs(x) == std::numeric_limits<T>::infinity();
}
template <typename T>
DRAGON_FN bool SignBit(T x) {
  return bits::Cast<BitsOf<T>>(x) >> (8 * sizeof(T) - 1);
}

}  // namespace dragon::libm
