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
    // A window of nothing but the lowest value still has a place: its first.
    const bool take = (value > best[i]) | (value != value) | (place[i] < 0);
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

template <typename T>
DRAGON_FN void TakeLarger(const T* x, int64_t step, int64_t count, Wide<T>* best) {
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const Wide<T> value = static_cast<Wide<T>>(x[i * step]);
    best[i] = (value > best[i]) | (value != value) ? value : best[i];
  }
}

/// A row of windows at a time, channels lying side by side: their maxima, and places if asked for, stay in registers.
template <typename T, bool kPlaces>
void MaxPoolOfChannels(const View& y, const View& indices, const View& x, const WindowPlan& plan) {
  constexpr int64_t kRun = 64;
  const WindowAxis &ad = plan.axes[0], &ah = plan.axes[1], &aw = plan.axes[2];
  const auto one = [&](int64_t n, int64_t d, int64_t h, int64_t w) {
    const int64_t to = n * plan.y_batch + d * ad.y_stride + h * ah.y_stride + w * aw.y_stride;
    for (int64_t c = 0; c < plan.channels; c += kRun) {
      Wide<T> best[kRun];
      int32_t place[kRun];
      const int64_t count = std::min(kRun, plan.channels - c);
      std::fill_n(best, count, Lowest<Wide<T>>());
      if (kPlaces) std::fill_n(place, count, -1);
      ForTaps(plan, d, h, w, c, c + count, [&](const Lanes& at) {
        const T* from = x.as<T>() + n * plan.x_batch + at.offset;
        const auto take = [&](int64_t lanes) {
          if constexpr (kPlaces) {
            TakeLarger<T, int32_t>(from, 1, lanes, static_cast<int32_t>(at.index), 0, best, place);
          } else {
            TakeLarger<T>(from, 1, lanes, best);
          }
        };
        count == kRun ? take(kRun) : take(count);
      });
      const auto store = [&](int64_t step) {
        T* values = y.as<T>() + to + c * step;
        for (int64_t i = 0; i < count; ++i) values[i * step] = static_cast<T>(best[i]);
        if constexpr (kPlaces) {
          int64_t* places = indices.as<int64_t>() + to + c * step;
          for (int64_t i = 0; i < count; ++i) places[i * step] = place[i];
        }
      };
      plan.y_channel == 1 ? store(1) : store(plan.y_channel);
    }
  };
  const int64_t work = std::max<int64_t>(1, aw.out * plan.channels * plan.axes[2].seen(aw.out / 2));
  ParallelFor(plan.batch * ad.out * ah.out, std::max<int64_t>(1, kGrain / work), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t w = 0; w < aw.out; ++w) one(row / (ad.out * ah.out), row / ah.out % ad.out, row % ah.out, w);
    }
  });
}

template <typename T>
void MaxPoolOnly(const View& y, const View& x, const PoolGeometry& geometry) {
  const WindowPlan plan(y, x, geometry);
  if (plan.LanesAreChannels()) return MaxPoolOfChannels<T, false>(y, View{}, x, plan);
  WalkWindows(plan, geometry, [&](int64_t lanes) {
    return [&, best = std::vector<Wide<T>>(lanes)](int64_t count, int64_t y_offset, int64_t y_step, int64_t x_base,
                                                   auto&& taps, auto&&) mutable {
      std::fill(best.begin(), best.begin() + count, Lowest<Wide<T>>());
      taps([&](const Lanes& at) {
        const T* from = x.as<T>() + x_base + at.offset;
        if (at.step == 1) {
          TakeLarger<T>(from, 1, at.count, best.data() + at.first);
        } else {
          TakeLarger<T>(from, at.step, at.count, best.data() + at.first);
        }
      });
      for (int64_t i = 0; i < count; ++i) y.as<T>()[y_offset + i * y_step] = static_cast<T>(best[i]);
    };
  });
}

/// Few channels that lie side by side: every step takes a full vector, of which the lanes beyond the channels (the next
/// places of the picture) come to nothing.
template <typename T>
class FewChannels {
 public:
  FewChannels(const View& y, const View& indices, const View& x, const PoolGeometry& g)
      : plan_(y, x, g), y_(y), indices_(indices), x_(x), end_(x.as<const T>() + 1) {
    for (int axis = 0; axis < x.ndim; ++axis) end_ += (x.shape[axis] - 1) * x.strides[axis];
  }

  bool usable() const {
    if (x_.strides[1] != 1 || plan_.channels < 2 || plan_.channels >= kLanes) return false;
    return !indices_ || std::equal(y_.strides, y_.strides + y_.ndim, indices_.strides);
  }

