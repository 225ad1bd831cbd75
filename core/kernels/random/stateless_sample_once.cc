// Gamma and binomial numbers and categories of Philox streams, in double: every number has a part of the stream.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/random/draws.h"
#include "core/kernels/random/philox.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr uint64_t kReserved = 256;       // blocks for every number
constexpr uint64_t kReservedForFew = 42;  // for binomial numbers of small means
constexpr int64_t kGrainOfNumbers = 1024;

/// Uniform and normal numbers of one stream: both come in pairs that fill a block, the second one first.
class Doubles {
 public:
  Doubles(const Philox& stream, uint64_t block) : stream_(stream), block_(block) {}

  double Uniform() {
    if (uniforms_ == 0) {
      const Philox::Words words = stream_.Block(block_++);
      uniform_[0] = UnitOf(words[0], words[1]), uniform_[1] = UnitOf(words[2], words[3]);
      uniforms_ = 2;
    }
    return uniform_[--uniforms_];
  }
  double Normal() {
    if (normals_ == 0) {
      NormalPair(stream_.Block(block_++).data(), normal_[0], normal_[1]);
      normals_ = 2;
    }
    return normal_[--normals_];
  }

 private:
  const Philox& stream_;
  uint64_t block_;
  double uniform_[2], normal_[2];
  int uniforms_ = 0, normals_ = 0;
};

/// A gamma number by Marsaglia and Tsang's method.
double Gamma(Doubles draw, double alpha) {
  if (alpha == 1.0) return -std::log1p(-draw.Uniform());
  const bool small = alpha < 1;
  const double d = (small ? alpha + 1 : alpha) - 1.0 / 3, c = 1.0 / 3 / std::sqrt(d);
  for (;;) {
    const double x = draw.Normal();
    double v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    const double u = draw.Uniform();
    // Most numbers pass the first, cheap test.
    if (u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) {
      const double made = d * v;
      return small ? made * std::pow(draw.Uniform(), 1 / alpha) : made;
    }
  }
}

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
      const double made = Gamma(Doubles(stream, kReserved * static_cast<uint64_t>(i)), shape);
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

namespace {

/// Binomial numbers for means of at least 10, p <= 0.5: Hormann's transformed rejection.
double Rejected(double count, double p, Doubles& draw) {
  const double spread = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
  const double v_r = 0.92 - 4.2 / b, r = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread;
  const double m = std::floor((count + 1) * p);
  for (;;) {
    const double u = draw.Uniform() - 0.5;
    double v = draw.Uniform();
    const double us = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (k < 0 || k > count) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    const double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
                         (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                         (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + StirlingTail(m) +
                         StirlingTail(count - m) - StirlingTail(k) - StirlingTail(count - k);
    if (v <= bound) return k;
  }
}

double Binomial(double count, double p, const Philox& stream, uint64_t index) {
  if (!(count >= 0) || std::isnan(p)) return std::nan("");
  if (count == 0 || p <= 0) return 0;
  if (p >= 1) return count;
  const double q = p <= 0.5 ? p : 1 - p;
  const bool many = count * q >= 10;
  Doubles draw(stream, index * (many ? kReserved : kReservedForFew));
  const double made = many ? Rejected(count, q, draw) : BinomialByWaiting(count, q, [&] { return draw.Uniform(); });
  return p <= 0.5 ? made : count - made;
}

}  // namespace

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
