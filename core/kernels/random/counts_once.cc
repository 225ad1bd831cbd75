// Poisson, binomial and gamma numbers: rejection methods, each accepting the draws in the order PyTorch does.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/random.h"
#include "core/kernels/random/rejection.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// The generator as the source of rejection methods.
struct StateSource {
  RandomState* state;
  double Double() { return state->Double(); }
  double Normal() { return NextNormal(state); }
};

}  // namespace

template <typename T>
void Poisson(Context& ctx, View y, View x, RandomState* state) {
  const T* const rate = x.as<T>();
  T* const out = y.as<T>();
  StateSource source{state};
  for (int64_t i = 0; i < y.numel; ++i) {
    const double at = static_cast<Wide<T>>(rate[i]);
    if (!(at >= 0)) throw ValueError("poisson").Got("a rate of ", at).Expected("at least 0");
    out[i] = static_cast<T>(static_cast<Wide<T>>(PoissonOf(at, &source)));
  }
}
DRAGON_KERNEL(Poisson, Floating);

template <typename T>
void Binomial(Context& ctx, View y, View count, View p, RandomState* state) {
  const T* const trials = count.as<T>();
  const T* const chance = p.as<T>();
  T* const out = y.as<T>();
  StateSource source{state};
  for (int64_t i = 0; i < y.numel; ++i) {
    const double n = static_cast<Wide<T>>(trials[i]), at = static_cast<Wide<T>>(chance[i]);
    if (!(n >= 0) || !(at >= 0 && at <= 1)) {
      throw ValueError("binomial").Got(n, " trials of probability ", at).Expected("at least 0, and one in [0, 1]");
    }
    out[i] = static_cast<T>(static_cast<Wide<T>>(BinomialOf(n, at, &source)));
  }
}
DRAGON_KERNEL(Binomial, Floating);

template <typename T>
void StandardGamma(Context& ctx, View y, View x, RandomState* state) {
  const T* const shape = x.as<T>();
  T* const out = y.as<T>();
  using W = Wide<T>;
  StateSource source{state};
  for (int64_t i = 0; i < y.numel; ++i) {
    const W at = static_cast<W>(shape[i]);
    if (!(at >= 0)) throw ValueError("standard_gamma").Got("a shape of ", at).Expected("at least 0");
    // A sample too small for the dtype stays positive, so that its logarithm exists.
    out[i] = static_cast<T>(std::max(std::numeric_limits<W>::min(), static_cast<W>(GammaOf(at, &source))));
  }
}
DRAGON_KERNEL(StandardGamma, Floating);

}  // namespace dragon::DRAGON_DEVICE
