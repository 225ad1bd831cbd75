// Blurring by weights across and weights down. A block blurs the rows of a tile, and those around it, across into
// shared memory and these down: what is read and written of the device's memory is x and y once each. Where the weights
// reach too far for that, all rows are blurred across in one launch and down in another.
#include <cmath>
#include <type_traits>

#include "core/device/cuda/launch.h"
#include "core/device/cuda/upload.h"
#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kWide = 64, kHigh = 16;        ///< of a tile
constexpr size_t kRoom = size_t{96} * 1024;  ///< of shared memory, so that a multiprocessor has two blocks

template <typename T>
using BlurSum = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <typename T, typename W>
__device__ __forceinline__ T BlurEnd(W sum) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return static_cast<uint8_t>(min(max(std::nearbyint(sum), W(0)), W(255)));
  } else {
    return static_cast<T>(sum);
  }
}

/// Place i of an axis whose ends are mirrors; beyond a reach of the whole axis, as far as nothing is read outside.
__device__ __forceinline__ int64_t Mirrored(int64_t i, int64_t size) {
  if (i < 0) i = -i;
  if (i >= size) i = 2 * (size - 1) - i;
  return min(max(i, int64_t{0}), size - 1);
}

/// Images seen as (planes, height, width, inner), where `inner` are channels that come last, or 1. The weights reach so
/// many pixels to each side.
struct Blurs {
  int64_t planes, height, width, inner;
  int across, down;

  Blurs(const View& x, size_t across_count, size_t down_count)
      : across(static_cast<int>(across_count / 2)), down(static_cast<int>(down_count / 2)) {
    const bool planar = x.is_contiguous();
    planes = x.shape[0] * (planar ? x.shape[1] : 1), inner = planar ? 1 : x.shape[1];
    height = x.shape[2], width = x.shape[3];
  }
  DRAGON_FN int64_t length() const { return width * inner; }
  /// Numbers of a row that a tile reads, and rows.
  DRAGON_FN int64_t read_wide() const { return kWide + 2 * across * inner; }
  DRAGON_FN int64_t read_high() const { return kHigh + 2 * down; }
  /// Element j of a row that may begin before the first pixel and end behind the last.
  __device__ __forceinline__ int64_t Element(int64_t j) const {
    if (inner == 1) return Mirrored(j, width);
    const int64_t shifted = j + across * inner, pixel = shifted / inner - across;
    return Mirrored(pixel, width) * inner + (shifted - (pixel + across) * inner);
  }
};

/// `weights` are those across, then those down.
template <typename T, typename W>
__global__ void BlurTileKernel(T* __restrict__ y, const T* __restrict__ x, const __grid_constant__ Blurs blurs,
                               const W* __restrict__ weights) {
  W* const given = static_cast<W*>(cuda::DynamicShared());  // a tile of x with what lies around it
  const int64_t wide = blurs.read_wide(), high = blurs.read_high(), length = blurs.length();
  W* const middle = given + wide * high;  // blurred across
  W* const across = middle + kWide * high;
  const int thread = threadIdx.x, threads = blockDim.x, across_count = 2 * blurs.across + 1;
  const int down_count = 2 * blurs.down + 1;
  W* const down = across + across_count;
  for (int i = thread; i < across_count + down_count; i += threads) across[i] = weights[i];
  const int64_t tiles_wide = (length + kWide - 1) / kWide, tiles = tiles_wide * ((blurs.height + kHigh - 1) / kHigh);
  for (int64_t t = blockIdx.x; t < tiles * blurs.planes; t += gridDim.x) {
    const int64_t plane = t / tiles, tile = t - plane * tiles;
    const int64_t top = tile / tiles_wide * kHigh, left = tile % tiles_wide * kWide;
    const T* from = x + plane * blurs.height * length;
    __syncthreads();
    for (int i = thread; i < wide * high; i += threads) {
      const int row = i / static_cast<int>(wide), j = i - row * static_cast<int>(wide);
      // Elements that only results outside of the picture would ask for are not looked for.
      const int64_t at = min(left + j - blurs.across * blurs.inner, length - 1 + blurs.across * blurs.inner);
      const int64_t line = min(top + row - blurs.down, blurs.height - 1 + blurs.down);
      given[i] = static_cast<W>(from[Mirrored(line, blurs.height) * length + blurs.Element(at)]);
    }
    __syncthreads();
    for (int i = thread; i < kWide * high; i += threads) {
      const W* own = given + i / kWide * wide + i % kWide;
      W sum = 0;
      for (int k = 0; k < across_count; ++k, own += blurs.inner) sum += *own * across[k];
      middle[i] = sum;
    }
    __syncthreads();
    for (int i = thread; i < kWide * kHigh; i += threads) {
      const int64_t row = top + i / kWide, j = left + i % kWide;
      if (row >= blurs.height || j >= length) continue;
      W sum = 0;
      for (int k = 0; k < down_count; ++k) sum += middle[i + k * kWide] * down[k];
      y[(plane * blurs.height + row) * length + j] = BlurEnd<T>(sum);
    }
  }
}

