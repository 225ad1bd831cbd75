// Reading images and volumes at arbitrary points. Every mode is a few weighted neighbours per point; the gradient of
// the points needs the weights' slopes as well, and nothing else.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/device/parallel.h"
#include "core/kernels/vision/grid_points.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace grid;

constexpr int kMaxTaps = 16;
/// Points whose neighbours are found together, then used for every channel.
constexpr int64_t kTile = 64;

/// The neighbours of points along one axis: elements (-1 outside), weights, and the weights' slopes by the grid's
/// coordinate. Loops run over points, so that a vector holds many.
template <typename W>
struct AxisTaps {
  int32_t element[4][kTile];
  W weight[4][kTile], slope[4][kTile];

  template <GridPadding padding, bool align_corners>
  void FindBy(const Space& space, int axis, const W* coordinate, int64_t count) {
    const W size = static_cast<W>(space.sizes[axis]);
    const Reading<W, padding, align_corners> reading{size};
    if (space.mode == GridMode::kLinear) {
      W at[kTile], moves[kTile];
#pragma omp simd
      for (int64_t p = 0; p < count; ++p) {
        const auto raw = reading.Unnormalize(coordinate[p]);
        const auto padded = reading.Pad(raw.at);
        at[p] = padded.at, moves[p] = raw.slope * padded.slope;
      }
#pragma omp simd
      for (int64_t p = 0; p < count; ++p) {
        const W floor = std::floor(at[p]), fraction = at[p] - floor;
        element[0][p] = ElementAt(floor, size), element[1][p] = ElementAt(floor + 1, size);
        weight[0][p] = 1 - fraction, weight[1][p] = fraction;
        slope[0][p] = -moves[p], slope[1][p] = moves[p];
      }
    } else if (space.mode == GridMode::kNearest) {
#pragma omp simd
      for (int64_t p = 0; p < count; ++p) {
        const W at = reading.Pad(reading.Unnormalize(coordinate[p]).at).at;
        element[0][p] = ElementAt(std::nearbyint(at), size);
        weight[0][p] = 1, slope[0][p] = 0;
      }
    } else {  // each neighbour is padded for itself
      for (int k = 0; k < 4; ++k) {
#pragma omp simd
        for (int64_t p = 0; p < count; ++p) {
          const auto raw = reading.Unnormalize(coordinate[p]);
          const W floor = std::floor(raw.at), step = static_cast<W>(k - 1);
          const auto cubic = Cubic(raw.at - floor - step);
          element[k][p] = ElementAt(reading.Pad(floor + step).at, size);
          weight[k][p] = cubic.at, slope[k][p] = cubic.slope * raw.slope;
        }
      }
    }
  }
  template <bool align_corners>
  void FindPadded(const Space& space, int axis, const W* coordinate, int64_t count) {
    switch (space.padding) {
      case GridPadding::kZeros:
        return FindBy<GridPadding::kZeros, align_corners>(space, axis, coordinate, count);
      case GridPadding::kBorder:
        return FindBy<GridPadding::kBorder, align_corners>(space, axis, coordinate, count);
      case GridPadding::kReflection:
        return FindBy<GridPadding::kReflection, align_corners>(space, axis, coordinate, count);
    }
  }
  void Find(const Space& space, int axis, const W* coordinate, int64_t count) {
    space.align_corners ? FindPadded<true>(space, axis, coordinate, count)
                        : FindPadded<false>(space, axis, coordinate, count);
  }
};

/// The neighbours of up to kTile points, neighbour by neighbour. One outside the image has weight 0 and the address -1.
template <typename W>
struct Tile {
  int64_t count = 0;
  int taps = 0;
  int32_t offset[kMaxTaps][kTile];  ///< 32 bits: twice as many fit a vector that gathers
  W weight[kMaxTaps][kTile];
  W slope[3][kMaxTaps][kTile];

  /// A point that is not finite reads NaN where zeros lie outside (`poison`), and gives its gradient to nobody.
  template <typename T>
  void Find(const Space& space, const T* grid, int64_t points, bool poison, bool slopes) {
    for (int i = 0; i < space.axes; ++i) {
      for (int64_t p = 0; p < points; ++p) coordinate_[i][p] = static_cast<W>(grid[p * space.axes + i]);
    }
    FindWide(space, points, poison, slopes);
  }

