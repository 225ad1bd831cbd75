// The sizes of a call of attention, for kernels of every device.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::DRAGON_DEVICE {

struct Sizes {
  int64_t batch, heads, key_heads, queries, keys, width, value_width;

  Sizes(const View& q, const View& k, const View& v)
      : batch(q.shape[0]),
        heads(q.shape[1]),
        key_heads(k.shape[1]),
        queries(q.shape[2]),
        keys(k.shape[2]),
        width(q.shape[3]),
        value_width(v.shape[3]) {}
  /// How many heads look at the same keys.
  DRAGON_FN int64_t sharing() const { return heads / key_heads; }
};

}  // namespace dragon::DRAGON_DEVICE
