// The small transforms that large ones are made of, on numbers whose real and imaginary parts lie in separate arrays:
// so every line of arithmetic is one vector instruction, whatever the radix.
#pragma once

#include <cstdint>
#include <utility>

#include "core/kernels/kernel.h"

namespace dragon::DRAGON_DEVICE {

/// Real and imaginary parts side by side.
template <typename T>
struct Split {
  T* re;
  T* im;
};

namespace butterfly {

template <typename T>
struct Pair {
  T re, im;
  friend DRAGON_FN Pair operator+(Pair a, Pair b) { return {a.re + b.re, a.im + b.im}; }
  friend DRAGON_FN Pair operator-(Pair a, Pair b) { return {a.re - b.re, a.im - b.im}; }
};

template <typename T>
DRAGON_FN Pair<T> TimesMinusI(Pair<T> a) {
  return {a.im, -a.re};
}

template <int... k>
using Indices = std::integer_sequence<int, k...>;

/// cos and sin of 2 pi turn / radix.
template <int kRadix>
constexpr double Cos(int turn) {
  return __builtin_cos(6.283185307179586476925286766559 * (turn % kRadix) / kRadix);
}
template <int kRadix>
constexpr double Sin(int turn) {
  return __builtin_sin(6.283185307179586476925286766559 * (turn % kRadix) / kRadix);
}

/// An odd radix: pairs j and radix - j share their products, as cosine is even and sine odd.
template <int kRadix>
struct Transform {
  static constexpr int kHalf = (kRadix - 1) / 2;

