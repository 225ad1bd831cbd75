// Complex numbers: making them, taking them apart, and the elementary functions of one.
#include <complex>

#include "core/kernels/pointwise.h"

#if defined(__CUDACC__)
#include <cuda/std/complex>
namespace library = ::cuda::std;
#else
namespace library = ::std;
#endif

namespace dragon::DRAGON_DEVICE {
namespace {

template <typename T>
DRAGON_FN library::complex<T> To(Complex<T> z) {
  return {z.re, z.im};
}
template <typename T>
DRAGON_FN Complex<T> From(library::complex<T> z) {
  return {z.real(), z.imag()};
}
template <typename T>
DRAGON_FN Complex<T> Scaled(Complex<T> z, double factor) {
  return {z.re * static_cast<T>(factor), z.im * static_cast<T>(factor)};
}

constexpr double kLn2 = 0.693147180559945309417, kLn10 = 2.302585092994045684018;
constexpr double kPi = 3.14159265358979323846;

struct ExpOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::exp(To(z))); }
};
struct Exp2Of : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::exp(To(Scaled(z, kLn2)))); }
};
/// e^z - 1 without losing the digits of a small z: expm1(x) cos(y) - 2 sin^2(y / 2) + i e^x sin(y).
struct Expm1Of : Cost<32> {
  template <typename T>
  DRAGON_FN Complex<T> operator()(Complex<T> z) const {
    const T grown = libm::Expm1(z.re), half_sine = libm::Sin(z.im / 2);
    return {grown * libm::Cos(z.im) - 2 * half_sine * half_sine, (grown + 1) * libm::Sin(z.im)};
  }
};
struct LogOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::log(To(z))); }
};
struct Log2Of : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return Scaled(From(library::log(To(z))), 1 / kLn2); }
};
struct Log10Of : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return Scaled(From(library::log(To(z))), 1 / kLn10); }
};
/// log|1 + z| of a small z comes from |1 + z|^2 - 1 = x (2 + x) + y^2.
struct Log1pOf : Cost<32> {
  template <typename T>
  DRAGON_FN Complex<T> operator()(Complex<T> z) const {
    const T angle = libm::Atan2(z.im, z.re + 1);
    const bool small = libm::Abs(z.re) < T(0.5) && libm::Abs(z.im) < T(0.5);
    const T length = small ? libm::Log1p(z.re * (2 + z.re) + z.im * z.im) / 2 : libm::Log(libm::Hypot(z.re + 1, z.im));
    return {length, angle};
  }
};
struct SqrtOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::sqrt(To(z))); }
};
struct RsqrtOf : Cost<32> {
  template <typename T>
  DRAGON_FN Complex<T> operator()(Complex<T> z) const {
    return Complex<T>(1) / From(library::sqrt(To(z)));
  }
};
struct ReciprocalOf : Cost<4> {
  template <typename T>
  DRAGON_FN Complex<T> operator()(Complex<T> z) const {
    return Complex<T>(1) / z;
  }
};
struct SigmoidOf : Cost<32> {
  template <typename T>
  DRAGON_FN Complex<T> operator()(Complex<T> z) const {
    return Complex<T>(1) / (Complex<T>(1) + From(library::exp(To(-z))));
  }
};
struct SincOf : Cost<32> {
  template <typename T>
  DRAGON_FN Complex<T> operator()(Complex<T> z) const {
    const Complex<T> angle = Scaled(z, kPi);
    return z == Complex<T>(0) ? Complex<T>(1) : From(library::sin(To(angle))) / angle;
  }
};
struct SinOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::sin(To(z))); }
};
struct CosOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::cos(To(z))); }
};
struct TanOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::tan(To(z))); }
};
struct AsinOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::asin(To(z))); }
};
struct AcosOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::acos(To(z))); }
};
struct AtanOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::atan(To(z))); }
};
struct SinhOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::sinh(To(z))); }
};
struct CoshOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::cosh(To(z))); }
};
struct TanhOf : Cost<32> {
  template <typename T>
  DRAGON_FN Complex<T> operator()(Complex<T> z) const {
#if defined(__CUDACC__)  // its library's quotient loses digits near the poles
    const auto wide = library::tanh(library::complex<double>(z.re, z.im));
    return {static_cast<T>(wide.real()), static_cast<T>(wide.imag())};
#else
    return From(library::tanh(To(z)));
#endif
  }
};
struct AsinhOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::asinh(To(z))); }
};
struct AcoshOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::acosh(To(z))); }
};
struct AtanhOf : Cost<32> {
  DRAGON_FN auto operator()(auto z) const { return From(library::atanh(To(z))); }
};
struct PowOf : Cost<64> {
  template <typename T>
  DRAGON_FN Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    if (b == Complex<T>(0)) return Complex<T>(1);
    if (b == Complex<T>(2)) return a * a;
    return From(library::pow(To(a), To(b)));
  }
};

