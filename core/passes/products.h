// A product seen as one number times values, however it was bracketed: what patterns of activations are made of.
#pragma once

#include <vector>

#include "core/passes/simplify.h"

namespace dragon {

struct Product {
  double number = 1;
  std::vector<ValueId> factors;
};

/// The factors of a value: through products, and quotients by a number, that nobody else reads.
Product FactorsOf(const Simplifier& s, ValueId id);
/// The same of a call that makes a product or a quotient.
Product FactorsOf(const Simplifier& s, const GraphCall& call);
/// A sum of this number (NaN: of any) and something else, which is returned; kNoValue if the call is none.
ValueId BesideNumber(const Simplifier& s, const GraphCall* add, double number);
/// The attribute of a sum that has no factor.
bool IsOne(const Value& alpha);
/// As near as the dtype's rounding of a literal can be.
bool Near(double number, double wanted, DType dtype);

}  // namespace dragon
