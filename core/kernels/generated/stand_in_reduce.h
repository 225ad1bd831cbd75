// In the place of core/kernels/reduce.h within a generated kernel, which combines states in a way of its own.
#ifndef DRAGON_STAND_IN_REDUCE
#define DRAGON_STAND_IN_REDUCE

#include "core/kernels/cost.h"

namespace dragon::DRAGON_DEVICE {

template <typename Self, typename Lane = void>
struct Elementwise {
  template <typename V>
  DRAGON_FN static V Term(V x) {
    return x;
  }
};

/// For tables of kernels, which nobody reads here.
template <typename R>
void ReduceBy();

}  // namespace dragon::DRAGON_DEVICE

#endif  // DRAGON_STAND_IN_REDUCE
