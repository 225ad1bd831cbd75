// Maximum and mean over windows, forward and backward.
#include "core/kernels/pooling.h"

#include <limits>

#include "core/kernels/pooling/windows.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
constexpr T Lowest() {
  if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
  return std::numeric_limits<T>::lowest();
}

/// best[lane] = max(best[lane], x[lane]), keeping the place; a later NaN wins, as in PyTorch.
template <typename T, typename Index>
DRAGON_FN void TakeLarger(const T* x, int64_t step, int64_t count, Index index, Index index_step, Wide<T>* best,
                          Index* place) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const Wide<T> value = static_cast<Wide<T>>(x[i * step]);
    const bool take = (value > best[i]) | (value != value);
    best[i] = take ? value : best[i];
    place[i] = take ? static_cast<Index>(index + static_cast<Index>(i) * index_step) : place[i];
  }
}

template <typename T, typename Index>
void MaxPoolAs(const View& y, const View& indices, const View& x, const PoolGeometry& geometry) {
  const WindowPlan plan(y, x, geometry);
  WalkWindows(plan, geometry, [&](int64_t lanes) {
    return [&, best = std::vector<Wide<T>>(lanes), place = std::vector<Index>(lanes)](
               int64_t count, int64_t y_offset, int64_t y_step, int64_t x_base, auto&& taps, auto&&) mutable {
      std::fill(best.begin(), best.begin() + count, Lowest<Wide<T>>());
      std::fill(place.begin(), place.begin() + count, Index(-1));
      const auto take = [&](const Lanes& at, auto step) {
        TakeLarger<T, Index>(x.as<T>() + x_base + at.offset, step, at.count, static_cast<Index>(at.index),
                             static_cast<Index>(at.index_step), best.data() + at.first, place.data() + at.first);
      };
      taps([&](const Lanes& at) {
        // A window of nothing but the lowest value still has a place: its first.
        for (int64_t i = 0; i < at.count; ++i) {
          Index& here = place[at.first + i];
          if (here < 0) here = static_cast<Index>(at.index + i * at.index_step);
        }
        if (at.step == 1) {
          take(at, std::integral_constant<int64_t, 1>{});
        } else if (at.step == 2) {
          take(at, std::integral_constant<int64_t, 2>{});
        } else {
          take(at, at.step);
        }
      });
      for (int64_t i = 0; i < count; ++i) y.as<T>()[y_offset + i * y_step] = static_cast<T>(best[i]);
      if (!indices) return;
      for (int64_t i = 0; i < count; ++i) indices.as<int64_t>()[y_offset + i * y_step] = place[i];
    };
  });
}

/// Integers sum in 64 bits, 16-bit floats in 32.
template <typename T>
using Mean = std::conditional_t<std::is_integral_v<T>, int64_t, Wide<T>>;

}  // namespace

template <typename T>
void MaxPool(Context&, View y, View indices, View x, const PoolGeometry& geometry) {
  if (y.numel == 0) return;
  int64_t plane = 1;
  for (int axis = 2; axis < x.ndim; ++axis) plane *= x.shape[axis];
  // Places of 32 bits keep pace with floats in vector registers.
  if (plane <= std::numeric_limits<int32_t>::max()) {
    MaxPoolAs<T, int32_t>(y, indices, x, geometry);
  } else {
    MaxPoolAs<T, int64_t>(y, indices, x, geometry);
  }
}

template <typename T>
void AveragePool(Context&, View y, View x, const PoolGeometry& geometry) {
  if (y.numel == 0) return;
  const WindowPlan plan(y, x, geometry);
  WalkWindows(plan, geometry, [&](int64_t lanes) {
    return [&, sums = std::vector<Mean<T>>(lanes)](int64_t count, int64_t y_offset, int64_t y_step, int64_t x_base,
                                                   auto&& taps, auto&& divisor) mutable {
      std::fill(sums.begin(), sums.begin() + count, Mean<T>(0));
      taps([&](const Lanes& at) {
        const T* from = x.as<T>() + x_base + at.offset;
        Mean<T>* to = sums.data() + at.first;
        if (at.step == 1) {
#pragma omp simd
          for (int64_t i = 0; i < at.count; ++i) to[i] += static_cast<Mean<T>>(from[i]);
        } else {
          for (int64_t i = 0; i < at.count; ++i) to[i] += static_cast<Mean<T>>(from[i * at.step]);
        }
      });
      for (int64_t i = 0; i < count; ++i) {
        y.as<T>()[y_offset + i * y_step] = static_cast<T>(sums[i] / static_cast<Mean<T>>(divisor(i)));
      }
    };
  });
}

