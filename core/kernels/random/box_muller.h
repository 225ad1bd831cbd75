// Normal numbers of Philox streams, as TensorFlow makes them.
#pragma once

#include <cmath>
#include <numbers>

#include "core/kernels/random/draws.h"
#include "core/kernels/random/philox.h"

namespace dragon::DRAGON_DEVICE {

// The logarithm and the sine below take the steps, in double, of the C library's (those of Arm's optimized routines),
// so that numbers agree to the last bit with programs that call it one number at a time.

#if defined(__CUDACC__)
__device__
#endif
    alignas(64) constexpr double kInverse[16] = {
        0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0, 0x1.30d190c8864a5p+0,
        0x1.25e227b0b8eap+0,  0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0, 0x1.0953f419900a7p+0, 0x1p+0,
        0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,  0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1,
        0x1.767dcf5534862p-1};
#if defined(__CUDACC__)
__device__
#endif
    alignas(64) constexpr double kLogarithm[16] = {-0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2,
                                                   -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3,
                                                   -0x1.6574f0ac07758p-3, -0x1.1aa2bc79c81p-3,
                                                   -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4,
                                                   -0x1.252f438e10c1ep-5, 0x0p+0,
                                                   0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,
                                                   0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,
                                                   0x1.1058bc8a07ee1p-2,  0x1.4043057b6ee09p-2};

/// log(x) for positive normal x.
DRAGON_FN float LogOf(float x) {
  const auto word = bits::Cast<uint32_t>(x);
  const uint32_t from = word - 0x3F330000u;
  const uint32_t part = from >> 19 & 15u;
  const int32_t exponent = static_cast<int32_t>(from) >> 23;
  const double z = bits::Cast<float>(word - (from & 0xFF800000u));
  const double r = z * kInverse[part] - 1.0;
  const double start = kLogarithm[part] + exponent * 0x1.62e42fefa39efp-1;
  const double square = r * r;
  double y = 0x1.5575b0be00b6ap-2 * r + -0x1.ffffef20a4123p-2;
  y = -0x1.00ea348b88334p-2 * square + y;
  y = y * square + (start + r);
  return static_cast<float>(y);
}

/// Sine and cosine of an angle in [0, 2 pi].
DRAGON_FN void SinCosOf(float angle, float& sine, float& cosine) {
  double x = angle;
  const int32_t quarter = (static_cast<int32_t>(x * 0x1.45F306DC9C883p+23) + 0x800000) >> 24;
  x = x - quarter * 0x1.921FB54442D18p0;
  const double square = x * x;
  // Quarters 1 and 2 turn the sine's sign, 2 and 3 the cosine's.
  x = (quarter + 1) & 2 ? -x : x;
  const double sign = quarter & 2 ? -1.0 : 1.0;
  const double fourth = square * square, cube = square * x;
  const double c2 = sign * -0x1.6c087e89a359dp-10 + square * (sign * 0x1.99343027bf8c3p-16);
  const double s1 = 0x1.1107605230bc4p-7 + square * -0x1.994eb3774cf24p-13;
  const double c1 = sign + square * (sign * -0x1.ffffffd0c621cp-2);
  const double fifth = cube * square, sixth = fourth * square;
  const double s = x + cube * -0x1.555545995a603p-3;
  const double c = c1 + fourth * (sign * 0x1.55553e1068f19p-5);
  const auto first = static_cast<float>(s + fifth * s1), second = static_cast<float>(c + sixth * c2);
  sine = quarter & 1 ? second : first;
  cosine = quarter & 1 ? first : second;
}

/// Two normal numbers of two words.
DRAGON_FN void BoxMuller(uint32_t word0, uint32_t word1, float& first, float& second) {
  float u = UnitOf(word0);
  u = u < 1.0e-7f ? 1.0e-7f : u;
  const auto angle = static_cast<float>(2.0 * std::numbers::pi * static_cast<double>(UnitOf(word1)));
  const float radius = std::sqrt(-2.0f * LogOf(u));
  float sine, cosine;
  SinCosOf(angle, sine, cosine);
  first = sine * radius, second = cosine * radius;
}

inline constexpr uint64_t kReserved = 256;  // blocks for every four words of results

/// The four numbers of a group, drawn until four are within two standard deviations.
DRAGON_FN void Truncated(const Philox& stream, uint64_t group, float* numbers) {
  PhiloxWords next(stream, group * kReserved);
  for (int found = 0; found < 4;) {
    const uint32_t word0 = next(), word1 = next();
    float pair[2];
    BoxMuller(word0, word1, pair[0], pair[1]);
    for (int i = 0; i < 2 && found < 4; ++i) {
      if (std::fabs(pair[i]) < 2.0f) numbers[found++] = pair[i];
    }
  }
}
/// The two doubles of a group.
DRAGON_FN void Truncated(const Philox& stream, uint64_t group, double* numbers) {
  for (uint64_t block = group * kReserved / 2, found = 0; found < 2; ++block) {
    const Philox::Words words = stream.Block(block);
    double pair[2];
    NormalPair(words.data(), pair[0], pair[1]);
    for (int i = 0; i < 2 && found < 2; ++i) {
      if (std::fabs(pair[i]) < 2.0) numbers[found++] = pair[i];
    }
  }
}

}  // namespace dragon::DRAGON_DEVICE
