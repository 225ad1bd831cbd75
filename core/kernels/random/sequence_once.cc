// Draws that depend on one another or on exact double mathematics, one at a time: nothing here gains from wider
// vectors.
#include <cmath>
#include <limits>
#include <utility>

#include "core/kernels/random.h"
#include "core/kernels/random/draws.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// y[i] = draw() for all i, in order.
template <typename T, typename F>
void Generate(View y, F draw) {
  T* const out = y.as<T>();
  for (int64_t i = 0; i < y.numel; ++i) out[i] = static_cast<T>(static_cast<Wide<T>>(draw()));
}

}  // namespace

template <typename T>
void Permutation(Context& ctx, View y, RandomState* state) {
  T* const out = y.as<T>();
  const int64_t n = y.numel;
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(static_cast<Wide<T>>(i));
  // Above this length 32 bits modulo the rest would be visibly uneven.
  const bool small = n < static_cast<int64_t>(std::numeric_limits<uint32_t>::max() / 20);
  for (int64_t i = 0; i < n - 1; ++i) {
    const auto left = static_cast<uint64_t>(n - i);
    const uint64_t pick = (small ? state->engine() : state->engine.Next64()) % left;
    std::swap(out[i], out[i + static_cast<int64_t>(pick)]);
  }
}
DRAGON_KERNEL(Permutation, Real);

template <typename T>
void Exponential(Context& ctx, View y, RandomState* state, double rate) {
  Generate<T>(y, [=] { return -1.0 / rate * std::log1p(-state->Double()); });
}
DRAGON_KERNEL(Exponential, Floating);

template <typename T>
void Cauchy(Context& ctx, View y, RandomState* state, double median, double sigma) {
  // The tangent's poles lie at both ends of [0, 1).
  constexpr double kEdge = std::numeric_limits<double>::epsilon();
  Generate<T>(y, [=] {
    const double place = std::clamp(state->Double(), kEdge, 1.0 - kEdge);
    return median + sigma * std::tan(std::numbers::pi * (place - 0.5));
  });
}
DRAGON_KERNEL(Cauchy, Floating);

template <typename T>
void LogNormal(Context& ctx, View y, RandomState* state, double mean, double std) {
  Generate<T>(y, [=] { return std::exp(std::fma(NextNormal(state), std, mean)); });
}
DRAGON_KERNEL(LogNormal, Floating);

template <typename T>
void Geometric(Context& ctx, View y, RandomState* state, double p) {
  Generate<T>(y, [=] { return std::ceil(std::log(state->Double()) / std::log1p(-p)); });
}
DRAGON_KERNEL(Geometric, Real);

template <typename T>
void Multinomial(Context& ctx, View y, View p, RandomState* state) {
  using W = Wide<T>;
  const int64_t rows = p.dim(0), categories = p.dim(1), samples = y.dim(1);
  const Scratch room = ctx.Allocate<W>(categories);
  W* const cumulative = room.as<W>();
  for (int64_t row = 0; row < rows; ++row) {
    const T* const weights = p.as<T>() + row * categories;
    int64_t* const out = y.as<int64_t>() + row * samples;
    W sum = 0;
    for (int64_t i = 0; i < categories; ++i) {
      const W weight = static_cast<W>(weights[i]);
      if (!(weight >= 0) || !std::isfinite(weight)) {
        throw ValueError("multinomial").Got("a weight of ", weight, " at ", i).Expected("finite weights of at least 0");
      }
      cumulative[i] = sum += weight;
    }
    if (!(sum > 0)) throw ValueError("multinomial").Got("weights that sum to ", sum).Expected("a positive sum");
    for (int64_t i = 0; i < categories; ++i) cumulative[i] /= sum;
    cumulative[categories - 1] = 1;
    for (int64_t i = 0; i < samples; ++i) {
      const double place = state->Double();
      out[i] = std::lower_bound(cumulative, cumulative + categories, place,
                                [](W bound, double value) { return static_cast<double>(bound) < value; }) -
               cumulative;
    }
  }
}
DRAGON_KERNEL(Multinomial, Floating);

}  // namespace dragon::DRAGON_DEVICE
