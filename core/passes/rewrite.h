// What passes share that let one value stand for another: who may stand for whom, and the renaming itself.
#pragma once

#include <optional>
#include <vector>

#include "core/framework/graph.h"

namespace dragon {

/// Shape, strides, dtype, device and symbolic sizes agree, so that readers cannot tell the two apart by form.
bool SameForm(const ValueInfo& a, const ValueInfo& b);
/// Join the hash of one more thing to those before it.
inline size_t Mix(size_t seed, size_t value) { return seed ^ (value + 0x9e3779b97f4a7c15 + (seed << 6) + (seed >> 2)); }

/// Equal to the bit: 0.0 is not -0.0, and NaN is itself.
bool SameAttribute(const Value& a, const Value& b);
size_t HashAttribute(const Value& value);

/// One walk over a graph's calls in which values come to stand for others.
///
/// Outputs that were memory of their own stay that: an output never becomes an input, a constant, another output, or a
/// view of those, for a user who writes into one of them must not meet another.
class Rewrite {
 public:
  explicit Rewrite(Graph& graph);

  /// What stands for a value by now.
  ValueId Now(ValueId id) const { return id == kNoValue ? id : now_[id]; }
  /// Let a call read what stands for its inputs by now.
  void Rename(GraphCall* call) const;
  bool MayStandFor(ValueId old, ValueId by) const;
  /// Let `by` stand for `old` from here on, if it may and looks the same.
  bool Substitute(ValueId old, ValueId by);
  /// Let a value become a view of another, if what shares its memory may share that one's.
  bool LookAt(ValueId value, ValueId at);
  /// Some output or update shares memory with this value.
  bool Escapes(ValueId id) const { return escapes_[Root(id)]; }
  /// A new constant.
  ValueId AddConstant(Tensor tensor);
  /// A new value, which a call will make.
  ValueId AddValue(ValueInfo info);
  /// The call at this position has nothing left to make.
  void Drop(size_t position) { dropped_[position] = 1; }
  /// Rename outputs and updates, take out the calls that were dropped, and put in new ones: (before which, call),
  /// sorted.
  void Finish(std::vector<std::pair<size_t, GraphCall>> inserted = {});

 private:
  ValueId Root(ValueId id) const;
  bool MayShare(ValueId from, ValueId to) const;
  void Share(ValueId from, ValueId to);
  void Grow();

  Graph& graph_;
  std::vector<ValueId> now_;
  std::vector<ValueId> root_;  ///< whose memory a value looks at, through views
  std::vector<char> made_;     ///< by a call: no input and no constant
  std::vector<char> direct_;   ///< is an output or an update
  std::vector<char> escapes_;  ///< of a root
  std::vector<char> dropped_;  ///< of a call
};

}  // namespace dragon
