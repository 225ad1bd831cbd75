// Layer and root-mean-square norms that somebody wrote out, with the weights and biases behind them. The operators sum
// in another order than the parts: results agree to a few units in the last place.
#include <cmath>

#include "core/framework/infer.h"
#include "core/passes/pass.h"
#include "core/passes/products.h"

namespace dragon {
namespace {

/// The last axes, kept as 1, that a reduction goes over; 0 if it goes over others.
int TrailingAxes(const Simplifier& s, const GraphCall& call) {
  const ValueInfo& from = s.info(call.inputs[0]);
  if (!call.symbolic.empty() || !call.attr("keepdims").boolean()) return 0;
  const int ndim = from.shape.size();
  if (call.attr("axis").kind() != Value::Kind::kInts || ndim == 0) return 0;
  const Dims axes = NormalizeAxes("norm", call.attr("axis").ints(), ndim);
  for (int i = 0; i < axes.size(); ++i) {
    if (axes[i] != ndim - axes.size() + i) return 0;
  }
  for (const auto& [axis, size] : from.symbolic) {
    if (axis >= ndim - axes.size()) return 0;
  }
  return axes.size();
}

/// mean(...) over trailing axes, in the dtype it comes in, for one reader.
const GraphCall* MeanOf(const Simplifier& s, ValueId id, int* axes) {
  const GraphCall* mean = s.Only(id, "mean");
  if (!mean || s.info(id).dtype != s.info(mean->inputs[0]).dtype) return nullptr;
  *axes = TrailingAxes(s, *mean);
  return *axes > 0 ? mean : nullptr;
}

/// Whose squares a value is: square(x) or x * x.
ValueId RootOf(const Simplifier& s, ValueId id) {
  if (const GraphCall* square = s.Only(id, "square")) return square->inputs[0];
  const GraphCall* mul = s.Only(id, "mul");
  return mul && mul->inputs[0] == mul->inputs[1] ? mul->inputs[0] : kNoValue;
}

/// The variance and epsilon under a root: of `x / root` or `x * (1 / root)`.
ValueId UnderRoot(const Simplifier& s, const GraphCall& call, ValueId* x, double* eps) {
  for (int k = 0; k < (call.op->name() == "mul" ? 2 : 1); ++k) {
    *x = call.inputs[k];
    ValueId divisor = call.inputs[1 - k];
    const GraphCall* root = nullptr;
    if (call.op->name() == "div") {
      root = s.Only(divisor, "sqrt");
    } else if (!(root = s.Only(divisor, "rsqrt"))) {
      if (const GraphCall* over = s.Only(divisor, "reciprocal")) root = s.Only(over->inputs[0], "sqrt");
      if (const GraphCall* over = s.Only(divisor, "div"); over && s.RealOf(over->inputs[0]) == 1) {
        root = s.Only(over->inputs[1], "sqrt");
      }
    }
    const GraphCall* add = root ? s.Only(root->inputs[0], "add") : nullptr;
    const ValueId variance = BesideNumber(s, add, std::nan(""));
    if (variance == kNoValue) continue;
    *eps = s.RealOf(add->inputs[add->inputs[0] == variance ? 1 : 0]);
    return variance;
  }
  return kNoValue;
}

/// The mean of the squares of `x`, or its variance without correction: how many axes it goes over, else 0.
int SecondMoment(const Simplifier& s, ValueId variance, ValueId x, ValueId unshifted) {
  int axes = 0;
  if (const GraphCall* mean = MeanOf(s, variance, &axes)) return RootOf(s, mean->inputs[0]) == x ? axes : 0;
  const GraphCall* var = s.Only(variance, "real_var");
  if (!var || unshifted == kNoValue || (var->inputs[0] != x && var->inputs[0] != unshifted)) return 0;
  const bool corrected = var->attr("correction").is_none() || var->attr("correction").real() != 0;
  return corrected ? 0 : TrailingAxes(s, *var);
}

Dims NormalizedShape(const ValueInfo& info, int axes) {
  Dims shape;
  for (int i = info.shape.size() - axes; i < info.shape.size(); ++i) shape.push_back(info.shape[i]);
  return shape;
}

bool Norm(Simplifier& s, GraphCall* call) {
  if (!IsFloating(s.info(call->outputs[0]).dtype)) return false;
  ValueId x;
  double eps;
  const ValueId variance = UnderRoot(s, *call, &x, &eps);
  if (variance == kNoValue) return false;
  if (const GraphCall* centred = s.Maker(x, "sub"); centred && IsOne(centred->attr("alpha"))) {
    const ValueId whole = centred->inputs[0];
    int mean_axes = 0;
    const GraphCall* mean = MeanOf(s, centred->inputs[1], &mean_axes);
    if (mean && mean->inputs[0] == whole && SecondMoment(s, variance, x, whole) == mean_axes) {
      const Dims shape = NormalizedShape(s.info(whole), mean_axes);
      return s.Exchange(call, "native_layer_norm", {whole, kNoValue, kNoValue}, {Value(shape), Value(eps)});
    }
  }
  const int axes = SecondMoment(s, variance, x, kNoValue);
  if (axes == 0) return false;
  return s.Exchange(call, "native_rms_norm", {x, kNoValue}, {Value(NormalizedShape(s.info(x), axes)), Value(eps)});
}

/// A weight times a norm without one, or a bias on top of one with a weight.
bool JoinAffine(Simplifier& s, GraphCall* call) {
  const bool adds = call->op->name() == "add";
  if (adds && !IsOne(call->attr("alpha"))) return false;
  for (int k = 0; k < 2; ++k) {
    for (const char* name : {"native_layer_norm", "native_rms_norm"}) {
      const GraphCall* norm = s.Only(call->inputs[k], name);
      if (!norm) continue;
      const size_t slot = adds ? 2 : 1;
      const bool vacant = slot < norm->inputs.size() && norm->inputs[slot] == kNoValue;
      if (!vacant || (adds && norm->inputs[1] == kNoValue)) continue;
      const ValueInfo& factor = s.info(call->inputs[1 - k]);
      if (factor.shape != norm->attr("normalized_shape").ints() || factor.dtype != s.info(norm->inputs[0]).dtype)
        continue;
      std::vector<ValueId> inputs = norm->inputs;
      inputs[slot] = call->inputs[1 - k];
      if (s.Exchange(call, name, inputs, norm->attrs)) return true;
    }
  }
  return false;
}

void FindNorms(Graph& graph) {
  static const SimplifyRules rules = {{"div", Norm}, {"mul", Norm}, {"mul", JoinAffine}, {"add", JoinAffine}};
  Simplifier(graph).Run({&rules});
}

DRAGON_PASS(FindNorms, 3, 225, "Find layer norms and root-mean-square norms in their formulas.");

}  // namespace
}  // namespace dragon
