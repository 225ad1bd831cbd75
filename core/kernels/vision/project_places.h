// Where a projection sends the places of a result, rounded step by step: what both devices share. A source for the host
// says first that products and sums are not to be fused.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE::project {

/// Rounded before anything is added to it.
DRAGON_FN float Product(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

/// How often a span fits; of places beyond counting nothing is taken away.
DRAGON_FN float Times(float at, float span) {
  constexpr float kUncounted = 9.223372e18f;
  const float times = std::trunc(at / span);
  return times < kUncounted ? times : 0.0f;
}

DRAGON_FN float Reflected(float at, float size) {
  const float span = 2 * size;
  const float below = at + Product(span, Times(-at, span)), above = at - Product(span, Times(at, span));
  const float from_below = below < -size ? below + span : -below - 1;
  const float from_above = above >= size ? span - above - 1 : above;
  return at < 0 ? from_below : at > size - 1 ? from_above : at;
}

DRAGON_FN float Wrapped(float at, float size) {
  const float below = at + Product(size, Times(-at, size - 1) + 1), above = at - Product(size, Times(at, size - 1));
  return at < 0 ? below : at > size - 1 ? above : at;
}

/// A place along an axis that is brought into the picture; what is no number stays so.
template <ProjectOutside outside>
DRAGON_FN float BroughtIn(float at, float size) {
  if constexpr (outside == ProjectOutside::kConstant) return at;
  if constexpr (outside == ProjectOutside::kReflect) at = size > 1 ? Reflected(at, size) : at;
  if constexpr (outside == ProjectOutside::kWrap) at = size > 1 ? Wrapped(at, size) : at;
  const float least = at < 0 ? 0.0f : at;
  return least > size - 1 ? size - 1 : least;
}

/// The element at a whole place, or -1 where there is none.
DRAGON_FN int32_t PixelAt(float at, float size) {
  const auto element = static_cast<int32_t>(std::min(size, std::max(-1.0f, at)));
  return element < static_cast<int32_t>(size) ? element : -1;
}

/// The nearest whole number, from halves away from zero.
DRAGON_FN float AwayFromZero(float at) {
  const float away = std::fabs(at), whole = std::trunc(away);
  return std::copysign(away - whole >= 0.5f ? whole + 1 : whole, at);
}

DRAGON_FN float Mixed(float first, float a, float second, float b) { return Product(first, a) + Product(second, b); }

}  // namespace dragon::DRAGON_DEVICE::project
