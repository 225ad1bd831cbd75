// Chains of views: what changes nothing goes, and two steps become one.
#include <algorithm>

#include "core/passes/simplify.h"

namespace dragon {
namespace {

bool IsSymbolic(const ValueInfo& info, int axis) {
  return std::any_of(info.symbolic.begin(), info.symbolic.end(), [&](const auto& size) { return size.first == axis; });
}
bool IsRowMajor(const ValueInfo& info) { return info.strides.empty(); }

/// The attribute `shape` of a value's own sizes, the symbolic ones among them.
std::vector<GraphCall::Symbolic> SymbolicShape(const ValueInfo& info) {
  std::vector<GraphCall::Symbolic> symbolic;
  for (const auto& [axis, expression] : info.symbolic) symbolic.push_back({0, axis, expression});
  return symbolic;
}

/// These keep the order of elements and leave none out where the form is the same.
bool Nothing(Simplifier& s, GraphCall* call) { return s.Become(*call, call->inputs[0]); }

/// The axes of a permutation; empty if they follow a symbol or this is none.
Dims OrderOf(const Simplifier& s, const GraphCall& call) {
  const int ndim = s.info(call.outputs[0]).shape.size();
  Dims order;
  if (!call.symbolic.empty()) return order;
  const auto place = [&](int64_t axis) { return axis < 0 ? axis + ndim : axis; };
  if (call.op->name() == "permute") {
    for (int64_t axis : call.attr("axes").ints()) order.push_back(place(axis));
  } else if (call.op->name() == "transpose") {
    for (int axis = 0; axis < ndim; ++axis) order.push_back(axis);
    if (ndim > 0) std::swap(order[place(call.attr("axis0").integer())], order[place(call.attr("axis1").integer())]);
  }
  return order;
}

/// Only axes of size 1 change their places.
bool MovesOnes(const ValueInfo& from, const Dims& order) {
  int64_t last = -1;
  for (int64_t axis : order) {
    if (from.shape[axis] == 1 && !IsSymbolic(from, static_cast<int>(axis))) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

/// A row-major value seen as another row-major value, in the same order of elements.
bool IsReshaping(const Simplifier& s, const GraphCall& call) {
  const std::string& name = call.op->name();
  if (!IsRowMajor(s.info(call.inputs[0])) || !IsRowMajor(s.info(call.outputs[0]))) return false;
  if (name == "view" || name == "squeeze" || name == "unsqueeze") return true;
  const Dims order = OrderOf(s, call);
  return !order.empty() && MovesOnes(s.info(call.inputs[0]), order);
}

bool ReshapedTwice(Simplifier& s, GraphCall* call) {
  if (!IsReshaping(s, *call)) return false;
  const GraphCall* inner = s.Maker(call->inputs[0]);
  if (!inner || !inner->op->view || !IsReshaping(s, *inner)) return false;
  const ValueInfo& to = s.info(call->outputs[0]);
  if (s.Become(*call, inner->inputs[0])) return true;
  return s.Exchange(call, "view", {inner->inputs[0]}, {Value(to.shape)}, SymbolicShape(to));
}

bool PermutedTwice(Simplifier& s, GraphCall* call) {
  const GraphCall* inner = s.Maker(call->inputs[0]);
  if (!inner || !inner->op->view) return false;
  const Dims outer_order = OrderOf(s, *call), inner_order = OrderOf(s, *inner);
  if (outer_order.empty() || inner_order.empty()) return false;
  Dims order;
  bool idle = true;
  for (int64_t axis : outer_order) {
    idle &= inner_order[axis] == static_cast<int64_t>(order.size());
    order.push_back(inner_order[axis]);
  }
  if (idle && s.Become(*call, inner->inputs[0])) return true;
  return s.Exchange(call, "permute", {inner->inputs[0]}, {Value(order)});
}

/// A permutation that leaves every axis, but perhaps some of size 1, where it is.
bool PermutedOnes(Simplifier& s, GraphCall* call) {
  const Dims order = OrderOf(s, *call);
  return !order.empty() && MovesOnes(s.info(call->inputs[0]), order) && s.Become(*call, call->inputs[0]);
}

bool ExpandedTwice(Simplifier& s, GraphCall* call) {
  const GraphCall* inner = s.Maker(call->inputs[0], "expand");
  const ValueInfo& to = s.info(call->outputs[0]);
  return inner && s.Exchange(call, "expand", {inner->inputs[0]}, {Value(to.shape)}, SymbolicShape(to));
}

}  // namespace

const SimplifyRules& ViewRules() {
  static const SimplifyRules rules = {
      {"view", Nothing},
      {"expand", Nothing},
      {"squeeze", Nothing},
      {"slice", Nothing},
      {"subview", Nothing},
      {"reshape", Nothing},
      {"flatten", Nothing},
      {"broadcast_to", Nothing},
      {"ravel", Nothing},
      {"view_dtype", Nothing},
      {"permute", PermutedOnes},
      {"transpose", PermutedOnes},
      {"view", ReshapedTwice},
      {"squeeze", ReshapedTwice},
      {"unsqueeze", ReshapedTwice},
      {"permute", ReshapedTwice},
      {"transpose", ReshapedTwice},
      {"permute", PermutedTwice},
      {"transpose", PermutedTwice},
      {"expand", ExpandedTwice},
  };
  return rules;
}

}  // namespace dragon
