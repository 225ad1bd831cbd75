// Division by a number that is known before a launch: on a GPU a multiplication and a shift are ten times as fast.
#pragma once

#include <cstdint>

#include "core/base/macros.h"

namespace dragon::cuda {

/// Divides indices below 2^31 by a divisor of at most 2^31 - 1; 64-bit indices are divided as usual.
template <typename Index>
struct Divider {
  Index divisor = 1;

  Divider() = default;
  explicit Divider(int64_t by) : divisor(static_cast<Index>(by)) {}
  DRAGON_FN Index Divide(Index n) const { return n / divisor; }
};

template <>
struct Divider<uint32_t> {
  uint32_t divisor = 1, factor = 1, shift = 0;

  Divider() = default;
  /// n / d is (n * factor / 2^32 + n) >> shift, with factor = 2^32 (2^shift - d) / d + 1 and 2^shift >= d.
  explicit Divider(int64_t by) : divisor(static_cast<uint32_t>(by)) {
    while (shift < 32 && (uint64_t{1} << shift) < divisor) ++shift;
    factor = static_cast<uint32_t>((uint64_t{1} << 32) * ((uint64_t{1} << shift) - divisor) / divisor + 1);
  }
  DRAGON_FN uint32_t Divide(uint32_t n) const {
    return (static_cast<uint32_t>((static_cast<uint64_t>(n) * factor) >> 32) + n) >> shift;
  }
};

}  // namespace dragon::cuda
