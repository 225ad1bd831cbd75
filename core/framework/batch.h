// One capture for every size of a batch: what captures at several sizes have in common, with their numbers as functions
// of the size.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/framework/trace.h"

namespace dragon {

/// A call captured with `size` rows in its arguments.
struct SizedCapture {
  Capture capture;
  Differentiation backward;
  int64_t size = 0;
};

class DRAGON_API SymbolicCapture {
 public:
  /// Captures of one call at three sizes or more. A ValueError names the first thing that is not a linear function of
  /// the size: then the call has to be captured anew for every size.
  explicit SymbolicCapture(std::vector<SizedCapture> samples);

  /// What the call would have come to at this size.
  SizedCapture At(int64_t size) const;
  /// The graph of the call, whose sizes and attributes follow the symbol "batch".
  Graph graph() const;

 private:
  SizedCapture base_;
  /// By position among the numbers of a capture: (offset, coefficient).
  std::vector<std::pair<int64_t, int64_t>> numbers_;
};

}  // namespace dragon
