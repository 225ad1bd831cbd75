// Pictures read where a projection sends the places of the result: a thread for every place, for all its channels.
#include "core/device/cuda/launch.h"
#include "core/kernels/vision/project_places.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace project;

struct Projection {
  int64_t images, channels, height, width, rows, columns;  ///< of the results, and of the pictures that are read
  int64_t y[4], x[4];                                      ///< strides
  int64_t own;                                             ///< from one transform to the next
};

/// Two pixels along an axis and their weights; nearest, the first alone.
struct AxisPlace {
  int32_t low, high;
  float first, second;

  template <ProjectOutside outside>
  static __device__ __forceinline__ AxisPlace Of(float at, int64_t pixels, bool nearest) {
    const auto size = static_cast<float>(pixels);
    const float place = BroughtIn<outside>(at, size);
    if (nearest) return {PixelAt(AwayFromZero(place), size), 0, 0, 0};
    const float floor = std::floor(place), next = floor + 1;
    return {PixelAt(floor, size), PixelAt(next, size), next - place, place - floor};
  }
};

template <typename T, ProjectOutside outside>
__global__ void ProjectImagesKernel(T* __restrict__ y, const T* __restrict__ x, const float* __restrict__ transforms,
                                    const __grid_constant__ Projection sizes, bool nearest, float filled) {
  const T fill = static_cast<T>(filled);
  const int64_t all = sizes.images * sizes.height * sizes.width;
  for (int64_t i = cuda::FirstOfThread(); i < all; i += cuda::StepOfThreads()) {
    const int64_t line = i / sizes.width, column = i - line * sizes.width;
    const int64_t n = line / sizes.height, row = line - n * sizes.height;
    const float* t = transforms + n * sizes.own;
    const auto across = static_cast<float>(column), down = static_cast<float>(row);
    const float depth = Product(t[6], across) + Product(t[7], down) + 1;
    const float at_column = (Product(t[0], across) + Product(t[1], down) + t[2]) / depth;
    const float at_row = (Product(t[3], across) + Product(t[4], down) + t[5]) / depth;
    const auto rows = AxisPlace::template Of<outside>(at_row, sizes.rows, nearest);
    const auto columns = AxisPlace::template Of<outside>(at_column, sizes.columns, nearest);
    const T* from = x + n * sizes.x[0];
    T* to = y + n * sizes.y[0] + row * sizes.y[2] + column * sizes.y[3];
    const bool nowhere = depth == 0;
    for (int64_t c = 0; c < sizes.channels; ++c, from += sizes.x[1], to += sizes.y[1]) {
      const auto read = [&](int32_t r, int32_t k) {
        return (r | k) >= 0 && !nowhere ? from[r * sizes.x[2] + k * sizes.x[3]] : fill;
      };
      if (nearest || nowhere) {
        *to = read(rows.low, columns.low);
        continue;
      }
      const float upper = Mixed(columns.first, static_cast<float>(read(rows.low, columns.low)), columns.second,
                                static_cast<float>(read(rows.low, columns.high)));
      const float lower = Mixed(columns.first, static_cast<float>(read(rows.high, columns.low)), columns.second,
                                static_cast<float>(read(rows.high, columns.high)));
      *to = static_cast<T>(Mixed(rows.first, upper, rows.second, lower));
    }
  }
}

template <typename T>
auto KernelOf(ProjectOutside outside) {
  switch (outside) {
    case ProjectOutside::kNearest:
      return &ProjectImagesKernel<T, ProjectOutside::kNearest>;
    case ProjectOutside::kReflect:
      return &ProjectImagesKernel<T, ProjectOutside::kReflect>;
    case ProjectOutside::kWrap:
      return &ProjectImagesKernel<T, ProjectOutside::kWrap>;
    default:
      return &ProjectImagesKernel<T, ProjectOutside::kConstant>;
  }
}

}  // namespace

template <typename T>
void ProjectImages(Context& ctx, View y, View x, View transforms, const ProjectSpec& spec) {
  if (y.numel == 0) return;
  Projection sizes{y.shape[0], y.shape[1], y.shape[2], y.shape[3], x.shape[2], x.shape[3], {}, {}, 0};
  for (int axis = 0; axis < 4; ++axis) sizes.y[axis] = y.strides[axis], sizes.x[axis] = x.strides[axis];
  sizes.own = transforms.shape[0] == 1 ? 0 : 8;
  cuda::Launch("project_images", ctx, KernelOf<T>(spec.outside), cuda::GridFor(y.numel / y.shape[1]), y.as<T>(),
               x.as<const T>(), transforms.as<const float>(), sizes, spec.nearest, static_cast<float>(spec.fill));
}
using ProjectTypes = TypeList<uint8_t, int32_t, int64_t, float16, bfloat16, float, double>;
DRAGON_KERNEL(ProjectImages, DRAGON_DEVICE::ProjectTypes);

}  // namespace dragon::DRAGON_DEVICE