  void Run() const {
    const WindowAxis &ad = plan_.axes[0], &ah = plan_.axes[1], &aw = plan_.axes[2];
    ParallelFor(plan_.batch * ad.out * ah.out, 1 + kGrain / (8 * aw.out * (kLanes + plan_.channels)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t row = begin; row < end; ++row) {
                    const int64_t n = row / (ad.out * ah.out), d = row / ah.out % ad.out, h = row % ah.out;
                    const int64_t to = n * plan_.y_batch + d * ad.y_stride + h * ah.y_stride;
                    for (int64_t w = 0; w < aw.out; ++w) One(n, d, h, w, to + w * aw.y_stride);
                  }
                });
  }

 private:
  static constexpr int kLanes = 16;

  void One(int64_t n, int64_t d, int64_t h, int64_t w, int64_t to) const {
    const int64_t channels = plan_.channels;
    Wide<T> best[kLanes];
    int32_t place[kLanes];
    for (int i = 0; i < kLanes; ++i) best[i] = Lowest<Wide<T>>(), place[i] = -1;
    ForTaps(plan_, d, h, w, 0, channels, [&](const Lanes& at) {
      const T* from = x_.as<const T>() + n * plan_.x_batch + at.offset;
      T last[kLanes] = {};
      if (from + kLanes > end_) from = std::copy_n(from, channels, last) - channels;
      const auto index = static_cast<int32_t>(at.index);
#pragma omp simd
      for (int i = 0; i < kLanes; ++i) {
        const Wide<T> value = static_cast<Wide<T>>(from[i]);
        // A window of nothing but the lowest value still has a place: its first.
        const bool take = (value > best[i]) | (value != value) | (place[i] < 0);
        best[i] = take ? value : best[i];
        place[i] = take ? index : place[i];
      }
    });
    for (int64_t i = 0; i < channels; ++i) y_.as<T>()[to + i * plan_.y_channel] = static_cast<T>(best[i]);
    for (int64_t i = 0; indices_ && i < channels; ++i) indices_.as<int64_t>()[to + i * plan_.y_channel] = place[i];
  }

  WindowPlan plan_;
  const View &y_, &indices_, &x_;
  const T* end_;  ///< of x's memory
};

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
    if (const FewChannels<T> few(y, indices, x, geometry); few.usable()) return few.Run();
    if (!indices) return MaxPoolOnly<T>(y, x, geometry);
    const WindowPlan plan(y, x, geometry);
    if (plan.LanesAreChannels() && std::equal(y.strides, y.strides + y.ndim, indices.strides)) {
      return MaxPoolOfChannels<T, true>(y, indices, x, plan);
    }
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
      T* out = y.as<T>() + y_offset;
      const auto mean = [&](int64_t i) { return static_cast<T>(sums[i] / static_cast<Mean<T>>(divisor(i))); };
      if (y_step == 1) {
        for (int64_t i = 0; i < count; ++i) out[i] = mean(i);
      } else {
        for (int64_t i = 0; i < count; ++i) out[i * y_step] = mean(i);
      }
    };
  });
}

namespace {

/// The sums of a dense tensor, 0 at first: in its own memory or, of 16-bit floats, with more digits until they are
/// stored.
template <typename T>
class Sums {
 public:
  Sums(const Context& ctx, const View& y)
      : y_(y),
        wide_(ctx.Allocate<Wide<T>>(kIsHalf<T> ? y.numel : 0)),
        data_(kIsHalf<T> ? wide_.template as<Wide<T>>() : static_cast<Wide<T>*>(y.data)) {
    ParallelFor(y.numel, kGrain,
                [&](int64_t begin, int64_t end) { std::fill(data_ + begin, data_ + end, Wide<T>(0)); });
  }
  Wide<T>* data() const { return data_; }
  void Store() const {
    if constexpr (kIsHalf<T>) {
      ParallelFor(y_.numel, kGrain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y_.as<T>()[i] = static_cast<T>(data_[i]);
      });
    }
  }

 private:
  const View y_;
  const Scratch wide_;
  Wide<T>* const data_;
};

}  // namespace

