// Gamma and binomial numbers and categories of Philox streams, in double: every number has a part of the stream.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/random/stateless_draws.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int64_t kGrainOfNumbers = 1024;

}  // namespace

template <typename T>
void StatelessGamma(Context& ctx, View y, View alpha, const Philox& stream) {
  T* const out = y.as<T>();
  const T* const shapes = alpha.as<T>();
  const int64_t count = alpha.numel, samples = count ? y.numel / count : 0;
  ParallelFor(y.numel, kGrainOfNumbers, [=, &stream](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t which = i / samples, sample = i % samples;
      const auto shape = static_cast<double>(static_cast<Wide<T>>(shapes[which]));
      const double made = Gamma(Doubles(stream, kReservedForNumber * static_cast<uint64_t>(i)), shape);
      out[sample * count + which] = static_cast<T>(static_cast<Wide<T>>(made));
    }
  });
}
DRAGON_KERNEL(StatelessGamma, Floating);

template <typename T>
void StatelessCategorical(Context& ctx, View y, View logits, const Philox& stream) {
  auto* const out = y.as<int64_t>();
  const T* const rows = logits.as<T>();
  const int64_t classes = logits.shape[1], batch = logits.shape[0], samples = y.shape[1];
  std::vector<double> sums(static_cast<size_t>(classes));
  PhiloxWords next(stream, 0);
  for (int64_t row = 0; row < batch; ++row) {
    const T* const own = rows + row * classes;
    double most = -std::numeric_limits<double>::max(), total = 0;
    for (int64_t i = 0; i < classes; ++i) {
      const auto logit = static_cast<double>(static_cast<Wide<T>>(own[i]));
      if (std::isfinite(logit)) most = std::max(most, logit);
    }
    for (int64_t i = 0; i < classes; ++i) {
      const auto logit = static_cast<double>(static_cast<Wide<T>>(own[i]));
      if (std::isfinite(logit)) total += std::exp(logit - most);
      sums[static_cast<size_t>(i)] = total;
    }
    for (int64_t i = 0; i < samples; ++i) {
      const uint32_t high = next(), low = next();
      out[row * samples + i] = std::upper_bound(sums.begin(), sums.end(), UnitOf(high, low) * total) - sums.begin();
    }
  }
}
DRAGON_KERNEL(StatelessCategorical, Floating);

template <typename T>
void StatelessBinomial(Context& ctx, View y, View count, View p, const Philox& stream) {
  T* const out = y.as<T>();
  const T *const counts = count.as<T>(), *const chances = p.as<T>();
  ParallelFor(y.numel, kGrainOfNumbers, [=, &stream](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto trials = static_cast<double>(static_cast<Wide<T>>(counts[i]));
      const auto chance = static_cast<double>(static_cast<Wide<T>>(chances[i]));
      const double made = Binomial(trials, chance, stream, static_cast<uint64_t>(i));
      out[i] = static_cast<T>(static_cast<Wide<T>>(made));
    }
  });
}
DRAGON_KERNEL(StatelessBinomial, Floating);

}  // namespace dragon::DRAGON_DEVICE
