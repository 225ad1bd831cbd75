// Merging the axes of a tile program's operands for a GPU.
#include "core/kernels/tile_walk.h"

#include <algorithm>
#include <limits>

namespace dragon::kernels {

namespace {

/// What a thread of a GPU reads with one instruction.
constexpr int64_t kPackBytes = 16;
/// Additions that a thread's work may be worth, all of its elements together: more code than that is slow to compile.
constexpr int64_t kMostWork = 512;

WalkAxes Merged(const std::vector<int>& axes, const Dims& shape, const std::vector<Dims>& strides) {
  WalkAxes walk;
  for (int axis : axes) {
    const int64_t size = shape[axis];
    walk.numel *= size;
    if (size == 1) continue;
    std::vector<int64_t> steps;
    for (const Dims& operand : strides) steps.push_back(operand[axis]);
    bool merges = !walk.shape.empty();
    for (size_t k = 0; merges && k < steps.size(); ++k) merges = walk.strides.back()[k] == steps[k] * size;
    if (merges) {
      walk.shape.back() *= size;
      walk.strides.back() = steps;
    } else {
      walk.shape.push_back(size);
      walk.strides.push_back(steps);
    }
  }
  return walk;
}

/// Whether 32 bits hold every index with a step of the grid added, and every offset.
bool Fits32(const TileWalk& walk, size_t operands) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (walk.rows.numel > kMost || walk.elements.numel > kMost / std::max<int64_t>(walk.rows.numel, 1)) return false;
  for (size_t k = 0; k < operands; ++k) {
    int64_t reach = 0;
    for (const WalkAxes* axes : {&walk.rows, &walk.elements}) {
      for (size_t axis = 0; axis < axes->shape.size(); ++axis) {
        const int64_t stride = axes->strides[axis][k];
        if (stride < 0 || stride > kMost) return false;
        reach += stride * (axes->shape[axis] - 1);
      }
    }
    if (reach > kMost) return false;
  }
  return true;
}

}  // namespace

int64_t InnerStride(const TileWalk& walk, size_t operand) {
  return walk.elements.strides.empty() ? 0 : walk.elements.strides.back()[operand];
}

bool TakesWidth(const TileWalk& walk, const std::vector<int64_t>& items, int width) {
  if (width == 1) return true;
  if (walk.elements.shape.empty()) return false;
  if (walk.elements.shape.size() > 1 && walk.elements.shape.back() % width != 0) return false;
  for (size_t k = 0; k < items.size(); ++k) {
    if (InnerStride(walk, k) != items[k]) continue;  // it is read one by one, or repeated
    for (const WalkAxes* axes : {&walk.rows, &walk.elements}) {
      const size_t count = axes->shape.size() - (axes == &walk.elements ? 1 : 0);
      for (size_t axis = 0; axis < count; ++axis) {
        if (axes->strides[axis][k] % (width * items[k]) != 0) return false;
      }
    }
  }
  return true;
}

TileWalk WalkOf(const std::vector<TileOperand>& outputs, const std::vector<TileOperand>& inputs, const Dims& shape,
                int row_axes, int64_t cost) {
  std::vector<Dims> strides;
  std::vector<int64_t> items;
  for (const auto* operands : {&outputs, &inputs}) {
    for (const TileOperand& operand : *operands) {
      strides.push_back(ByteStrides(operand, shape));
      items.push_back(ItemSize(operand.dtype));
    }
  }
  const std::vector<int> order = AxisOrder(strides, shape.size(), row_axes == 0);
  const auto split = row_axes == 0 ? order.begin() : order.end() - row_axes;
  TileWalk walk;
  walk.rows = Merged({order.begin(), split}, shape, strides);
  walk.elements = Merged({split, order.end()}, shape, strides);
  walk.wide = !Fits32(walk, items.size());
  int64_t widest = 1;
  for (size_t k = 0; k < items.size(); ++k) {
    if (InnerStride(walk, k) != 0) widest = std::max(widest, items[k]);
  }
  int width = static_cast<int>(std::max<int64_t>(kPackBytes / widest, 1));
  while (width > 1 && (width * cost > kMostWork || !TakesWidth(walk, items, width))) width /= 2;
  walk.width = width;
  return walk;
}

}  // namespace dragon::kernels
