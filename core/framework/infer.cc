// Shape rules shared by operators: axes, broadcasting, layouts.
#include "core/framework/infer.h"

#include <algorithm>

namespace dragon {

int64_t NormalizeAxis(const char* who, int64_t axis, int64_t ndim) {
  const int64_t range = std::max<int64_t>(ndim, 1);
  if (axis < -range || axis >= range) {
    throw IndexError(who).Got("axis ", axis).Expected(-range, " to ", range - 1, " for ", ndim, " axes");
  }
  return axis < 0 ? axis + range : axis;
}

Dims NormalizeAxes(const char* who, const Dims& axes, int64_t ndim, bool empty_is_all) {
  Dims normal;
  if (axes.empty() && empty_is_all) {
    for (int64_t i = 0; i < ndim; ++i) normal.push_back(i);
    return normal;
  }
  for (int64_t axis : axes) normal.push_back(NormalizeAxis(who, axis, ndim));
  std::sort(normal.begin(), normal.end());
  if (std::adjacent_find(normal.begin(), normal.end()) != normal.end()) {
    throw ValueError(who).Got("axes ", axes).Expected("each axis once");
  }
  if (ndim == 0) normal.clear();
  return normal;
}

Dims BroadcastShapes(const char* who, const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims shape = longer;
  const int shift = longer.size() - shorter.size();
  for (int i = 0; i < shorter.size(); ++i) {
    const int64_t mine = longer[i + shift], other = shorter[i];
    if (mine == other || other == 1) continue;
    if (mine != 1) throw ValueError(who).Got("shapes ", a, " and ", b).Expected("shapes that broadcast together");
    shape[i + shift] = other;
  }
  return shape;
}

Dims ReducedShape(const Dims& shape, const Dims& axes, bool keepdims) {
  Dims reduced;
  int next = 0;
  for (int i = 0; i < shape.size(); ++i) {
    if (next < axes.size() && axes[next] == i) {
      ++next;
      if (keepdims) reduced.push_back(1);
    } else {
      reduced.push_back(shape[i]);
    }
  }
  return reduced;
}

Dims ExpandedStrides(const Tensor& x, const Dims& shape) {
  Dims strides = Dims::Filled(shape.size(), 0);
  const int shift = shape.size() - x.ndim();
  for (int i = 0; i < x.ndim(); ++i) {
    if (x.shape()[i] != 1 || shape[i + shift] == 1) strides[i + shift] = x.strides()[i];
  }
  return strides;
}

Dims StridesInOrder(const Dims& shape, const Dims& strides) {
  Dims order, made = shape;
  for (int axis = 0; axis < shape.size(); ++axis) order.push_back(axis);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  int64_t step = 1;
  for (int k = shape.size() - 1; k >= 0; --k) {
    made[order[k]] = step;
    step *= std::max<int64_t>(shape[order[k]], 1);
  }
  return made;
}

Dims ResolveShape(const char* who, Dims shape, int64_t numel) {
  int64_t known = 1, unknown = -1;
  const auto mismatch = [&] {
    return ValueError(who).Got("shape ", shape, " for ", numel, " elements").Expected("sizes whose product is ", numel);
  };
  for (int i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      if (unknown >= 0) throw ValueError(who).Got("shape ", shape).Expected("at most one -1");
      unknown = i;
    } else if (shape[i] < 0) {
      throw ValueError(who).Got("shape ", shape).Expected("sizes of at least 0, and at most one -1");
    } else if (__builtin_mul_overflow(known, shape[i], &known)) {
      throw mismatch();
    }
  }
  if (unknown >= 0) {
    if (known == 0) {
      if (numel == 0) throw ValueError(who).Got("shape ", shape).Expected("no -1 beside a 0: it could be anything");
      throw mismatch();
    }
    if (numel % known != 0) throw mismatch();
    shape[unknown] = numel / known;
  } else if (known != numel) {
    throw mismatch();
  }
  return shape;
}

void InferPointwiseAs(Infer& infer, DType dtype) {
  const Tensor* first = nullptr;
  bool alike = true;
  int count = 0;
  for (int i = 0; i < infer.x_count(); ++i) {
    if (!infer.has(i)) continue;
    const Tensor& x = infer.x(i);
    if (!first) {
      first = &x;
    } else if (x.shape() != first->shape()) {
      alike = false;
    }
    ++count;
  }
  if (!first) return;
  if (DRAGON_LIKELY(alike && first->is_contiguous())) {
    infer.y(0, first->shape(), dtype);
    return;
  }
  Dims shape = first->shape();
  for (int i = 0; i < infer.x_count(); ++i) {
    if (infer.has(i) && infer.x(i).shape() != shape) shape = BroadcastShapes(infer.name(), shape, infer.x(i).shape());
  }
  infer.y(0, shape, dtype);
  // Keep the layout of the first operand that has the result's shape, if it fills its memory.
  for (int i = 0; i < infer.x_count(); ++i) {
    if (!infer.has(i) || infer.x(i).shape() != shape) continue;
    const Tensor& x = infer.x(i);
    if (!x.is_contiguous() && IsDense(x.shape(), x.strides())) {
      infer.outputs[0].strides = x.strides();
      infer.outputs[0].free_layout = x.impl()->free_layout;
    }
    break;
  }
}

void InferPointwise(Infer& infer) {
  for (int i = 0; i < infer.x_count(); ++i) {
    if (infer.has(i)) return InferPointwiseAs(infer, infer.x(i).dtype());
  }
}

void InferCompare(Infer& infer) { InferPointwiseAs(infer, DType::kBool); }

void InferSame(Infer& infer) {
  const Tensor& x = infer.x(0);
  infer.y(0, x.shape(), x.dtype());
  if (!x.is_contiguous() && IsDense(x.shape(), x.strides())) {
    infer.outputs[0].strides = x.strides();
    infer.outputs[0].free_layout = x.impl()->free_layout;
  }
}

}  // namespace dragon
