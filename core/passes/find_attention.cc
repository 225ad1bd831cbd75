// softmax(scale q k^T + mask) v becomes one operator, which never holds all the scores. It sums in another order:
// results agree to about 1e-6 of their size. A query that sees no key at all stays NaN.
#include <limits>

#include "core/passes/pass.h"
#include "core/passes/products.h"

namespace dragon {
namespace {

struct Scores {
  ValueId q = kNoValue, keys = kNoValue;  ///< keys as they are multiplied: their last two axes exchanged
  ValueId mask = kNoValue;
  double scale = 1;
  bool causal = false;  ///< query i sees keys 0 to i, and there is no mask
};

bool HasShapeOf(const Simplifier& s, ValueId id, ValueId other) { return s.info(id).shape == s.info(other).shape; }

bool ReadScaledProduct(const Simplifier& s, ValueId id, Scores* scores) {
  const Product product = FactorsOf(s, id);
  if (product.factors.size() != 1) return false;
  const GraphCall* matmul = s.Only(product.factors[0], "matmul");
  if (!matmul || !HasShapeOf(s, product.factors[0], id)) return false;
  scores->q = matmul->inputs[0];
  scores->keys = matmul->inputs[1];
  scores->scale = product.number;
  return true;
}

/// A constant mask that hides from query i exactly the keys beyond i.
template <typename T>
bool HidesTheFuture(const Tensor& mask, T hidden, T seen) {
  const int64_t size = mask.size(-1);
  const T* numbers = static_cast<const T*>(mask.data());
  for (int64_t row = 0; row < mask.numel() / size; ++row) {
    for (int64_t key = 0; key < size; ++key) {
      if (numbers[row * size + key] != (key > row % size ? hidden : seen)) return false;
    }
  }
  return true;
}
bool HidesTheFuture(const Simplifier& s, ValueId mask, bool true_is_hidden) {
  const auto known = s.graph().constants.find(mask);
  if (known == s.graph().constants.end()) return false;
  const Tensor& tensor = known->second;
  const bool square = tensor.ndim() >= 2 && tensor.size(-1) == tensor.size(-2) && tensor.size(-1) > 1;
  if (!square || !tensor.device().is_cpu() || !tensor.is_contiguous()) return false;
  if (tensor.dtype() == DType::kBool) return HidesTheFuture<bool>(tensor, true_is_hidden, !true_is_hidden);
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  return tensor.dtype() == DType::kFloat32 && HidesTheFuture<float>(tensor, kNever, 0);
}

/// Scores that are -inf where a key is not seen: masked_fill(scores, hidden, -inf) or where(seen, scores, -inf).
bool ReadHidden(Simplifier& s, ValueId id, Scores* scores) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const GraphCall* fill = s.Only(id, "masked_fill");
  if (fill && s.RealOf(fill->inputs[2]) == kNever && HasShapeOf(s, fill->inputs[0], id)) {
    const ValueId hidden = fill->inputs[1];
    if (!ReadScaledProduct(s, fill->inputs[0], scores)) return false;
    scores->causal = HidesTheFuture(s, hidden, true);
    if (scores->causal) return true;
    scores->mask = s.Insert("logical_not", {hidden}, {});
    return scores->mask != kNoValue;
  }
  const GraphCall* where = s.Only(id, "where");
  if (!where || s.RealOf(where->inputs[2]) != kNever || !HasShapeOf(s, where->inputs[1], id)) return false;
  scores->causal = HidesTheFuture(s, where->inputs[0], false);
  if (!scores->causal) scores->mask = where->inputs[0];
  return ReadScaledProduct(s, where->inputs[1], scores);
}

bool ReadScores(Simplifier& s, ValueId id, Scores* scores) {
  if (ReadHidden(s, id, scores)) return true;
  *scores = Scores();
  const GraphCall* add = s.Only(id, "add");
  if (!add || !IsOne(add->attr("alpha"))) return ReadScaledProduct(s, id, scores);
  for (int k = 0; k < 2; ++k) {
    scores->mask = add->inputs[1 - k];
    if (!HasShapeOf(s, add->inputs[k], id) || !ReadScaledProduct(s, add->inputs[k], scores)) continue;
    scores->causal = HidesTheFuture(s, scores->mask, false);
    if (scores->causal) scores->mask = kNoValue;
    return true;
  }
  return false;
}

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
