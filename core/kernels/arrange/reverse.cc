// A line turned round, in the widest vectors of the level: what moves elements is compiled once, for every machine.
#include <algorithm>

#include "core/kernels/arrange.h"
#include "core/kernels/index/access.h"

namespace dragon::DRAGON_DEVICE {

template <typename T>
void ReverseLine(Context&, void* to, const void* from, int64_t count) {
  using W = kernels::Word<T>;
  W* DRAGON_RESTRICT y = static_cast<W*>(to);
  const W* DRAGON_RESTRICT x = static_cast<const W*>(from);
  constexpr int64_t kBlock = 64 / sizeof(W);
  if (count < kBlock) {
    for (int64_t i = 0; i < count; ++i) y[i] = x[count - 1 - i];
    return;
  }
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t at = std::min(i, count - kBlock);  // the last block lies over what is there already
    const W* block = x + (count - at - kBlock);
#pragma omp simd
    for (int64_t k = 0; k < kBlock; ++k) y[at + k] = block[kBlock - 1 - k];
  }
}
using ReversedWords = TypeList<uint8_t, int16_t, int32_t>;
DRAGON_KERNEL(ReverseLine, DRAGON_DEVICE::ReversedWords);

}  // namespace dragon::DRAGON_DEVICE
