// Softmax and its logarithm that somebody wrote out, with the maximum taken off first. Results agree to a few units in
// the last place.
#include "core/framework/infer.h"
#include "core/passes/pass.h"
#include "core/passes/products.h"

namespace dragon {
namespace {

/// The one axis, kept as 1, that a reduction goes over.
std::optional<int64_t> OneAxis(const Simplifier& s, const GraphCall* reduction) {
  if (!reduction || !reduction->symbolic.empty() || !reduction->attr("keepdims").boolean()) return std::nullopt;
  const int ndim = s.info(reduction->inputs[0]).shape.size();
  const Value& axis = reduction->attr("axis");
  if (axis.kind() != Value::Kind::kInts || axis.ints().size() != 1 || ndim == 0) return std::nullopt;
  return NormalizeAxis("softmax", axis.ints()[0], ndim);
}

/// x of x - amax(x, axis)
ValueId WithoutMaximum(const Simplifier& s, ValueId id, int64_t axis) {
  const GraphCall* sub = s.Maker(id, "sub");
  if (!sub || !IsOne(sub->attr("alpha"))) return kNoValue;
  const GraphCall* most = s.Only(sub->inputs[1], "amax");
  return most && most->inputs[0] == sub->inputs[0] && OneAxis(s, most) == axis ? sub->inputs[0] : kNoValue;
}

bool SameDType(const Simplifier& s, const GraphCall& sum) {
  return s.info(sum.inputs[0]).dtype == s.info(sum.outputs[0]).dtype;
}

/// e / sum(e), e = exp(x - amax(x))
bool Softmax(Simplifier& s, GraphCall* call) {
  const GraphCall* sum = s.Only(call->inputs[1], "sum");
  const std::optional<int64_t> axis = OneAxis(s, sum);
  if (!axis || sum->inputs[0] != call->inputs[0] || !SameDType(s, *sum)) return false;
  const GraphCall* exp = s.Maker(call->inputs[0], "exp");
  const ValueId x = exp ? WithoutMaximum(s, exp->inputs[0], *axis) : kNoValue;
  return x != kNoValue && s.Exchange(call, "softmax", {x}, {Value(*axis), Value()});
}

/// d - log(sum(exp(d))), d = x - amax(x)
bool LogSoftmax(Simplifier& s, GraphCall* call) {
  if (!IsOne(call->attr("alpha"))) return false;
  const GraphCall* log = s.Only(call->inputs[1], "log");
  const GraphCall* sum = log ? s.Only(log->inputs[0], "sum") : nullptr;
  const std::optional<int64_t> axis = OneAxis(s, sum);
  if (!axis || !SameDType(s, *sum)) return false;
  const GraphCall* exp = s.Only(sum->inputs[0], "exp");
  if (!exp || exp->inputs[0] != call->inputs[0]) return false;
  const ValueId x = WithoutMaximum(s, call->inputs[0], *axis);
  return x != kNoValue && s.Exchange(call, "log_softmax", {x}, {Value(*axis), Value()});
}

void FindSoftmax(Graph& graph) {
  static const SimplifyRules rules = {{"div", Softmax}, {"sub", LogSoftmax}};
  Simplifier(graph).Run({&rules});
}

DRAGON_PASS(FindSoftmax, 3, 230, "Find softmax and its logarithm in their formulas.");

}  // namespace
}  // namespace dragon
