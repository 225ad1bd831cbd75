// Pictures read where a projection sends the places of the result. The places of a piece of a row are found together,
// then used for every channel. All of it is rounded step by step, as TensorFlow does: a place just between two pixels,
// or a sum just below a whole number, is decided by the last bit.
#include <algorithm>
#include <cmath>

#include "core/device/parallel.h"
#include "core/kernels/vision.h"

// A product that something is added to is rounded first.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include "core/kernels/vision/project_places.h"  // its formulas as well

namespace dragon::DRAGON_DEVICE {

namespace {

using namespace project;

/// Places that are found together.
constexpr int64_t kPiece = 64;

/// Two pixels along one axis, and their weights; nearest, the first alone.
struct AxisPlaces {
  int32_t low[kPiece], high[kPiece];
  float first[kPiece], second[kPiece];

  template <ProjectOutside outside>
  void Find(const float* at, int64_t count, int64_t pixels, bool nearest) {
    const auto size = static_cast<float>(pixels);
    if (nearest) {
#pragma omp simd
      for (int64_t p = 0; p < count; ++p) low[p] = PixelAt(AwayFromZero(BroughtIn<outside>(at[p], size)), size);
      return;
    }
#pragma omp simd
    for (int64_t p = 0; p < count; ++p) {
      const float place = BroughtIn<outside>(at[p], size), floor = std::floor(place), next = floor + 1;
      low[p] = PixelAt(floor, size), high[p] = PixelAt(next, size);
      first[p] = next - place, second[p] = place - floor;
    }
  }
};

/// Where the results of a piece of a row are read.
struct Piece {
  AxisPlaces down, across;
  bool nowhere[kPiece];  ///< at infinity

  template <ProjectOutside outside>
  void Find(const float* t, int64_t row, int64_t column, int64_t count, const View& x, bool nearest) {
    float rows[kPiece], columns[kPiece];
    const auto y = static_cast<float>(row);
    const float above = t[1] * y, before = t[4] * y, deep = t[7] * y;
#pragma omp simd
    for (int64_t p = 0; p < count; ++p) {
      const auto at = static_cast<float>(static_cast<int32_t>(column + p));
      const float depth = t[6] * at + deep + 1;
      columns[p] = (t[0] * at + above + t[2]) / depth;
      rows[p] = (t[3] * at + before + t[5]) / depth;
      nowhere[p] = depth == 0;
    }
    down.Find<outside>(rows, count, x.shape[2], nearest);
    across.Find<outside>(columns, count, x.shape[3], nearest);
  }
};

__attribute__((noinline)) void FindPiece(Piece* piece, const float* t, int64_t row, int64_t column, int64_t count,
                                         const View& x, const ProjectSpec& spec) {
  switch (spec.outside) {
    case ProjectOutside::kConstant:
      return piece->Find<ProjectOutside::kConstant>(t, row, column, count, x, spec.nearest);
    case ProjectOutside::kNearest:
      return piece->Find<ProjectOutside::kNearest>(t, row, column, count, x, spec.nearest);
    case ProjectOutside::kReflect:
      return piece->Find<ProjectOutside::kReflect>(t, row, column, count, x, spec.nearest);
    case ProjectOutside::kWrap:
      return piece->Find<ProjectOutside::kWrap>(t, row, column, count, x, spec.nearest);
  }
}

/// Pixels of one picture, in how many `channels` is known while compiling; 0: it is not.
template <typename T, int channels>
struct Reader {
  const T* image;
  int64_t row, column, plane, count;  ///< steps of the picture, and how many channels there are
  T fill;

  int64_t Channels() const { return channels ? channels : count; }

