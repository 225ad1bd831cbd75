// The rules of `simplify`, and what they may do to the call that they look at.
#pragma once

#include <string_view>
#include <unordered_map>

#include "core/framework/graph.h"
#include "core/passes/rewrite.h"

namespace dragon {

/// A walk over the calls in order. Before a rule sees a call, its inputs are what stands for them by now.
class Simplifier {
 public:
  explicit Simplifier(Graph& graph);
  void Run();

  const Graph& graph() const { return graph_; }
  const ValueInfo& info(ValueId id) const { return graph_.values[id]; }
  /// The call that makes a value as its only result; nullptr for inputs, constants and results of several.
  const GraphCall* Maker(ValueId id) const;
  /// The same, if it is a call of this operator.
  const GraphCall* Maker(ValueId id, std::string_view op) const;
  /// The one number that every element of a value is, if that is known.
  std::optional<Value> NumberOf(ValueId id) const;
  /// A 0-d constant.
  ValueId Number(const Value& number, DType dtype);

  /// Let another value stand for what the call makes.
  bool Become(const GraphCall& call, ValueId by) { return rewrite_.Substitute(call.outputs[0], by); }
  /// Put another call in this one's place, if it makes a value of the same form.
  bool Exchange(GraphCall* call, const char* op, std::vector<ValueId> inputs, std::vector<Value> attrs,
                std::vector<GraphCall::Symbolic> symbolic = {});

 private:
  Graph& graph_;
  Rewrite rewrite_;
  std::vector<int> makers_;  ///< of values: a call, or -1
  std::unordered_map<size_t, std::vector<std::pair<Value, ValueId>>> numbers_;
};

/// Look at a call; true if something was changed.
using SimplifyRule = bool (*)(Simplifier& simplifier, GraphCall* call);

/// Operator -> what may be simpler about a call of it.
const std::unordered_multimap<std::string_view, SimplifyRule>& AlgebraRules();
const std::unordered_multimap<std::string_view, SimplifyRule>& ViewRules();

}  // namespace dragon
