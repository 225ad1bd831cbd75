// What becomes of two elements that meet at one place, on every device.
#pragma once

#include <type_traits>

#include "core/base/types.h"

namespace dragon::kernels {

/// Sums and products of signed integers wrap around, as everywhere in the engine.
template <typename T, typename F>
DRAGON_FN T Arithmetic(T a, T b, F f) {
  if constexpr (std::is_same_v<T, bool>) {
    return f(static_cast<int>(a), static_cast<int>(b)) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  } else {
    return static_cast<T>(f(static_cast<Wide<T>>(a), static_cast<Wide<T>>(b)));
  }
}

template <typename T>
struct Assign {
  DRAGON_FN T operator()(T, T b) const { return b; }
};
template <typename T>
struct Add {
  DRAGON_FN T operator()(T a, T b) const {
    return Arithmetic(a, b, [](auto p, auto q) { return p + q; });
  }
};
template <typename T>
struct Multiply {
  DRAGON_FN T operator()(T a, T b) const {
    return Arithmetic(a, b, [](auto p, auto q) { return p * q; });
  }
};
/// A NaN on either side stays.
template <typename T>
struct Max {
  DRAGON_FN T operator()(T a, T b) const { return a != a || a >= b ? a : b; }
};
template <typename T>
struct Min {
  DRAGON_FN T operator()(T a, T b) const { return a != a || a <= b ? a : b; }
};

}  // namespace dragon::kernels
