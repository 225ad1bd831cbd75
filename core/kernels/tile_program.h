// Several pointwise loops over one tile of elements while it is in the cache: memory is passed over once for all of
// them. The loops are those that `Each` compiled, so a program is made in microseconds and computes the same numbers.
//
// A program may also work by rows (a number of trailing axes): a reduction makes one number of each row, and loops that
// read a row's number beside its elements get it repeated.
#pragma once

#include <memory>
#include <vector>

#include "core/kernels/kernel.h"
#include "core/kernels/plan.h"

namespace dragon::kernels {

/// A tensor that a program reads or writes. The shape broadcasts to that of the program.
struct TileOperand {
  DType dtype;
  Dims shape, strides;
};

/// Reduces x to y of the same rank, with size 1 along reduced axes: `kernels::Sum` and its like.
using Reduction = Kernel<void(View y, View x)>;

class DRAGON_API TileProgram {
 public:
  /// Values are numbered as they come to be.
  using ValueId = int32_t;

  /// `row_axes`: how many trailing axes make a row; 0 where nothing is reduced.
  explicit TileProgram(Dims shape, int row_axes = 0);
  ~TileProgram();
  TileProgram(const TileProgram&) = delete;
  TileProgram& operator=(const TileProgram&) = delete;

  // --- building
  ValueId AddInput(TileOperand operand);
  /// A loop over values that were made before, whose result is stored as `dtype`. `shown` are the dtypes as which its
  /// operands are shown, output first: where one differs from the value's own, the bits are taken as they are.
  ValueId AddLoop(const Loop& loop, const void* functor, const std::vector<ValueId>& inputs, const DType* shown,
                  DType dtype);
  /// The value in another dtype, as a single loop's driver converts it.
  ValueId Converted(ValueId value, DType dtype);
  /// One number per row, of `dtype`, which `reduction` makes of elements in the dtype `in`.
  ValueId AddReduction(const Reduction& reduction, ValueId x, DType in, DType dtype);
  void AddOutput(ValueId value, TileOperand operand);
  /// One number of all, or (`columns`) of every place in a row, dense: an output after those of AddOutput. The parts
  /// that tiles make, in the dtype `parts`, are put together by `reduction` as well; with `mean`, the result is divided
  /// by how many there were; it becomes `dtype` in the end.
  void AddFold(const Reduction& reduction, ValueId x, DType parts, DType dtype, bool columns, bool mean);
  /// Decide on tiles, order and registers. Nothing may be added afterwards.
  void Finish();

  /// Run over these addresses, in the order in which the operands were added, folds last. Threads may share a program.
  void Run(void* const* outputs, void* const* inputs) const;

  /// True if a value has one number per row.
  bool is_row(ValueId value) const;
  int64_t tile() const;

  /// What the program is made of, for who runs it in another way; tile_state.h has it.
  struct State;
  const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace dragon::kernels
