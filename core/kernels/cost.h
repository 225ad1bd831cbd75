// What drivers of loops ask of a functor: what it costs (dearer loops are shared among threads sooner, and unrolled
// less) and whether it may be used later than its caller.
#pragma once

#include <type_traits>

#include "core/kernels/kernel.h"

namespace dragon::DRAGON_DEVICE {

/// Base of functors that are dearer than an addition, by that many additions.
template <int kAdditions>
struct Cost {
  static constexpr int kCost = kAdditions;
};

template <typename F>
constexpr int CostOf() {
  if constexpr (requires { F::kCost; }) {
    return F::kCost;
  } else {
    return 1;
  }
}

/// Whether a copy of the functor, byte by byte, may be used when whoever made it is gone: one that says `kPoints` holds
/// the address of something of its maker's.
template <typename F>
constexpr bool MayBeKept() {
  if constexpr (requires { F::kPoints; }) {
    return std::is_trivially_copyable_v<F> && !F::kPoints;
  } else {
    return std::is_trivially_copyable_v<F>;
  }
}

}  // namespace dragon::DRAGON_DEVICE
