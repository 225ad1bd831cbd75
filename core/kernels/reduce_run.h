// How every reduction runs on a CPU: the plan, the pieces, the threads, and what is converted on its way, compiled once
// for all reducers, whose loops it is handed as a table of functions.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// Rounding errors grow with the logarithm of the size: this many elements are reduced in a row, then pairs meet.
inline constexpr int64_t kRowBlock = 4096;
inline constexpr int64_t kColumnBlock = 128;
/// No state of a partial result is larger.
inline constexpr int64_t kMostStateBytes = 32;

/// What one reducer brings. The functions know its types; who calls them knows sizes only.
struct ReduceLoops {
  DType element;     // that the loops read: elements of other dtypes are converted on their way
  DType outputs[2];  // that `store` writes
  int64_t state_size;
  bool ordered;  // reduced elements are visited in row-major order
  bool goes_on;  // `columns` can go on from states

  /// states[i] = n neighbours from x + i * step on; `index` is the first one's along the reduced axes.
  void (*rows)(const void* reducer, const void* x, int64_t n, int64_t index, int64_t rows, int64_t step, void* states);
  /// states[j] = column j of `rows` rows of neighbours, or that and what states[j] was.
  void (*columns)(const void* reducer, const void* x, int64_t rows, int64_t stride, int64_t cols, int64_t index,
                  bool go_on, void* states);
  /// a[i] becomes what a[i] and b[i] are together.
  void (*combine)(const void* reducer, void* a, const void* b, int64_t n);
  /// Write n outputs, each made from `count` elements. An address may be null.
  void (*store)(const void* reducer, void* const* to, int64_t step, const void* states, int64_t n, int64_t count);
  void (*identity)(const void* reducer, void* state);
  /// A few elements, one after another.
  void (*few)(const void* reducer, const void* x, int64_t n, void* state);
  /// If there is one: elements of x's dtype become those that loops read.
  void (*load)(const void* reducer, void* to, const void* from, int64_t n);
};

/// One or two results of the same strides; either may be absent.
struct ReduceCall {
  const ReduceLoops* loops;
  const void* reducer;
  const View* outputs[2];
  const View* x;
};

DRAGON_API void RunReduce(Context& ctx, const ReduceCall& call);

}  // namespace dragon::kernels