template <typename T>
void AveragePoolBackward(Context& ctx, View dx, View dy, const PoolGeometry& geometry) {
  if (dx.numel == 0) return;
  // Sums of 16-bit floats need more digits on the way: they are kept in a float image of dx, whose memory is dense.
  const Scratch scratch = ctx.Allocate<Wide<T>>(kIsHalf<T> ? dx.numel : 0);
  auto* sums = kIsHalf<T> ? scratch.as<Wide<T>>() : static_cast<Wide<T>*>(dx.data);
  ParallelFor(dx.numel, kGrain, [&](int64_t begin, int64_t end) { std::fill(sums + begin, sums + end, Wide<T>(0)); });
  if (dy.numel != 0) {
    const WindowPlan plan(dy, dx, geometry);
    WalkWindows(plan, geometry, [&](int64_t lanes) {
      return [&, share = std::vector<Wide<T>>(lanes)](int64_t count, int64_t y_offset, int64_t y_step, int64_t x_base,
                                                      auto&& taps, auto&& divisor) mutable {
        for (int64_t i = 0; i < count; ++i) {
          share[i] = static_cast<Wide<T>>(dy.as<T>()[y_offset + i * y_step]) / static_cast<Wide<T>>(divisor(i));
        }
        taps([&](const Lanes& at) {
          Wide<T>* to = sums + x_base + at.offset;
          const Wide<T>* from = share.data() + at.first;
          if (at.step == 1) {
#pragma omp simd
            for (int64_t i = 0; i < at.count; ++i) to[i] += from[i];
          } else {
            for (int64_t i = 0; i < at.count; ++i) to[i * at.step] += from[i];
          }
        });
      };
    });
  }
  if constexpr (kIsHalf<T>) {
    ParallelFor(dx.numel, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) dx.as<T>()[i] = static_cast<T>(sums[i]);
    });
  }
}

namespace {

/// The offset of the i-th place of a plane, counted row-major over the spatial axes.
int64_t PlaceOffset(const View& x, int64_t i) {
  int64_t offset = 0;
  for (int axis = x.ndim - 1; axis >= 2; --axis) {
    offset += i % x.shape[axis] * x.strides[axis];
    i /= x.shape[axis];
  }
  return offset;
}

}  // namespace

template <typename T>
void PlaceInPlanes(Context& ctx, View y, View x, View indices, const char* who, bool add) {
  const int64_t channels = y.shape[1], planes = y.shape[0] * channels;
  if (y.numel == 0 && x.numel == 0) return;
  const int64_t size = planes ? y.numel / planes : 0, count = planes ? x.numel / planes : 0;
  const Scratch scratch = ctx.Allocate<Wide<T>>(kIsHalf<T> ? y.numel : 0);
  auto* sums = kIsHalf<T> ? scratch.as<Wide<T>>() : static_cast<Wide<T>*>(y.data);
  ParallelFor(y.numel, kGrain, [&](int64_t begin, int64_t end) { std::fill(sums + begin, sums + end, Wide<T>(0)); });
  // Row-major planes need no division to find a place.
  bool flat = true;
  int64_t step = 0, expected = 0;
  for (int axis = y.ndim - 1; axis >= 2; --axis) {
    if (y.shape[axis] == 1) continue;
    if (step == 0) step = expected = y.strides[axis];
    flat &= y.strides[axis] == expected;
    expected *= y.shape[axis];
  }
  const auto one = [&](int64_t n, int64_t c, int64_t i, int64_t offset, int64_t index_offset) {
    const int64_t at = indices.as<int64_t>()[n * indices.strides[0] + c * indices.strides[1] + index_offset];
    if (at == -1 && add) return;  // the window saw no element at all
    if (at < 0 || at >= size) throw IndexError(who).Got("index ", at).Expected("0 to ", size - 1, " for a plane");
    Wide<T>& to = sums[n * y.strides[0] + c * y.strides[1] + (flat ? at * step : PlaceOffset(y, at))];
    const Wide<T> value = static_cast<Wide<T>>(x.as<T>()[n * x.strides[0] + c * x.strides[1] + offset]);
    to = add ? static_cast<Wide<T>>(to + value) : value;
  };
  const bool by_channel = x.strides[1] == 1;
  const int64_t block = by_channel ? std::min(kChannelBlock, channels) : 1, blocks = (channels + block - 1) / block;
  ParallelFor(y.shape[0] * blocks, std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(1, count * block)),
              [&](int64_t begin, int64_t end) {
                for (int64_t piece = begin; piece < end; ++piece) {
                  const int64_t n = piece / blocks, c = piece % blocks * block, c_end = std::min(c + block, channels);
                  for (int64_t i = 0; i < count; ++i) {
                    const int64_t offset = PlaceOffset(x, i), index_offset = PlaceOffset(indices, i);
                    for (int64_t channel = c; channel < c_end; ++channel) one(n, channel, i, offset, index_offset);
                  }
                }
              });
  if constexpr (kIsHalf<T>) {
    ParallelFor(y.numel, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y.as<T>()[i] = static_cast<T>(sums[i]);
    });
  }
}

DRAGON_KERNEL(MaxPool, Real);
DRAGON_KERNEL(AveragePool, Real);
DRAGON_KERNEL(AveragePoolBackward, Floating);
DRAGON_KERNEL(PlaceInPlanes, Real);

}  // namespace dragon::DRAGON_DEVICE
