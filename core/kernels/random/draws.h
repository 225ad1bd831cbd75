// Single draws from distributions that need the machine's exact double mathematics, shared by the random kernels.
#pragma once

#include <cmath>
#include <numbers>

#include "core/base/half.h"
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

/// Bits below a one: numbers in [1, 2), less 1.
DRAGON_FN float UnitOf(uint32_t word) { return bits::Cast<float>(0x3F800000u | (word & 0x7FFFFFu)) - 1.0f; }
DRAGON_FN double UnitOf(uint32_t high, uint32_t low) {
  return bits::Cast<double>(uint64_t{1023} << 52 | static_cast<uint64_t>(high & 0xFFFFFu) << 32 | low) - 1.0;
}

/// Two normal numbers of four words.
DRAGON_FN void NormalPair(const uint32_t* words, double& first, double& second) {
  const double drawn = UnitOf(words[0], words[1]), u = drawn < 1.0e-7 ? 1.0e-7 : drawn;
  const double angle = 2.0 * std::numbers::pi * UnitOf(words[2], words[3]);
  const double radius = std::sqrt(-2.0 * std::log(u));
  first = std::sin(angle) * radius, second = std::cos(angle) * radius;
}

/// What Stirling's formula leaves of log(k!).
DRAGON_FN double StirlingTail(double k) {
  static constexpr double kFirst[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                      0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                      0.00925546218271273, 0.00833056343336287};
  if (k <= 9) return kFirst[static_cast<int>(k)];
  const double squared = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / squared) / squared) / (k + 1);
}

/// Add up geometric waiting times until the trials are used up: short when few successes are expected.
template <typename Uniform>
DRAGON_FN double BinomialByWaiting(double trials, double p, Uniform uniform) {
  double used = 0, successes = 0;
  for (;;) {
    used += std::ceil(std::log(uniform()) / std::log1p(-p));
    if (used > trials) return successes;
    ++successes;
  }
}

}  // namespace dragon::DRAGON_DEVICE
