// Group norm: the channels of a group are normalised together, then scaled one by one.
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/normalization.h"
#include "core/kernels/reduction/moments.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// x as (batch, groups, channels of a group, size).
struct Groups {
  int64_t batch, channels, groups, per_group, size;

  Groups(View x, View rstd) : batch(x.shape[0]), channels(x.shape[1]), size(1) {
    for (int i = 2; i < x.ndim; ++i) size *= x.shape[i];
    groups = batch ? rstd.numel / batch : 1;
    per_group = groups ? channels / groups : 0;
  }
  int64_t count() const { return per_group * size; }
  int64_t grain() const { return std::max<int64_t>(1, kGrain / 2 / std::max<int64_t>(1, count())); }
};

/// Mean and variance of n contiguous elements, block by block.
template <typename T>
Moments<Accumulator<T>> MomentsOf(const T* x, int64_t n) {
  const VarOf<T, Accumulator<T>> reducer{};
  Moments<Accumulator<T>> total = reducer.Identity();
  for (int64_t first = 0; first < n; first += kRowBlock) {
    total = reducer.Combine(total, reducer.Row(x + first, std::min(kRowBlock, n - first), 0));
  }
  return total;
}

/// Sums of dy and of dy * (x - center) over one channel of one sample.
template <typename T>
void PlaneSums(const T* DRAGON_RESTRICT dy, const T* DRAGON_RESTRICT x, int64_t n, Accumulator<T> center, double* slope,
               double* product) {
  using A = Accumulator<T>;
  *slope = *product = 0;
  for (int64_t first = 0; first < n; first += kRowBlock) {
    const T *s = dy + first, *v = x + first;
    const int64_t count = std::min(kRowBlock, n - first);
    *slope += LaneSum<A>(count, [s](int64_t i) { return static_cast<A>(s[i]); });
    *product += LaneSum<A>(count, [=](int64_t i) { return static_cast<A>(s[i]) * (static_cast<A>(v[i]) - center); });
  }
}

/// dx of one group, once the sums of its channels are known: with g = dy * weight and z the normalised x,
/// dx = rstd (g - mean(g) - z mean(g z)).
template <typename T>
void GroupInputGradient(const Groups& g, T* dx, const T* dy, const T* x, const T* weight, Accumulator<T> center,
                        Accumulator<T> rstd, const double* slope, const double* product) {
  using A = Accumulator<T>;
  double mean_g = 0, mean_gd = 0;
  for (int64_t c = 0; c < g.per_group; ++c) {
    const double w = weight ? static_cast<double>(weight[c]) : 1.0;
    mean_g += w * slope[c] / g.count();
    mean_gd += w * product[c] / g.count();
  }
  const A b = static_cast<A>(-mean_gd * rstd * rstd * rstd), d = static_cast<A>(-mean_g * rstd);
  for (int64_t c = 0; c < g.per_group; ++c) {
    const A a = weight ? rstd * static_cast<A>(weight[c]) : rstd;
    const T *DRAGON_RESTRICT s = dy + c * g.size, *DRAGON_RESTRICT v = x + c * g.size;
    T* DRAGON_RESTRICT out = dx + c * g.size;
#pragma omp simd
    for (int64_t i = 0; i < g.size; ++i) {
      out[i] = static_cast<T>(static_cast<A>(s[i]) * a + (static_cast<A>(v[i]) - center) * b + d);
    }
  }
}

}  // namespace

template <typename T>
void GroupNorm(Context& ctx, View y, View mean, View rstd, View x, View weight, View bias, double eps) {
  using A = Accumulator<T>;
  const Groups g(x, rstd);
  const T *w = weight ? weight.as<const T>() : nullptr, *b = bias ? bias.as<const T>() : nullptr;
  ParallelFor(g.batch * g.groups, g.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const T* in = x.as<const T>() + group * g.count();
      T* out = y.as<T>() + group * g.count();
      const Moments<A> moments = MomentsOf(in, g.count());
      const A center = moments.mean,
              scale = A(1) / std::sqrt(moments.m2 / static_cast<A>(g.count()) + static_cast<A>(eps));
      mean.as<A>()[group] = center;
      rstd.as<A>()[group] = scale;
      for (int64_t c = 0; c < g.per_group; ++c) {
        const int64_t channel = group % g.groups * g.per_group + c;
        const A factor = w ? scale * static_cast<A>(w[channel]) : scale, shift = b ? static_cast<A>(b[channel]) : A(0);
        const T* DRAGON_RESTRICT from = in + c * g.size;
        T* DRAGON_RESTRICT to = out + c * g.size;
#pragma omp simd
        for (int64_t i = 0; i < g.size; ++i)
          to[i] = static_cast<T>((static_cast<A>(from[i]) - center) * factor + shift);
      }
    }
  });
}
DRAGON_KERNEL(GroupNorm, Floating);

template <typename T>
void GroupNormBackward(Context& ctx, View dx, View dweight, View dbias, View dy, View x, View mean, View rstd,
                       View weight) {
  using A = Accumulator<T>;
  const Groups g(x, rstd);
  const A *center = mean.as<const A>(), *scale = rstd.as<const A>();
  std::vector<double> slope(g.batch * g.channels), product(g.batch * g.channels);
  ParallelFor(g.batch * g.groups, g.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      const T *s = dy.as<const T>() + group * g.count(), *v = x.as<const T>() + group * g.count();
      const int64_t first = group * g.per_group;
      for (int64_t c = 0; c < g.per_group; ++c) {
        PlaneSums(s + c * g.size, v + c * g.size, g.size, center[group], &slope[first + c], &product[first + c]);
      }
      if (!dx) continue;
      GroupInputGradient(g, dx.as<T>() + group * g.count(), s, v,
                         weight ? weight.as<const T>() + group % g.groups * g.per_group : nullptr, center[group],
                         scale[group], &slope[first], &product[first]);
    }
  });
  for (int64_t c = 0; c < g.channels && (dweight || dbias); ++c) {
    double for_weight = 0, for_bias = 0;
    for (int64_t n = 0; n < g.batch; ++n) {
      for_bias += slope[n * g.channels + c];
      for_weight += product[n * g.channels + c] * scale[n * g.groups + c / g.per_group];
    }
    if (dweight) dweight.as<T>()[c] = static_cast<T>(static_cast<A>(for_weight));
    if (dbias) dbias.as<T>()[c] = static_cast<T>(static_cast<A>(for_bias));
  }
}
DRAGON_KERNEL(GroupNormBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
