// Floats of 8 bits as storage types: every number goes through float.
#pragma once

#include "core/base/half.h"

namespace dragon {

/// What a code of 8 bits without a finite number stands for.
enum class Special : uint8_t {
  kInfinities,   ///< as in IEEE: the largest exponent holds infinities and NaNs
  kNan,          ///< all bits but the sign set: NaN; no infinities, what is too large becomes the largest number
  kNegativeZero  ///< what would be -0: NaN; no infinities, and one zero
};

/// A sign, `8 - 1 - kMantissa` bits of exponent with the bias `kBias`, `kMantissa` bits of mantissa.
template <int kMantissa, int kBias, Special kSpecial>
struct MiniFloat {
  uint8_t bits;

  MiniFloat() = default;
  DRAGON_FN explicit MiniFloat(float value) : bits(Encode(value)) {}
  DRAGON_FN operator float() const { return Decode(bits); }

 private:
  static constexpr uint32_t kDropped = 23 - kMantissa;  ///< bits of a float's mantissa that have no place
  static constexpr uint32_t kInfinity = 0x7F800000u;
  static constexpr uint32_t kTop = ((1u << (7 - kMantissa)) - 1) << kMantissa;  ///< the largest exponent
  static constexpr uint32_t kLargest = kSpecial == Special::kInfinities ? kTop - 1
                                       : kSpecial == Special::kNan      ? 0x7Eu
                                                                        : 0x7Fu;
  /// The bits of 2^exponent as a float.
  static constexpr uint32_t Power(int exponent) { return static_cast<uint32_t>(exponent + 127) << 23; }

  /// To the nearest, ties to even.
  static DRAGON_FN uint8_t Encode(float value) {
    const uint32_t word = bits::Cast<uint32_t>(value), sign = word >> 24 & 0x80u, magnitude = word & 0x7FFFFFFFu;
    uint32_t code;
    if (magnitude > kInfinity) {
      code = 0xFFu;
    } else if (magnitude < Power(1 - kBias)) {  // subnormal here: the sum's last bit is the least there is
      constexpr uint32_t kShift = Power(1 - kBias + static_cast<int>(kDropped));
      code = bits::Cast<uint32_t>(bits::Cast<float>(magnitude) + bits::Cast<float>(kShift)) - kShift;
    } else {
      const uint32_t odd = magnitude >> kDropped & 1u;
      code = (magnitude - (static_cast<uint32_t>(127 - kBias) << 23) + (1u << (kDropped - 1)) - 1 + odd) >> kDropped;
    }
    if (code > kLargest) {
      if (kSpecial == Special::kNegativeZero) return 0x80u;
      const uint32_t most = kSpecial == Special::kInfinities ? kTop : kLargest;
      code = magnitude <= kInfinity ? most : 0x7Fu;
    }
    if (kSpecial == Special::kNegativeZero && code == 0) return 0;
    return static_cast<uint8_t>(sign | code);
  }

  static DRAGON_FN float Decode(uint8_t code) {
    const uint32_t magnitude = code & 0x7Fu, sign = static_cast<uint32_t>(code & 0x80u) << 24;
    if (kSpecial == Special::kNegativeZero && code == 0x80u) return bits::Cast<float>(0x7FC00000u);
    if (kSpecial == Special::kNan && magnitude == 0x7Fu) return bits::Cast<float>(sign | 0x7FC00000u);
    if (kSpecial == Special::kInfinities && magnitude >= kTop) {
      return bits::Cast<float>(sign | (magnitude == kTop ? kInfinity : 0x7FC00000u));
    }
    if (magnitude < (1u << kMantissa)) {
      const float least = bits::Cast<float>(Power(1 - kBias - kMantissa));
      return bits::Cast<float>(sign | bits::Cast<uint32_t>(static_cast<float>(magnitude) * least));
    }
    return bits::Cast<float>(sign | ((magnitude << kDropped) + (static_cast<uint32_t>(127 - kBias) << 23)));
  }
};

using float8_e4m3fn = MiniFloat<3, 7, Special::kNan>;
using float8_e5m2 = MiniFloat<2, 15, Special::kInfinities>;
using float8_e4m3fnuz = MiniFloat<3, 8, Special::kNegativeZero>;
using float8_e5m2fnuz = MiniFloat<2, 16, Special::kNegativeZero>;

}  // namespace dragon
