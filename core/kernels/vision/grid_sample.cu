// Reading images and volumes at arbitrary points: a thread for every point finds its neighbours along each axis once,
// and uses them for all channels of its share. The gradient of the image is added up by atomics: which points meet at
// an element only the points know, so sums may differ in the last bit between runs.
#include "core/device/cuda/launch.h"
#include "core/kernels/vision/grid_points.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace grid;

constexpr int TapsPerAxis(GridMode mode) { return mode == GridMode::kNearest ? 1 : mode == GridMode::kLinear ? 2 : 4; }

/// Reading whose padding is known at run time: all threads branch alike, and there is a sixth of the code.
template <typename W>
struct DeviceReading {
  W size;
  GridPadding padding;
  bool align_corners;

  __device__ __forceinline__ Moving<W> Unnormalize(W coordinate) const {
    return align_corners ? Reading<W, GridPadding::kZeros, true>{size}.Unnormalize(coordinate)
                         : Reading<W, GridPadding::kZeros, false>{size}.Unnormalize(coordinate);
  }
  __device__ __forceinline__ Moving<W> Pad(W at) const {
    if (padding == GridPadding::kZeros) return {at, W(1)};
    if (padding == GridPadding::kBorder) return Clamp(at, size - 1);
    const auto mirrored = Reflect(at, align_corners ? W(0) : W(-0.5), align_corners ? size - 1 : size);
    const auto clamped = Clamp(mirrored.at, size - 1);
    return {clamped.at, clamped.slope * mirrored.slope};
  }
};

/// The neighbours of a point along one axis: elements (-1 outside), weights, and their slopes by the coordinate.
template <typename W, GridMode mode>
struct AxisNeighbours {
  static constexpr int kTaps = TapsPerAxis(mode);
  int32_t element[kTaps];
  W weight[kTaps], slope[kTaps];

  __device__ __forceinline__ void Find(const Space& space, int axis, W coordinate) {
    const W size = static_cast<W>(space.sizes[axis]);
    const DeviceReading<W> reading{size, space.padding, space.align_corners};
    const auto raw = reading.Unnormalize(coordinate);
    if constexpr (mode == GridMode::kLinear) {
      const auto padded = reading.Pad(raw.at);
      const W low = std::floor(padded.at), fraction = padded.at - low, moves = raw.slope * padded.slope;
      element[0] = ElementAt(low, size), element[1] = ElementAt(low + 1, size);
      weight[0] = 1 - fraction, weight[1] = fraction;
      slope[0] = -moves, slope[1] = moves;
    } else if constexpr (mode == GridMode::kNearest) {
      element[0] = ElementAt(std::nearbyint(reading.Pad(raw.at).at), size);
      weight[0] = 1, slope[0] = 0;
    } else {  // each neighbour is padded for itself
      const W low = std::floor(raw.at);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const W step = static_cast<W>(k - 1);
        const auto cubic = Cubic(raw.at - low - step);
        element[k] = ElementAt(reading.Pad(low + step).at, size);
        weight[k] = cubic.at, slope[k] = cubic.slope * raw.slope;
      }
    }
  }
};

/// The neighbours of a point along all axes, the last axis of the image first.
template <typename W, GridMode mode, int kAxes>
struct Neighbours {
  static constexpr int kTaps = TapsPerAxis(mode);
  AxisNeighbours<W, mode> axes[kAxes];
  bool finite = true;

  template <typename T>
  __device__ __forceinline__ Neighbours(const Space& space, const T* point) {
#pragma unroll
    for (int i = 0; i < kAxes; ++i) {
      const W coordinate = static_cast<W>(point[i]);
      finite = finite && coordinate - coordinate == 0;
      axes[i].Find(space, i, coordinate);
    }
  }
  /// body(k0, k1, k2, offset) for every neighbour within the image.
  template <typename Body>
  __device__ __forceinline__ void ForEach(const Space& space, Body body) const {
#pragma unroll
    for (int k2 = 0; k2 < (kAxes == 3 ? kTaps : 1); ++k2) {
      const int32_t plane = kAxes == 3 ? axes[kAxes - 1].element[k2] : 0;
      if (plane < 0) continue;
#pragma unroll
      for (int k1 = 0; k1 < kTaps; ++k1) {
        const int32_t row = axes[1].element[k1];
        if (row < 0) continue;
        const int32_t start = row * static_cast<int32_t>(space.steps[1]) +
                              (kAxes == 3 ? plane * static_cast<int32_t>(space.steps[kAxes - 1]) : 0);
#pragma unroll
        for (int k0 = 0; k0 < kTaps; ++k0) {
          if (axes[0].element[k0] >= 0) body(k0, k1, k2, start + axes[0].element[k0]);
        }
      }
    }
  }
  __device__ __forceinline__ W Weight(int k0, int k1, int k2) const {
    const W weight = axes[0].weight[k0] * axes[1].weight[k1];
    return kAxes == 3 ? weight * axes[kAxes - 1].weight[k2] : weight;
  }
};

