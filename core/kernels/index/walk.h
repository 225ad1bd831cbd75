// Visits several strided operands of one shape line by line, so that indexing kernels need no odometer of their own.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/base/dims.h"

namespace dragon::kernels {

/// The axes of N operands, merged wherever all operands allow it. Offsets and strides count elements.
template <int N>
class Walk {
 public:
  using Offsets = std::array<int64_t, N>;

  /// The axes [first, last) of `shape`, with one stride list per operand (indexed like `shape`).
  Walk(const int64_t* shape, int first, int last, const std::array<const int64_t*, N>& strides) {
    for (int axis = first; axis < last; ++axis) {
      total_ *= shape[axis];
      if (shape[axis] == 1) continue;
      Offsets step;
      for (int n = 0; n < N; ++n) step[n] = strides[n][axis];
      if (ndim_ > 0 && Merges(step, shape[axis])) {
        shape_[ndim_ - 1] *= shape[axis];
      } else {
        shape_[ndim_++] = shape[axis];
      }
      steps_[ndim_ - 1] = step;
    }
    if (ndim_ == 0) {
      shape_[ndim_] = 1;
      steps_[ndim_++].fill(0);
    }
  }

  int64_t total() const { return total_; }
  /// The stride of operand `n` within a line.
  int64_t step(int n) const { return steps_[ndim_ - 1][n]; }

  /// The axes that are left, outermost first, and how many elements on the next place of one lies.
  int ndim() const { return ndim_; }
  int64_t size(int axis) const { return shape_[axis]; }
  int64_t step(int axis, int n) const { return steps_[axis][n]; }

  /// All elements are one line: its part from element i begins i steps on.
  bool is_line() const { return ndim_ == 1; }

  /// Call `body(offsets, count)` for every line, or part of a line, that holds elements [begin, end).
  template <typename Body>
  void Range(int64_t begin, int64_t end, Body&& body) const {
    if (begin >= end) return;
    const int64_t inner = shape_[ndim_ - 1];
    int64_t at = begin % inner, line = begin / inner;
    int64_t index[kMaxDims];
    Offsets base{};
    for (int axis = ndim_ - 2; axis >= 0; --axis) {
      index[axis] = line % shape_[axis];
      line /= shape_[axis];
      for (int n = 0; n < N; ++n) base[n] += index[axis] * steps_[axis][n];
    }
    while (true) {
      const int64_t count = std::min(inner - at, end - begin);
      Offsets start = base;
      for (int n = 0; n < N; ++n) start[n] += at * steps_[ndim_ - 1][n];
      body(start, count);
      begin += count;
      if (begin >= end) return;
      at = 0;
      for (int axis = ndim_ - 2; axis >= 0; --axis) {
        for (int n = 0; n < N; ++n) base[n] += steps_[axis][n];
        if (++index[axis] < shape_[axis]) break;
        for (int n = 0; n < N; ++n) base[n] -= index[axis] * steps_[axis][n];
        index[axis] = 0;
      }
    }
  }
  template <typename Body>
  void All(Body&& body) const {
    Range(0, total_, body);
  }

 private:
  bool Merges(const Offsets& step, int64_t size) const {
    for (int n = 0; n < N; ++n) {
      if (steps_[ndim_ - 1][n] != step[n] * size) return false;
    }
    return true;
  }

  int ndim_ = 0;
  int64_t total_ = 1;
  int64_t shape_[kMaxDims + 1];
  Offsets steps_[kMaxDims + 1];
};

}  // namespace dragon::kernels
