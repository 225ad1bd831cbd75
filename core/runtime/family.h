// Family: one capture for every size of a batch. What captures at several sizes have in common, with their numbers as
// functions of the size.
#pragma once

#include <string>
#include <vector>

#include "core/framework/trace.h"

namespace dragon {

/// Where two captures differ, backward passes and numbers included; empty if they do not.
DRAGON_API std::string Difference(const Capture& one, const Capture& other);

class DRAGON_API Family {
 public:
  /// Captures of one call at three sizes or more, with their backward passes. A ValueError names the first thing that
  /// is not a linear function of the size: then the call has to be captured anew for every size.
  Family(std::vector<Capture> captures, const std::vector<int64_t>& sizes);

  /// What the call would have come to at this size. A ValueError or IndexError where that is not known: numbers change
  /// their sign (a place before the end comes to lie before the beginning), operators refuse what they would be given
  /// or make something else of it than the line through the captured sizes says, or a result would show foreign memory.
  Capture At(int64_t size) const;
  /// The graph of the call, whose sizes and attributes follow the symbol "batch".
  Graph graph() const;

 private:
  /// A number that follows the size: offset + coefficient * size.
  struct Line {
    int64_t offset = 0, coefficient = 0;
    bool below = false, zero = false, above = false;  ///< the signs it had at the captured sizes
    int64_t At(int64_t size, const std::string& place) const;
  };

  Capture base_;
  std::vector<Line> numbers_;  ///< by position among the numbers of a capture
};

}  // namespace dragon
