// The parts that tiles add to one result of a tile program, put together in pairs of growing size: rounding errors grow
// with the logarithm of their number.
#pragma once

#include <algorithm>
#include <vector>

#include "core/kernels/tile_state.h"

namespace dragon::kernels {

/// Reduce `rows` rows of `width` numbers that lie one after another.
inline void FoldRows(const TileFold& fold, const void* from, int64_t rows, void* to) {
  const int64_t from_shape[] = {rows, fold.width}, from_strides[] = {fold.width, 1};
  const int64_t to_shape[] = {1, fold.width}, to_strides[] = {fold.width, 1};
  Context host;
  (*fold.reduction)(host, fold.dtype, View{to, to_shape, to_strides, fold.width, 2, fold.dtype},
                    View{const_cast<void*>(from), from_shape, from_strides, rows * fold.width, 2, fold.dtype});
}

/// One thread's parts: so many of a level make one of the next.
class TileParts {
 public:
  explicit TileParts(const TileFold& fold) : fold_(fold), bytes_(fold.width * ItemSize(fold.dtype)) {}

  /// The place for the next part; call Added when it is there.
  char* Next() { return Level(0) + counts_[0] * bytes_; }
  void Added() {
    ++counts_[0];
    for (size_t level = 0; level < counts_.size() && counts_[level] == kParts; ++level) Close(level);
  }
  /// Put all together into `to`; there was at least one part.
  void Finish(void* to) {
    for (size_t level = 0; level + 1 < counts_.size(); ++level) {
      if (counts_[level] > 0) Close(level);
    }
    FoldRows(fold_, levels_.back().data(), counts_.back(), to);
  }

 private:
  static constexpr int64_t kParts = 16;

  char* Level(size_t level) {
    if (levels_.size() <= level) {
      levels_.emplace_back(static_cast<size_t>(kParts * bytes_));
      counts_.push_back(0);
    }
    return levels_[level].data();
  }
  void Close(size_t level) {
    char* above = Level(level + 1) + counts_[level + 1] * bytes_;
    FoldRows(fold_, levels_[level].data(), counts_[level], above);
    counts_[level] = 0;
    ++counts_[level + 1];
  }

  const TileFold& fold_;
  const int64_t bytes_;
  std::vector<std::vector<char>> levels_;
  std::vector<int64_t> counts_;
};

}  // namespace dragon::kernels
