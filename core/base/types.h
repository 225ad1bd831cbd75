// Element types: one enumerator, one C++ type, one NumPy name each, and lists of them to compile kernels for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/base/complex.h"
#include "core/base/half.h"
#include "core/base/macros.h"

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
};
inline constexpr int kDTypeCount = 12;

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
}();

template <typename T>
inline constexpr bool kIsComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <typename T>
inline constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsHalf<T>;

/// The type arithmetic on T happens in: float for 16-bit floats, T itself otherwise.
template <typename T>
using Wide = std::conditional_t<kIsHalf<T>, float, T>;

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

inline constexpr int64_t kItemSizes[kDTypeCount] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16};
inline constexpr const char* kDTypeNames[kDTypeCount] = {"bool",    "uint8",   "int8",      "int16",
                                                         "int32",   "int64",   "float16",   "bfloat16",
                                                         "float32", "float64", "complex64", "complex128"};

inline constexpr int64_t ItemSize(DType dtype) { return kItemSizes[static_cast<int>(dtype)]; }
/// The NumPy name, e.g. "float32".
inline constexpr const char* Name(DType dtype) { return kDTypeNames[static_cast<int>(dtype)]; }

inline constexpr bool IsFloating(DType d) { return d >= DType::kFloat16 && d <= DType::kFloat64; }
inline constexpr bool IsComplex(DType d) { return d >= DType::kComplex64; }
inline constexpr bool IsInexact(DType d) { return d >= DType::kFloat16; }
/// Signed and unsigned integers, without bool.
inline constexpr bool IsIntegral(DType d) { return d >= DType::kUInt8 && d <= DType::kInt64; }
/// The dtype of a complex number's parts; the dtype itself when it is real.
inline constexpr DType RealDType(DType d) {
  return d == DType::kComplex64 ? DType::kFloat32 : d == DType::kComplex128 ? DType::kFloat64 : d;
}
/// The complex dtype whose parts hold `d`.
inline constexpr DType ComplexDType(DType d) {
  return d == DType::kFloat64 || d == DType::kComplex128 ? DType::kComplex128 : DType::kComplex64;
}

/// Call `f(TypeTag<T>{})` for the T of `dtype`; false if `List` lacks it.
template <typename F, typename... Ts>
bool Visit(DType dtype, TypeList<Ts...>, F&& f) {
  return ((kDTypeOf<Ts> == dtype ? (f(TypeTag<Ts>{}), true) : false) || ...);
}

}  // namespace dragon
