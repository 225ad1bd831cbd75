// Batch norm's three parts: statistics of every channel, the affine map by channel, and the gradient of both.
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/normalization.h"
#include "core/kernels/reduction/moments.h"
#include "core/kernels/stream.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// x as (batch, channels, size) planes, or as rows of channels when the channel axis is the innermost in memory.
struct Planes {
  int64_t batch, channels, size;
  bool channels_last;

  explicit Planes(View x) : batch(x.shape[0]), channels(x.shape[1]), size(1) {
    for (int i = 2; i < x.ndim; ++i) size *= x.shape[i];
    channels_last = size == 1 || (channels > 1 && x.strides[1] == 1);
  }
  int64_t rows() const { return batch * size; }
};

/// What channel c's elements are multiplied by and what is added, with absent parameters left out.
template <typename T>
struct ChannelMap {
  using A = Accumulator<T>;
  const A *mean, *rstd;
  const T *weight, *bias;

  A Scale(int64_t c) const { return weight ? rstd[c] * static_cast<A>(weight[c]) : rstd[c]; }
  A Shift(int64_t c) const { return bias ? static_cast<A>(bias[c]) : A(0); }
};

template <typename T>
const T* DataOrNull(View view) {
  return view ? view.as<const T>() : nullptr;
}

/// Sums of dy and of dy * (x - mean) for every channel.
template <typename T>
struct ChannelSums {
  using A = Accumulator<T>;
  std::vector<double> slope, product;

  ChannelSums(const Planes& p, const T* dy, const T* x, const A* mean) : slope(p.channels, 0), product(p.channels, 0) {
    if (p.channels_last) {
      SumRows(p, dy, x, mean);
      return;
    }
    const int64_t grain = std::max<int64_t>(1, kGrain / (p.rows() + 1));
    ParallelFor(p.channels, grain, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) SumChannel(p, dy, x, mean[c], c);
    });
  }

 private:
  void SumChannel(const Planes& p, const T* dy, const T* x, A center, int64_t c) {
    for (int64_t b = 0; b < p.batch; ++b) {
      const int64_t at = (b * p.channels + c) * p.size;
      for (int64_t first = 0; first < p.size; first += kRowBlock) {
        const T *DRAGON_RESTRICT s = dy + at + first, *DRAGON_RESTRICT v = x + at + first;
        const int64_t n = std::min(kRowBlock, p.size - first);
        slope[c] += LaneSum<A>(n, [s](int64_t i) { return static_cast<A>(s[i]); });
        product[c] += LaneSum<A>(n, [=](int64_t i) { return static_cast<A>(s[i]) * (static_cast<A>(v[i]) - center); });
      }
    }
  }

  /// Every thread sums a share of the rows, some rows at a time in the narrow type.
  void SumRows(const Planes& p, const T* dy, const T* x, const A* mean) {
    const int64_t rows = p.rows(), channels = p.channels;
    const int64_t pieces = std::max<int64_t>(1, std::min<int64_t>(NumThreads(), rows * channels / kGrain));
    std::vector<double> totals(2 * channels * pieces, 0);
    ParallelFor(pieces, 1, [&](int64_t begin, int64_t end) {
      std::vector<A> block(2 * channels);
      for (int64_t piece = begin; piece < end; ++piece) {
        double* total = totals.data() + 2 * channels * piece;
        const int64_t last = rows * (piece + 1) / pieces;
        for (int64_t row = rows * piece / pieces; row < last; row += kColumnBlock) {
          const int64_t count = std::min(kColumnBlock, last - row);
          SumBlock(dy + row * channels, x + row * channels, mean, count, channels, block.data());
          for (int64_t i = 0; i < 2 * channels; ++i) total[i] += block[i];
        }
      }
    });
    for (int64_t piece = 0; piece < pieces; ++piece) {
      const double* total = totals.data() + 2 * channels * piece;
      for (int64_t c = 0; c < channels; ++c) slope[c] += total[c], product[c] += total[channels + c];
    }
  }
  /// A run of channels at a time, whose sums stay in registers while the rows go by.
  static void SumBlock(const T* dy, const T* x, const A* mean, int64_t rows, int64_t channels, A* sums) {
    for (int64_t c = 0; c < channels; c += kRun) {
      if (c + kRun <= channels) {
        SumRun(kRun, dy + c, x + c, mean + c, rows, channels, sums + c);
      } else {
        SumRun(channels - c, dy + c, x + c, mean + c, rows, channels, sums + c);
      }
    }
  }
  static void SumRun(int64_t count, const T* dy, const T* x, const A* DRAGON_RESTRICT mean, int64_t rows,
                     int64_t channels, A* sums) {
    A slopes[kRun] = {}, products[kRun] = {};
    for (int64_t i = 0; i < rows; ++i) {
      const T *DRAGON_RESTRICT s = dy + i * channels, *DRAGON_RESTRICT v = x + i * channels;
#pragma omp simd
      for (int64_t c = 0; c < count; ++c) {
        slopes[c] += static_cast<A>(s[c]);
        products[c] += static_cast<A>(s[c]) * (static_cast<A>(v[c]) - mean[c]);
      }
    }
    std::copy_n(slopes, count, sums);
    std::copy_n(products, count, sums + channels);
  }
  static constexpr int64_t kRun = 32;
};