template <typename T, typename W>
__global__ void BlurAcrossKernel(W* __restrict__ y, const T* __restrict__ x, const __grid_constant__ Blurs blurs,
                                 const W* __restrict__ weights) {
  const int64_t length = blurs.length(), numel = blurs.planes * blurs.height * length;
  for (int64_t i = cuda::FirstOfThread(); i < numel; i += cuda::StepOfThreads()) {
    const int64_t row = i / length, j = i - row * length;
    W sum = 0;
    for (int k = 0; k <= 2 * blurs.across; ++k) {
      sum += static_cast<W>(x[row * length + blurs.Element(j + (k - blurs.across) * blurs.inner)]) * weights[k];
    }
    y[i] = sum;
  }
}

template <typename T, typename W>
__global__ void BlurDownKernel(T* __restrict__ y, const W* __restrict__ x, const __grid_constant__ Blurs blurs,
                               const W* __restrict__ weights) {
  const int64_t length = blurs.length(), numel = blurs.planes * blurs.height * length;
  for (int64_t i = cuda::FirstOfThread(); i < numel; i += cuda::StepOfThreads()) {
    const int64_t line = i / length, j = i - line * length, plane = line / blurs.height, row = line % blurs.height;
    W sum = 0;
    for (int k = 0; k <= 2 * blurs.down; ++k) {
      sum += x[(plane * blurs.height + Mirrored(row + k - blurs.down, blurs.height)) * length + j] * weights[k];
    }
    y[i] = BlurEnd<T>(sum);
  }
}

}  // namespace

template <typename T>
void Blur(Context& ctx, View y, View x, const std::vector<double>& across, const std::vector<double>& down) {
  using W = BlurSum<T>;
  if (x.numel == 0) return;
  const Blurs blurs(x, across.size(), down.size());
  std::vector<W> numbers(across.begin(), across.end());
  numbers.insert(numbers.end(), down.begin(), down.end());
  const auto table = cuda::Upload(ctx, numbers);
  const W* weights = table.template as<const W>();
  const size_t room = ((blurs.read_wide() + kWide) * blurs.read_high() + numbers.size()) * sizeof(W);
  if (room <= kRoom) {
    const int64_t tiles = (blurs.length() + kWide - 1) / kWide * ((blurs.height + kHigh - 1) / kHigh) * blurs.planes;
    cuda::Grid grid{dim3(static_cast<unsigned>(std::min<int64_t>(tiles, 1 << 20))), dim3(cuda::kThreads), room};
    cuda::Launch("blur", ctx, &BlurTileKernel<T, W>, grid, y.as<T>(), x.as<const T>(), blurs, weights);
    return;
  }
  auto middle = ctx.Allocate<W>(x.numel);
  W* const blurred = middle.template as<W>();
  cuda::Launch("blur", ctx, &BlurAcrossKernel<T, W>, cuda::GridFor(x.numel), blurred, x.as<const T>(), blurs, weights);
  cuda::Launch("blur", ctx, &BlurDownKernel<T, W>, cuda::GridFor(x.numel), y.as<T>(), static_cast<const W*>(blurred),
               blurs, weights + across.size());
}
using BlurTypes = TypeList<uint8_t, float16, bfloat16, float, double>;
DRAGON_KERNEL(Blur, DRAGON_DEVICE::BlurTypes);

}  // namespace dragon::DRAGON_DEVICE
