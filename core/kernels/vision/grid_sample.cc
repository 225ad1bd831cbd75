// Reading images and volumes at arbitrary points. Every mode is a few weighted neighbours per point; the gradient of
// the points needs the weights' slopes as well, and nothing else.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device/parallel.h"
#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kMaxTaps = 16;
/// Points whose neighbours are found together, then used for every channel.
constexpr int64_t kTile = 64;

/// Sizes of the image from the first grid coordinate (x, the last axis) on, and how coordinates are read.
struct Space {
  int axes;
  int64_t sizes[3], steps[3];
  GridMode mode;
  GridPadding padding;
  bool align_corners;

  Space(const View& x, GridMode the_mode, GridPadding the_padding, bool align)
      : axes(x.ndim - 2), mode(the_mode), padding(the_padding), align_corners(align) {
    int64_t step = 1;
    for (int i = 0; i < axes; ++i) {
      sizes[i] = x.dim(-1 - i);
      steps[i] = step;
      step *= sizes[i];
    }
    if (step > std::numeric_limits<int32_t>::max()) {
      throw ValueError("grid_sample").Got("an image of ", step, " elements").Expected("fewer than 2**31");
    }
  }
  int64_t numel() const { return sizes[0] * sizes[1] * (axes == 3 ? sizes[2] : 1); }
  int taps_per_axis() const { return mode == GridMode::kNearest ? 1 : mode == GridMode::kLinear ? 2 : 4; }
};

/// A position along one axis, and how it moves with the grid's coordinate.
template <typename W>
struct Position {
  W at, slope;
};

/// Mirror at both ends of [low, high] (given doubled, as ends may lie between elements), as often as it takes.
template <typename W>
Position<W> Reflect(W at, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return {W(0), W(0)};
  const W low = static_cast<W>(twice_low) / 2, span = static_cast<W>(twice_high - twice_low) / 2;
  at -= low;
  const W sign = at < 0 ? W(-1) : W(1);
  at = std::fabs(at);
  const W rest = std::fmod(at, span);
  const bool odd = std::fmod(std::floor(at / span), W(2)) != 0;
  return odd ? Position<W>{span - rest + low, -sign} : Position<W>{rest + low, sign};
}

/// Clamp to [0, size - 1]; a clamped position does not move. A NaN lands on an edge, as every comparison fails.
template <typename W>
Position<W> Clamp(W at, int64_t size) {
  const W high = static_cast<W>(size - 1);
  if (!(at > 0)) return {W(0), W(0)};
  return at < high ? Position<W>{at, W(1)} : Position<W>{high, W(0)};
}

template <typename W>
Position<W> Pad(const Space& space, int axis, W at) {
  const int64_t size = space.sizes[axis];
  if (space.padding == GridPadding::kZeros) return {at, W(1)};
  if (space.padding == GridPadding::kBorder) return Clamp(at, size);
  const auto mirrored =
      space.align_corners ? Reflect(at, int64_t{0}, 2 * (size - 1)) : Reflect(at, int64_t{-1}, 2 * size - 1);
  const auto clamped = Clamp(mirrored.at, size);
  return {clamped.at, clamped.slope * mirrored.slope};
}

/// From [-1, 1] to elements.
template <typename W>
Position<W> Unnormalize(const Space& space, int axis, W coordinate) {
  const W size = static_cast<W>(space.sizes[axis]);
  if (space.align_corners) return {(coordinate + 1) / 2 * (size - 1), (size - 1) / 2};
  return {((coordinate + 1) * size - 1) / 2, size / 2};
}

/// The element at a position, or -1 when there is none (outside, NaN).
template <typename W>
int64_t ElementAt(W at, int64_t size) {
  return at >= 0 && at < static_cast<W>(size) ? static_cast<int64_t>(at) : -1;
}

/// The neighbours along one axis: elements (-1 outside), weights, and the weights' slopes by the grid's coordinate.
template <typename W>
struct AxisTaps {
  int64_t element[4];
  W weight[4], slope[4];
};

/// Keys' cubic kernel with a = -0.75 at distance x, and its derivative.
template <typename W>
Position<W> Cubic(W x) {
  constexpr W a = -0.75;
  const W sign = x < 0 ? W(-1) : W(1);
  x = std::fabs(x);
  if (x <= 1) return {((a + 2) * x - (a + 3)) * x * x + 1, sign * (3 * (a + 2) * x - 2 * (a + 3)) * x};
  return {((a * x - 5 * a) * x + 8 * a) * x - 4 * a, sign * ((3 * a * x - 10 * a) * x + 8 * a)};
}

