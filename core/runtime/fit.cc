// Trying one kind of expression after the other.
#include "core/runtime/fit.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"

namespace dragon {

namespace {

using Int128 = __int128;

/// factor * a + offset == b at all samples, from the first two that differ; false if there is no such line.
bool LineThrough(const std::vector<int64_t>& a, const std::vector<int64_t>& b, int64_t* factor, int64_t* offset) {
  size_t other = 1;
  while (other < a.size() && a[other] == a[0]) ++other;
  if (other == a.size()) return false;
  const Int128 rise = static_cast<Int128>(b[other]) - b[0], step = static_cast<Int128>(a[other]) - a[0];
  if (rise % step != 0 || rise == 0) return false;
  const Int128 times = rise / step, rest = b[0] - times * a[0];
  for (size_t i = 0; i < a.size(); ++i) {
    if (times * a[i] + rest != b[i]) return false;
  }
  *factor = static_cast<int64_t>(times), *offset = static_cast<int64_t>(rest);
  return *factor == times && *offset == rest;
}

/// Products at all samples; empty where one is beyond 64 bits.
std::vector<int64_t> Times(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> product(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (__builtin_mul_overflow(a[i], b[i], &product[i])) return {};
  }
  return product;
}

constexpr int64_t kMostDivisors = 4096;
/// So many samples more than symbols tell what goes in steps from what only seems to.
constexpr size_t kEnough = 12;

}  // namespace

Fit::Fit(const std::vector<Numbers>& sizes, int32_t first) : sizes_(sizes), first_(first) {
  for (size_t k = 0; k < sizes[0].size(); ++k) {
    Atom atom{{first + static_cast<int32_t>(k), nullptr}, {}};
    for (const Numbers& sample : sizes) atom.numbers.push_back(sample[k]);
    atoms_.push_back(std::move(atom));
  }
}

std::optional<Expression> Fit::Find(const Numbers& numbers) {
  if (std::all_of(numbers.begin(), numbers.end(), [&](int64_t number) { return number == numbers[0]; })) {
    return Expression{numbers[0], {}};
  }
  const auto known = found_.find(numbers);
  if (known != found_.end()) return known->second;
  return found_[numbers] = Search(numbers);
}

std::optional<Expression> Fit::Search(const Numbers& numbers) {
  if (auto found = Sum(numbers)) return found;
  if (auto found = Multiple(numbers)) return found;
  if (auto found = Product(numbers)) return found;
  if (numbers.size() < sizes_[0].size() + kEnough) return std::nullopt;
  if (auto found = Bounded(numbers)) return found;
  return Quotient(numbers);
}

bool Fit::Holds(const Expression& expression, const Numbers& numbers) const {
  try {
    for (size_t i = 0; i < numbers.size(); ++i) {
      Numbers symbols(first_, 0);
      symbols.insert(symbols.end(), sizes_[i].begin(), sizes_[i].end());
      if (expression.Evaluate(symbols) != numbers[i]) return false;
    }
  } catch (const Error&) {
    return false;
  }
  return true;
}

std::optional<Expression> Fit::Sum(const Numbers& numbers) const {
  Expression expression;
  Int128 offset = numbers[0];
  for (size_t k = 0; k < sizes_[0].size(); ++k) {
    const Int128 step = static_cast<Int128>(sizes_[k + 1][k]) - sizes_[0][k];
    const Int128 rise = static_cast<Int128>(numbers[k + 1]) - numbers[0];
    if (rise % step != 0) return std::nullopt;
    const auto times = static_cast<int64_t>(rise / step);
    if (times != rise / step) return std::nullopt;
    if (times) expression.terms.push_back({times, {{first_ + static_cast<int32_t>(k), nullptr}}});
    offset -= rise / step * sizes_[0][k];
  }
  expression.offset = static_cast<int64_t>(offset);
  const bool holds = expression.offset == offset && Holds(expression, numbers);
  return holds ? std::optional(std::move(expression)) : std::nullopt;
}

std::optional<Expression> Fit::Multiple(const Numbers& numbers) const {
  int64_t times, offset;
  for (const Atom& atom : atoms_) {
    if (LineThrough(atom.numbers, numbers, &times, &offset)) return Expression::Of(atom.factor, times, offset);
  }
  return std::nullopt;
}

std::optional<Expression> Fit::Product(const Numbers& numbers) const {
  int64_t times, offset;
  for (size_t i = 0; i < atoms_.size(); ++i) {
    for (size_t j = i; j < atoms_.size(); ++j) {
      const Numbers two = Times(atoms_[i].numbers, atoms_[j].numbers);
      if (two.empty()) continue;
      if (LineThrough(two, numbers, &times, &offset)) {
        return Expression{offset, {{times, {atoms_[i].factor, atoms_[j].factor}}}};
      }
      for (size_t k = j; k < atoms_.size(); ++k) {
        const Numbers three = Times(two, atoms_[k].numbers);
        if (!three.empty() && LineThrough(three, numbers, &times, &offset)) {
          return Expression{offset, {{times, {atoms_[i].factor, atoms_[j].factor, atoms_[k].factor}}}};
        }
      }
    }
  }
  return std::nullopt;
}

/// What grows with a symbol up to a number, or from one on: at two samples it is that number, at others a line.
std::optional<Expression> Fit::Bounded(const Numbers& numbers) {
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  for (const auto& [bound, is_high] : {std::pair(*high, true), std::pair(*low, false)}) {
    if (std::count(numbers.begin(), numbers.end(), bound) < 2) continue;
    for (const Atom& atom : atoms_) {
      Numbers from, to;
      for (size_t i = 0; i < numbers.size(); ++i) {
        if (numbers[i] != bound) from.push_back(atom.numbers[i]), to.push_back(numbers[i]);
      }
      int64_t times, offset;
      if (from.size() < 2 || !LineThrough(from, to, &times, &offset)) continue;
      Factor factor = Expression::Between(Expression::Of(atom.factor, times, offset), is_high ? INT64_MIN : bound,
                                          is_high ? bound : INT64_MAX);
      Expression found = Expression::Of(factor);
      if (!Holds(found, numbers)) continue;
      atoms_.push_back({std::move(factor), numbers});
      return found;
    }
  }
  return std::nullopt;
}

/// A multiple of a quotient: multiples of one number apart, so that this number is the coefficient.
std::optional<Expression> Fit::Quotient(const Numbers& numbers) {
  int64_t apart = 0;
  for (int64_t number : numbers) {
    int64_t difference;
    if (__builtin_sub_overflow(number, numbers[0], &difference)) return std::nullopt;
    apart = std::gcd(apart, difference);
  }
  const int64_t offset = ((numbers[0] % apart) + apart) % apart;
  Numbers reduced(numbers);
  for (int64_t& number : reduced) number = (number - offset) / apart;
  std::optional<Atom> best;
  for (const Atom& atom : atoms_) {
    std::optional<Atom> made = QuotientOf(atom, reduced);
    if (made && (!best || made->factor.divisor < best->factor.divisor)) best = std::move(made);
  }
  if (!best) return std::nullopt;
  atoms_.push_back(*best);
  return Expression::Of(best->factor, apart, offset);
}

/// (atom + c)//divisor, where the samples leave one c.
std::optional<Fit::Atom> Fit::QuotientOf(const Atom& atom, const Numbers& numbers) const {
  const auto [low, high] = std::minmax_element(atom.numbers.begin(), atom.numbers.end());
  const size_t first = low - atom.numbers.begin(), last = high - atom.numbers.begin();
  const Int128 run = static_cast<Int128>(*high) - *low, rise = static_cast<Int128>(numbers[last]) - numbers[first];
  if (rise < 1 || rise >= run) return std::nullopt;
  const Int128 most = rise > 1 ? run / (rise - 1) + 1 : run;
  for (Int128 divisor = std::max<Int128>(2, run / (rise + 1)); divisor <= most && divisor <= kMostDivisors; ++divisor) {
    Int128 least = -(Int128{1} << 62), greatest = Int128{1} << 62;
    for (size_t i = 0; i < numbers.size() && least <= greatest; ++i) {
      least = std::max(least, numbers[i] * divisor - atom.numbers[i]);
      greatest = std::min(greatest, numbers[i] * divisor - atom.numbers[i] + divisor - 1);
    }
    if (least != greatest) continue;
    Expression dividend = Expression::Of(atom.factor, 1, static_cast<int64_t>(least));
    return Atom{Expression::Quotient(std::move(dividend), static_cast<int64_t>(divisor)), numbers};
  }
  return std::nullopt;
}

}  // namespace dragon
