// Group norm on CUDA: a block for every group, whose channels are normalised together and then scaled one by one.
#include "core/kernels/normalization.h"
#include "core/kernels/rows_cuda.h"

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
  __host__ __device__ int64_t count() const { return per_group * size; }
};

/// Threads for a group or a plane of n elements.
inline unsigned ThreadsFor(int64_t n) {
  return static_cast<unsigned>(std::clamp<int64_t>((n + 255) / 256 * 32, 32, rows::kLongBlock));
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(rows::kLongBlock)
    GroupForward(T* y, Accumulator<T>* mean, Accumulator<T>* rstd, const T* x, const T* weight, const T* bias,
                 const Groups g, Accumulator<T> eps) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<true>();
  const int64_t n = g.count();
  for (int64_t group = place.row; group < g.batch * g.groups; group += place.step) {
    const T* in = x + group * n;
    A center = rows::SumOfRow<A, T, kWidth>(in, n, place, [](A value, int64_t) { return value; });
    center = cuda::BlockReduce(center, rows::SumOf{}) / static_cast<A>(n);
    A squares = rows::SumOfRow<A, T, kWidth>(in, n, place,
                                             [&](A value, int64_t) { return (value - center) * (value - center); });
    squares = cuda::BlockReduce(squares, rows::SumOf{});
    const A scale = A(1) / rows::Root(squares / static_cast<A>(n) + eps);
    if (place.thread == 0) mean[group] = center, rstd[group] = scale;
    for (int64_t c = 0; c < g.per_group; ++c) {
      const int64_t channel = group % g.groups * g.per_group + c;
      const A factor = weight ? scale * static_cast<A>(weight[channel]) : scale;
      const A shift = bias ? static_cast<A>(bias[channel]) : A(0);
      rows::MapRow<T, kWidth>(y + group * n + c * g.size, in + c * g.size, g.size, place,
                              [&](A value, int64_t) { return (value - center) * factor + shift; });
    }
  }
}

/// For every channel of every sample, the sums of dy and of dy (x - mean).
template <typename T, int kWidth>
__global__ void __launch_bounds__(rows::kLongBlock)
    PlaneSums(rows::Pair<double>* sums, const T* dy, const T* x, const Accumulator<T>* mean, const Groups g) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<true>();
  const int64_t step = static_cast<int64_t>(place.threads) * rows::Chunk<T, kWidth>::kPacks * kWidth;
  for (int64_t plane = place.row; plane < g.batch * g.channels; plane += place.step) {
    const A center = mean[plane / g.per_group];
    rows::Pair<double> sums_so_far{0, 0};  // single-precision sums over few elements flow into double-precision ones
    for (int64_t first = 0; first < g.size; first += step) {
      rows::Chunk<T, kWidth> slope, value;
      slope.Load(dy + plane * g.size + first, g.size - first, place, 0);
      value.Load(x + plane * g.size + first, g.size - first, place, 0);
      rows::Pair<A> sum{A(0), A(0)};
      slope.ForEach(g.size - first, place,
                    [&](A s, int, int j) { sum = sum + rows::Pair<A>{s, s * (value.at[j] - center)}; });
      sums_so_far = sums_so_far + rows::Pair<double>{sum.first, sum.second};
    }
    const auto total = cuda::BlockReduce(sums_so_far, rows::SumOf{});
    if (place.thread == 0) sums[plane] = total;
  }
}

/// With g = dy * weight and z the normalised x: dx = rstd (g - mean(g) - z mean(g z)) = dy a + (x - mean) b + d, where
/// b and d are the group's. A thread makes those of a group.
template <typename T>
__global__ void GroupFactors(rows::Pair<Accumulator<T>>* factors, const rows::Pair<double>* sums,
                             const Accumulator<T>* rstd, const T* weight, const Groups g) {
  using A = Accumulator<T>;
  const double count = static_cast<double>(g.count());
  for (int64_t group = cuda::FirstOfThread(); group < g.batch * g.groups; group += cuda::StepOfThreads()) {
    double mean_g = 0, mean_gd = 0;
    for (int64_t c = 0; c < g.per_group; ++c) {
      const double w = weight ? static_cast<double>(weight[group % g.groups * g.per_group + c]) : 1.0;
      mean_g += w * sums[group * g.per_group + c].first / count;
      mean_gd += w * sums[group * g.per_group + c].second / count;
    }
    const double r = rstd[group];
    factors[group] = {static_cast<A>(-mean_gd * r * r * r), static_cast<A>(-mean_g * r)};
  }
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(rows::kLongBlock)
    PlaneSlopes(T* dx, const T* dy, const T* x, const Accumulator<T>* mean, const Accumulator<T>* rstd, const T* weight,
                const rows::Pair<Accumulator<T>>* factors, const Groups g) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<true>();
  const int64_t step = static_cast<int64_t>(place.threads) * rows::Chunk<T, kWidth>::kPacks * kWidth;
  for (int64_t plane = place.row; plane < g.batch * g.channels; plane += place.step) {
    const int64_t group = plane / g.per_group;
    const A center = mean[group], a = weight ? rstd[group] * static_cast<A>(weight[plane % g.channels]) : rstd[group];
    const rows::Pair<A> of_group = factors[group];
    for (int64_t first = 0; first < g.size; first += step) {
      rows::Chunk<T, kWidth> slope, value;
      slope.Load(dy + plane * g.size + first, g.size - first, place, 0);
      value.Load(x + plane * g.size + first, g.size - first, place, 0);
      slope.Store(dx + plane * g.size + first, g.size - first, place,
                  [&](A s, int, int j) { return s * a + (value.at[j] - center) * of_group.first + of_group.second; });
    }
  }
}

