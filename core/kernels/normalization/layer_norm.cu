// Layer norm and root-mean-square norm on CUDA: rows are held in registers where they fit, as in softmax. Gradients of
// the parameters are sums down the columns, in parts that meet in a second launch.
#include "core/kernels/normalization.h"
#include "core/kernels/rows_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Weight and bias at a place of a row, where they are given.
template <typename T>
struct Parameters {
  const T *weight, *bias;
  using A = Accumulator<T>;
  __device__ __forceinline__ A Weight(int64_t i) const { return weight ? static_cast<A>(weight[i]) : A(1); }
  __device__ __forceinline__ A Apply(A z, int64_t i) const {
    return z * Weight(i) + (bias ? static_cast<A>(bias[i]) : A(0));
  }
};

template <typename T>
struct NormForward {
  using A = Accumulator<T>;
  T* y;
  A *mean, *rstd;  // no mean: nothing is taken off
  const T* x;
  Parameters<T> parameters;
  int64_t count, n;
  A eps;

  __device__ __forceinline__ A Finish(const rows::Place& place, int64_t row, A center, A squares) const {
    const A scale = A(1) / rows::Root(squares / static_cast<A>(n) + eps);
    if (place.thread == 0) {
      if (mean) mean[row] = center;
      rstd[row] = scale;
    }
    return scale;
  }
};

template <typename T, int kWidth, int kItems, bool kByBlock>
__global__ void __launch_bounds__(kByBlock ? 1024 : rows::kWarpBlock) NormHeldRows(const NormForward<T> f) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<kByBlock>();
  for (int64_t row = place.row; row < f.count; row += place.step) {
    rows::Tile<T, kWidth, kItems> tile;
    tile.Load(f.x + row * f.n, f.n, place, 0);
    A center = A(0), squares = A(0);
    if (f.mean) {
#pragma unroll
      for (int j = 0; j < kItems; ++j) center += tile.at[j];
      center = rows::Share<kByBlock>(center, rows::SumOf{}) / static_cast<A>(f.n);
    }
    tile.ForEach(f.n, place, [&](A value, int, int) { squares += (value - center) * (value - center); });
    const A scale = f.Finish(place, row, center, rows::Share<kByBlock>(squares, rows::SumOf{}));
    tile.StoreScaled(f.y + row * f.n, f.n, place, f.parameters.weight, f.parameters.bias,
                     [&](A value) { return (value - center) * scale; });
  }
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(rows::kLongBlock) NormLongRows(const NormForward<T> f) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<true>();
  for (int64_t row = place.row; row < f.count; row += place.step) {
    const T* x = f.x + row * f.n;
    A center = A(0);
    if (f.mean) {
      center = rows::SumOfRow<A, T, kWidth>(x, f.n, place, [](A value, int64_t) { return value; });
      center = cuda::BlockReduce(center, rows::SumOf{}) / static_cast<A>(f.n);
    }
    const A squares = rows::SumOfRow<A, T, kWidth>(
        x, f.n, place, [&](A value, int64_t) { return (value - center) * (value - center); });
    const A scale = f.Finish(place, row, center, cuda::BlockReduce(squares, rows::SumOf{}));
    rows::MapRow<T, kWidth>(f.y + row * f.n, x, f.n, place,
                            [&](A value, int64_t i) { return f.parameters.Apply((value - center) * scale, i); });
  }
}

/// With g = dy * weight and z the normalised row: dx = rstd (g - mean(g) - z mean(g z)).
template <typename T>
struct NormBackward {
  using A = Accumulator<T>;
  T* dx;
  const T *dy, *x;
  const A *mean, *rstd;
  Parameters<T> parameters;
  int64_t count, n;

  __device__ __forceinline__ A Center(int64_t row) const { return mean ? mean[row] : A(0); }
  /// The means of g, where a mean was taken off, and of g z.
  template <bool kByBlock>
  __device__ __forceinline__ rows::Pair<A> Means(rows::Pair<A> sums) const {
    sums = rows::Share<kByBlock>(sums, rows::SumOf{});
    return {mean ? sums.first / static_cast<A>(n) : A(0), sums.second / static_cast<A>(n)};
  }
};

