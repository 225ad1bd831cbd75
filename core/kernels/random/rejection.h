// Poisson, binomial and gamma numbers by rejection. A source has Double(), uniform in [0, 1), and Normal().
#pragma once

#include <cmath>

#include "core/kernels/random/draws.h"

namespace dragon::DRAGON_DEVICE {

/// Rates below this multiply uniforms; others use Hormann's transformed rejection (PTRS, 1993).
inline constexpr double kManyEvents = 10;

template <typename Source>
DRAGON_FN double PoissonOf(double rate, Source* source) {
  if (rate == 0) return 0;
  if (rate < kManyEvents) {
    const double limit = std::exp(-rate);
    double product = source->Double(), count = 0;
    for (; product > limit; ++count) product *= source->Double();
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = std::log(rate);
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), ratio = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = source->Double() - 0.5, v = source->Double();
    const double margin = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / margin + b) * u + rate + 0.43);
    if (margin >= 0.07 && v <= ratio) return k;
    if (k < 0 || (margin < 0.013 && v > margin)) continue;
    const double likelihood = std::log(v) + std::log(inverse_alpha) - std::log(a / (margin * margin) + b);
    if (likelihood <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
}

/// Hormann's transformed rejection for the binomial (BTRS, 1993).
template <typename Source>
DRAGON_FN double BinomialByRejection(double trials, double p, Source* source) {
  const double spread = std::sqrt(trials * p * (1 - p));
  const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p, c = trials * p + 0.5;
  const double ratio = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread;
  const double mode = std::floor((trials + 1) * p);
  for (;;) {
    const double u = source->Double() - 0.5;
    double v = source->Double();
    const double margin = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / margin + b) * u + c);
    if (k < 0 || k > trials) continue;
    if (margin >= 0.07 && v <= ratio) return k;
    v = std::log(v * alpha / (a / (margin * margin) + b));
    const double bound = (mode + 0.5) * std::log((mode + 1) / (odds * (trials - mode + 1))) +
                         (trials + 1) * std::log((trials - mode + 1) / (trials - k + 1)) +
                         (k + 0.5) * std::log(odds * (trials - k + 1) / (k + 1)) + StirlingTail(mode) +
                         StirlingTail(trials - mode) - StirlingTail(k) - StirlingTail(trials - k);
    if (v <= bound) return k;
  }
}

template <typename Source>
DRAGON_FN double BinomialOf(double trials, double p, Source* source) {
  if (!(trials > 0) || !(p > 0)) return 0;
  if (p >= 1) return trials;
  const double rarer = p > 0.5 ? 1 - p : p;
  const double made = trials * rarer >= 10 ? BinomialByRejection(trials, rarer, source)
                                           : BinomialByWaiting(trials, rarer, [source] { return source->Double(); });
  return p > 0.5 ? trials - made : made;
}

/// Marsaglia and Tsang (2000), after raising a shape below 1 by one. The shape keeps its precision W, the rest is
/// double.
template <typename W, typename Source>
DRAGON_FN double GammaOf(W shape, Source* source) {
  double scale = 1;
  if (shape < 1) {
    if (shape == 0) return 0;
    scale = std::pow(1 - source->Double(), static_cast<W>(1) / shape);
    shape += 1;
  }
  const double d = shape - 1.0f / 3.0f, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, y;
    do {
      x = source->Normal();
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - source->Double(), squared = x * x;
    if (u < 1 - 0.0331f * squared * squared) return scale * d * v;
    if (std::log(u) < 0.5 * squared + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

}  // namespace dragon::DRAGON_DEVICE
