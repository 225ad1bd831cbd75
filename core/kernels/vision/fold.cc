// Sliding windows as columns, and columns added back into an image.
#include <algorithm>

#include "core/device/parallel.h"
#include "core/kernels/vision/windows.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
void Im2Col(Context&, View y, View x, const WindowSpec& spec) {
  if (y.numel == 0) return;
  const Windows windows(spec, x.dim(-2), x.dim(-1));
  const int64_t elements = windows.elements(), planes = x.shape[0] * x.shape[1];
  ParallelFor(planes * elements, std::max<int64_t>(1, kGrain / windows.count()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* image = x.as<T>() + i / elements * windows.height * windows.width;
      T* line = y.as<T>() + i * windows.count();
      windows.ForRows(i % elements, [&](int64_t at, int64_t row, int64_t shift) {
        for (int64_t column = 0; column < windows.columns; ++column) {
          const int64_t from = column * spec.stride[1] + shift;
          const bool inside = row >= 0 && from >= 0 && from < windows.width;
          line[at + column] = inside ? image[row * windows.width + from] : T(0);
        }
      });
    }
  });
}
DRAGON_KERNEL(Im2Col, Inexact);

template <typename T>
void Col2Im(Context& ctx, View y, View x, const WindowSpec& spec) {
  using W = Wide<T>;
  if (y.numel == 0) return;
  const Windows windows(spec, y.dim(-2), y.dim(-1));
  const int64_t elements = windows.elements(), planes = y.shape[0] * y.shape[1], size = windows.height * windows.width;
  ParallelFor(planes, std::max<int64_t>(1, kGrain / (elements * windows.count())), [&](int64_t begin, int64_t end) {
    auto sums = ctx.Allocate<W>(size);
    W* image = sums.template as<W>();
    for (int64_t plane = begin; plane < end; ++plane) {
      std::fill_n(image, size, W(0));
      for (int64_t e = 0; e < elements; ++e) {
        const T* line = x.as<T>() + (plane * elements + e) * windows.count();
        windows.ForRows(e, [&](int64_t at, int64_t row, int64_t shift) {
          for (int64_t column = 0; row >= 0 && column < windows.columns; ++column) {
            const int64_t to = column * spec.stride[1] + shift;
            if (to >= 0 && to < windows.width) image[row * windows.width + to] += static_cast<W>(line[at + column]);
          }
        });
      }
      T* out = y.as<T>() + plane * size;
      for (int64_t i = 0; i < size; ++i) out[i] = static_cast<T>(image[i]);
    }
  });
}
DRAGON_KERNEL(Col2Im, Inexact);

}  // namespace dragon::DRAGON_DEVICE
