// The cast of one element between any two types, as PyTorch defines it.
#pragma once

#include "core/base/types.h"

namespace dragon {

/// To bool: whether it is not zero. From complex: the real part. Floats beyond an integer's range: unspecified, no
/// trap.
template <typename To, typename From>
DRAGON_FN To Cast(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (std::is_same_v<To, bool> && kIsHalf<From>) {
    return (x.bits & 0x7FFF) != 0;  // without a conversion, which GCC 12 leaves scalar
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (kIsComplex<From> && kIsComplex<To>) {
    return To(x);
  } else if constexpr (kIsComplex<From>) {
    return Cast<To>(x.re);
  } else if constexpr (kIsComplex<To>) {
    return To(Cast<RealOf<To>>(x));
  } else if constexpr (kIsShortFloat<From>) {
    return Cast<To>(static_cast<float>(x));
  } else if constexpr (kIsShortFloat<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4) {
    return static_cast<To>(static_cast<int32_t>(x));  // wraps, as integers do
  } else if constexpr (std::is_floating_point_v<From> && std::is_unsigned_v<To>) {
    const bool high = x >= From(9223372036854775808.0);
    return high ? static_cast<To>(x) : static_cast<To>(static_cast<int64_t>(x));
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace dragon
