// A complex number that host and device compilers treat alike. Layout: that of std::complex and of NumPy.
#pragma once

#include <cmath>
#include <complex>

#include "core/base/macros.h"

namespace dragon {

template <typename T>
struct alignas(2 * sizeof(T)) Complex {
  T re, im;

  Complex() = default;
  DRAGON_FN constexpr Complex(T real, T imag = T(0)) : re(real), im(imag) {}  // NOLINT: reals are complex
  template <typename U>
  DRAGON_FN constexpr explicit Complex(const Complex<U>& z) : re(static_cast<T>(z.re)), im(static_cast<T>(z.im)) {}
  Complex(const std::complex<T>& z) : re(z.real()), im(z.imag()) {}  // NOLINT: the same number

  operator std::complex<T>() const { return {re, im}; }

  DRAGON_FN Complex& operator+=(Complex z) { return re += z.re, im += z.im, *this; }
  DRAGON_FN Complex& operator-=(Complex z) { return re -= z.re, im -= z.im, *this; }
  DRAGON_FN Complex& operator*=(Complex z) { return *this = *this * z; }
  DRAGON_FN Complex& operator/=(Complex z) { return *this = *this / z; }

  friend DRAGON_FN Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend DRAGON_FN Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend DRAGON_FN Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend DRAGON_FN Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// Smith's division: scale by the larger part of the divisor so that |b|^2 cannot overflow.
  friend DRAGON_FN Complex operator/(Complex a, Complex b) {
    const T big_re = b.re < 0 ? -b.re : b.re, big_im = b.im < 0 ? -b.im : b.im;
    if (big_re >= big_im) {
      if (big_re == 0 && big_im == 0) return {a.re / big_re, a.im / big_im};
      const T ratio = b.im / b.re, scale = T(1) / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const T ratio = b.re / b.im, scale = T(1) / (b.re * ratio + b.im);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  friend DRAGON_FN bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
  friend DRAGON_FN bool operator!=(Complex a, Complex b) { return !(a == b); }
};

using complex64 = Complex<float>;
using complex128 = Complex<double>;

template <typename T>
DRAGON_FN Complex<T> Conj(Complex<T> z) {
  return {z.re, -z.im};
}

}  // namespace dragon
