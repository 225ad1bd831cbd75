// Boxes of images read in one size: along each axis a pixel lies between two, and both axes are weighed apart.
#include <algorithm>
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/vision/crop_places.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Where all pixels of a box lie along an axis.
struct BoxAxis {
  std::vector<crop::Place> places;

  void Find(float begin, float end, int64_t count, int64_t size, bool nearest, int order) {
    const crop::Side side(begin, end, count, size, nearest, order);
    places.resize(count);
    for (int64_t i = 0; i < count; ++i) places[i] = side.At(i);
  }
};

/// The places of box `m` in both directions.
template <typename T>
void FindBox(const View& boxes, int64_t m, const CropSpec& spec, int64_t rows, int64_t columns, BoxAxis* down,
             BoxAxis* across) {
  const T* box = boxes.as<T>() + 4 * m;
  const auto side = [&](int i) { return static_cast<float>(box[i]); };
  down->Find(side(0), side(2), spec.height, rows, spec.nearest, spec.down);
  across->Find(side(1), side(3), spec.width, columns, spec.nearest, spec.across);
}

}  // namespace

template <typename T>
void CropBoxes(Context&, View y, View x, View boxes, View which, const CropSpec& spec) {
  using W = Wide<T>;
  const int64_t rows = x.shape[1], columns = x.shape[2], channels = x.shape[3];
  const int64_t cost = std::max<int64_t>(1, 4 * spec.height * spec.width * channels);
  ParallelFor(boxes.shape[0], std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    BoxAxis down, across;
    for (int64_t m = begin; m < end; ++m) {
      FindBox<T>(boxes, m, spec, rows, columns, &down, &across);
      const T* image = x.as<T>() + which.as<int64_t>()[m] * rows * columns * channels;
      T* to = y.as<T>() + m * spec.height * spec.width * channels;
      for (const auto& row : down.places) {
        for (const auto& column : across.places) {
          if (row.low < 0 || column.low < 0) {
            std::fill_n(to, channels, static_cast<T>(spec.outside));
            to += channels;
            continue;
          }
          const T *upper = image + row.low * columns * channels, *lower = image + row.high * columns * channels;
          const T *a = upper + column.low * channels, *b = upper + column.high * channels;
          const T *c = lower + column.low * channels, *d = lower + column.high * channels;
          const W left = column.first, right = column.second, top = row.first, bottom = row.second;
          if (spec.nearest) {
            for (int64_t k = 0; k < channels; ++k) to[k] = static_cast<T>(top * left * static_cast<W>(a[k]));
          } else {
#pragma omp simd
            for (int64_t k = 0; k < channels; ++k) {
              const W above = left * static_cast<W>(a[k]) + right * static_cast<W>(b[k]);
              const W below = left * static_cast<W>(c[k]) + right * static_cast<W>(d[k]);
              to[k] = static_cast<T>(top * above + bottom * below);
            }
          }
          to += channels;
        }
      }
    }
  });
}
DRAGON_KERNEL(CropBoxes, Floating);

/// Threads take channels, so that no two write to one place.
template <typename T>
void CropBoxesBackward(Context& ctx, View dx, View dy, View boxes, View which, const CropSpec& spec) {
  using W = Wide<T>;
  const int64_t rows = dx.shape[1], columns = dx.shape[2], channels = dx.shape[3], pixels = spec.height * spec.width;
  auto sums = ctx.Allocate<W>(std::max<int64_t>(1, dx.numel));
  W* all = sums.template as<W>();
  std::fill_n(all, dx.numel, W(0));
  const int64_t cost = std::max<int64_t>(1, 4 * pixels * boxes.shape[0]);
  ParallelFor(channels, std::max<int64_t>(1, kGrain / cost), [&](int64_t begin, int64_t end) {
    BoxAxis down, across;
    for (int64_t m = 0; m < boxes.shape[0]; ++m) {
      FindBox<T>(boxes, m, spec, rows, columns, &down, &across);
      W* image = all + which.as<int64_t>()[m] * rows * columns * channels;
      const T* from = dy.as<T>() + m * pixels * channels;
      for (const auto& row : down.places) {
        for (const auto& column : across.places) {
          const T* slope = from;
          from += channels;
          if (row.low < 0 || column.low < 0) continue;
          const auto add = [&](int64_t i, int64_t j, float weight) {
            W* to = image + (i * columns + j) * channels;
            for (int64_t k = begin; k < end; ++k) to[k] += static_cast<W>(weight) * static_cast<W>(slope[k]);
          };
          add(row.low, column.low, row.first * column.first);
          if (spec.nearest) continue;
          add(row.low, column.high, row.first * column.second);
          add(row.high, column.low, row.second * column.first);
          add(row.high, column.high, row.second * column.second);
        }
      }
    }
  });
  for (int64_t i = 0; i < dx.numel; ++i) dx.as<T>()[i] = static_cast<T>(all[i]);
}
DRAGON_KERNEL(CropBoxesBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
