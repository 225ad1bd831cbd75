// Boxes that hide others.
#include <algorithm>

#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
void SuppressBoxes(Context& ctx, View stays, View boxes, double threshold) {
  using W = Wide<T>;
  const int64_t count = stays.numel;
  bool* stay = stays.as<bool>();
  std::fill_n(stay, count, true);
  // Coordinate by coordinate: so one box meets many at a time.
  Scratch columns = ctx.Allocate<W>(5 * count);
  W *left = columns.as<W>(), *top = left + count, *right = top + count, *bottom = right + count, *area = bottom + count;
  for (int64_t i = 0; i < count; ++i) {
    const T* box = boxes.as<const T>() + 4 * i;
    left[i] = static_cast<W>(box[0]), top[i] = static_cast<W>(box[1]);
    right[i] = static_cast<W>(box[2]), bottom[i] = static_cast<W>(box[3]);
    area[i] = (right[i] - left[i]) * (bottom[i] - top[i]);
  }
  for (int64_t i = 0; i < count; ++i) {
    if (!stay[i]) continue;
    const W l = left[i], t = top[i], r = right[i], b = bottom[i], own = area[i];
#pragma omp simd
    for (int64_t j = i + 1; j < count; ++j) {
      const W width = std::max(W(0), std::min(r, right[j]) - std::max(l, left[j]));
      const W height = std::max(W(0), std::min(b, bottom[j]) - std::max(t, top[j]));
      const W common = width * height;
      // Where both cover nothing, this is no number and nothing is hidden.
      const bool hidden = static_cast<double>(common / (own + area[j] - common)) > threshold;
      stay[j] = stay[j] && !hidden;
    }
  }
}
DRAGON_KERNEL(SuppressBoxes, Floating);

}  // namespace dragon::DRAGON_DEVICE
