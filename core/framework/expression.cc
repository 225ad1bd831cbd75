// What expressions come to, and how they are written.
#include "core/framework/expression.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/whole.h"

namespace dragon {

namespace {

[[noreturn]] void RefuseLarge() { throw ValueError("sizes").Got("a number beyond 64 bits").Expected("smaller sizes"); }

int64_t ValueOf(const Factor& factor, std::span<const int64_t> symbols) {
  if (!factor.dividend) return symbols[factor.symbol];
  return std::clamp(FloorDivided(factor.dividend->Evaluate(symbols), factor.divisor), factor.low, factor.high);
}

std::string Text(const Factor& factor, std::span<const std::string> names) {
  if (!factor.dividend) return names[factor.symbol];
  std::string text = factor.dividend->str(names);
  if (factor.divisor != 1) text = "((" + text + ")//" + std::to_string(factor.divisor) + ")";
  if (factor.low != INT64_MIN) text = "max(" + text + ", " + std::to_string(factor.low) + ")";
  if (factor.high != INT64_MAX) text = "min(" + text + ", " + std::to_string(factor.high) + ")";
  const bool bare = factor.divisor == 1 && factor.low == INT64_MIN && factor.high == INT64_MAX;
  return bare ? "(" + text + ")" : text;
}

}  // namespace

bool operator==(const Factor& a, const Factor& b) {
  if (a.symbol != b.symbol || !a.dividend != !b.dividend) return false;
  return !a.dividend || (a.divisor == b.divisor && a.low == b.low && a.high == b.high && *a.dividend == *b.dividend);
}

int32_t Term::lone_symbol() const { return factors.size() == 1 && !factors[0].dividend ? factors[0].symbol : -1; }

Expression Expression::Of(int32_t symbol, int64_t coefficient, int64_t offset) {
  return Of(Factor{symbol, nullptr}, coefficient, offset);
}

Expression Expression::Of(Factor factor, int64_t coefficient, int64_t offset) {
  return {offset, {Term{coefficient, {std::move(factor)}}}};
}

Factor Expression::Quotient(Expression dividend, int64_t divisor) {
  return {-1, std::make_shared<const Expression>(std::move(dividend)), divisor};
}

Factor Expression::Between(Expression number, int64_t low, int64_t high) {
  return {-1, std::make_shared<const Expression>(std::move(number)), 1, low, high};
}

int64_t Expression::Evaluate(std::span<const int64_t> symbols) const {
  int64_t sum = offset;
  for (const Term& term : terms) {
    int64_t product = term.coefficient;
    for (const Factor& factor : term.factors) {
      if (!Multiplied(product, ValueOf(factor, symbols), &product)) RefuseLarge();
    }
    if (!Added(sum, product, &sum)) RefuseLarge();
  }
  return sum;
}

std::string Expression::str(std::span<const std::string> names) const {
  std::string text;
  for (const Term& term : terms) {
    const bool first = text.empty(), negative = term.coefficient < 0;
    text += first ? (negative ? "-" : "") : (negative ? " - " : " + ");
    const int64_t times = negative ? -term.coefficient : term.coefficient;
    if (times != 1) text += std::to_string(times) + "*";
    for (size_t i = 0; i < term.factors.size(); ++i) text += (i ? "*" : "") + Text(term.factors[i], names);
  }
  if (text.empty()) return std::to_string(offset);
  if (offset) text += (offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
  return text;
}

bool Condition::Holds(std::span<const int64_t> symbols) const {
  const int64_t x = a.Evaluate(symbols), y = b.Evaluate(symbols);
  return (relation == Relation::kEqual ? x == y : relation == Relation::kLess ? x < y : x <= y) == held;
}

std::string Condition::str(std::span<const std::string> names) const {
  static constexpr const char* kOtherwise[] = {"!=", ">=", ">"};
  return a.str(names) + " " + (held ? kRelations : kOtherwise)[static_cast<int>(relation)] + " " + b.str(names);
}

std::string SymbolBounds::str() const {
  std::string text = std::to_string(low) + (high == INT64_MAX ? " and more" : " to " + std::to_string(high));
  return multiple == 1 ? text : text + ", multiples of " + std::to_string(multiple);
}

}  // namespace dragon
