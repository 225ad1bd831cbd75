// What operators that take index tensors share: dtypes, broadcasting and layout of indices before kernels see them.
#pragma once

#include <vector>

#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {

/// A TypeError unless the tensor holds integers.
void CheckIndexDType(const char* who, const Tensor& index);
/// The same numbers as int64; the tensor itself if they are already.
Tensor AsInt64(const Tensor& index);
/// Zeros like a gradient that is about to be written into.
inline Tensor Zeros(const Dims& shape, const Tensor& like) { return Op<"zeros">(shape, like.dtype(), like.device()); }
/// A number of the host's where `x` is; any other tensor as it is.
inline Tensor Beside(const Tensor& number, const Tensor& x) {
  return number.device() == x.device() ? number : Op<"to_device">(number, x.device());
}
/// A vector index for one axis, repeated along all others of `shape` (strides of 0).
Tensor SpreadIndex(const Tensor& index, int64_t axis, const Dims& shape);
/// y = x, unless y was given x's own memory to edit.
void CopyUnlessSame(Run& r, const Tensor& y, const Tensor& x);

/// Masks replaced by the places where they are true; a mask of n axes becomes n indices. A 0-d mask adds an axis to x.
std::vector<Tensor> WithoutMasks(const char* who, Tensor* x, std::span<const Tensor> indices);

/// How index tensors at some axes of x shape the result of x[indices].
struct IndexShape {
  Dims broadcast;  ///< the shape all indices share
  int at = 0;      ///< kept axes of x before the place where that shape goes
  Dims shape;      ///< of x[indices]
};
/// NumPy's rule: adjacent indices put their shape where they stand, others put it first. Undefined tensors keep an
/// axis.
IndexShape ShapeOfIndexed(const char* who, const Tensor& x, std::span<const Tensor> indices);

/// A call's `indices` as kernels want them: one view per axis of x, int64, expanded to the common shape.
class IndexViews {
 public:
  IndexViews(const Run& r, const Tensor& x, const Dims& broadcast);
  const View* views() const { return views_.data(); }

 private:
  const Dims& broadcast_;
  std::vector<Tensor> tensors_;
  std::vector<Dims> strides_;
  std::vector<View> views_;
};

}  // namespace dragon
