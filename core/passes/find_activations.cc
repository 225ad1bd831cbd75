// Activations that somebody wrote out: x/2 (1 + erf(x/sqrt 2)) is gelu, x sigmoid(x) is silu. They round otherwise than
// their parts, by a few units in the last place.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/passes/pass.h"
#include "core/passes/products.h"

namespace dragon {
namespace {

/// x^2, as a factor or two; takes them out of the product.
bool TakeSquare(const Simplifier& s, ValueId x, Product* product) {
  auto& factors = product->factors;
  if (std::erase_if(factors, [&](ValueId id) {
        const GraphCall* square = s.Maker(id, "square");
        return square && square->inputs[0] == x;
      })) {
    return true;
  }
  return std::erase(factors, x) == 2;
}

bool TakeOne(ValueId x, Product* product) {
  const auto found = std::find(product->factors.begin(), product->factors.end(), x);
  if (found == product->factors.end()) return false;
  product->factors.erase(found);
  return true;
}

/// 0.044715 x^3
bool IsCubicTerm(const Simplifier& s, ValueId id, ValueId x, DType dtype) {
  Product product = FactorsOf(s, id);
  if (!Near(product.number, 0.044715, dtype)) return false;
  if (product.factors.size() == 1) {
    const GraphCall* power = s.Maker(product.factors[0], "pow");
    return power && power->inputs[0] == x && s.RealOf(power->inputs[1]) == 3;
  }
  return TakeOne(x, &product) && TakeSquare(s, x, &product) && product.factors.empty();
}

/// sqrt(2/pi) (x + 0.044715 x^3), or with x outside the brackets
bool IsTanhArgument(const Simplifier& s, ValueId id, ValueId x, DType dtype) {
  Product product = FactorsOf(s, id);
  if (!Near(product.number, std::sqrt(2 / std::numbers::pi), dtype)) return false;
  const bool outside = product.factors.size() == 2 && TakeOne(x, &product);
  if (product.factors.size() != 1) return false;
  const GraphCall* add = s.Only(product.factors[0], "add");
  if (outside) {
    const ValueId rest = BesideNumber(s, add, 1);
    if (rest == kNoValue) return false;
    Product square = FactorsOf(s, rest);
    return Near(square.number, 0.044715, dtype) && TakeSquare(s, x, &square) && square.factors.empty();
  }
  if (!add || !IsOne(add->attr("alpha"))) return false;
  return (add->inputs[0] == x && IsCubicTerm(s, add->inputs[1], x, dtype)) ||
         (add->inputs[1] == x && IsCubicTerm(s, add->inputs[0], x, dtype));
}

/// The name of what a gate makes of x: "none" or "tanh", gelu's two; nullptr if it is no such gate.
const char* GeluOf(const Simplifier& s, ValueId gate, ValueId x) {
  const DType dtype = s.info(x).dtype;
  const ValueId curve = BesideNumber(s, s.Only(gate, "add"), 1);
  if (curve == kNoValue) return nullptr;
  if (const GraphCall* erf = s.Only(curve, "erf")) {
    const Product inside = FactorsOf(s, erf->inputs[0]);
    const bool fits = inside.factors.size() == 1 && inside.factors[0] == x;
    return fits && Near(inside.number, std::numbers::sqrt2 / 2, dtype) ? "none" : nullptr;
  }
  const GraphCall* tanh = s.Only(curve, "tanh");
  return tanh && IsTanhArgument(s, tanh->inputs[0], x, dtype) ? "tanh" : nullptr;
}

bool Activation(Simplifier& s, GraphCall* call) {
  if (call->op->name() == "div" && std::isnan(s.RealOf(call->inputs[1]))) return false;
  if (!IsFloating(s.info(call->outputs[0]).dtype)) return false;
  const Product product = FactorsOf(s, *call);
  if (product.factors.size() != 2) return false;
  for (int k = 0; k < 2; ++k) {
    const ValueId x = product.factors[k], gate = product.factors[1 - k];
    const GraphCall* sigmoid = product.number == 1 ? s.Only(gate, "sigmoid") : nullptr;
    if (sigmoid && sigmoid->inputs[0] == x) return s.Exchange(call, "silu", {x}, {});
    const char* kind = product.number == 0.5 ? GeluOf(s, gate, x) : nullptr;
    if (kind) return s.Exchange(call, "gelu", {x}, {Value(kind)});
  }
  return false;
}

void FindActivations(Graph& graph) {
  static const SimplifyRules rules = {{"mul", Activation}, {"div", Activation}};
  Simplifier(graph).Run({&rules});
}

DRAGON_PASS(FindActivations, 3, 220, "Find gelu and silu in their formulas.");

}  // namespace
}  // namespace dragon
