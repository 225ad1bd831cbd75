// Expressions that fit: what a number follows that was noted at several sizes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/framework/expression.h"

namespace dragon {

/// By what symbols were at some samples, finds the simplest expression that other numbers were there: a sum of
/// multiples of symbols; a multiple of a quotient of a symbol, rounded down, and of a quotient of that; a multiple of a
/// product.
class Fit {
 public:
  /// `sizes`: of each sample, the symbols'. The first sample is the base, those after it differ from it in one symbol
  /// each. `first`: what the first symbol is called.
  Fit(const std::vector<std::vector<int64_t>>& sizes, int32_t first);

  /// The expression that is these numbers, one of each sample; none where no kind fits all of them, or where the
  /// samples leave open which.
  std::optional<Expression> Find(const std::vector<int64_t>& numbers);

 private:
  using Numbers = std::vector<int64_t>;
  /// What expressions are made of, and what it was at the samples.
  struct Atom {
    Factor factor;
    Numbers numbers;
  };

  std::optional<Expression> Search(const Numbers& numbers);
  std::optional<Expression> Sum(const Numbers& numbers) const;
  std::optional<Expression> Multiple(const Numbers& numbers) const;
  std::optional<Expression> Product(const Numbers& numbers) const;
  std::optional<Expression> Quotient(const Numbers& numbers);
  std::optional<Atom> QuotientOf(const Atom& atom, const Numbers& numbers) const;
  std::optional<Expression> Bounded(const Numbers& numbers);
  bool Holds(const Expression& expression, const Numbers& numbers) const;

  const std::vector<Numbers>& sizes_;
  int32_t first_;
  std::vector<Atom> atoms_;
  std::map<Numbers, std::optional<Expression>> found_;
};

}  // namespace dragon
