// Special functions of one double, computed once for all dtypes: the kernels around them convert.
//
// The Chebyshev coefficients were fitted in 40-digit arithmetic to below 1e-18 of the largest.
#pragma once

#include "core/kernels/each.h"
#include "core/kernels/libm.h"

namespace dragon::DRAGON_DEVICE::special {

inline constexpr double kPi = 3.14159265358979323846;
inline constexpr double kSqrtHalf = 0.70710678118654752440;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Sum c[k] T_k(t) by Clenshaw's recurrence.
template <int kCount>
DRAGON_FN double Chebyshev(const double (&c)[kCount], double t) {
  double next = 0, after = 0;
#if defined(__CUDACC__)
#pragma unroll
#else
#pragma GCC unroll 32  // a loop within would keep the loop over elements from becoming vector code
#endif
  for (int k = kCount - 1; k > 0; --k) {
    const double value = c[k] + 2 * t * next - after;
    after = next;
    next = value;
  }
  return c[0] + t * next - after;
}
/// c[0] + c[1] x + ...
template <int kCount>
DRAGON_FN double Polynomial(const double (&c)[kCount], double x) {
  double sum = c[kCount - 1];
  for (int k = kCount - 2; k >= 0; --k) sum = sum * x + c[k];
  return sum;
}

/// e^-|x| I0(x)
DRAGON_FN double I0e(double x) {
  static constexpr double kSmall[] = {
      0.33839763720473804,    -0.3046826723431984,     0.17162090152220878,    -0.094901097048047644,
      0.049305284239670708,   -0.023737414805899469,   0.010546460394594998,   -0.0043243099950505759,
      0.0016394756169413358,  -0.00057637557453858237, 0.00018850288509584166, -5.7541950100821037e-5,
      1.6448448070728897e-5,  -4.4167383584587506e-6,  1.1173875391201037e-6,  -2.6707938539406117e-7,
      6.0469950225419189e-8,  -1.300025009986248e-8,   2.6598237246823867e-9,  -5.1897956016352629e-10,
      9.6758090353732369e-11, -1.7268262914415557e-11, 2.9550526631296398e-12, -4.8564467831119295e-13,
      7.6761854986049356e-14, -1.1685332877993452e-14, 1.715391285555133e-15,  -2.4312798465479547e-16,
      3.3307945188222381e-17, -4.4153416464793394e-18, 5.6691780069214962e-19};
  static constexpr double kLarge[] = {
      0.40224520550705442,     0.0033691164782556941,   6.889758346916824e-5,    2.8913705208347565e-6,
      2.0489185894690637e-7,   2.2666689904981781e-8,   3.3962320257083863e-9,   4.9406023882249696e-10,
      1.1889147107846438e-11,  -3.1499165279632414e-11, -1.3215811840447713e-11, -1.7941785315068061e-12,
      7.1801244513836662e-13,  3.8527783827421427e-13,  1.5400862175214098e-14,  -4.1505693472872221e-14,
      -9.5548466988283076e-15, 3.8116806693526224e-15,  1.7725601330565264e-15,  -3.4254856196772191e-16,
      -2.8276239805165835e-16, 3.4612228676974611e-17,  4.46562142029676e-17,    -4.8305044859441821e-18,
      -7.233180487874754e-18,  9.9214754121736986e-19,  1.1936508908459821e-18};
  const double size = libm::Abs(x);
  const double small = Chebyshev(kSmall, size / 4 - 1), large = Chebyshev(kLarge, 16 / size - 1) / libm::Sqrt(size);
  return libm::Select(size <= 8, small, large);
}

/// e^-|x| I1(x)
DRAGON_FN double I1e(double x) {
  static constexpr double kSmall[] = {
      0.12629359322181683,    -0.17641651835783406,    0.1026436586898471,     -0.052945981208094991,
      0.024726449030626517,   -0.010564084894626198,   0.0041564229443128882,  -0.0015135724506312531,
      0.00051228595616857577, -0.00016176081582589675, 4.7815651075500542e-5,  -1.3273163656039436e-5,
      3.4702513081376785e-6,  -8.5687202646954547e-7,  2.0032947535521353e-7,  -4.4450591287963281e-8,
      9.3815373864957718e-9,  -1.8872497517228293e-9,  3.625590281552117e-10,  -6.6634897235020277e-11,
      1.1736186298890902e-11, -1.9839743977649437e-12, 3.2237933659455747e-13, -5.0421855047279117e-14,
      7.6006842947354069e-15, -1.1055969477353863e-15, 1.5536319577362005e-16, -2.1114212143581661e-17,
      2.7779141127610464e-18, -3.5415817725421362e-19};
  static constexpr double kLarge[] = {
      0.38928811750914006,     -0.0097610974913614684,  -0.00011058893876262372, -3.8825648088776904e-6,
      -2.5122362378702089e-7,  -2.6314688468895195e-8,  -3.835380385964237e-9,   -5.5897434621965838e-10,
      -1.8974958123505412e-11, 3.2526035830154882e-11,  1.4125807436613781e-11,  2.0356285441470895e-12,
      -7.1985517762459085e-13, -4.0835511110921973e-13, -2.1015418427726643e-14, 4.2724400167119514e-14,
      1.0420276984128803e-14,  -3.8144030724370078e-15, -1.8803547755107824e-15, 3.3082023109209283e-16,
      2.9626289976459501e-16,  -3.209525921993424e-17,  -4.6503053684893583e-17, 4.4143483230717079e-18,
      7.5172963108421048e-18,  -9.3141788673268834e-19, -1.242193275194891e-18};
  const double size = libm::Abs(x);
  const double small = Chebyshev(kSmall, size / 4 - 1) * size;
  const double large = Chebyshev(kLarge, 16 / size - 1) / libm::Sqrt(size);
  return libm::CopySign(libm::Select(size <= 8, small, large), x);
}

/// e^(x^2) erfc(x), after the substitution of Shepherd and Laframboise (1981).
DRAGON_FN double Erfcx(double x) {
  static constexpr double kScaled[] = {
      1.1775789345674018,     -0.0045900545806464773,  -0.084249133366517916,   0.05920993999819189,
      -0.026658668435305752,  0.0090749976707052651,   -0.0024131635404176082,  0.00049077583652580863,
      -6.9169733025012064e-5, 4.1390279860730102e-6,   7.7403830661984907e-7,   -2.1886401049234396e-7,
      1.076499946567091e-8,   4.5219598112182869e-9,   -7.7544002088313511e-10, -6.3180883408866845e-11,
      2.8687950109306699e-11, 1.9455868545777347e-13,  -9.6546967484334389e-13, 3.2525481481487398e-14,
      3.3478119482868054e-14, -1.8645628804193131e-15, -1.2507950530688647e-15, 7.4182352566240434e-17,
      5.0681489047961113e-17, -2.2370566594359998e-18, -2.1873429443030178e-18};
  const double size = libm::Abs(x);
  const double t = libm::Select(size == kInfinity, 1.0, (size - 3.75) / (size + 3.75));
  const double positive = Chebyshev(kScaled, t) / (1 + 2 * size);
  // The square's rounding error would be multiplied by itself in the exponent: hand it over separately.
  const double square = x * x, rest = fma(x, x, -square);
  const double grown = 2 * libm::Exp(square);
  const double negative = libm::Select(grown == kInfinity, grown, grown + grown * rest - positive);
  return libm::Select(x < 0, negative, positive);
}

/// The normal quantile by Wichura's algorithm AS 241 (1988), from p - 1/2 and the smaller of p and 1 - p.
DRAGON_FN double NormalQuantile(double centered, double tail) {
  static constexpr double kA[] = {3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                                  1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                  3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double kB[] = {1.0,
                                  4.2313330701600911252e+1,
                                  6.8718700749205790830e+2,
                                  5.3941960214247511077e+3,
                                  2.1213794301586595867e+4,
                                  3.9307895800092710610e+4,
                                  2.8729085735721942674e+4,
                                  5.2264952788528545610e+3};
  static constexpr double kC[] = {1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                                  3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kD[] = {1.0,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  static constexpr double kE[] = {6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                                  2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kF[] = {1.0,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  const double square = 0.180625 - centered * centered;
  const double middle = centered * Polynomial(kA, square) / Polynomial(kB, square);
  const double r = libm::Sqrt(-libm::Log(tail));
  const double near_tail = Polynomial(kC, r - 1.6) / Polynomial(kD, r - 1.6);
  const double far_tail = Polynomial(kE, r - 5) / Polynomial(kF, r - 5);
  const double size = libm::Select(tail == 0, kInfinity, libm::Select(r <= 5, near_tail, far_tail));
  return libm::Select(libm::Abs(centered) <= 0.425, middle, libm::CopySign(size, centered));
}
DRAGON_FN double Erfinv(double x) {
  const double value = NormalQuantile(x / 2, (1 - libm::Abs(x)) / 2) * kSqrtHalf;
  return libm::Select(libm::Abs(x) <= 1, value, kNan);
}
DRAGON_FN double Ndtri(double p) {
  const double value = NormalQuantile(p - 0.5, libm::Select(p < 0.5, p, 1 - p));
  return libm::Select(p >= 0 && p <= 1, value, kNan);
}
DRAGON_FN double Ndtr(double x) { return libm::Erfc(-x * kSqrtHalf) / 2; }
DRAGON_FN double LogNdtr(double x) {
  const double left = libm::Log(Erfcx(-x * kSqrtHalf) / 2) - x * x / 2;
  const double right = libm::Log1p(-libm::Erfc(x * kSqrtHalf) / 2);
  return libm::Select(x < -1, left, right);
}

DRAGON_FN double Lgamma(double x) {
#if defined(__CUDACC__)
  return lgamma(x);
#else
  int sign;  // plain lgamma writes a global
  return lgamma_r(x, &sign);
#endif
}

/// Step up to where the asymptotic series holds; reflect negative numbers. Poles at the negative integers are NaN.
DRAGON_FN double Digamma(double x) {
  static constexpr double kSeries[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                                       1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
  if (x == 0) return libm::CopySign(kInfinity, -x);
  double reflected = 0;
  if (x < 0) {
    if (x == libm::Trunc(x)) return kNan;
    reflected = kPi / libm::Tan(kPi * (x - libm::Trunc(x)));
    x = 1 - x;
  }
  double steps = 0;
  for (; x < 10; x += 1) steps += 1 / x;
  const double inverse = 1 / (x * x);
  return libm::Log(x) - 0.5 / x - Polynomial(kSeries, inverse) * inverse - steps - reflected;
}

/// Hurwitz' zeta: sum (q + k)^-s, the first terms one by one, the rest by Euler and Maclaurin.
DRAGON_FN double Zeta(double s, double q) {
  static constexpr double kBernoulli[] = {// B(2j) / (2j)!
                                          1.0 / 12,
                                          -1.0 / 720,
                                          1.0 / 30240,
                                          -1.0 / 1209600,
                                          1.0 / 47900160,
                                          -691.0 / 1307674368000,
                                          1.0 / 74724249600,
                                          -3617.0 / 10670622842880000,
                                          43867.0 / 5109094217170944000,
                                          -174611.0 / 802857662698291200000.0};
  if (s == 1) return kInfinity;
  if (!(s > 1) || q != q) return kNan;
  if (q <= 0) {
    if (q == libm::Floor(q)) return kInfinity;
    if (s != libm::Floor(s)) return kNan;  // a power of a negative number
  }
  double sum = 0;
  for (int k = 0; k < 10 || q < 10; ++k, q += 1) {
    const double term = libm::Pow(q, -s);
    sum += term;
    if (libm::Abs(term) < 1e-17 * libm::Abs(sum)) return sum;
  }
  double power = libm::Pow(q, -s);
  sum += power * q / (s - 1) + power / 2;
  double rising = s;
  power /= q;
  for (int j = 0; j < 10; ++j) {
    sum += kBernoulli[j] * rising * power;
    rising *= (s + 2 * j + 1) * (s + 2 * j + 2);
    power /= q * q;
  }
  return sum;
}

DRAGON_FN double Polygamma(int64_t order, double x) {
  if (order == 0) return Digamma(x);
  const double sign = order % 2 ? 1 : -1;
  return sign * libm::Exp(Lgamma(order + 1.0)) * Zeta(order + 1.0, x);
}

/// log(1 + x) - x, without cancelling where x is small.
DRAGON_FN double Log1pMinus(double x) {
  if (libm::Abs(x) > 0.25) return libm::Log1p(x) - x;
  double power = x, sum = 0;
  for (int k = 2; k < 40; ++k) {
    power *= -x;
    const double term = power / k;
    sum += term;
    if (libm::Abs(term) < 1e-17 * libm::Abs(sum)) break;
  }
  return sum;
}

/// x^a e^-x / gamma(a + 1). For a large `a` Stirling's formula is divided out, so that large logarithms never cancel.
DRAGON_FN double GammaPrefactor(double a, double x) {
  if (a < 20) return libm::Exp(a * libm::Log(x) - x - Lgamma(a + 1));
  const double inverse = 1 / (a * a);
  const double stirling = (1.0 / 12 - inverse * (1.0 / 360 - inverse * (1.0 / 1260 - inverse / 1680))) / a;
  return libm::Exp(a * Log1pMinus((x - a) / a) - stirling) / libm::Sqrt(2 * kPi * a);
}

/// The regularised incomplete gamma function, its lower part or its upper one; series below the peak, fraction above.
DRAGON_FN double IncompleteGamma(double a, double x, bool upper) {
  if (a != a || x != x || a < 0 || x < 0 || (a == 0 && x == 0) || (a == kInfinity && x == kInfinity)) return kNan;
  if (x == 0 || a == kInfinity) return upper ? 1 : 0;
  if (a == 0 || x == kInfinity) return upper ? 0 : 1;
  if (a > 1e6) {  // Temme's uniform expansion; the first term left out is of the order a^-3/2 / 540
    const double mu = (x - a) / a;
    const double eta = libm::CopySign(libm::Sqrt(-2 * Log1pMinus(mu)), mu);
    const double correction = libm::Abs(mu) < 1e-3 ? -1.0 / 3 + mu / 12 : 1 / mu - 1 / eta;
    const double tail = libm::Exp(-a * eta * eta / 2) / libm::Sqrt(2 * kPi * a) * correction;
    const double above = libm::Erfc(eta * libm::Sqrt(a / 2)) / 2 + tail;
    return upper ? above : libm::Erfc(-eta * libm::Sqrt(a / 2)) / 2 - tail;
  }
  const double factor = GammaPrefactor(a, x);
  if (x < a + 1) {
    double term = 1, sum = 1;
    for (double k = a + 1; term > 1e-17 * sum; k += 1) sum += term *= x / k;
    const double below = factor * sum;
    return upper ? 1 - below : below;
  }
  constexpr double kTiny = 1e-300;  // Lentz' guard against a zero denominator
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, fraction = d;
  for (int k = 1; k < 100000; ++k) {
    const double numerator = -k * (k - a);
    b += 2;
    d = numerator * d + b;
    c = b + numerator / c;
    d = 1 / (libm::Abs(d) < kTiny ? kTiny : d);
    c = libm::Abs(c) < kTiny ? kTiny : c;
    fraction *= c * d;
    if (libm::Abs(c * d - 1) < 1e-16) break;
  }
  const double above = factor * a * fraction;
  return upper ? above : 1 - above;
}

}  // namespace dragon::DRAGON_DEVICE::special
