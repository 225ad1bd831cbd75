// What all the operators of convolution check and read alike.
#pragma once

#include "core/ops/convolution/windows.h"

namespace dragon::windows {

/// What all convolutions know but the result's spatial size.
inline ConvGeometry GeometryOf(const CallReader& c, int spatial) {
  ConvGeometry g;
  g.spatial = spatial;
  for (int i = 0; i < spatial; ++i) {
    g.stride[i] = c.Ints("stride")[i];
    g.padding[i] = c.Ints("padding")[i];
    g.dilation[i] = c.Ints("dilation")[i];
  }
  g.groups = c.Int("groups");
  return g;
}

inline void CheckGeometry(const CallReader& c, int spatial) {
  if (c.Int("groups") < 1) throw ValueError(c.name()).Got("groups ", c.Int("groups")).Expected("at least 1");
  const struct {
    ArgumentName name;
    int64_t least;
  } lists[] = {{"size", 0}, {"stride", 1}, {"padding", 0}, {"dilation", 1}};
  for (const auto& [name, least] : lists) {
    const Dims& given = c.Ints(name);
    if (given.size() != spatial) throw ValueError(c.name()).Got(name.text, " ", given).Expected(spatial, " numbers");
    PerAxis(c.name(), name.text, given, spatial, least);
  }
}

inline void CheckDTypes(const CallReader& c) {
  for (int i = 1; i < c.x_count(); ++i) {
    if (!c.has(i) || c.x(i).dtype() == c.x(0).dtype()) continue;
    throw TypeError(c.name()).Got(c.x(0).dtype(), " and ", c.x(i).dtype()).Expected("equal dtypes");
  }
}

inline void CheckBias(const CallReader& c, int64_t channels) {
  if (!c.has("bias") || (c.x("bias").ndim() == 1 && c.x("bias").numel() == channels)) return;
  throw ValueError(c.name()).Got("bias ", c.x("bias").shape()).Expected("shape (", channels, ",)");
}

/// Refuse an x whose channels, in its second axis, are not those that the weight is for.
inline void CheckChannels(const char* who, const Dims& x, const Dims& weight, int64_t channels) {
  if (x[1] == channels) return;
  const bool last = x[x.size() - 1] == channels;
  throw ValueError(who)
      .Got("x ", x, " with ", x[1], " channels (axis 1) and weight ", weight, ", which takes ", channels)
      .Expected("x (N, ", channels, ", spatial...)",
                last ? "; its last axis has as many: it may be stored channels last, and wants a permute" : "");
}

/// 16-bit and 32-bit floats run channels-last inside; the rest as it is written.
inline bool LikesChannelsLast(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kBFloat16; }

}  // namespace dragon::windows