/// Call row(offset, to) for rows of channels [begin, end), and write large results past the caches.
template <typename T, typename Row>
void StreamRows(int64_t channels, T* out, int64_t begin, int64_t end, Row& row) {
  constexpr int64_t kBytes = 8192;
  alignas(64) char buffer[kBytes];
  const int64_t bytes = channels * static_cast<int64_t>(sizeof(T)), block = kBytes / bytes;
  for (int64_t i = begin; i < end; i += block) {
    const int64_t count = std::min(block, end - i);
    for (int64_t k = 0; k < count; ++k) row((i + k) * channels, reinterpret_cast<T*>(buffer + k * bytes));
    StreamCopy(out + i * channels, buffer, count * bytes);
  }
  StreamEnd();
}

/// Call plane(offset, n, channel) for every plane, or row(offset, to) for every row of channels of `out`.
template <typename T, typename Plane, typename Row>
void ForPlanes(const Planes& p, T* out, Plane plane, Row row) {
  if (p.channels_last) {
    const int64_t bytes = p.channels * static_cast<int64_t>(sizeof(T));
    const bool streams = p.rows() * bytes >= kStreamBytes && bytes % 64 == 0 && bytes <= 8192 &&
                         reinterpret_cast<uintptr_t>(out) % 64 == 0;
    ParallelFor(p.rows(), std::max<int64_t>(1, kGrain / p.channels), [&](int64_t begin, int64_t end) {
      if (streams) return StreamRows(p.channels, out, begin, end, row);
      for (int64_t i = begin; i < end; ++i) row(i * p.channels, out + i * p.channels);
    });
    return;
  }
  ParallelFor(p.batch * p.channels, std::max<int64_t>(1, kGrain / p.size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) plane(i * p.size, p.size, i % p.channels);
  });
}

/// out[i] = in[i] * a[c] + other[i] * b[c] + d[c]: what remains of the gradient once the sums are known.
template <typename T>
void Combine(const Planes& p, T* out, const T* in, const T* other, const std::vector<Accumulator<T>>& a,
             const std::vector<Accumulator<T>>& b, const std::vector<Accumulator<T>>& d) {
  using A = Accumulator<T>;
  ForPlanes(
      p, out,
      [&](int64_t at, int64_t n, int64_t c) {
        const A factor = a[c], slope = b[c], shift = d[c];
        const T *DRAGON_RESTRICT x = in + at, *DRAGON_RESTRICT z = other + at;
        T* DRAGON_RESTRICT y = out + at;
#pragma omp simd
        for (int64_t i = 0; i < n; ++i) {
          y[i] = static_cast<T>(static_cast<A>(x[i]) * factor + static_cast<A>(z[i]) * slope + shift);
        }
      },
      [&](int64_t at, T* DRAGON_RESTRICT y) {
        const T *DRAGON_RESTRICT x = in + at, *DRAGON_RESTRICT z = other + at;
        const A *DRAGON_RESTRICT factor = a.data(), *DRAGON_RESTRICT slope = b.data(),
                                 *DRAGON_RESTRICT shift = d.data();
#pragma omp simd
        for (int64_t c = 0; c < p.channels; ++c) {
          y[c] = static_cast<T>(static_cast<A>(x[c]) * factor[c] + static_cast<A>(z[c]) * slope[c] + shift[c]);
        }
      });
}

}  // namespace

