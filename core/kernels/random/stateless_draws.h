// Gamma and binomial numbers of Philox streams: every number has a part of the stream.
#pragma once

#include <cmath>
#include <limits>

#include "core/kernels/random/draws.h"
#include "core/kernels/random/philox.h"

namespace dragon::DRAGON_DEVICE {

inline constexpr uint64_t kReservedForNumber = 256;  // blocks for every number
inline constexpr uint64_t kReservedForFew = 42;      // for binomial numbers of small means

/// Uniform and normal numbers of one stream: both come in pairs that fill a block, the second one first.
class Doubles {
 public:
  DRAGON_FN Doubles(const Philox& stream, uint64_t block) : stream_(stream), block_(block) {}

  DRAGON_FN double Uniform() {
    if (uniforms_ == 0) {
      const Philox::Words words = stream_.Block(block_++);
      uniform_[0] = UnitOf(words[0], words[1]), uniform_[1] = UnitOf(words[2], words[3]);
      uniforms_ = 2;
    }
    return uniform_[--uniforms_];
  }
  DRAGON_FN double Normal() {
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
DRAGON_FN double Gamma(Doubles draw, double alpha) {
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

/// Binomial numbers for means of at least 10, p <= 0.5: Hormann's transformed rejection.
DRAGON_FN double Rejected(double count, double p, Doubles& draw) {
  const double spread = std::sqrt(count * p * (1 - p));
  const double b = 1.15 + 2.53 * spread, a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5;
  const double v_r = 0.92 - 4.2 / b, r = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread;
  const double m = std::floor((count + 1) * p);
  for (;;) {
    const double u = draw.Uniform() - 0.5;
    double v = draw.Uniform();
    const double us = 0.5 - std::fabs(u);
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

DRAGON_FN double Binomial(double count, double p, const Philox& stream, uint64_t index) {
  if (!(count >= 0) || std::isnan(p)) return std::numeric_limits<double>::quiet_NaN();
  if (count == 0 || p <= 0) return 0;
  if (p >= 1) return count;
  const double q = p <= 0.5 ? p : 1 - p;
  const bool many = count * q >= 10;
  Doubles draw(stream, index * (many ? kReservedForNumber : kReservedForFew));
  const double made = many ? Rejected(count, q, draw) : BinomialByWaiting(count, q, [&] { return draw.Uniform(); });
  return p <= 0.5 ? made : count - made;
}

}  // namespace dragon::DRAGON_DEVICE
