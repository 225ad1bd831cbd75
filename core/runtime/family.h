// Family: one graph for many sizes. What captures at several sizes have in common, with their numbers as functions of
// the sizes.
#pragma once

#include <string>
#include <vector>

#include "core/framework/trace.h"

namespace dragon {

/// Where two captures differ, backward passes and numbers included; empty if they do not.
DRAGON_API std::string Difference(const Capture& one, const Capture& other);

/// Where two captures differ in more than numbers; empty if they do not. `placed`: values lie in memory alike, too.
DRAGON_API std::string Unlikeness(const Capture& one, const Capture& other, bool placed);

/// What a program decided at each of the sizes, and what the numbers were that it compared.
struct Decided {
  Relation relation = Relation::kEqual;
  bool held = true;
  std::vector<int64_t> a, b;
};

/// The graph of a call, whose sizes and attributes follow symbols. `captures` are what it comes to at `sizes` (one for
/// each symbol): first at some, then at sizes that differ from those in one symbol each, then at others. All numbers
/// are held to all of them (core/runtime/fit.h). A ValueError names the first that follows sizes in another way.
DRAGON_API Graph Unified(const std::vector<Capture>& captures, const std::vector<std::vector<int64_t>>& sizes,
                         const std::vector<std::string>& symbols, const std::vector<Decided>& decisions = {});

}  // namespace dragon
