// What all the operators of convolution check and read alike.
#pragma once

#include "core/ops/convolution/windows.h"

namespace dragon::windows {

/// Attributes that all convolutions begin with: the result's spatial size, stride, padding, dilation, groups.
inline ConvGeometry GeometryOf(const CallReader& c, int spatial) {
  ConvGeometry g;
  g.spatial = spatial;
  for (int i = 0; i < spatial; ++i) {
    g.stride[i] = c.Ints(1)[i];
    g.padding[i] = c.Ints(2)[i];
    g.dilation[i] = c.Ints(3)[i];
  }
  g.groups = c.Int(4);
  return g;
}

inline void CheckGeometry(const CallReader& c, int spatial) {
  if (c.Int(4) < 1) throw ValueError(c.name()).Got("groups ", c.Int(4)).Expected("at least 1");
  const struct {
    const char* what;
    int attr;
    int64_t least;
  } lists[] = {{"size", 0, 0}, {"stride", 1, 1}, {"padding", 2, 0}, {"dilation", 3, 1}};
  for (const auto& list : lists) {
    if (c.Ints(list.attr).size() != spatial) {
      throw ValueError(c.name()).Got(list.what, " ", c.Ints(list.attr)).Expected(spatial, " numbers");
    }
    PerAxis(c.name(), list.what, c.Ints(list.attr), spatial, list.least);
  }
}

inline void CheckDTypes(const CallReader& c) {
  for (int i = 1; i < c.x_count(); ++i) {
    if (!c.has(i) || c.x(i).dtype() == c.x(0).dtype()) continue;
    throw TypeError(c.name()).Got(c.x(0).dtype(), " and ", c.x(i).dtype()).Expected("equal dtypes");
  }
}

inline void CheckBias(const CallReader& c, int64_t channels) {
  if (!c.has(2) || (c.x(2).ndim() == 1 && c.x(2).numel() == channels)) return;
  throw ValueError(c.name()).Got("bias ", c.x(2).shape()).Expected("shape (", channels, ",)");
}

/// 16-bit and 32-bit floats run channels-last inside; the rest as it is written.
inline bool LikesChannelsLast(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kBFloat16; }

}  // namespace dragon::windows