/// Gradients of weight and bias: a thread adds up its channel over the batch.
template <typename T>
__global__ void ChannelGradients(T* dweight, T* dbias, const rows::Pair<double>* sums, const Accumulator<T>* rstd,
                                 const Groups g) {
  using A = Accumulator<T>;
  for (int64_t c = cuda::FirstOfThread(); c < g.channels; c += cuda::StepOfThreads()) {
    double for_weight = 0, for_bias = 0;
    for (int64_t n = 0; n < g.batch; ++n) {
      const rows::Pair<double> sum = sums[n * g.channels + c];
      for_bias += sum.first;
      for_weight += sum.second * rstd[n * g.groups + c / g.per_group];
    }
    if (dweight) dweight[c] = static_cast<T>(static_cast<A>(for_weight));
    if (dbias) dbias[c] = static_cast<T>(static_cast<A>(for_bias));
  }
}

}  // namespace

template <typename T>
void GroupNorm(Context& ctx, View y, View mean, View rstd, View x, View weight, View bias, double eps) {
  using A = Accumulator<T>;
  const Groups g(x, rstd);
  if (g.batch * g.groups == 0) return;
  const T *w = weight ? weight.as<const T>() : nullptr, *b = bias ? bias.as<const T>() : nullptr;
  const bool wide = rows::TakesWide<T>(g.size, y.as<T>(), x.as<const T>());
  const cuda::Grid grid{dim3(rows::BlocksFor(g.batch * g.groups, 1)), dim3(ThreadsFor(g.count()))};
  cuda::Launch("group_norm", ctx, wide ? &GroupForward<T, rows::kWide<T>> : &GroupForward<T, 1>, grid, y.as<T>(),
               mean.as<A>(), rstd.as<A>(), x.as<const T>(), w, b, g, static_cast<A>(eps));
}
DRAGON_KERNEL(GroupNorm, Floating);

template <typename T>
void GroupNormBackward(Context& ctx, View dx, View dweight, View dbias, View dy, View x, View mean, View rstd,
                       View weight) {
  using A = Accumulator<T>;
  const Groups g(x, rstd);
  const T *slope = dy.as<const T>(), *in = x.as<const T>(), *w = weight ? weight.as<const T>() : nullptr;
  const A *center = mean.as<const A>(), *scale = rstd.as<const A>();
  const int64_t planes = g.batch * g.channels;
  const Scratch plane_sums = ctx.Allocate<rows::Pair<double>>(planes);
  const Scratch group_factors = ctx.Allocate<rows::Pair<A>>(g.batch * g.groups);
  auto* sums = plane_sums.as<rows::Pair<double>>();
  const cuda::Grid grid{dim3(rows::BlocksFor(planes, 1)), dim3(ThreadsFor(g.size))};
  const bool wide = rows::TakesWide<T>(g.size, slope, in, dx ? dx.as<T>() : nullptr);
  if (planes > 0) {
    cuda::Launch("group_norm_backward", ctx, wide ? &PlaneSums<T, rows::kWide<T>> : &PlaneSums<T, 1>, grid, sums, slope,
                 in, center, g);
  }
  if (dx && dx.numel > 0) {
    auto* factors = group_factors.as<rows::Pair<A>>();
    cuda::Launch("group_norm_backward", ctx, &GroupFactors<T>, cuda::GridFor(g.batch * g.groups, 64), factors, sums,
                 scale, w, g);
    cuda::Launch("group_norm_backward", ctx, wide ? &PlaneSlopes<T, rows::kWide<T>> : &PlaneSlopes<T, 1>, grid,
                 dx.as<T>(), slope, in, center, scale, w, factors, g);
  }
  if ((!dweight && !dbias) || g.channels == 0) return;
  cuda::Launch("group_norm_backward", ctx, &ChannelGradients<T>, cuda::GridFor(g.channels, 64),
               dweight ? dweight.as<T>() : nullptr, dbias ? dbias.as<T>() : nullptr, sums, scale, g);
}
DRAGON_KERNEL(GroupNormBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
