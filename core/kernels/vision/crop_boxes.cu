// Boxes of images read in one size: a thread for every number of the result. Boxes whose image there is not read what
// lies outside of images, and give their gradient to nobody: nothing is read of an index before the device has it.
// Gradients are added up by atomics, as which boxes meet at a pixel only they know: sums may differ in the last bit
// between runs.
#include "core/device/cuda/launch.h"
#include "core/kernels/vision/crop_places.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// The sizes of images and results; `spec` is as the host has it.
struct Crops {
  int64_t images, rows, columns, channels, boxes;
  CropSpec spec;

  int64_t pixels() const { return spec.height * spec.width; }
  int64_t numel() const { return boxes * pixels() * channels; }
};

/// One number of a result, by where it is read.
struct CropNumber {
  int64_t image, channel;
  crop::Place down, across;
  bool inside;

  template <typename T>
  __device__ CropNumber(const Crops& crops, int64_t i, const T* boxes, const int64_t* which) {
    const CropSpec& spec = crops.spec;
    channel = i % crops.channels, i /= crops.channels;
    const int64_t column = i % spec.width;
    i /= spec.width;
    const int64_t row = i % spec.height, m = i / spec.height;
    const T* box = boxes + 4 * m;
    const auto side = [&](int k) { return static_cast<float>(box[k]); };
    image = which[m];
    down = crop::Side(side(0), side(2), spec.height, crops.rows, spec.nearest, spec.down).At(row);
    across = crop::Side(side(1), side(3), spec.width, crops.columns, spec.nearest, spec.across).At(column);
    inside = image >= 0 && image < crops.images && down.low >= 0 && across.low >= 0;
  }
  __device__ int64_t At(const Crops& crops, int64_t row, int64_t column) const {
    return ((image * crops.rows + row) * crops.columns + column) * crops.channels + channel;
  }
};

template <typename T>
__global__ void CropBoxesKernel(T* __restrict__ y, const T* __restrict__ x, const T* __restrict__ boxes,
                                const int64_t* __restrict__ which, const __grid_constant__ Crops crops, int64_t numel) {
  using W = Wide<T>;
  for (int64_t i = cuda::FirstOfThread(); i < numel; i += cuda::StepOfThreads()) {
    const CropNumber number(crops, i, boxes, which);
    if (!number.inside) {
      y[i] = static_cast<T>(crops.spec.outside);
      continue;
    }
    const auto &down = number.down, &across = number.across;
    const auto read = [&](int64_t row, int64_t column) { return static_cast<W>(x[number.At(crops, row, column)]); };
    const W left = across.first, right = across.second, top = down.first, bottom = down.second;
    if (crops.spec.nearest) {
      y[i] = static_cast<T>(top * left * read(down.low, across.low));
      continue;
    }
    const W above = left * read(down.low, across.low) + right * read(down.low, across.high);
    const W below = left * read(down.high, across.low) + right * read(down.high, across.high);
    y[i] = static_cast<T>(top * above + bottom * below);
  }
}

template <typename T>
__global__ void CropBoxesBackwardKernel(Wide<T>* sums, const T* __restrict__ dy, const T* __restrict__ boxes,
                                        const int64_t* __restrict__ which, const __grid_constant__ Crops crops,
                                        int64_t numel) {
  using W = Wide<T>;
  for (int64_t i = cuda::FirstOfThread(); i < numel; i += cuda::StepOfThreads()) {
    const CropNumber number(crops, i, boxes, which);
    if (!number.inside) continue;
    const auto &down = number.down, &across = number.across;
    const W slope = static_cast<W>(dy[i]);
    const auto add = [&](int64_t row, int64_t column, float weight) {
      atomicAdd(sums + number.At(crops, row, column), static_cast<W>(weight) * slope);
    };
    add(down.low, across.low, down.first * across.first);
    if (crops.spec.nearest) continue;
    add(down.low, across.high, down.first * across.second);
    add(down.high, across.low, down.second * across.first);
    add(down.high, across.high, down.second * across.second);
  }
}

template <typename T>
__global__ void NarrowSumsKernel(T* __restrict__ y, const Wide<T>* __restrict__ x, int64_t numel) {
  for (int64_t i = cuda::FirstOfThread(); i < numel; i += cuda::StepOfThreads()) y[i] = static_cast<T>(x[i]);
}

}  // namespace

template <typename T>
void CropBoxes(Context& ctx, View y, View x, View boxes, View which, const CropSpec& spec) {
  const Crops crops{x.shape[0], x.shape[1], x.shape[2], x.shape[3], boxes.shape[0], spec};
  if (y.numel == 0) return;
  cuda::Launch("crop_boxes", ctx, &CropBoxesKernel<T>, cuda::GridFor(y.numel), y.as<T>(), x.as<const T>(),
               boxes.as<const T>(), which.as<const int64_t>(), crops, y.numel);
}
DRAGON_KERNEL(CropBoxes, Floating);

template <typename T>
void CropBoxesBackward(Context& ctx, View dx, View dy, View boxes, View which, const CropSpec& spec) {
  using W = Wide<T>;
  constexpr bool kNarrow = !std::is_same_v<T, W>;
  const Crops crops{dx.shape[0], dx.shape[1], dx.shape[2], dx.shape[3], boxes.shape[0], spec};
  if (dx.numel == 0) return;
  auto scratch = ctx.Allocate<W>(kNarrow ? dx.numel : 0);
  W* const sums = kNarrow ? scratch.template as<W>() : static_cast<W*>(dx.data);
  CheckCuda(cudaMemsetAsync(sums, 0, dx.numel * sizeof(W), cuda::StreamOf(ctx)), "crop_boxes_backward");
  if (const int64_t numel = crops.numel(); numel > 0) {
    cuda::Launch("crop_boxes_backward", ctx, &CropBoxesBackwardKernel<T>, cuda::GridFor(numel), sums, dy.as<const T>(),
                 boxes.as<const T>(), which.as<const int64_t>(), crops, numel);
  }
  if (!kNarrow) return;
  cuda::Launch("crop_boxes_backward", ctx, &NarrowSumsKernel<T>, cuda::GridFor(dx.numel), dx.as<T>(),
               static_cast<const W*>(sums), dx.numel);
}
DRAGON_KERNEL(CropBoxesBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
