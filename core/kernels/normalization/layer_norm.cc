// Layer norm and root-mean-square norm: every row is normalised while it is in cache.
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/lanes.h"
#include "core/kernels/normalization.h"

namespace dragon::DRAGON_DEVICE {

namespace {

inline constexpr int64_t kFlushRows = 64;  // rows whose parameter gradients are summed before they join the total

/// Long rows are summed in pieces, so that rounding errors do not grow with the row.
template <typename A, typename Term>
A LongSum(int64_t n, Term term) {
  A total = A(0);
  for (int64_t first = 0; first < n; first += 8192) {
    total += LaneSum<A>(std::min<int64_t>(8192, n - first), [=](int64_t i) { return term(first + i); });
  }
  return total;
}

template <typename T>
void ForwardRow(T* DRAGON_RESTRICT y, Accumulator<T>* mean, Accumulator<T>* rstd, const T* DRAGON_RESTRICT x,
                const T* DRAGON_RESTRICT weight, const T* DRAGON_RESTRICT bias, int64_t n, double eps) {
  using A = Accumulator<T>;
  const A center = mean ? LongSum<A>(n, [x](int64_t i) { return static_cast<A>(x[i]); }) / static_cast<A>(n) : A(0);
  const A squares = LongSum<A>(n, [=](int64_t i) {
    const A d = static_cast<A>(x[i]) - center;
    return d * d;
  });
  const A scale = A(1) / std::sqrt(squares / static_cast<A>(n) + static_cast<A>(eps));
  if (mean) *mean = center;
  *rstd = scale;
  if (weight && bias) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      y[i] =
          static_cast<T>((static_cast<A>(x[i]) - center) * scale * static_cast<A>(weight[i]) + static_cast<A>(bias[i]));
    }
  } else if (weight) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<T>((static_cast<A>(x[i]) - center) * scale * static_cast<A>(weight[i]));
    }
  } else {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      y[i] = static_cast<T>((static_cast<A>(x[i]) - center) * scale + (bias ? static_cast<A>(bias[i]) : A(0)));
    }
  }
}

/// With g = dy * weight and z the normalised row: dx = rstd (g - mean(g) - z mean(g z)).
template <typename T, bool kWeight>
void InputGradientRow(T* DRAGON_RESTRICT dx, const T* DRAGON_RESTRICT dy, const T* DRAGON_RESTRICT x,
                      const Accumulator<T>* mean, Accumulator<T> rstd, const T* DRAGON_RESTRICT weight, int64_t n) {
  using A = Accumulator<T>;
  const A center = mean ? *mean : A(0);
  const auto g = [=](int64_t i) {
    return kWeight ? static_cast<A>(dy[i]) * static_cast<A>(weight[i]) : static_cast<A>(dy[i]);
  };
  const auto z = [=](int64_t i) { return (static_cast<A>(x[i]) - center) * rstd; };
  const A mean_g = mean ? LongSum<A>(n, g) / static_cast<A>(n) : A(0);
  const A mean_gz = LongSum<A>(n, [=](int64_t i) { return g(i) * z(i); }) / static_cast<A>(n);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) dx[i] = static_cast<T>(rstd * (g(i) - mean_g - z(i) * mean_gz));
}

/// Gradients of weight and bias over some rows: single-precision sums over few rows flow into double-precision totals.
template <typename T>
struct ParameterSums {
  using A = Accumulator<T>;
  std::vector<A> weight_block, bias_block;
  std::vector<double> weight, bias;
  int64_t rows = 0;

  ParameterSums(bool with_weight, bool with_bias, int64_t n) {
    if (with_weight) weight_block.assign(n, A(0)), weight.assign(n, 0);
    if (with_bias) bias_block.assign(n, A(0)), bias.assign(n, 0);
  }
  void Add(const T* DRAGON_RESTRICT dy, const T* DRAGON_RESTRICT x, A center, A rstd, int64_t n) {
    A *DRAGON_RESTRICT w = weight_block.data(), *DRAGON_RESTRICT b = bias_block.data();
    if (!weight.empty()) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) w[i] += static_cast<A>(dy[i]) * ((static_cast<A>(x[i]) - center) * rstd);
    }
    if (!bias.empty()) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) b[i] += static_cast<A>(dy[i]);
    }
    if (++rows % kFlushRows == 0) Flush();
  }
  void Flush() {
    for (size_t i = 0; i < weight.size(); ++i) weight[i] += weight_block[i], weight_block[i] = A(0);
    for (size_t i = 0; i < bias.size(); ++i) bias[i] += bias_block[i], bias_block[i] = A(0);
  }
};

template <typename T>
void SumParts(View out, const std::vector<ParameterSums<T>>& parts, std::vector<double> ParameterSums<T>::* which) {
  if (!out) return;
  T* data = out.as<T>();
  for (int64_t i = 0; i < out.numel; ++i) {
    double total = 0;
    for (const auto& part : parts) total += (part.*which)[i];
    data[i] = static_cast<T>(static_cast<Accumulator<T>>(total));
  }
}

}  // namespace

template <typename T>
void LayerNorm(Context& ctx, View y, View mean, View rstd, View x, View weight, View bias, double eps) {
  using A = Accumulator<T>;
  const int64_t rows = rstd.numel, n = rows ? x.numel / rows : 0;
  const T *w = weight ? weight.as<T>() : nullptr, *b = bias ? bias.as<T>() : nullptr;
  ParallelFor(rows, std::max<int64_t>(1, kGrain / 2 / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      ForwardRow(y.as<T>() + row * n, mean ? mean.as<A>() + row : nullptr, rstd.as<A>() + row,
                 x.as<const T>() + row * n, w, b, n, eps);
    }
  });
}
DRAGON_KERNEL(LayerNorm, Floating);

template <typename T>
void LayerNormBackward(Context& ctx, View dx, View dweight, View dbias, View dy, View x, View mean, View rstd,
                       View weight) {
  using A = Accumulator<T>;
  const int64_t rows = rstd.numel, n = rows ? x.numel / rows : 0,
                width = dweight ? dweight.numel
                        : dbias ? dbias.numel
                                : 0;
  const int64_t grain = std::max<int64_t>(1, kGrain / 2 / std::max<int64_t>(n, 1));
  const int64_t pieces = std::max<int64_t>(1, std::min<int64_t>(NumThreads(), rows / grain));
  std::vector<ParameterSums<T>> parts(pieces, ParameterSums<T>(bool(dweight), bool(dbias), width));
  const auto* means = mean ? mean.as<const A>() : nullptr;
  const T* w = weight ? weight.as<const T>() : nullptr;
  const auto piece = [&](int64_t p) {
    for (int64_t row = rows * p / pieces; row < rows * (p + 1) / pieces; ++row) {
      const T *slope = dy.as<const T>() + row * n, *in = x.as<const T>() + row * n;
      const A scale = rstd.as<const A>()[row];
      if (dx && w)
        InputGradientRow<T, true>(dx.as<T>() + row * n, slope, in, means ? means + row : nullptr, scale, w, n);
      if (dx && !w)
        InputGradientRow<T, false>(dx.as<T>() + row * n, slope, in, means ? means + row : nullptr, scale, w, n);
      if (width) parts[p].Add(slope, in, means ? means[row] : A(0), scale, n);
    }
    parts[p].Flush();
  };
  ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) piece(p);
  });
  SumParts<T>(dweight, parts, &ParameterSums<T>::weight);
  SumParts<T>(dbias, parts, &ParameterSums<T>::bias);
}
DRAGON_KERNEL(LayerNormBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
