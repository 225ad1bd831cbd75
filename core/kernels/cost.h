// What a functor costs: dearer loops are shared among threads sooner, and unrolled less.
#pragma once

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

}  // namespace dragon::DRAGON_DEVICE