/// How many points an image has, how many channels, and elements each.
struct Counts {
  int64_t images, points, channels, numel;
  Counts(const View& x, const View& grid, const Space& space)
      : images(x.shape[0]),
        points(grid.shape[0] ? grid.numel / grid.shape[0] / space.axes : 0),
        channels(x.shape[1]),
        numel(space.numel()) {}
};

template <typename T, GridMode mode, int kAxes>
__global__ void GridSampleKernel(T* __restrict__ y, const T* __restrict__ x, const T* __restrict__ grid,
                                 const __grid_constant__ Space space, const __grid_constant__ Counts counts) {
  using W = Wide<T>;
  const bool poison = space.padding == GridPadding::kZeros && mode != GridMode::kNearest;
  const int64_t all = counts.images * counts.points;
  for (int64_t i = cuda::FirstOfThread(); i < all; i += cuda::StepOfThreads()) {
    const int64_t image = i / counts.points, point = i - image * counts.points;
    const Neighbours<W, mode, kAxes> near(space, grid + i * kAxes);
    for (int64_t c = blockIdx.y; c < counts.channels; c += gridDim.y) {
      const T* from = x + (image * counts.channels + c) * counts.numel;
      // A point that is not finite reads NaN where zeros lie outside.
      W sum = poison && !near.finite ? std::numeric_limits<W>::quiet_NaN() : W(0);
      near.ForEach(space, [&](int k0, int k1, int k2, int32_t offset) {
        sum += near.Weight(k0, k1, k2) * static_cast<W>(from[offset]);
      });
      y[(image * counts.channels + c) * counts.points + point] = static_cast<T>(sum);
    }
  }
}

/// `dx` is zero and wide; either it or `dgrid` may be null.
template <typename T, GridMode mode, int kAxes>
__global__ void GridSampleBackwardKernel(Wide<T>* dx, T* dgrid, const T* __restrict__ dy, const T* __restrict__ x,
                                         const T* __restrict__ grid, const __grid_constant__ Space space,
                                         const __grid_constant__ Counts counts) {
  using W = Wide<T>;
  const int64_t all = counts.images * counts.points;
  for (int64_t i = cuda::FirstOfThread(); i < all; i += cuda::StepOfThreads()) {
    const int64_t image = i / counts.points, point = i - image * counts.points;
    const Neighbours<W, mode, kAxes> near(space, grid + i * kAxes);
    W moved[kAxes] = {};
    for (int64_t c = blockIdx.y; c < counts.channels; c += gridDim.y) {
      const int64_t plane = image * counts.channels + c;
      const W slope = static_cast<W>(dy[plane * counts.points + point]);
      near.ForEach(space, [&](int k0, int k1, int k2, int32_t offset) {
        if (dx) atomicAdd(dx + plane * counts.numel + offset, near.Weight(k0, k1, k2) * slope);
        if (!dgrid) return;
        const W product = static_cast<W>(x[plane * counts.numel + offset]) * slope;
        const auto &across = near.axes[0], &down = near.axes[1], &deep = near.axes[kAxes - 1];
        const W third = kAxes == 3 ? deep.weight[k2] : W(1);
        moved[0] += across.slope[k0] * down.weight[k1] * third * product;
        moved[1] += across.weight[k0] * down.slope[k1] * third * product;
        if constexpr (kAxes == 3) moved[2] += across.weight[k0] * down.weight[k1] * deep.slope[k2] * product;
      });
    }
    if (!dgrid) continue;
#pragma unroll
    for (int axis = 0; axis < kAxes; ++axis) dgrid[i * kAxes + axis] = static_cast<T>(moved[axis]);
  }
}