 private:
  /// Once for all who call: ten modes and paddings of three axes are most of what this file compiles to.
  __attribute__((noinline)) void FindWide(const Space& space, int64_t points, bool poison, bool slopes) {
    count = points;
    const int per_axis = space.taps_per_axis(), deep = space.axes == 3 ? per_axis : 1;
    taps = per_axis * per_axis * deep;
    for (int i = 0; i < space.axes; ++i) axes_[i].Find(space, i, coordinate_[i], points);
    for (int tap = 0; tap < taps; ++tap) {
      const int k[3] = {tap % per_axis, tap / per_axis % per_axis, tap / (per_axis * per_axis)};
      space.axes == 3 ? SetTap<3>(space, k, tap, slopes) : SetTap<2>(space, k, tap, slopes);
    }
    if (poison && space.padding == GridPadding::kZeros && space.mode != GridMode::kNearest) Poison(space);
  }
  void Poison(const Space& space) {
    for (int i = 0; i < space.axes; ++i) {
      for (int64_t p = 0; p < count; ++p) {
        if (!std::isfinite(coordinate_[i][p])) offset[0][p] = 0, weight[0][p] = std::numeric_limits<W>::quiet_NaN();
      }
    }
  }
  template <int axes>
  void SetTap(const Space& space, const int* k, int tap, bool slopes) {
    const int third = axes == 3 ? 2 : 0;
    const int32_t *x = axes_[0].element[k[0]], *y = axes_[1].element[k[1]], *z = axes_[third].element[k[third]];
    const W *across = axes_[0].weight[k[0]], *down = axes_[1].weight[k[1]], *deep = axes_[third].weight[k[third]];
    const auto row = static_cast<int32_t>(space.steps[1]), plane = static_cast<int32_t>(space.steps[third]);
    int32_t* to = offset[tap];
    W* product = weight[tap];
#pragma omp simd
    for (int64_t p = 0; p < count; ++p) {
      const int32_t outside = (x[p] | y[p] | z[p]) >> 31;  // -1 or 0
      to[p] = (x[p] + y[p] * row + (axes == 3 ? z[p] * plane : 0)) | outside;
      const W weighs = across[p] * down[p] * (axes == 3 ? deep[p] : W(1));
      product[p] = outside == 0 ? weighs : W(0);
    }
    for (int i = 0; slopes && i < axes; ++i) {
      const int j = (i + 1) % axes, l = (i + 2) % axes;
      const W *steep = axes_[i].slope[k[i]], *one = axes_[j].weight[k[j]], *other = axes_[l].weight[k[l]];
      W* moved = slope[i][tap];
#pragma omp simd
      for (int64_t p = 0; p < count; ++p) {
        const W moves = steep[p] * one[p] * (axes == 3 ? other[p] : W(1));
        moved[p] = to[p] >= 0 ? moves : W(0);
      }
    }
  }

  W coordinate_[3][kTile];
  AxisTaps<W> axes_[3];
};

/// What lies at offsets; for those outside (-1) the first element. Read one by one: vectors that are put together from
/// scattered elements take longer.
template <typename T, typename W>
__attribute__((noinline, optimize("no-tree-vectorize", "no-tree-slp-vectorize"))) void Collect(const T* from,
                                                                                               const int32_t* offset,
                                                                                               int64_t count,
                                                                                               W* value) {
#pragma GCC unroll 8
  for (int64_t p = 0; p < count; ++p) value[p] = static_cast<W>(from[offset[p] < 0 ? 0 : offset[p]]);
}

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
      tile.Find(space, grid.as<T>() + (image * extents.points + first) * space.axes, count, /*poison=*/true,
                /*slopes=*/false);
      for (int64_t channel = 0; channel < extents.channels; ++channel) {
        const T* from = x.as<T>() + (image * extents.channels + channel) * extents.numel;
        T* to = y.as<T>() + (image * extents.channels + channel) * extents.points + first;
        W sum[kTile] = {}, value[kTile];
        for (int tap = 0; tap < tile.taps; ++tap) {
          const int32_t* offset = tile.offset[tap];
          const W* weight = tile.weight[tap];
          Collect(from, offset, count, value);
          // What lies outside is dropped: a weight of 0 would not do for what is not finite.
#pragma omp simd
          for (int64_t p = 0; p < count; ++p) sum[p] += offset[p] < 0 ? W(0) : value[p] * weight[p];
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
        tile.Find(space, grid.as<T>() + (n * extents.points + first) * space.axes, count, /*poison=*/false,
                  /*slopes=*/false);
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
      tile.Find(space, grid.as<T>() + start, count, /*poison=*/false, /*slopes=*/true);
      W sum[3][kTile] = {};
      for (int64_t channel = 0; channel < extents.channels; ++channel) {
        const int64_t plane = image * extents.channels + channel;
        const T *from = x.as<T>() + plane * extents.numel, *slope = dy.as<T>() + plane * extents.points + first;
        for (int tap = 0; tap < tile.taps; ++tap) {
          const int32_t* offset = tile.offset[tap];
          W product[kTile];
          Collect(from, offset, count, product);
#pragma omp simd
          for (int64_t p = 0; p < count; ++p) {
            product[p] = offset[p] < 0 ? W(0) : product[p] * static_cast<W>(slope[p]);
          }
          for (int axis = 0; axis < space.axes; ++axis) {
            const W* moved = tile.slope[axis][tap];
#pragma omp simd
            for (int64_t p = 0; p < count; ++p) sum[axis][p] += moved[p] * product[p];
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