template <typename W>
AxisTaps<W> FindTaps(const Space& space, int axis, W coordinate) {
  AxisTaps<W> taps{};
  const int64_t size = space.sizes[axis];
  const auto raw = Unnormalize(space, axis, coordinate);
  if (space.mode == GridMode::kCubic) {  // each neighbour is padded for itself
    const W floor = std::floor(raw.at);
    for (int k = 0; k < 4; ++k) {
      const auto cubic = Cubic(raw.at - floor - static_cast<W>(k - 1));
      taps.element[k] = ElementAt(Pad(space, axis, floor + static_cast<W>(k - 1)).at, size);
      taps.weight[k] = cubic.at;
      taps.slope[k] = cubic.slope * raw.slope;
    }
    return taps;
  }
  const auto padded = Pad(space, axis, raw.at);
  if (space.mode == GridMode::kNearest) {
    taps.element[0] = ElementAt(std::nearbyint(padded.at), size);
    taps.weight[0] = 1;
    return taps;
  }
  const W floor = std::floor(padded.at), fraction = padded.at - floor, slope = raw.slope * padded.slope;
  taps.element[0] = ElementAt(floor, size), taps.element[1] = ElementAt(floor + 1, size);
  taps.weight[0] = 1 - fraction, taps.weight[1] = fraction;
  taps.slope[0] = -slope, taps.slope[1] = slope;
  return taps;
}

/// The neighbours of up to kTile points, neighbour by neighbour.
template <typename W>
struct Tile {
  int64_t count = 0;
  int taps = 0;
  int32_t offset[kMaxTaps][kTile];  ///< 32 bits: twice as many fit a vector that gathers
  W weight[kMaxTaps][kTile];
  W slope[3][kMaxTaps][kTile];

  /// A point that is not finite reads NaN where zeros lie outside (`poison`), and gives its gradient to nobody.
  template <typename T>
  void Find(const Space& space, const T* grid, int64_t points, bool poison) {
    count = points;
    poison = poison && space.padding == GridPadding::kZeros && space.mode != GridMode::kNearest;
    const int per_axis = space.taps_per_axis(), deep = space.axes == 3 ? per_axis : 1;
    taps = per_axis * per_axis * deep;
    for (int64_t p = 0; p < points; ++p) {
      AxisTaps<W> axes[3];
      axes[2].element[0] = 0, axes[2].weight[0] = 1;
      for (int i = 0; i < space.axes; ++i) {
        axes[i] = FindTaps(space, i, static_cast<W>(grid[p * space.axes + i]));
      }
      for (int tap = 0; tap < taps; ++tap) {
        const int k[3] = {tap % per_axis, tap / per_axis % per_axis, tap / (per_axis * per_axis)};
        SetTap(space, axes, k, tap, p);
      }
      if (poison) Poison(space, grid + p * space.axes, p);
    }
  }

 private:
  template <typename T>
  void Poison(const Space& space, const T* point, int64_t p) {
    for (int i = 0; i < space.axes; ++i) {
      if (!std::isfinite(static_cast<W>(point[i])))
        offset[0][p] = 0, weight[0][p] = std::numeric_limits<W>::quiet_NaN();
    }
  }
  /// A neighbour outside the image gets weight 0 and the address -1.
  void SetTap(const Space& space, const AxisTaps<W>* axes, const int* k, int tap, int64_t p) {
    int64_t at = 0;
    bool inside = true;
    W product = 1;
    for (int i = 0; i < space.axes; ++i) {
      inside &= axes[i].element[k[i]] >= 0;
      at += axes[i].element[k[i]] * space.steps[i];
      product *= axes[i].weight[k[i]];
    }
    offset[tap][p] = inside ? static_cast<int32_t>(at) : -1;
    weight[tap][p] = inside ? product : W(0);
    for (int i = 0; i < space.axes; ++i) {
      W moved = axes[i].slope[k[i]];
      for (int j = 0; j < space.axes; ++j) moved *= j == i ? W(1) : axes[j].weight[k[j]];
      slope[i][tap][p] = inside ? moved : W(0);
    }
  }
};

/// The numbers of points per image, of channels, and of elements per channel.
struct Extents {
  int64_t points, channels, numel;
  Extents(const View& x, const View& grid, const Space& space)
      : points(grid.shape[0] ? grid.numel / grid.shape[0] / space.axes : 0),
        channels(x.shape[1]),
        numel(space.numel()) {}
  int64_t tiles() const { return (points + kTile - 1) / kTile; }
};

}  // namespace