template <typename T, int kWidth, int kItems, bool kByBlock>
__global__ void __launch_bounds__(kByBlock ? 1024 : rows::kWarpBlock) NormBackwardHeldRows(const NormBackward<T> f) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<kByBlock>();
  for (int64_t row = place.row; row < f.count; row += place.step) {
    rows::Tile<T, kWidth, kItems> g, z;
    g.Load(f.dy + row * f.n, f.n, place, 0);
    z.Load(f.x + row * f.n, f.n, place, 0);
    const A center = f.Center(row), rstd = f.rstd[row];
    rows::Pair<A> sums{A(0), A(0)};
    if (f.parameters.weight) g.Scale(f.parameters.weight, f.n, place);
    g.ForEach(f.n, place, [&](A slope, int, int j) {
      z.at[j] = (z.at[j] - center) * rstd;
      sums = sums + rows::Pair<A>{slope, slope * z.at[j]};
    });
    const rows::Pair<A> means = f.template Means<kByBlock>(sums);
    g.Store(f.dx + row * f.n, f.n, place,
            [&](A slope, int, int j) { return rstd * (slope - means.first - z.at[j] * means.second); });
  }
}

template <typename T, int kWidth>
__global__ void __launch_bounds__(rows::kLongBlock) NormBackwardLongRows(const NormBackward<T> f) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<true>();
  for (int64_t row = place.row; row < f.count; row += place.step) {
    const T* x = f.x + row * f.n;
    const A center = f.Center(row), rstd = f.rstd[row];
    const auto normal = [&](int64_t i) { return (static_cast<A>(x[i]) - center) * rstd; };
    const auto sums = rows::SumOfRow<rows::Pair<A>, T, kWidth>(f.dy + row * f.n, f.n, place, [&](A dy, int64_t i) {
      const A g = dy * f.parameters.Weight(i);
      return rows::Pair<A>{g, g * normal(i)};
    });
    const rows::Pair<A> means = f.template Means<true>(sums);
    rows::MapRow<T, kWidth>(f.dx + row * f.n, f.dy + row * f.n, f.n, place, [&](A dy, int64_t i) {
      return rstd * (dy * f.parameters.Weight(i) - means.first - normal(i) * means.second);
    });
  }
}

// --- gradients of the parameters

inline constexpr int kLanes = 32, kSharing = 8;

/// For each column, sums over the rows of part blockIdx.y: of dy z for the weight, of dy for the bias.
template <typename T>
__global__ void ParameterParts(rows::Pair<Accumulator<T>>* parts, const T* dy, const T* x, const Accumulator<T>* mean,
                               const Accumulator<T>* rstd, int64_t count, int64_t n, int64_t part) {
  using A = Accumulator<T>;
  const int64_t first = blockIdx.y * part, last = min(count, first + part);
  for (int64_t block = blockIdx.x; block * kLanes < n; block += gridDim.x) {
    const int64_t i = block * kLanes + threadIdx.x;
    rows::Pair<A> sums{A(0), A(0)};
    if (i < n) {
#pragma unroll 4
      for (int64_t row = first + threadIdx.y; row < last; row += kSharing) {
        const A slope = static_cast<A>(dy[row * n + i]);
        const A z = (static_cast<A>(x[row * n + i]) - (mean ? mean[row] : A(0))) * rstd[row];
        sums = sums + rows::Pair<A>{slope * z, slope};
      }
    }
    sums = rows::ShareColumn(sums, rows::SumOf{});
    if (i < n && threadIdx.y == 0) parts[blockIdx.y * n + i] = sums;
  }
}

template <typename T>
__global__ void ParametersMeet(T* dweight, T* dbias, const rows::Pair<Accumulator<T>>* parts, int64_t count,
                               int64_t n) {
  for (int64_t i = cuda::FirstOfThread(); i < n; i += cuda::StepOfThreads()) {
    double weight = 0, bias = 0;
    for (int64_t p = 0; p < count; ++p) weight += parts[p * n + i].first, bias += parts[p * n + i].second;
    if (dweight) dweight[i] = static_cast<T>(static_cast<Accumulator<T>>(weight));
    if (dbias) dbias[i] = static_cast<T>(static_cast<Accumulator<T>>(bias));
  }
}