  __attribute__((noinline)) void Nearest(const Piece& piece, int64_t pixels, T* to, int64_t pixel_step,
                                         int64_t plane_step) const {
    for (int64_t p = 0; p < pixels; ++p, to += pixel_step) {
      const int32_t y = piece.down.low[p], x = piece.across.low[p];
      const bool inside = (y | x) >= 0 && !piece.nowhere[p];
      const T* from = inside ? image + y * row + x * column : nullptr;
      for (int64_t c = 0; c < Channels(); ++c) to[c * plane_step] = inside ? from[c * plane] : fill;
    }
  }
  __attribute__((noinline)) void Bilinear(const Piece& piece, int64_t pixels, T* to, int64_t pixel_step,
                                          int64_t plane_step) const {
    for (int64_t p = 0; p < pixels; ++p, to += pixel_step) {
      const int32_t top = piece.down.low[p], bottom = piece.down.high[p];
      const int32_t left = piece.across.low[p], right = piece.across.high[p];
      const float up = piece.down.first[p], down = piece.down.second[p];
      const float before = piece.across.first[p], after = piece.across.second[p];
      if (piece.nowhere[p]) {
        for (int64_t c = 0; c < Channels(); ++c) to[c * plane_step] = fill;
      } else if ((top | bottom | left | right) >= 0) {
        const T* one = image + top * row + left * column;
        const T* other = one + row;
        for (int64_t c = 0; c < Channels(); ++c, one += plane, other += plane) {
          const float upper = Mixed(before, static_cast<float>(*one), after, static_cast<float>(one[column]));
          const float lower = Mixed(before, static_cast<float>(*other), after, static_cast<float>(other[column]));
          to[c * plane_step] = static_cast<T>(Mixed(up, upper, down, lower));
        }
      } else {
        for (int64_t c = 0; c < Channels(); ++c) {
          const auto read = [&](int32_t y, int32_t x) {
            return static_cast<float>((y | x) >= 0 ? image[c * plane + y * row + x * column] : fill);
          };
          const float upper = Mixed(before, read(top, left), after, read(top, right));
          const float lower = Mixed(before, read(bottom, left), after, read(bottom, right));
          to[c * plane_step] = static_cast<T>(Mixed(up, upper, down, lower));
        }
      }
    }
  }
};

/// Rows [begin, end) of all pictures of the result. So many `channels` lie side by side in both; 0: as the strides say.
template <typename T, int channels>
void ProjectRows(const View& y, const View& x, const View& transforms, const ProjectSpec& spec, int64_t begin,
                 int64_t end) {
  Piece piece;
  const int64_t height = y.shape[2], width = y.shape[3];
  const int64_t own = transforms.shape[0] == 1 ? 0 : 8, pixel = channels ? channels : y.strides[3];
  for (int64_t i = begin; i < end; ++i) {
    const int64_t n = i / height, row = i % height;
    const Reader<T, channels> reader{
        x.as<T>() + n * x.strides[0], x.strides[2], channels ? channels : x.strides[3],
        channels ? 1 : x.strides[1],  x.shape[1],   static_cast<T>(static_cast<float>(spec.fill))};
    for (int64_t column = 0; column < width; column += kPiece) {
      const int64_t count = std::min(kPiece, width - column);
      FindPiece(&piece, transforms.as<float>() + n * own, row, column, count, x, spec);
      T* to = y.as<T>() + n * y.strides[0] + row * y.strides[2] + column * pixel;
      const int64_t plane = channels ? 1 : y.strides[1];
      spec.nearest ? reader.Nearest(piece, count, to, pixel, plane) : reader.Bilinear(piece, count, to, pixel, plane);
    }
  }
}

}  // namespace

template <typename T>
void ProjectImages(Context&, View y, View x, View transforms, const ProjectSpec& spec) {
  if (y.numel == 0) return;
  const int64_t channels = x.shape[1], cost = y.shape[3] * (8 + 4 * channels);
  const bool together = channels == 1 ? x.is_contiguous() && y.is_contiguous() : x.strides[1] == 1 && y.strides[1] == 1;
  const bool tight = together && x.strides[3] == channels && y.strides[3] == channels;
  ParallelFor(y.shape[0] * y.shape[2], std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    const auto run = [&](auto rows) { rows(y, x, transforms, spec, begin, end); };
    if (tight && channels == 1) return run(ProjectRows<T, 1>);
    if (tight && channels == 3) return run(ProjectRows<T, 3>);
    if (tight && channels == 4) return run(ProjectRows<T, 4>);
    run(ProjectRows<T, 0>);
  });
}
using ProjectTypes = TypeList<uint8_t, int32_t, int64_t, float16, bfloat16, float, double>;
DRAGON_KERNEL(ProjectImages, DRAGON_DEVICE::ProjectTypes);

}  // namespace dragon::DRAGON_DEVICE
