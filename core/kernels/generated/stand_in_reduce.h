// In the place of core/kernels/reduce.h within a generated kernel, which combines states in a way of its own.
#ifndef DRAGON_STAND_IN_REDUCE
#define DRAGON_STAND_IN_REDUCE

#include "core/kernels/cost.h"

namespace dragon::DRAGON_DEVICE {

template <typename Self>
struct Elementwise {};

template <typename T, typename... Args>
T LaneFold(Args...);

}  // namespace dragon::DRAGON_DEVICE

#endif  // DRAGON_STAND_IN_REDUCE