template <typename T>
void ParameterGradients(Context& ctx, T* dweight, T* dbias, const NormBackward<T>& f, int64_t n) {
  using A = Accumulator<T>;
  constexpr int64_t kEnoughBlocks = 1024, kLeastRows = 64;
  const int64_t blocks = (n + kLanes - 1) / kLanes;
  const int64_t parts = std::clamp<int64_t>(std::min(kEnoughBlocks / blocks, f.count / kLeastRows), 1, 512);
  const Scratch scratch = ctx.Allocate<rows::Pair<A>>(parts * n);
  auto* sums = scratch.as<rows::Pair<A>>();
  const cuda::Grid grid{dim3(rows::BlocksFor(n, kLanes), static_cast<unsigned>(parts)), dim3(kLanes, kSharing)};
  cuda::Launch("layer_norm_backward", ctx, &ParameterParts<T>, grid, sums, f.dy, f.x, f.mean, f.rstd, f.count, n,
               (f.count + parts - 1) / parts);
  cuda::Launch("layer_norm_backward", ctx, &ParametersMeet<T>, cuda::GridFor(n, 128), dweight, dbias, sums, parts, n);
}

}  // namespace

template <typename T>
void LayerNorm(Context& ctx, View y, View mean, View rstd, View x, View weight, View bias, double eps) {
  using A = Accumulator<T>;
  const int64_t count = rstd.numel, n = count ? x.numel / count : 0;
  if (count == 0) return;
  const NormForward<T> f{y.as<T>(),
                         mean ? mean.as<A>() : nullptr,
                         rstd.as<A>(),
                         x.as<const T>(),
                         {weight ? weight.as<const T>() : nullptr, bias ? bias.as<const T>() : nullptr},
                         count,
                         n,
                         static_cast<A>(eps)};
  const bool wide = rows::TakesWide<T>(n, f.y, f.x, f.parameters.weight, f.parameters.bias);
  const auto held = [&]<int kWidth, int kItems, bool kByBlock>(const cuda::Grid& grid) {
    cuda::Launch("layer_norm", ctx, &NormHeldRows<T, kWidth, kItems, kByBlock>, grid, f);
  };
  if (rows::WithHeldRows<T, 16>(count, n, wide, held)) return;
  const cuda::Grid grid{dim3(rows::BlocksFor(count, 1)), dim3(rows::kLongBlock)};
  cuda::Launch("layer_norm", ctx, wide ? &NormLongRows<T, rows::kWide<T>> : &NormLongRows<T, 1>, grid, f);
}
DRAGON_KERNEL(LayerNorm, Floating);

template <typename T>
void LayerNormBackward(Context& ctx, View dx, View dweight, View dbias, View dy, View x, View mean, View rstd,
                       View weight) {
  using A = Accumulator<T>;
  const int64_t count = rstd.numel, n = count ? x.numel / count : 0;
  const NormBackward<T> f{dx ? dx.as<T>() : nullptr,
                          dy.as<const T>(),
                          x.as<const T>(),
                          mean ? mean.as<const A>() : nullptr,
                          rstd.as<const A>(),
                          {weight ? weight.as<const T>() : nullptr, nullptr},
                          count,
                          n};
  const int64_t width = dweight ? dweight.numel : dbias ? dbias.numel : 0;
  if (width > 0) {
    ParameterGradients<T>(ctx, dweight ? dweight.as<T>() : nullptr, dbias ? dbias.as<T>() : nullptr, f, width);
  }
  if (!dx || dx.numel == 0) return;
  const bool wide = rows::TakesWide<T>(n, f.dx, f.dy, f.x, f.parameters.weight);
  const auto held = [&]<int kWidth, int kItems, bool kByBlock>(const cuda::Grid& grid) {
    cuda::Launch("layer_norm_backward", ctx, &NormBackwardHeldRows<T, kWidth, kItems, kByBlock>, grid, f);
  };
  if (rows::WithHeldRows<T, 16>(count, n, wide, held)) return;
  const cuda::Grid grid{dim3(rows::BlocksFor(count, 1)), dim3(rows::kLongBlock)};
  cuda::Launch("layer_norm_backward", ctx,
               wide ? &NormBackwardLongRows<T, rows::kWide<T>> : &NormBackwardLongRows<T, 1>, grid, f);
}
DRAGON_KERNEL(LayerNormBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
