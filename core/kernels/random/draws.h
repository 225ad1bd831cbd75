// Single draws from distributions that need the machine's exact double mathematics, shared by the random kernels.
#pragma once

#include <cmath>
#include <numbers>

#include "core/base/mt19937.h"

namespace dragon::DRAGON_DEVICE {

/// A standard normal number; every second call uses the other half of the last pair.
inline double NextNormal(RandomState* state) {
  if (state->has_spare_normal) {
    state->has_spare_normal = false;
    return state->spare_normal;
  }
  const double turn = state->Double();
  const double radius = std::sqrt(-2.0 * std::log1p(-state->Double()));
  const double angle = 2.0 * std::numbers::pi * turn;
  state->spare_normal = radius * std::sin(angle);
  state->has_spare_normal = true;
  return radius * std::cos(angle);
}

}  // namespace dragon::DRAGON_DEVICE
