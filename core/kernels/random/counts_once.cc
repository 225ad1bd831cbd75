// Poisson, binomial and gamma numbers: rejection methods, each accepting the draws in the order PyTorch does.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/random.h"
#include "core/kernels/random/draws.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Rates below this multiply uniforms; others use Hormann's transformed rejection (PTRS, 1993).
constexpr double kManyEvents = 10;

double PoissonOf(double rate, RandomState* state) {
  if (!(rate >= 0)) throw ValueError("poisson").Got("a rate of ", rate).Expected("at least 0");
  if (rate == 0) return 0;
  if (rate < kManyEvents) {
    const double limit = std::exp(-rate);
    double product = state->Double(), count = 0;
    for (; product > limit; ++count) product *= state->Double();
    return count;
  }
  const double b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b, log_rate = std::log(rate);
  const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), ratio = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = state->Double() - 0.5, v = state->Double();
    const double margin = 0.5 - std::fabs(u);
    const double k = std::floor((2 * a / margin + b) * u + rate + 0.43);
    if (margin >= 0.07 && v <= ratio) return k;
    if (k < 0 || (margin < 0.013 && v > margin)) continue;
    const double likelihood = std::log(v) + std::log(inverse_alpha) - std::log(a / (margin * margin) + b);
    if (likelihood <= -rate + k * log_rate - std::lgamma(k + 1)) return k;
  }
}

/// Hormann's transformed rejection for the binomial (BTRS, 1993).
double BinomialByRejection(double trials, double p, RandomState* state) {
  const double spread = std::sqrt(trials * p * (1 - p));
  const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p, c = trials * p + 0.5;
  const double ratio = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread;
  const double mode = std::floor((trials + 1) * p);
  for (;;) {
    const double u = state->Double() - 0.5;
    double v = state->Double();
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

double BinomialOf(double trials, double p, RandomState* state) {
  if (!(trials > 0) || !(p > 0)) return 0;
  if (p >= 1) return trials;
  if (p > 0.5) return trials - BinomialOf(trials, 1 - p, state);
  return trials * p >= 10 ? BinomialByRejection(trials, p, state)
                          : BinomialByWaiting(trials, p, [state] { return state->Double(); });
}

/// Marsaglia and Tsang (2000), after raising a shape below 1 by one. The shape keeps its precision W, the rest is
/// double.
template <typename W>
double GammaOf(W shape, RandomState* state) {
  double scale = 1;
  if (shape < 1) {
    if (shape == 0) return 0;
    scale = std::pow(1 - state->Double(), static_cast<W>(1) / shape);
    shape += 1;
  }
  const double d = shape - 1.0f / 3.0f, c = 1 / std::sqrt(9 * d);
  for (;;) {
    double x, y;
    do {
      x = NextNormal(state);
      y = 1 + c * x;
    } while (y <= 0);
    const double v = y * y * y, u = 1 - state->Double(), squared = x * x;
    if (u < 1 - 0.0331f * squared * squared) return scale * d * v;
    if (std::log(u) < 0.5 * squared + d * (1 - v + std::log(v))) return scale * d * v;
  }
}

}  // namespace

template <typename T>
void Poisson(Context& ctx, View y, View x, RandomState* state) {
  const T* const rate = x.as<T>();
  T* const out = y.as<T>();
  for (int64_t i = 0; i < y.numel; ++i) {
    out[i] = static_cast<T>(static_cast<Wide<T>>(PoissonOf(static_cast<double>(static_cast<Wide<T>>(rate[i])), state)));
  }
}
DRAGON_KERNEL(Poisson, Floating);

template <typename T>
void Binomial(Context& ctx, View y, View count, View p, RandomState* state) {
  const T* const trials = count.as<T>();
  const T* const chance = p.as<T>();
  T* const out = y.as<T>();
  for (int64_t i = 0; i < y.numel; ++i) {
    const double n = static_cast<Wide<T>>(trials[i]), at = static_cast<Wide<T>>(chance[i]);
    if (!(n >= 0) || !(at >= 0 && at <= 1)) {
      throw ValueError("binomial").Got(n, " trials of probability ", at).Expected("at least 0, and one in [0, 1]");
    }
    out[i] = static_cast<T>(static_cast<Wide<T>>(BinomialOf(n, at, state)));
  }
}
DRAGON_KERNEL(Binomial, Floating);

template <typename T>
void StandardGamma(Context& ctx, View y, View x, RandomState* state) {
  const T* const shape = x.as<T>();
  T* const out = y.as<T>();
  using W = Wide<T>;
  for (int64_t i = 0; i < y.numel; ++i) {
    const W at = static_cast<W>(shape[i]);
    if (!(at >= 0)) throw ValueError("standard_gamma").Got("a shape of ", at).Expected("at least 0");
    // A sample too small for the dtype stays positive, so that its logarithm exists.
    out[i] = static_cast<T>(std::max(std::numeric_limits<W>::min(), static_cast<W>(GammaOf(at, state))));
  }
}
DRAGON_KERNEL(StandardGamma, Floating);

}  // namespace dragon::DRAGON_DEVICE
