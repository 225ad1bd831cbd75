// What a tile program is made of; seen by its builder and its runner only.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/kernels/tile_program.h"

namespace dragon::kernels {

/// How an operand lies in memory, seen in the order in which the program walks: its own axes, merged where possible.
struct TilePlace {
  DType dtype = DType::kFloat32;
  int64_t item = 0, extent = 0;  ///< bytes of an element, and from the first element to the end of the last
  int ndim = 0;
  int64_t shape[kMaxDims], strides[kMaxDims];  // in bytes
  bool direct = false;                         ///< the program's order is memory order: tiles are used where they are
  bool straightened = false;                   ///< copied in that order before the program runs
  int64_t period = 0;                          ///< repeats itself after so many elements; 0: does not

  int64_t numel() const {
    int64_t product = 1;
    for (int axis = 0; axis < ndim; ++axis) product *= shape[axis];
    return product;
  }
};

struct TileValue {
  DType dtype;
  bool row;
  int32_t input = -1;
  bool invariant = false;  ///< the same in every tile: made once
  int32_t last_read = -1;
};

struct TileStep {
  enum class Kind : uint8_t { kLoad, kLoop, kConvert, kExpand, kReduce, kFold, kStore };
  Kind kind;
  bool row = false;  ///< works on one number per row
  Loop loop = {};
  std::shared_ptr<const std::max_align_t[]> functor = nullptr;
  const Reduction* reduction = nullptr;
  int32_t external = -1;               ///< the input loaded, the output stored or the fold
  std::vector<int32_t> operands = {};  ///< values, the one made first (-1: none)
};

/// The strides in bytes with which an operand walks over `shape`.
Dims ByteStrides(const TileOperand& operand, const Dims& shape);

/// Axes from the outermost in, as the operands would like them.
std::vector<int> AxisOrder(const std::vector<Dims>& strides, int ndim, bool sorts);

/// A result to which every tile adds its part.
struct TileFold {
  const Reduction* reduction;
  DType dtype;    ///< of the parts
  DType result;   ///< of what becomes of them
  int64_t width;  ///< numbers in the result
  bool columns;   ///< one for every place in a row
  bool mean;
};

/// Steps in order, and where each value lies.
struct TileSchedule {
  struct Location {
    enum class Kind : uint8_t { kNowhere, kRegister, kInput, kOutput } kind = Kind::kNowhere;
    int64_t at = 0;  ///< offset of the register, or the external operand
  };
  std::vector<TileStep> once, steps;  ///< what does not change from tile to tile, and the rest
  std::vector<Location> locations;
  int64_t register_bytes = 0;
};

struct TileProgram::State {
  Dims shape;
  int row_axes = 0;
  int64_t numel = 1, row = 1, tile = 1, cost = 0;
  std::vector<TileOperand> inputs, outputs;
  std::vector<TileFold> folds;
  std::vector<TilePlace> input_places, output_places;
  std::vector<int32_t> input_values, output_values;
  std::vector<TileValue> values;
  std::vector<TileStep> steps;
  std::map<std::pair<int32_t, DType>, int32_t> converted;
  std::map<int32_t, int32_t> expanded;
  std::vector<int32_t> made_by;  ///< the step that makes each value
  /// Outputs written as soon as they are made; or, where one of them lies over an input that is read later, when all
  /// of the tile has been read.
  TileSchedule early, late;

  bool IsRow(const Dims& operand) const;
  int32_t AddValue(DType dtype, bool row);
  int32_t AddStep(TileStep step, DType dtype);
  int32_t Converted(int32_t value, DType dtype);
  int32_t Expanded(int32_t value);
  void PlaceOperands();
  void ChooseTile();
  void FindInvariants();
  TileSchedule Schedule(bool stores_late) const;
  bool Streams(int output) const;
};

}  // namespace dragon::kernels
