// The functor of every copy.
#pragma once

#include "core/kernels/cost.h"

namespace dragon::DRAGON_DEVICE {

/// Costs nothing beside the memory, which a second thread does not make faster until there is much of it.
struct Identity : Cost<0> {
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    return x;
  }
};

}  // namespace dragon::DRAGON_DEVICE