template <typename T>
void GridSample(Context&, View y, View x, View grid, GridMode mode, GridPadding padding, bool align_corners) {
  using W = Wide<T>;
  if (y.numel == 0) return;
  const Space space(x, mode, padding, align_corners);
  const Extents extents(x, grid, space);
  const int64_t tiles = extents.tiles(), cost = kTile * (20 + 4 * extents.channels);
  ParallelFor(x.shape[0] * tiles, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    Tile<W> tile;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / tiles, first = i % tiles * kTile, count = std::min(kTile, extents.points - first);
      tile.Find(space, grid.as<T>() + (image * extents.points + first) * space.axes, count, /*poison=*/true);
      for (int64_t channel = 0; channel < extents.channels; ++channel) {
        const T* from = x.as<T>() + (image * extents.channels + channel) * extents.numel;
        T* to = y.as<T>() + (image * extents.channels + channel) * extents.points + first;
        W sum[kTile] = {};
        for (int tap = 0; tap < tile.taps; ++tap) {
          const int32_t* offset = tile.offset[tap];
          const W* weight = tile.weight[tap];
          // What lies outside is read at element 0 and dropped: a branch would keep vectors from gathering.
#pragma omp simd
          for (int64_t p = 0; p < count; ++p) {
            const int32_t at = offset[p];
            const W value = static_cast<W>(from[at < 0 ? 0 : at]) * weight[p];
            sum[p] += at < 0 ? W(0) : value;
          }
        }
        for (int64_t p = 0; p < count; ++p) to[p] = static_cast<T>(sum[p]);
      }
    }
  });
}
DRAGON_KERNEL(GridSample, Floating);

namespace {

/// Add dy back into the image: threads take channels, so that no two write to one place.
template <typename T>
void ScatterToImage(Context& ctx, View dx, View dy, View grid, const Space& space, const Extents& extents) {
  using W = Wide<T>;
  const int64_t planes = dx.shape[0] * extents.channels;
  ParallelFor(planes, std::max<int64_t>(1, kGrain / (extents.points * 8 + 1)), [&](int64_t begin, int64_t end) {
    Tile<W> tile;
    auto sums = ctx.Allocate<W>((end - begin) * extents.numel);
    W* image = sums.template as<W>();
    std::fill_n(image, (end - begin) * extents.numel, W(0));
    for (int64_t n = begin / extents.channels; n * extents.channels < end; ++n) {
      const int64_t from = std::max(begin, n * extents.channels), to = std::min(end, (n + 1) * extents.channels);
      for (int64_t first = 0; first < extents.points; first += kTile) {
        const int64_t count = std::min(kTile, extents.points - first);
        tile.Find(space, grid.as<T>() + (n * extents.points + first) * space.axes, count, /*poison=*/false);
        for (int64_t plane = from; plane < to; ++plane) {
          const T* slope = dy.as<T>() + plane * extents.points + first;
          W* target = image + (plane - begin) * extents.numel;
          for (int tap = 0; tap < tile.taps; ++tap) {
            for (int64_t p = 0; p < count; ++p) {
              const int64_t at = tile.offset[tap][p];
              if (at >= 0) target[at] += tile.weight[tap][p] * static_cast<W>(slope[p]);
            }
          }
        }
      }
    }
    T* out = dx.as<T>() + begin * extents.numel;
    for (int64_t i = 0; i < (end - begin) * extents.numel; ++i) out[i] = static_cast<T>(image[i]);
  });
}

}  // namespace

template <typename T>
void GridSampleBackward(Context& ctx, View dx, View dgrid, View dy, View x, View grid, GridMode mode,
                        GridPadding padding, bool align_corners) {
  using W = Wide<T>;
  const Space space(x, mode, padding, align_corners);
  const Extents extents(x, grid, space);
  if (dx && dx.numel > 0) ScatterToImage<T>(ctx, dx, dy, grid, space, extents);
  if (!dgrid || dgrid.numel == 0) return;
  const int64_t tiles = extents.tiles(), cost = kTile * (20 + 8 * extents.channels);
  ParallelFor(x.shape[0] * tiles, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    Tile<W> tile;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / tiles, first = i % tiles * kTile, count = std::min(kTile, extents.points - first);
      const int64_t start = (image * extents.points + first) * space.axes;
      tile.Find(space, grid.as<T>() + start, count, /*poison=*/false);
      W sum[3][kTile] = {};
      for (int64_t channel = 0; channel < extents.channels; ++channel) {
        const int64_t plane = image * extents.channels + channel;
        const T *from = x.as<T>() + plane * extents.numel, *slope = dy.as<T>() + plane * extents.points + first;
        for (int tap = 0; tap < tile.taps; ++tap) {
          for (int64_t p = 0; p < count; ++p) {
            const int64_t at = tile.offset[tap][p];
            if (at < 0) continue;
            const W product = static_cast<W>(from[at]) * static_cast<W>(slope[p]);
            for (int axis = 0; axis < space.axes; ++axis) sum[axis][p] += tile.slope[axis][tap][p] * product;
          }
        }
      }
      for (int64_t p = 0; p < count; ++p) {
        for (int axis = 0; axis < space.axes; ++axis) {
          dgrid.as<T>()[start + p * space.axes + axis] = static_cast<T>(sum[axis][p]);
        }
      }
    }
  });
}
DRAGON_KERNEL(GridSampleBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
