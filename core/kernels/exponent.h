// e^x, e^x - 1, log(x) and log(1 + x) in single precision as straight arithmetic: a loop over it becomes vector code
// without a call, so that several vectors are on their way at once. e^x within 2 ulp, the others within 1, from
// denormal numbers to infinity. A GPU's threads are no vectors: there they are the functions of CUDA's library, which
// are within 2 ulp, too, and shorter.
#pragma once

#include <cmath>

#include "core/base/half.h"
#include "core/base/macros.h"

namespace dragon::libm {

#if defined(__CUDA_ARCH__)
inline constexpr bool kOnGpu = true;
#else
inline constexpr bool kOnGpu = false;
#endif

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

/// e^x as 2^n e^r, with n an integer, and e^(r + low) - 1 as r + (r^2 q + low).
struct PartsOfExp {
  int32_t n;
  float r, low, q;

  DRAGON_FN explicit PartsOfExp(float x) {
    // Beyond these the result is 0 or infinite whatever the argument; a NaN fails both comparisons and stays.
    float at = x < -104.0f ? -104.0f : x;
    at = at > 89.0f ? 89.0f : at;
    // Adding 1.5 * 2^23 rounds to an integer, and leaves it in the lowest bits.
    constexpr float kRounder = 12582912.0f;
    const float shifted = MultiplyAdd(at, 1.44269504088896341f, kRounder);
    const float whole = shifted - kRounder;
    n = bits::Cast<int32_t>(shifted) - bits::Cast<int32_t>(kRounder);
    const float most = MultiplyAdd(whole, -0.693359375f, at);
    r = MultiplyAdd(whole, 2.12194440e-4f, most);
    low = MultiplyAdd(whole, 2.12194440e-4f, most - r);
    q = MultiplyAdd(r, 1.9875691500e-4f, 1.3981999507e-3f);
    q = MultiplyAdd(q, r, 8.3334519073e-3f);
    q = MultiplyAdd(q, r, 4.1665795894e-2f);
    q = MultiplyAdd(q, r, 1.6666665459e-1f);
    q = MultiplyAdd(q, r, 5.0000001201e-1f);
  }
  /// 2^n y, in two factors, since n may be out of a single one's range.
  DRAGON_FN float Scaled(float y) const {
    const int32_t half = n >> 1;
    const float first = bits::Cast<float>((half + 127) << 23), second = bits::Cast<float>((n - half + 127) << 23);
    return y * first * second;
  }
};

DRAGON_FN float ExpOfFloat(float x) {
  if constexpr (kOnGpu) return ::expf(x);
  const PartsOfExp parts(x);
  return parts.Scaled(MultiplyAdd(parts.q, parts.r * parts.r, parts.r) + 1.0f);
}

/// e^x of which less than two thirds of the last place is wrong, for a few more operations.
DRAGON_FN float ExactExpOfFloat(float x) {
  if constexpr (kOnGpu) return ::expf(x);
  const PartsOfExp parts(x);
  const float sum = 1.0f + parts.r;
  const float rest = parts.r - (sum - 1.0f);
  return parts.Scaled(sum + (MultiplyAdd(parts.q, parts.r * parts.r, parts.low) + rest));
}

DRAGON_FN float Expm1OfFloat(float x) {
  if constexpr (kOnGpu) return ::expm1f(x);
  const PartsOfExp parts(x);
  const float t = MultiplyAdd(parts.q, parts.r * parts.r, parts.low);
  // Half of it, since 2^128 is no float; below 2^-40 only the -1 is left.
  const float power = bits::Cast<float>(((parts.n > -40 ? parts.n : -40) + 126) << 23);
  const float result = 2.0f * MultiplyAdd(t, power, MultiplyAdd(parts.r, power, power - 0.5f));
  return x < 1e-30f && x > -1e-30f ? x : result;  // half of a denormal number may be none
}

/// log(2^n (1 + f) (1 + c)), where 1 + f lies between the roots of 1/2 and of 2, and c is next to nothing.
DRAGON_FN float LogOfParts(float n, float f, float c) {
  // log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R(s^2)).
  const float s = f / (2.0f + f), z = s * s, half_square = 0.5f * f * f;
  float r = MultiplyAdd(z, 0.24279078841f, 0.28498786688f);
  r = MultiplyAdd(r, z, 0.40000972152f);
  r = MultiplyAdd(r, z, 0.66666662693f) * z;
  const float rest = MultiplyAdd(s, half_square + r, MultiplyAdd(n, 9.0580006145e-06f, c));
  return MultiplyAdd(n, 6.9313812256e-01f, f - (half_square - rest));
}
constexpr int32_t kRootOfHalf = 0x3F3504F3;  ///< its bits

/// Of a positive, finite number.
DRAGON_FN float LogOfFloat(float x) {
  if constexpr (kOnGpu) return ::logf(x);
  const bool denormal = x < 1.17549435e-38f;
  const float normal = denormal ? x * 8388608.0f : x;
  const int32_t word = bits::Cast<int32_t>(normal) - kRootOfHalf;
  const float n = static_cast<float>((word >> 23) - (denormal ? 23 : 0));
  return LogOfParts(n, bits::Cast<float>((word & 0x007FFFFF) + kRootOfHalf) - 1.0f, 0.0f);
}

/// log(1 + x), of a finite number above -1.
DRAGON_FN float Log1pOfFloat(float x) {
  if constexpr (kOnGpu) return ::log1pf(x);
  const float sum = 1.0f + x;
  const float lost = (x < 1.0f ? x - (sum - 1.0f) : 1.0f - (sum - x)) / sum;
  const int32_t word = bits::Cast<int32_t>(sum) - kRootOfHalf, n = word >> 23;
  const float f = bits::Cast<float>((word & 0x007FFFFF) + kRootOfHalf) - 1.0f;
  const float result = LogOfParts(static_cast<float>(n), n == 0 ? x : f, n == 0 ? 0.0f : lost);
  return x == 0 ? x : result;
}

}  // namespace dragon::libm