template <typename T>
void ChannelMoments(Context& ctx, View mean, View var, View x) {
  using A = Accumulator<T>;
  std::vector<int64_t> shape(x.ndim, 1), strides(x.ndim, 0);
  shape[1] = x.shape[1];
  strides[1] = 1;
  const View result{var.data, shape.data(), strides.data(), x.shape[1], x.ndim, kDTypeOf<A>};
  const View center{mean.data, shape.data(), strides.data(), x.shape[1], x.ndim, kDTypeOf<A>};
  Reduce(ctx, result, center, x, VarOf<A>{});
}
DRAGON_KERNEL(ChannelMoments, Floating);

template <typename T>
void ChannelAffine(Context& ctx, View y, View x, View mean, View rstd, View weight, View bias) {
  using A = Accumulator<T>;
  if (x.numel == 0) return;
  const Planes p(x);
  const ChannelMap<T> map{mean.as<const A>(), rstd.as<const A>(), DataOrNull<T>(weight), DataOrNull<T>(bias)};
  std::vector<A> scales(p.channels), shifts(p.channels);
  for (int64_t c = 0; c < p.channels; ++c) scales[c] = map.Scale(c), shifts[c] = map.Shift(c);
  const auto* in = x.as<const T>();
  auto* out = y.as<T>();
  ForPlanes(
      p, out,
      [&](int64_t at, int64_t n, int64_t c) {
        const A center = map.mean[c], scale = scales[c], shift = shifts[c];
        const T* DRAGON_RESTRICT from = in + at;
        T* DRAGON_RESTRICT to = out + at;
#pragma omp simd
        for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>((static_cast<A>(from[i]) - center) * scale + shift);
      },
      [&](int64_t at, T* DRAGON_RESTRICT to) {
        const A *DRAGON_RESTRICT center = map.mean, *DRAGON_RESTRICT scale = scales.data(),
                                 *DRAGON_RESTRICT shift = shifts.data();
        const T* DRAGON_RESTRICT from = in + at;
#pragma omp simd
        for (int64_t c = 0; c < p.channels; ++c) {
          to[c] = static_cast<T>((static_cast<A>(from[c]) - center[c]) * scale[c] + shift[c]);
        }
      });
}
DRAGON_KERNEL(ChannelAffine, Floating);

template <typename T>
void BatchNormBackward(Context& ctx, View dx, View dweight, View dbias, View dy, View x, View mean, View rstd,
                       View weight, bool training) {
  using A = Accumulator<T>;
  const Planes p(x);
  const A *center = mean.as<const A>(), *scale = rstd.as<const A>();
  const ChannelSums<T> sums(p, dy.as<const T>(), x.as<const T>(), center);
  for (int64_t c = 0; c < p.channels; ++c) {
    if (dweight) dweight.as<T>()[c] = static_cast<T>(static_cast<A>(sums.product[c] * scale[c]));
    if (dbias) dbias.as<T>()[c] = static_cast<T>(static_cast<A>(sums.slope[c]));
  }
  if (!dx || x.numel == 0) return;
  std::vector<A> a(p.channels), b(p.channels, A(0)), d(p.channels, A(0));
  for (int64_t c = 0; c < p.channels; ++c) {
    const double gain =
        weight ? static_cast<double>(scale[c]) * static_cast<double>(weight.as<const T>()[c]) : scale[c];
    a[c] = static_cast<A>(gain);
    if (!training) continue;
    // dx = gain (dy - mean(dy) - (x - mean) rstd^2 mean(dy (x - mean)))
    const double slope = -gain * scale[c] * scale[c] * sums.product[c] / p.rows();
    b[c] = static_cast<A>(slope);
    d[c] = static_cast<A>(-gain * sums.slope[c] / p.rows() - slope * center[c]);
  }
  Combine<T>(p, dx.as<T>(), dy.as<const T>(), x.as<const T>(), a, b, d);
}
DRAGON_KERNEL(BatchNormBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
