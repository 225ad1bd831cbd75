// softmax(scale q k^T + mask) v becomes one operator, which never holds all the scores. It sums in another order:
// results agree to about 1e-6 of their size. A query that sees no key at all stays NaN.
#include "core/passes/pass.h"
#include "core/passes/scores.h"

namespace dragon {
namespace {

/// A value as four axes, those in front being 1; kNoValue if that takes a copy or other axes.
ValueId FourAxes(Simplifier& s, ValueId id) {
  const int missing = 4 - s.info(id).shape.size();
  if (missing < 0) return kNoValue;
  for (int i = 0; i < missing && id != kNoValue; ++i) id = s.Insert("unsqueeze", {id}, {Value(int64_t{0})});
  return id;
}

/// The mask in the shape of the scores, which the operator asks for.
ValueId SpreadMask(Simplifier& s, ValueId mask, const ValueInfo& scores) {
  if (s.info(mask).shape == scores.shape) return mask;
  std::vector<GraphCall::Symbolic> symbolic;
  for (const auto& [axis, size] : scores.symbolic) symbolic.push_back({0, axis, size});
  return s.Insert("expand", {mask}, {Value(scores.shape)}, std::move(symbolic));
}

bool Attention(Simplifier& s, GraphCall* call) {
  const GraphCall* softmax = s.Only(call->inputs[0], "softmax");
  if (!softmax || !softmax->symbolic.empty()) return false;
  const ValueInfo weights = s.info(call->inputs[0]);
  const int ndim = weights.shape.size();
  const int64_t axis = softmax->attr("axis").integer();
  const bool last = axis == -1 || axis == ndim - 1;
  if (!last || (ndim != 3 && ndim != 4) || s.info(softmax->inputs[0]).dtype != weights.dtype) return false;
  Scores scores;
  if (!ReadScores(s, softmax->inputs[0], &scores)) return false;
  // A mask for more queries than keys, or fewer, says something else than the operator's flag.
  if (scores.causal && weights.shape[ndim - 1] != weights.shape[ndim - 2]) return false;
  const ValueId v = call->inputs[1];
  for (ValueId id : {scores.q, scores.keys, v}) {
    const ValueInfo& info = s.info(id);
    if (info.shape.size() != ndim || info.dtype != weights.dtype || (ndim == 3 && !info.symbolic.empty())) return false;
  }
  if (scores.mask != kNoValue) {
    if (scores.mask_hides) scores.mask = s.Insert("logical_not", {scores.mask}, {});
    if (scores.mask == kNoValue) return false;
    const DType dtype = s.info(scores.mask).dtype;
    if (dtype != weights.dtype && dtype != DType::kBool) return false;
    scores.mask = SpreadMask(s, scores.mask, weights);
    scores.mask = scores.mask == kNoValue ? kNoValue : FourAxes(s, scores.mask);
    if (scores.mask == kNoValue) return false;
  }
  const ValueId k = s.Insert("transpose", {scores.keys}, {Value(int64_t{-2}), Value(int64_t{-1})});
  if (k == kNoValue) return false;
  std::vector<Value> attrs = {Value(scores.scale), Value(scores.causal), Value(true)};
  if (ndim == 4) return s.Exchange(call, "attention", {scores.q, k, v, scores.mask}, attrs);
  const ValueId wide =
      s.Insert("attention", {FourAxes(s, scores.q), FourAxes(s, k), FourAxes(s, v), scores.mask}, attrs);
  return wide != kNoValue && s.Exchange(call, "squeeze", {wide}, {Value(Dims{0})});
}

void FindAttention(Graph& graph) {
  static const SimplifyRules rules = {{"matmul", Attention}};
  Simplifier(graph).Run({&rules});
}

DRAGON_PASS(FindAttention, 3, 235, "Find scaled dot product attention in its products.");

}  // namespace
}  // namespace dragon
