// Element types: one enumerator, one C++ type, one NumPy name each, and lists of them to compile kernels for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/base/complex.h"
#include "core/base/half.h"
#include "core/base/macros.h"
#include "core/base/minifloat.h"

namespace dragon {

/// The order is a contract: saved graphs and pickles hold these numbers.
enum class DType : uint8_t {
  kBool,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  // From here on: dtypes that numbers are kept in. What has no kernel for them computes in another; see StandIn.
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat8E4M3FN,
  kFloat8E5M2,
  kFloat8E4M3FNUZ,
  kFloat8E5M2FNUZ,
  kComplex32,
};
inline constexpr int kDTypeCount = 20;

using complex32 = Complex<float16>;

template <typename... Ts>
struct TypeList {};

using Boolean = TypeList<bool>;
using Integral = TypeList<uint8_t, int8_t, int16_t, int32_t, int64_t>;
using Floating = TypeList<float16, bfloat16, float, double>;
using Singles = TypeList<float, double>;
using Complexes = TypeList<complex64, complex128>;
using Inexact = TypeList<float16, bfloat16, float, double, complex64, complex128>;
using LinearTypes = TypeList<float, double, complex64, complex128>;
using Real = TypeList<uint8_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float, double>;
using RealAndBool = TypeList<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float, double>;
using Bits = TypeList<bool, uint8_t, int8_t, int16_t, int32_t, int64_t>;
using Numeric =
    TypeList<uint8_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float, double, complex64, complex128>;
using AllTypes =
    TypeList<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float, double, complex64, complex128>;
/// All that numbers may be kept in, those that no kernel computes in as well.
using StoredTypes =
    TypeList<bool, uint8_t, int8_t, int16_t, int32_t, int64_t, float16, bfloat16, float, double, complex64, complex128,
             uint16_t, uint32_t, uint64_t, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, complex32>;

template <typename T>
struct TypeTag {
  using type = T;
};

template <typename T>
inline constexpr DType kDTypeOf = [] {
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kUInt8;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kInt8;
  if constexpr (std::is_same_v<T, int16_t>) return DType::kInt16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kInt64;
  if constexpr (std::is_same_v<T, float16>) return DType::kFloat16;
  if constexpr (std::is_same_v<T, bfloat16>) return DType::kBFloat16;
  if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return DType::kFloat64;
  if constexpr (std::is_same_v<T, complex64>) return DType::kComplex64;
  if constexpr (std::is_same_v<T, complex128>) return DType::kComplex128;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::kUInt16;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kUInt32;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kUInt64;
  if constexpr (std::is_same_v<T, float8_e4m3fn>) return DType::kFloat8E4M3FN;
  if constexpr (std::is_same_v<T, float8_e5m2>) return DType::kFloat8E5M2;
  if constexpr (std::is_same_v<T, float8_e4m3fnuz>) return DType::kFloat8E4M3FNUZ;
  if constexpr (std::is_same_v<T, float8_e5m2fnuz>) return DType::kFloat8E5M2FNUZ;
  if constexpr (std::is_same_v<T, complex32>) return DType::kComplex32;
}();

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<Complex<T>> = true;
template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <typename T>
inline constexpr bool kIsFloat8 = false;
template <int kMantissa, int kBias, Special kSpecial>
inline constexpr bool kIsFloat8<MiniFloat<kMantissa, kBias, kSpecial>> = true;
/// Floats that are a storage type: arithmetic on them happens in float.
template <typename T>
inline constexpr bool kIsShortFloat = kIsHalf<T> || kIsFloat8<T>;
template <typename T>
inline constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsShortFloat<T>;

/// The type arithmetic on T happens in: float for shorter floats, T itself otherwise.
template <typename T>
using Wide = std::conditional_t<kIsShortFloat<T>, float, T>;

/// The type sums of T are kept in: wide enough that adding millions of elements keeps the digits T has.
template <typename T>
using Accumulator = std::conditional_t<kIsHalf<T>, float, std::conditional_t<std::is_integral_v<T>, int64_t, T>>;

/// The real type under a complex one; T itself otherwise.
template <typename T>
struct RealPart {
  using type = T;
};
template <typename T>
struct RealPart<Complex<T>> {
  using type = T;
};
template <typename T>
using RealOf = typename RealPart<T>::type;

inline constexpr int64_t kItemSizes[kDTypeCount] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 2, 4, 8, 1, 1, 1, 1, 4};
inline constexpr const char* kDTypeNames[kDTypeCount] = {
    "bool",     "uint8",         "int8",        "int16",           "int32",           "int64",    "float16",
    "bfloat16", "float32",       "float64",     "complex64",       "complex128",      "uint16",   "uint32",
    "uint64",   "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "complex32"};

inline constexpr int64_t ItemSize(DType dtype) { return kItemSizes[static_cast<int>(dtype)]; }
/// The NumPy name, e.g. "float32".
inline constexpr const char* Name(DType dtype) { return kDTypeNames[static_cast<int>(dtype)]; }

/// Whether a dtype is one of those from `first` to `last`, or one of the later ones from `kept` to `last_kept`.
inline constexpr bool IsAmong(DType d, DType first, DType last, DType kept, DType last_kept) {
  return (d >= first && d <= last) || (d >= kept && d <= last_kept);
}
inline constexpr bool IsFloating(DType d) {
  return IsAmong(d, DType::kFloat16, DType::kFloat64, DType::kFloat8E4M3FN, DType::kFloat8E5M2FNUZ);
}
inline constexpr bool IsComplex(DType d) {
  return IsAmong(d, DType::kComplex64, DType::kComplex128, DType::kComplex32, DType::kComplex32);
}
inline constexpr bool IsInexact(DType d) {
  return IsAmong(d, DType::kFloat16, DType::kComplex128, DType::kFloat8E4M3FN, DType::kComplex32);
}
/// Signed and unsigned integers, without bool.
inline constexpr bool IsIntegral(DType d) {
  return IsAmong(d, DType::kUInt8, DType::kInt64, DType::kUInt16, DType::kUInt64);
}
inline constexpr bool IsUnsigned(DType d) {
  return IsAmong(d, DType::kUInt8, DType::kUInt8, DType::kUInt16, DType::kUInt64);
}
inline constexpr bool IsHalf(DType d) { return d == DType::kFloat16 || d == DType::kBFloat16; }
inline constexpr bool IsFloat8(DType d) { return d >= DType::kFloat8E4M3FN && d <= DType::kFloat8E5M2FNUZ; }
/// Floats and complex numbers of at least 32 bits a part: what LAPACK and the Fourier transforms take.
inline constexpr bool IsSingleOrMore(DType d) { return d >= DType::kFloat32 && d <= DType::kComplex128; }
/// The dtype of a complex number's parts; the dtype itself when it is real.
inline constexpr DType RealDType(DType d) {
  if (d == DType::kComplex32) return DType::kFloat16;
  return d == DType::kComplex64 ? DType::kFloat32 : d == DType::kComplex128 ? DType::kFloat64 : d;
}
/// The complex dtype whose parts hold `d`.
inline constexpr DType ComplexDType(DType d) {
  if (d == DType::kFloat16 || d == DType::kComplex32) return DType::kComplex32;
  return d == DType::kFloat64 || d == DType::kComplex128 ? DType::kComplex128 : DType::kComplex64;
}

/// Numbers are kept in it, and computed in another.
inline constexpr bool IsKept(DType d) { return d > DType::kComplex128; }
/// The dtype in which operators without a kernel for `d` compute: it holds every number of `d`, but for those of uint64
/// from 2^63 on.
inline constexpr DType StandIn(DType d) {
  switch (d) {
    case DType::kUInt16:
      return DType::kInt32;
    case DType::kUInt32:
    case DType::kUInt64:
      return DType::kInt64;
    case DType::kComplex32:
      return DType::kComplex64;
    default:
      return IsFloat8(d) ? DType::kFloat32 : d;
  }
}

/// Call `f(TypeTag<T>{})` for the T of `dtype`; false if `List` lacks it.
template <typename F, typename... Ts>
bool Visit(DType dtype, TypeList<Ts...>, F&& f) {
  return ((kDTypeOf<Ts> == dtype ? (f(TypeTag<Ts>{}), true) : false) || ...);
}

}  // namespace dragon
