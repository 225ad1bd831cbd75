// e^x in single precision as straight arithmetic: a loop over it becomes vector code without a call, so that several
// vectors are on their way at once. At most 2 ulp, from denormal numbers to infinity.
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

DRAGON_FN float ExpOfFloat(float x) {
  // Beyond these the result is 0 or infinite whatever the argument; a NaN fails both comparisons and stays.
  float at = x < -104.0f ? -104.0f : x;
  at = at > 89.0f ? 89.0f : at;
  // x = n log(2) + r, with n an integer: adding 1.5 * 2^23 rounds to one, and leaves it in the lowest bits.
  constexpr float kRounder = 12582912.0f;
  const float shifted = MultiplyAdd(at, 1.44269504088896341f, kRounder);
  const float n = shifted - kRounder;
  const float r = MultiplyAdd(n, 2.12194440e-4f, MultiplyAdd(n, -0.693359375f, at));
  float p = MultiplyAdd(r, 1.9875691500e-4f, 1.3981999507e-3f);
  p = MultiplyAdd(p, r, 8.3334519073e-3f);
  p = MultiplyAdd(p, r, 4.1665795894e-2f);
  p = MultiplyAdd(p, r, 1.6666665459e-1f);
  p = MultiplyAdd(p, r, 5.0000001201e-1f);
  p = MultiplyAdd(p, r * r, r) + 1.0f;
  // 2^n as two factors, since n may be out of a single one's range.
  const int32_t whole = bits::Cast<int32_t>(shifted) - bits::Cast<int32_t>(kRounder);
  const int32_t half = whole >> 1;
  const float first = bits::Cast<float>((half + 127) << 23), second = bits::Cast<float>((whole - half + 127) << 23);
  return p * first * second;
}

}  // namespace dragon::libm
