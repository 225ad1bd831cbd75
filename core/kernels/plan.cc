// How operands come to walk together: broadcasting, and the sorting and merging of axes.
#include "core/kernels/plan.h"

#include <utility>

#include "core/base/error.h"

namespace dragon::kernels {

namespace {

inline int64_t Magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

}  // namespace

Plan::Plan(const View* const* views, int operand_count) : numel(views[0]->numel), ndim(0), count(operand_count) {
  const View& first = *views[0];
  for (int k = 0; k < count; ++k) {
    const View& view = *views[k];
    operands[k].data = view.as<char>();
    operands[k].item_size = ItemSize(view.dtype);
    operands[k].dtype = view.dtype;
    if (view.ndim > first.ndim) {
      throw ValueError("pointwise").Got("an operand of ", view.ndim, " axes").Expected("at most ", first.ndim);
    }
  }
  for (int axis = 0; axis < first.ndim; ++axis) {
    const bool dropped = first.shape[axis] == 1;
    for (int k = 0; k < count; ++k) {
      const View& view = *views[k];
      const int own = axis - (first.ndim - view.ndim);
      const bool repeats = own < 0 || view.shape[own] == 1;
      if (!repeats && view.shape[own] != first.shape[axis]) {
        throw ValueError("pointwise")
            .Got("shape ", Dims(view.shape, view.ndim))
            .Expected("one that broadcasts to ", Dims(first.shape, first.ndim));
      }
      if (!dropped) operands[k].strides[ndim] = repeats ? 0 : view.strides[own] * operands[k].item_size;
    }
    if (!dropped) shape[ndim++] = first.shape[axis];
  }
  if (ndim == 0) {
    for (int k = 0; k < count; ++k) operands[k].strides[0] = operands[k].item_size;
    shape[ndim++] = 1;
  }
  Sort();
  Merge();
  for (int k = 0; k < count; ++k) {
    Operand& operand = operands[k];
    operand.constant = operand.contiguous = true;
    int64_t expected = operand.item_size;
    for (int axis = ndim - 1; axis >= 0; --axis) {
      operand.constant &= operand.strides[axis] == 0;
      operand.contiguous &= operand.strides[axis] == expected;
      expected *= shape[axis];
    }
  }
}

/// Whether axis a should stand outside axis b: the first operand that moves along both decides.
bool Plan::Before(int a, int b) const {
  for (int k = 0; k < count; ++k) {
    const int64_t of_a = Magnitude(operands[k].strides[a]), of_b = Magnitude(operands[k].strides[b]);
    if (of_a != 0 && of_b != 0 && of_a != of_b) return of_a > of_b;
  }
  return false;
}

void Plan::Sort() {
  for (int i = 1; i < ndim; ++i) {
    for (int j = i; j > 0 && Before(j, j - 1); --j) {
      std::swap(shape[j], shape[j - 1]);
      for (int k = 0; k < count; ++k) std::swap(operands[k].strides[j], operands[k].strides[j - 1]);
    }
  }
}

void Plan::Merge() {
  int kept = 0;
  for (int axis = 1; axis < ndim; ++axis) {
    bool merges = true;
    for (int k = 0; k < count && merges; ++k) {
      merges = operands[k].strides[kept] == operands[k].strides[axis] * shape[axis];
    }
    if (merges) {
      shape[kept] *= shape[axis];
    } else {
      shape[++kept] = shape[axis];
    }
    for (int k = 0; k < count; ++k) operands[k].strides[kept] = operands[k].strides[axis];
  }
  ndim = kept + 1;
}

}  // namespace dragon::kernels
