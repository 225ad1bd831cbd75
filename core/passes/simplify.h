// The rules of `simplify`, and what they may do to the call that they look at.
#pragma once

#include <string_view>
#include <unordered_map>

#include "core/framework/graph.h"
#include "core/passes/rewrite.h"

namespace dragon {

class Simplifier;
/// Look at a call; true if something was changed.
using SimplifyRule = bool (*)(Simplifier& simplifier, GraphCall* call);
/// Operator -> what may be simpler about a call of it.
using SimplifyRules = std::unordered_multimap<std::string_view, SimplifyRule>;

/// A walk over the calls in order, trying rules on each until none applies. Before a rule sees a call, its inputs are
/// what stands for them by now.
class Simplifier {
 public:
  explicit Simplifier(Graph& graph);
  void Run(std::initializer_list<const SimplifyRules*> tables);

  const Graph& graph() const { return graph_; }
  const ValueInfo& info(ValueId id) const { return graph_.values[id]; }
  /// The call whose first result this is; nullptr for inputs, constants and other results.
  const GraphCall* Maker(ValueId id) const;
  /// The same, if it is a call of this operator.
  const GraphCall* Maker(ValueId id, std::string_view op) const;
  /// The same, if nobody else reads any of its results: it goes when this reader does.
  const GraphCall* Only(ValueId id, std::string_view op) const;
  /// One call reads this value once, and nobody outside of the graph does.
  bool ReadOnce(ValueId id) const { return readers_[id] == 1; }
  /// The one number that every element of a value is, if that is known.
  std::optional<Value> NumberOf(ValueId id) const;
  /// The same as a real number; NaN, which equals nothing, if it is none.
  double RealOf(ValueId id) const;
  /// A 0-d constant.
  ValueId Number(const Value& number, DType dtype);

  /// Let another value stand for what the call makes.
  bool Become(const GraphCall& call, ValueId by) { return rewrite_.Substitute(call.outputs[0], by); }
  /// Put another call in this one's place, if its first result is of the same form; nobody asks for its others.
  bool Exchange(GraphCall* call, const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs,
                std::vector<GraphCall::Symbolic> symbolic = {}, std::vector<int32_t> list_sizes = {});
  /// Put a call before the present one; kNoValue if the operator refuses these inputs. Of use only to an Exchange that
  /// follows, and pruned if that fails.
  ValueId Insert(const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs,
                 std::vector<GraphCall::Symbolic> symbolic = {});

 private:
  Graph& graph_;
  Rewrite rewrite_;
  std::vector<int> makers_;   ///< of values: a call, or -1
  std::vector<int> readers_;  ///< of values: how often they are read
  size_t position_ = 0;       ///< of the present call
  std::vector<std::pair<size_t, GraphCall>> inserted_;
  std::unordered_map<size_t, std::vector<std::pair<Value, ValueId>>> numbers_;
};

const SimplifyRules& AlgebraRules();
const SimplifyRules& ViewRules();

}  // namespace dragon
