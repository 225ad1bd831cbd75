// e^x, e^x - 1 and log(x) in single precision as straight arithmetic: a loop over it becomes vector code without a call,
// so that several vectors are on their way at once. e^x within 2 ulp, the others within 1, from denormal numbers to
// infinity.
#pragma once

#include "core/base/half.h"
#include "core/base/macros.h"

namespace dragon::libm {

/// a * b + c, rounded once where the processor does that for nothing.
DRAGON_FN float MultiplyAdd(float a, float b, float c) {
#if defined(__CUDACC__)
  return fmaf(a, b, c);
#elif defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}

/// e^x as 2^n (1 + p), with n an integer.
struct PartsOfExp {
  int32_t n;
  float p;

  DRAGON_FN explicit PartsOfExp(float x) {
    // Beyond these the result is 0 or infinite whatever the argument; a NaN fails both comparisons and stays.
    float at = x < -104.0f ? -104.0f : x;
    at = at > 89.0f ? 89.0f : at;
    // x = n log(2) + r: adding 1.5 * 2^23 rounds to an integer, and leaves it in the lowest bits.
    constexpr float kRounder = 12582912.0f;
    const float shifted = MultiplyAdd(at, 1.44269504088896341f, kRounder);
    const float whole = shifted - kRounder;
    const float r = MultiplyAdd(whole, 2.12194440e-4f, MultiplyAdd(whole, -0.693359375f, at));
    p = MultiplyAdd(r, 1.9875691500e-4f, 1.3981999507e-3f);
    p = MultiplyAdd(p, r, 8.3334519073e-3f);
    p = MultiplyAdd(p, r, 4.1665795894e-2f);
    p = MultiplyAdd(p, r, 1.6666665459e-1f);
    p = MultiplyAdd(p, r, 5.0000001201e-1f);
    p = MultiplyAdd(p, r * r, r);
    n = bits::Cast<int32_t>(shifted) - bits::Cast<int32_t>(kRounder);
  }
  /// 2^n (1 + p), in two factors, since n may be out of a single one's range.
  DRAGON_FN float Whole() const {
    const int32_t half = n >> 1;
    const float first = bits::Cast<float>((half + 127) << 23), second = bits::Cast<float>((n - half + 127) << 23);
    return (p + 1.0f) * first * second;
  }
};

DRAGON_FN float ExpOfFloat(float x) { return PartsOfExp(x).Whole(); }

DRAGON_FN float Expm1OfFloat(float x) {
  const PartsOfExp parts(x);
  // From 2^25 on the 1 that is taken away is less than half of the last place.
  const int32_t n = parts.n < 25 ? parts.n : 25;
  const float power = bits::Cast<float>((n + 127) << 23);
  const float less = MultiplyAdd(parts.p, power, power - 1.0f), whole = parts.Whole();
  const float result = parts.n < 25 ? less : whole;
  return x == 0 ? x : result;
}

/// Of a positive, finite number.
DRAGON_FN float LogOfFloat(float x) {
  const bool denormal = x < 1.17549435e-38f;
  const float normal = denormal ? x * 8388608.0f : x;
  // x = 2^n (1 + f), where 1 + f lies between the roots of 1/2 and of 2.
  constexpr int32_t kRoot = 0x3F3504F3;
  const int32_t word = bits::Cast<int32_t>(normal) - kRoot;
  const float n = static_cast<float>((word >> 23) - (denormal ? 23 : 0));
  const float f = bits::Cast<float>((word & 0x007FFFFF) + kRoot) - 1.0f;
  // log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2)).
  const float s = f / (2.0f + f), z = s * s, half_square = 0.5f * f * f;
  float r = MultiplyAdd(z, 0.24279078841f, 0.28498786688f);
  r = MultiplyAdd(r, z, 0.40000972152f);
  r = MultiplyAdd(r, z, 0.66666662693f) * z;
  const float rest = MultiplyAdd(s, half_square + r, n * 9.0580006145e-06f);
  return MultiplyAdd(n, 6.9313812256e-01f, f - (half_square - rest));
}

}  // namespace dragon::libm
