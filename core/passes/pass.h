// The gate of the passes: graph -> graph, each named, timed, skippable, and checked after it ran if asked.
//
//   void Prune(Graph& graph) { ... }
//   DRAGON_PASS(Prune, 1, 100, "Drop calls that nobody needs.");   // known as "prune", from level 1 on
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/framework/graph.h"

namespace dragon {

struct Pass {
  std::string name;  ///< the function's name in lower case with underscores
  int level = 1;     ///< the lowest level of optimisation that runs it
  /// Passes run in this order. The hundreds are phases, and after each of them the graph is pruned:
  /// 100 cleaning, 200 patterns become operators, 300 layouts and packed weights, 400 operators take in their
  /// neighbours, 500 fusion of what is left.
  int order = 100;
  const char* doc = "";
  void (*run)(Graph&) = nullptr;
};

struct PassOptions {
  int level = 3;               ///< 0: nothing, to 3: everything
  std::set<std::string> skip;  ///< names of passes to leave out
  /// Verify the graph after every pass. Also on where the environment has DRAGON_VERIFY_PASSES.
  bool verify = false;
};

struct PassReport {
  std::string name;
  int64_t nanoseconds = 0;
  int calls_before = 0, calls_after = 0;
};

/// Run the passes of a level in their order; a report for each run. An unknown name to skip is a ValueError.
DRAGON_API std::vector<PassReport> Optimize(Graph& graph, const PassOptions& options = {});

/// All passes, in the order in which they run.
DRAGON_API const std::vector<Pass>& Passes();

/// Enter a pass; the name is made from the function's. Returns true, so that a constant can call it.
DRAGON_API bool EnterPass(const char* function, int level, int order, const char* doc, void (*run)(Graph&));

#define DRAGON_PASS(function, level, order, doc) \
  [[maybe_unused]] static const bool entered_##function = EnterPass(#function, level, order, doc, function)

}  // namespace dragon
