// The arithmetic of views: what shape, strides and offset a part of a tensor has. One rule serves the view itself and,
// on row-major strides, its gradient.
#pragma once

#include <limits>

#include "core/framework/op.h"

namespace dragon {

struct Geometry {
  Dims shape, strides;
  int64_t offset = 0;
};

/// The geometry of a tensor as it is.
Geometry GeometryOf(const Tensor& x);
/// The geometry of a row-major tensor of that shape in memory of its own.
Geometry RowMajor(const Dims& shape);

/// The strides at which a tensor's elements can be seen as another shape of as many; false if that needs a copy.
bool Reshaped(const Tensor& x, const Dims& shape, Dims* strides);
/// One place of an axis; the axis goes away. What every x[i] comes through, so it copies only what it keeps.
Geometry Selected(const char* who, const Dims& shape, const Dims& strides, int64_t offset, int64_t axis, int64_t index);
/// Python's slice with a positive step: bounds beyond the axis are cut off.
Geometry Sliced(const char* who, Geometry&& from, int64_t axis, const Value& start, const Value& stop, int64_t step);
/// The places (i, i + offset) of two axes, as the last axis.
Geometry Diagonal(const char* who, Geometry&& from, int64_t offset, int64_t axis1, int64_t axis2);
/// All windows of an axis; the elements of a window are the last axis.
Geometry Windows(const char* who, Geometry&& from, int64_t axis, int64_t size, int64_t step);

/// One step of a composed subscript, as the attribute of `subview` lists them one after the other.
enum SubviewItem : int64_t {
  kSubviewSelect,  ///< followed by the index
  kSubviewSlice,   ///< followed by start, count and step
  kSubviewNew,     ///< a new axis of size 1
  kSubviewKeep,    ///< followed by how many axes are kept as they are
  kSubviewRange,   ///< followed by start, stop and step as Python has them: below 0 from the end, beyond it cut off
};
/// The stop of a range that goes to the end of its axis.
inline constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();
/// Several subscripts at once; axes that `items` do not reach are kept.
Geometry Subview(const char* who, const Geometry& from, const Dims& items);

/// The gradient of a view: zeros of `shape` with dy at the places the view showed.
Tensor ViewBackward(const Tensor& dy, const Dims& shape, const Geometry& shown);

inline void Set(ViewOf& v, Geometry geometry) {
  v.Set(std::move(geometry.shape), std::move(geometry.strides), geometry.offset);
}

}  // namespace dragon
