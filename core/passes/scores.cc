// Scaling and masking, in the ways in which programs write them.
#include "core/passes/scores.h"

#include <limits>

namespace dragon {
namespace {

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
bool ReadHidden(const Simplifier& s, ValueId id, Scores* scores) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const GraphCall* fill = s.Only(id, "masked_fill");
  if (fill && s.RealOf(fill->inputs[2]) == kNever && HasShapeOf(s, fill->inputs[0], id)) {
    const ValueId hidden = fill->inputs[1];
    if (!ReadScaledProduct(s, fill->inputs[0], scores)) return false;
    scores->causal = HidesTheFuture(s, hidden, true);
    if (scores->causal) return true;
    scores->mask = hidden;
    return scores->mask_hides = true;
  }
  const GraphCall* where = s.Only(id, "where");
  if (!where || s.RealOf(where->inputs[2]) != kNever || !HasShapeOf(s, where->inputs[1], id)) return false;
  scores->causal = HidesTheFuture(s, where->inputs[0], false);
  if (!scores->causal) scores->mask = where->inputs[0];
  return ReadScaledProduct(s, where->inputs[1], scores);
}

}  // namespace

bool ReadScores(const Simplifier& s, ValueId id, Scores* scores) {
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

}  // namespace dragon