struct ConjOf {
  template <typename T>
  DRAGON_FN T operator()(T z) const {
    if constexpr (kIsComplex<T>) {
      return Conj(z);
    } else {
      return z;
    }
  }
};
/// The argument of a number; of a real one 0 or pi, and NaN of NaN.
struct AngleOf : Cost<8> {
  template <typename T>
  DRAGON_FN RealOf<T> operator()(T x) const {
    if constexpr (kIsComplex<T>) {
      return libm::Atan2(x.im, x.re);
    } else {
      return x != x ? x : x < T(0) ? static_cast<T>(kPi) : T(0);
    }
  }
};
struct ComplexOf {
  template <typename T>
  DRAGON_FN Complex<T> operator()(T real, T imag) const {
    return {real, imag};
  }
};
struct PolarOf : Cost<16> {
  template <typename T>
  DRAGON_FN Complex<T> operator()(T length, T angle) const {
    return {length * libm::Cos(angle), length * libm::Sin(angle)};
  }
};

const bool entered[] = {
    EnterUnary<ExpOf>("exp", Complexes{}),         EnterUnary<Exp2Of>("exp2", Complexes{}),
    EnterUnary<Expm1Of>("expm1", Complexes{}),     EnterUnary<LogOf>("log", Complexes{}),
    EnterUnary<Log2Of>("log2", Complexes{}),       EnterUnary<Log10Of>("log10", Complexes{}),
    EnterUnary<Log1pOf>("log1p", Complexes{}),     EnterUnary<SqrtOf>("sqrt", Complexes{}),
    EnterUnary<RsqrtOf>("rsqrt", Complexes{}),     EnterUnary<ReciprocalOf>("reciprocal", Complexes{}),
    EnterUnary<SigmoidOf>("sigmoid", Complexes{}), EnterUnary<SincOf>("sinc", Complexes{}),
    EnterUnary<SinOf>("sin", Complexes{}),         EnterUnary<CosOf>("cos", Complexes{}),
    EnterUnary<TanOf>("tan", Complexes{}),         EnterUnary<AsinOf>("asin", Complexes{}),
    EnterUnary<AcosOf>("acos", Complexes{}),       EnterUnary<AtanOf>("atan", Complexes{}),
    EnterUnary<SinhOf>("sinh", Complexes{}),       EnterUnary<CoshOf>("cosh", Complexes{}),
    EnterUnary<TanhOf>("tanh", Complexes{}),       EnterUnary<AsinhOf>("asinh", Complexes{}),
    EnterUnary<AcoshOf>("acosh", Complexes{}),     EnterUnary<AtanhOf>("atanh", Complexes{}),
    EnterBinary<PowOf>("pow", Complexes{}),        EnterUnary<ConjOf>("conj_physical", AllTypes{}),

    EnterUnary<AngleOf>("angle", Inexact{}),       EnterBinary<ComplexOf>("complex", Singles{}),
    EnterBinary<PolarOf>("polar", Singles{}),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
