// Numbers that follow symbols: sizes, and attributes made of sizes, that are only known when a graph runs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/macros.h"

namespace dragon {

struct Expression;

/// How deep quotients of quotients may go: one comes from each layer that takes every second place.
inline constexpr int kDeepestQuotient = 64;

/// What a term multiplies: a symbol; or what an expression comes to divided by a number, rounded down, and then brought
/// between two others.
struct DRAGON_API Factor {
  int32_t symbol = -1;
  std::shared_ptr<const Expression> dividend;  ///< if it is no symbol
  int64_t divisor = 1;
  int64_t low = INT64_MIN, high = INT64_MAX;

  friend DRAGON_API bool operator==(const Factor& a, const Factor& b);
};

/// coefficient * the factors, of which there is one at least.
struct DRAGON_API Term {
  int64_t coefficient = 1;
  std::vector<Factor> factors;

  /// The symbol that it is a multiple of; -1 where it is anything else.
  int32_t lone_symbol() const;
  friend bool operator==(const Term&, const Term&) = default;
};

/// offset + the sum of terms.
struct DRAGON_API Expression {
  int64_t offset = 0;
  std::vector<Term> terms;

  /// coefficient * symbol + offset
  static Expression Of(int32_t symbol, int64_t coefficient = 1, int64_t offset = 0);
  static Expression Of(Factor factor, int64_t coefficient = 1, int64_t offset = 0);
  static Factor Quotient(Expression dividend, int64_t divisor);
  static Factor Between(Expression number, int64_t low, int64_t high);

  bool is_constant() const { return terms.empty(); }
  /// What it is; a ValueError where that is beyond 64 bits.
  int64_t Evaluate(std::span<const int64_t> symbols) const;
  /// As people and Python write it: "2*batch + ((length - 5)//5)", "min(length, 50)".
  std::string str(std::span<const std::string> names) const;
  friend bool operator==(const Expression&, const Expression&) = default;
};

enum class Relation : uint8_t { kEqual, kLess, kLessEqual };
/// How people and Python write them.
inline constexpr const char* kRelations[] = {"==", "<", "<="};

/// What a program decided by sizes: that a relation between two numbers held, or that it did not.
struct DRAGON_API Condition {
  Relation relation = Relation::kEqual;
  bool held = true;
  Expression a, b;

  bool Holds(std::span<const int64_t> symbols) const;
  /// "batch*2 < length", "batch != 8"
  std::string str(std::span<const std::string> names) const;
  friend bool operator==(const Condition&, const Condition&) = default;
};

/// Within which sizes a symbol may be chosen.
struct DRAGON_API SymbolBounds {
  int64_t low = 0, high = INT64_MAX;  ///< both are among them
  int64_t multiple = 1;

  /// Whether there is such a size.
  bool is_possible() const { return 0 <= low && low <= high && multiple >= 1; }
  bool Holds(int64_t size) const { return low <= size && size <= high && size % multiple == 0; }
  /// "2 to 49", "32 and more, multiples of 32"
  std::string str() const;
  friend bool operator==(const SymbolBounds&, const SymbolBounds&) = default;
};

}  // namespace dragon