  template <int kOut, typename T, int... j>
  static DRAGON_FN void Output(const Pair<T>* sum, const Pair<T>* difference, Pair<T> first, Pair<T>* b,
                               Indices<j...>) {
    constexpr T kCos[] = {static_cast<T>(Cos<kRadix>((j + 1) * kOut))...};
    constexpr T kSin[] = {static_cast<T>(Sin<kRadix>((j + 1) * kOut))...};
    const Pair<T> even = {(first.re + ... + (kCos[j] * sum[j].re)), (first.im + ... + (kCos[j] * sum[j].im))};
    const Pair<T> odd = {(T(0) + ... + (kSin[j] * difference[j].im)), (T(0) + ... + (-kSin[j] * difference[j].re))};
    b[kOut] = even + odd;
    b[kRadix - kOut] = even - odd;
  }
  template <typename T, int... j>
  static DRAGON_FN void Run(const Pair<T>* a, Pair<T>* b, Indices<j...> half) {
    const Pair<T> sum[] = {(a[j + 1] + a[kRadix - 1 - j])...};
    const Pair<T> difference[] = {(a[j + 1] - a[kRadix - 1 - j])...};
    b[0] = {(a[0].re + ... + sum[j].re), (a[0].im + ... + sum[j].im)};
    (Output<j + 1>(sum, difference, a[0], b, half), ...);
  }
  template <typename T>
  static DRAGON_FN void Run(const Pair<T>* a, Pair<T>* b) {
    Run(a, b, std::make_integer_sequence<int, kHalf>{});
  }
};

template <>
struct Transform<2> {
  template <typename T>
  static DRAGON_FN void Run(const Pair<T>* a, Pair<T>* b) {
    b[0] = a[0] + a[1];
    b[1] = a[0] - a[1];
  }
};

template <>
struct Transform<4> {
  template <typename T>
  static DRAGON_FN void Run(const Pair<T>* a, Pair<T>* b) {
    const Pair<T> even = a[0] + a[2], even2 = a[0] - a[2], odd = a[1] + a[3], odd2 = TimesMinusI(a[1] - a[3]);
    b[0] = even + odd;
    b[1] = even2 + odd2;
    b[2] = even - odd;
    b[3] = even2 - odd2;
  }
};

template <>
struct Transform<8> {
  template <typename T>
  static DRAGON_FN void Run(const Pair<T>* a, Pair<T>* b) {
    constexpr T kHalfRoot = static_cast<T>(0.70710678118654752440);
    const Pair<T> even_in[] = {a[0], a[2], a[4], a[6]}, odd_in[] = {a[1], a[3], a[5], a[7]};
    Pair<T> even[4], odd[4];
    Transform<4>::Run(even_in, even);
    Transform<4>::Run(odd_in, odd);
    odd[1] = {kHalfRoot * (odd[1].re + odd[1].im), kHalfRoot * (odd[1].im - odd[1].re)};
    odd[2] = TimesMinusI(odd[2]);
    odd[3] = {kHalfRoot * (odd[3].im - odd[3].re), -kHalfRoot * (odd[3].re + odd[3].im)};
    b[0] = even[0] + odd[0], b[4] = even[0] - odd[0];
    b[1] = even[1] + odd[1], b[5] = even[1] - odd[1];
    b[2] = even[2] + odd[2], b[6] = even[2] - odd[2];
    b[3] = even[3] + odd[3], b[7] = even[3] - odd[3];
  }
};

/// One small transform at (p, q): read at a distance of `in`, write at a distance of `out`, turned by the twiddles.
template <int kRadix, typename T, int... k>
DRAGON_FN void One(const T* xr, const T* xi, int64_t in, T* yr, T* yi, int64_t out, const T* wr, const T* wi,
                   int64_t w_step, Indices<k...>) {
  const Pair<T> a[kRadix] = {Pair<T>{xr[k * in], xi[k * in]}...};
  Pair<T> b[kRadix];
  Transform<kRadix>::Run(a, b);
  yr[0] = b[0].re, yi[0] = b[0].im;
  const auto turn = [&](int i) __attribute__((always_inline)) {
    if (i == 0) return;
    const T cos = wr[(i - 1) * w_step], sin = wi[(i - 1) * w_step];
    yr[i * out] = b[i].re * cos - b[i].im * sin;
    yi[i * out] = b[i].re * sin + b[i].im * cos;
  };
  (turn(k), ...);
}

/// One pass of Stockham's self-sorting transform: y[q + s (r p + k)] = w^(p k) sum_j x[q + s (p + m j)] w_r^(j k).
/// Twiddle k of p is at w[(k - 1) m + p].
template <int kRadix, typename T>
void Pass(int64_t m, int64_t s, Split<const T> x, Split<T> y, Split<const T> w) {
  constexpr auto kAll = std::make_integer_sequence<int, kRadix>{};
  const T *DRAGON_RESTRICT xr = x.re, *DRAGON_RESTRICT xi = x.im, *DRAGON_RESTRICT wr = w.re,
                           *DRAGON_RESTRICT wi = w.im;
  T *DRAGON_RESTRICT yr = y.re, *DRAGON_RESTRICT yi = y.im;
  if (s == 1) {  // a lone line's first pass: vectors run along p
#pragma omp simd
    for (int64_t p = 0; p < m; ++p) {
      One<kRadix>(xr + p, xi + p, m, yr + kRadix * p, yi + kRadix * p, int64_t{1}, wr + p, wi + p, m, kAll);
    }
    return;
  }
  for (int64_t p = 0; p < m; ++p) {
    T cos[kRadix], sin[kRadix];  // known not to alias the output
    for (int k = 0; k + 1 < kRadix; ++k) cos[k] = wr[k * m + p], sin[k] = wi[k * m + p];
    const T *ar = xr + s * p, *ai = xi + s * p;
    T *br = yr + s * kRadix * p, *bi = yi + s * kRadix * p;
#pragma omp simd
    for (int64_t q = 0; q < s; ++q) {
      One<kRadix>(ar + q, ai + q, s * m, br + q, bi + q, s, cos, sin, int64_t{1}, kAll);
    }
  }
}

}  // namespace butterfly
}  // namespace dragon::DRAGON_DEVICE
