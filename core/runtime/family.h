// Family: one graph for many sizes. What captures at several sizes have in common, with their numbers as functions of
// the sizes.
#pragma once

#include <string>
#include <vector>

#include "core/framework/trace.h"

namespace dragon {

/// Where two captures differ, backward passes and numbers included; empty if they do not.
DRAGON_API std::string Difference(const Capture& one, const Capture& other);

/// The graph of a call, whose sizes and attributes follow symbols. `captures` are what it comes to at `sizes` (one for
/// each symbol): first at some, then at sizes that differ from those in one symbol each, then at others, at which all
/// numbers are held to what the former say. A ValueError names the first that is no sum of multiples of the sizes.
DRAGON_API Graph Unified(const std::vector<Capture>& captures, const std::vector<std::vector<int64_t>>& sizes,
                         const std::vector<std::string>& symbols);

}  // namespace dragon
