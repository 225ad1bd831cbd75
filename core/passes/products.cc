// Flattening products.
#include "core/passes/products.h"

#include <cmath>

namespace dragon {

namespace {

void Collect(const Simplifier& s, ValueId id, Product* product);

void CollectCall(const Simplifier& s, const GraphCall& call, Product* product) {
  Collect(s, call.inputs[0], product);
  if (call.op->name() == "mul") {
    Collect(s, call.inputs[1], product);
  } else {
    product->number /= s.RealOf(call.inputs[1]);
  }
}

void Collect(const Simplifier& s, ValueId id, Product* product) {
  if (const double number = s.RealOf(id); !std::isnan(number)) {
    product->number *= number;
  } else if (const GraphCall* mul = s.Only(id, "mul")) {
    CollectCall(s, *mul, product);
  } else if (const GraphCall* div = s.Only(id, "div"); div && !std::isnan(s.RealOf(div->inputs[1]))) {
    CollectCall(s, *div, product);
  } else {
    product->factors.push_back(id);
  }
}

}  // namespace

Product FactorsOf(const Simplifier& s, ValueId id) {
  Product product;
  Collect(s, id, &product);
  return product;
}

Product FactorsOf(const Simplifier& s, const GraphCall& call) {
  Product product;
  CollectCall(s, call, &product);
  return product;
}

bool IsOne(const Value& alpha) {
  return alpha.is_number() && alpha.kind() != Value::Kind::kComplex && alpha.real() == 1;
}

ValueId BesideNumber(const Simplifier& s, const GraphCall* add, double number) {
  if (!add || !IsOne(add->attr("alpha")) || !add->symbolic.empty()) return kNoValue;
  for (int k = 0; k < 2; ++k) {
    const double beside = s.RealOf(add->inputs[k]);
    if (beside == number || (std::isnan(number) && !std::isnan(beside))) return add->inputs[1 - k];
  }
  return kNoValue;
}

bool Near(double number, double wanted, DType dtype) {
  const double digits = dtype == DType::kFloat64 ? 1e-12 : dtype == DType::kFloat32 ? 1e-6 : 4e-3;
  return std::abs(number - wanted) <= digits * std::abs(wanted);
}

}  // namespace dragon
