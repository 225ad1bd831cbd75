// The steps of running sums, products and extremes, on every device: how a scan begins, goes on by one element, and how
// the scans of two neighbouring stretches become that of both.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/base/types.h"

namespace dragon::kernels {

/// What a scan of T is kept in: one size wider for floats, since every rounding stays in all that follows.
template <typename T>
using Running =
    std::conditional_t<std::is_same_v<T, float>, double,
                       std::conditional_t<std::is_same_v<T, complex64>, complex128,
                                          std::conditional_t<std::is_integral_v<T>, uint64_t, Accumulator<T>>>>;

/// A scan whose state is a number, which begins with the first element.
template <typename T>
struct RunningNumber {
  using Element = T;
  using State = Running<T>;
  T* y;
  DRAGON_FN State First(T x, int64_t) const { return static_cast<State>(x); }
  DRAGON_FN void Store(int64_t offset, State s) const { y[offset] = static_cast<T>(s); }
};

template <typename T>
struct RunningSum : RunningNumber<T> {
  using State = Running<T>;
  DRAGON_FN State Step(State s, T x, int64_t) const { return s + static_cast<State>(x); }
  DRAGON_FN State Join(State s, State later) const { return s + later; }
};

template <typename T>
struct RunningProd : RunningNumber<T> {
  using State = Running<T>;
  DRAGON_FN State Step(State s, T x, int64_t) const { return s * static_cast<State>(x); }
  DRAGON_FN State Join(State s, State later) const { return s * later; }
};

template <typename T>
struct RunningLogSum : RunningNumber<T> {
  using State = Running<T>;
  DRAGON_FN State Step(State s, T x, int64_t) const { return Join(s, static_cast<State>(x)); }
  DRAGON_FN State Join(State s, State later) const {
    if (s != s || later != later) return std::numeric_limits<State>::quiet_NaN();
    const State low = s < later ? s : later, high = s < later ? later : s;
    if (low == high && std::isinf(low)) return low;  // inf - inf would be NaN
    return high + std::log1p(std::exp(low - high));
  }
};

template <typename T, bool kMax>
struct RunningExtreme {
  using Element = T;
  struct State {
    Wide<T> value;
    int64_t index;
  };
  T* y;
  int64_t* place;
  DRAGON_FN State First(T x, int64_t index) const { return {static_cast<Wide<T>>(x), index}; }
  DRAGON_FN State Step(State s, T x, int64_t index) const { return Join(s, First(x, index)); }
  /// A later equal replaces an earlier one, and so does a NaN; nothing but a NaN replaces a NaN.
  DRAGON_FN State Join(State s, State later) const {
    const bool beats = kMax ? later.value >= s.value : later.value <= s.value;
    return later.value != later.value || beats ? later : s;
  }
  DRAGON_FN void Store(int64_t offset, State s) const {
    y[offset] = static_cast<T>(s.value);
    place[offset] = s.index;
  }
};

}  // namespace dragon::kernels