template <typename T>
void AveragePoolBackward(Context& ctx, View dx, View dy, const PoolGeometry& geometry) {
  if (dx.numel == 0) return;
  const Sums<T> sums(ctx, dx);
  if (dy.numel != 0) {
    const WindowPlan plan(dy, dx, geometry);
    WalkWindows(plan, geometry, [&](int64_t lanes) {
      return [&, share = std::vector<Wide<T>>(lanes)](int64_t count, int64_t y_offset, int64_t y_step, int64_t x_base,
                                                      auto&& taps, auto&& divisor) mutable {
        for (int64_t i = 0; i < count; ++i) {
          share[i] = static_cast<Wide<T>>(dy.as<T>()[y_offset + i * y_step]) / static_cast<Wide<T>>(divisor(i));
        }
        taps([&](const Lanes& at) {
          Wide<T>* to = sums.data() + x_base + at.offset;
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
  sums.Store();
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

/// Takes the elements of x's planes to the places of y's planes that the indices name.
template <typename T>
class PlaneWriter {
 public:
  /// Each plane of x has `count` elements, each of y `size`.
  PlaneWriter(const View& y, const View& x, const View& indices, int64_t size, int64_t count, Wide<T>* sums,
              const char* who, bool add)
      : y_(y),
        x_(x),
        indices_(indices),
        size_(size),
        sums_(sums),
        who_(who),
        add_(add),
        x_places_(count),
        index_places_(count) {
    // Row-major planes need no division to find a place.
    for (int64_t axis = y.ndim - 1, expected = 0; axis >= 2; --axis) {
      if (y.shape[axis] == 1) continue;
      if (step_ == 0) step_ = expected = y.strides[axis];
      flat_ &= y.strides[axis] == expected;
      expected *= y.shape[axis];
    }
    for (int64_t i = 0; i < count; ++i) {  // once for all planes: finding them takes divisions
      x_places_[i] = PlaceOffset(x, i);
      index_places_[i] = PlaceOffset(indices, i);
    }
    side_by_side_ = x.strides[1] == 1 && indices.strides[1] == 1 && y.strides[1] == 1 && flat_ && add;
  }

  /// Take the i-th elements of picture n's planes from channel c on.
  void Write(int64_t n, int64_t c, int64_t c_end, int64_t i) const {
    if (side_by_side_ && AddChannels(n, c, c_end, i)) return;
    for (; c < c_end; ++c) WriteOne(n, c, i);
  }

 private:
  /// All channels at once; false, and nothing done, where one of their indices is no place.
  bool AddChannels(int64_t n, int64_t c, int64_t c_end, int64_t i) const {
    const int64_t* at = indices_.as<const int64_t>() + n * indices_.strides[0] + index_places_[i];
    uint64_t most = 0;
    for (int64_t channel = c; channel < c_end; ++channel) most = std::max(most, static_cast<uint64_t>(at[channel]));
    if (DRAGON_UNLIKELY(most >= static_cast<uint64_t>(size_))) return false;
    const T* from = x_.as<const T>() + n * x_.strides[0] + x_places_[i];
    Wide<T>* to = sums_ + n * y_.strides[0];
    for (int64_t channel = c; channel < c_end; ++channel) {
      to[at[channel] * step_ + channel] += static_cast<Wide<T>>(from[channel]);
    }
    return true;
  }

  void WriteOne(int64_t n, int64_t c, int64_t i) const {
    const int64_t* indices = indices_.as<const int64_t>() + n * indices_.strides[0] + c * indices_.strides[1];
    const int64_t at = indices[index_places_[i]];
    if (at == -1 && add_) return;  // the window saw no element at all
    if (at < 0 || at >= size_) throw IndexError(who_).Got("index ", at).Expected("0 to ", size_ - 1, " for a plane");
    Wide<T>& to = sums_[n * y_.strides[0] + c * y_.strides[1] + (flat_ ? at * step_ : PlaceOffset(y_, at))];
    const Wide<T> value = static_cast<Wide<T>>(x_.as<T>()[n * x_.strides[0] + c * x_.strides[1] + x_places_[i]]);
    to = add_ ? static_cast<Wide<T>>(to + value) : value;
  }

  const View &y_, &x_, &indices_;
  const int64_t size_;
  Wide<T>* const sums_;
  const char* const who_;
  const bool add_;
  bool flat_ = true, side_by_side_;
  int64_t step_ = 0;
  std::vector<int64_t> x_places_, index_places_;
};

}  // namespace

template <typename T>
void PlaceInPlanes(Context& ctx, View y, View x, View indices, const char* who, bool add) {
  const int64_t channels = y.shape[1], planes = y.shape[0] * channels;
  if (y.numel == 0 && x.numel == 0) return;
  const int64_t size = planes ? y.numel / planes : 0, count = planes ? x.numel / planes : 0;
  const Sums<T> sums(ctx, y);
  const PlaneWriter<T> writer(y, x, indices, size, count, sums.data(), who, add);
  const int64_t block = x.strides[1] == 1 ? std::min(kChannelBlock, channels) : 1,
                blocks = (channels + block - 1) / block;
  ParallelFor(y.shape[0] * blocks, std::max<int64_t>(1, kGrain / 4 / std::max<int64_t>(1, count * block)),
              [&](int64_t begin, int64_t end) {
                for (int64_t piece = begin; piece < end; ++piece) {
                  const int64_t n = piece / blocks, c = piece % blocks * block;
                  for (int64_t i = 0; i < count; ++i) writer.Write(n, c, std::min(c + block, channels), i);
                }
              });
  sums.Store();
}

DRAGON_KERNEL(MaxPool, Real);
DRAGON_KERNEL(AveragePool, Real);
DRAGON_KERNEL(AveragePoolBackward, Floating);
DRAGON_KERNEL(PlaceInPlanes, Real);

}  // namespace dragon::DRAGON_DEVICE