template <typename T>
__global__ void NarrowKernel(T* __restrict__ y, const Wide<T>* __restrict__ x, int64_t numel) {
  for (int64_t i = cuda::FirstOfThread(); i < numel; i += cuda::StepOfThreads()) y[i] = static_cast<T>(x[i]);
}

/// Channels are shared among so many rows of blocks that the device is full; each has a few, for whom points are found.
cuda::Grid GridOf(const Counts& counts, bool share_channels) {
  constexpr int64_t kEnough = 132 * 2048, kFewChannels = 4;
  const int64_t points = counts.images * counts.points;
  auto grid = cuda::GridFor(points);
  const int64_t most = std::min((counts.channels + kFewChannels - 1) / kFewChannels, cuda::kMostBlocks);
  if (share_channels)
    grid.blocks.y = static_cast<unsigned>(std::clamp<int64_t>(kEnough / points, 1, std::max<int64_t>(most, 1)));
  return grid;
}

/// Call `run` with the mode and the number of axes as constants; cubic is for pictures alone.
template <typename Run>
void WithMode(const Space& space, const Run& run) {
  using std::integral_constant;
  constexpr integral_constant<int, 2> kTwo;
  constexpr integral_constant<int, 3> kThree;
  constexpr integral_constant<GridMode, GridMode::kLinear> kLinear;
  constexpr integral_constant<GridMode, GridMode::kNearest> kNearest;
  if (space.mode == GridMode::kCubic) return run(integral_constant<GridMode, GridMode::kCubic>{}, kTwo);
  if (space.mode == GridMode::kLinear) return space.axes == 2 ? run(kLinear, kTwo) : run(kLinear, kThree);
  space.axes == 2 ? run(kNearest, kTwo) : run(kNearest, kThree);
}

}  // namespace

template <typename T>
void GridSample(Context& ctx, View y, View x, View grid, GridMode mode, GridPadding padding, bool align_corners) {
  if (y.numel == 0) return;
  const Space space(x, mode, padding, align_corners);
  const Counts counts(x, grid, space);
  WithMode(space, [&](auto with, auto axes) {
    cuda::Launch("grid_sample", ctx, &GridSampleKernel<T, decltype(with)::value, decltype(axes)::value>,
                 GridOf(counts, /*share_channels=*/true), y.as<T>(), x.as<const T>(), grid.as<const T>(), space,
                 counts);
  });
}
DRAGON_KERNEL(GridSample, Floating);

template <typename T>
void GridSampleBackward(Context& ctx, View dx, View dgrid, View dy, View x, View grid, GridMode mode,
                        GridPadding padding, bool align_corners) {
  using W = Wide<T>;
  const Space space(x, mode, padding, align_corners);
  const Counts counts(x, grid, space);
  const bool image = dx && dx.numel > 0, points = dgrid && dgrid.numel > 0;
  constexpr bool kNarrow = !std::is_same_v<T, W>;
  auto scratch = ctx.Allocate<W>(image && kNarrow ? dx.numel : 0);
  W* sums = !image ? nullptr : kNarrow ? scratch.template as<W>() : static_cast<W*>(dx.data);
  if (image) CheckCuda(cudaMemsetAsync(sums, 0, dx.numel * sizeof(W), cuda::StreamOf(ctx)), "grid_sample_backward");
  if ((image || points) && grid.numel > 0) {
    WithMode(space, [&](auto with, auto axes) {
      cuda::Launch("grid_sample_backward", ctx,
                   &GridSampleBackwardKernel<T, decltype(with)::value, decltype(axes)::value>,
                   GridOf(counts, /*share_channels=*/!points), sums, points ? dgrid.as<T>() : nullptr, dy.as<const T>(),
                   x.as<const T>(), grid.as<const T>(), space, counts);
    });
  }
  if (!image || !kNarrow) return;
  cuda::Launch("grid_sample_backward", ctx, &NarrowKernel<T>, cuda::GridFor(dx.numel), dx.as<T>(),
               static_cast<const W*>(sums), dx.numel);
}
DRAGON_KERNEL(GridSampleBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
