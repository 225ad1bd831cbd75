// The one iteration plan of pointwise work: any number of broadcast, strided, differently typed operands become blocks
// of contiguous elements of the types that a loop computes in. No template: a kernel brings its inner loop only.
#pragma once

#include <cstdint>

#include "core/base/dims.h"
#include "core/kernels/view.h"

namespace dragon::kernels {

/// Where the source of a functor stands, for who writes it into another program.
struct FunctorSource {
  const char* file;  ///< as "math/arithmetic.cc", within core/kernels
  const char* text;  ///< a sentence of the compiler's that has the functor's type in it, as "... F = TYPE; ..."
};

/// The inner loop of a pointwise kernel and what the driver must know of it.
struct Loop {
  /// Compute n elements. data[0 .. outputs) are written, the rest are read; all are contiguous.
  void (*run)(const void* functor, int64_t n, void* const* data);
  /// The types that `run` reads and writes, outputs first. Operands stored in other types are converted by the block.
  const DType* dtypes;
  int32_t count;
  int32_t outputs;
  /// The price of an element, in units of an addition: dearer loops are shared among threads sooner.
  int32_t cost;
  /// How large the functor is, if it may be copied byte by byte and used later; else 0.
  int32_t functor_bytes;
  const FunctorSource* source;
};

/// Hears of a loop instead of its being run: how a plan learns what a pointwise operator does to an element, so that
/// several of them can run over one block while it is in the cache.
class DRAGON_API LoopListener {
 public:
  virtual ~LoopListener() = default;
  virtual void Hear(const Loop& loop, const void* functor, const View* const* views) = 0;
};
/// This thread's listener; while there is one, RunEach runs nothing.
DRAGON_API LoopListener*& CurrentLoopListener();

inline constexpr int kMaxOperands = 8;

/// Axes that every operand walks together: sorted so that the last moves the least in memory, merged where possible.
struct Plan {
  struct Operand {
    char* data;
    int64_t strides[kMaxDims];  // in bytes
    int64_t item_size;
    DType dtype;
    bool constant;    // one element, repeated
    bool contiguous;  // linear order is memory order
  };

  int64_t numel;
  int32_t ndim;
  int32_t count;
  int64_t shape[kMaxDims];
  Operand operands[kMaxOperands];

  /// Plan for views[0], the first output; the others are broadcast to its shape. ValueError when they cannot be.
  DRAGON_API Plan(const View* const* views, int count);

 private:
  void Sort();
  void Merge();
  bool Before(int a, int b) const;
};

/// Run a loop over views (outputs first), in parallel where that pays.
DRAGON_API void RunEach(const Loop& loop, const void* functor, const View* const* views);

/// Copy n elements of `size` bytes between strided runs; strides are in bytes, 0 for the source repeats one element.
DRAGON_API void CopyRun(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t size, int64_t n);

/// Convert n contiguous elements, as a cast does.
DRAGON_API void ConvertRun(void* to, DType to_dtype, const void* from, DType from_dtype, int64_t n);

}  // namespace dragon::kernels
