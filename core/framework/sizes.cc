// Python's arithmetic over sizes.
#include "core/framework/sizes.h"

#include <algorithm>
#include <cmath>

#include "core/base/whole.h"

namespace dragon {

namespace {

[[noreturn]] void Beyond() { throw ValueError("size").Got("a number beyond 64 bits").Expected("-2**63 to 2**63 - 1"); }

bool IsReal(const Value& value) { return value.kind() == Value::Kind::kDouble; }

/// The same number to the bit: 0.0 is not -0.0.
bool IsSame(const Value& a, const Value& b) {
  return a.kind() == b.kind() && a == b && (!IsReal(a) || std::signbit(a.real()) == std::signbit(b.real()));
}

int64_t ComputeInts(NumberKind kind, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (kind) {
    case NumberKind::kAdd:
      if (!Added(a, b, &result)) Beyond();
      return result;
    case NumberKind::kSub:
      if (__builtin_sub_overflow(a, b, &result)) Beyond();
      return result;
    case NumberKind::kMul:
      if (!Multiplied(a, b, &result)) Beyond();
      return result;
    case NumberKind::kFloorDiv:
    case NumberKind::kMod: {
      if (b == 0) throw ValueError("size").Got("a division by zero").Expected("another divisor");
      if (b == -1) return kind == NumberKind::kMod ? 0 : ComputeInts(NumberKind::kSub, 0, a);
      if (kind == NumberKind::kFloorDiv) return FloorDivided(a, b);
      const int64_t rest = a % b;
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    case NumberKind::kPow:
      if (b < 0) throw ValueError("size").Got("exponent ", b).Expected("0 or more");
      for (result = 1; b > 0; b >>= 1) {
        if (b & 1 && __builtin_mul_overflow(result, a, &result)) Beyond();
        if (b > 1 && __builtin_mul_overflow(a, a, &a)) Beyond();
      }
      return result;
    default:
      throw RuntimeError("size").Says("this is no arithmetic");
  }
}

double ComputeReals(NumberKind kind, double a, double b) {
  const bool divides = kind == NumberKind::kDiv || kind == NumberKind::kFloorDiv || kind == NumberKind::kMod;
  if (divides && b == 0) throw ValueError("size").Got("a division by zero").Expected("another divisor");
  switch (kind) {
    case NumberKind::kAdd:
      return a + b;
    case NumberKind::kSub:
      return a - b;
    case NumberKind::kMul:
      return a * b;
    case NumberKind::kDiv:
      return a / b;
    case NumberKind::kFloorDiv:
      return std::floor(a / b);
    case NumberKind::kPow:
      return std::pow(a, b);
    default:
      throw RuntimeError("size").Says("real numbers have no such arithmetic here");
  }
}

}  // namespace

Value Compute(NumberKind kind, const Value& a, const Value& b) {
  if (kind == NumberKind::kWhole) {
    const double cut = std::trunc(a.real());
    if (!(std::abs(cut) < 9.2e18)) Beyond();
    return static_cast<int64_t>(cut);
  }
  if (kind == NumberKind::kDiv || IsReal(a) || IsReal(b)) return ComputeReals(kind, a.real(), b.real());
  return ComputeInts(kind, a.integer(), b.integer());
}

bool Decision::Holds(const Value& x, const Value& y) const {
  const auto compare = [&](auto left, auto right) {
    return relation == Relation::kEqual ? left == right : relation == Relation::kLess ? left < right : left <= right;
  };
  const bool real = IsReal(x) || IsReal(y);
  return held == (real ? compare(x.real(), y.real()) : compare(x.integer(), y.integer()));
}

NumberId Sizes::Note(NumberKind kind, int32_t a, int32_t b, int32_t step, const Value& hint, int32_t since) {
  const auto [first, last] = places_.equal_range({kind, a, b});
  for (auto place = first; place != last; ++place) {
    const Number& number = numbers_[place->second];
    if (number.step >= since && IsSame(number.hint, hint)) return place->second;
  }
  numbers_.push_back({kind, a, b, step, hint});
  places_.insert({{kind, a, b}, count() - 1});
  return count() - 1;
}

NumberId Sizes::Combine(NumberKind kind, NumberId a, NumberId b, int32_t step) {
  return Note(kind, a, b, step, Compute(kind, numbers_[a].hint, b < 0 ? Value() : numbers_[b].hint));
}

bool Sizes::Decide(Relation relation, NumberId a, NumberId b, int32_t step, std::string place) {
  Decision decision{relation, a, b, true, step, std::move(place)};
  const bool held = decision.held = decision.Holds(numbers_[a].hint, numbers_[b].hint);
  const bool known = std::find(decisions_.begin(), decisions_.end(), decision) != decisions_.end();
  const bool constant = numbers_[a].kind == NumberKind::kConstant && numbers_[b].kind == NumberKind::kConstant;
  if (!known && !constant && a != b) decisions_.push_back(std::move(decision));
  return held;
}

std::string Sizes::Text(NumberId id, const std::function<std::string(const Number&)>& name) const {
  const Number& number = numbers_[id];
  const auto infix = [&](const char* sign) {
    return "(" + Text(number.a, name) + " " + sign + " " + Text(number.b, name) + ")";
  };
  switch (number.kind) {
    case NumberKind::kConstant:
      return number.hint.str();
    case NumberKind::kAdd:
      return infix("+");
    case NumberKind::kSub:
      return infix("-");
    case NumberKind::kMul:
      return infix("*");
    case NumberKind::kDiv:
      return infix("/");
    case NumberKind::kFloorDiv:
      return infix("//");
    case NumberKind::kMod:
      return infix("%");
    case NumberKind::kPow:
      return infix("**");
    case NumberKind::kWhole:
      return "int(" + Text(number.a, name) + ")";
    default:
      return name(number);
  }
}

std::string Sizes::Text(const Decision& decision, const std::function<std::string(const Number&)>& name) const {
  static constexpr const char* kSigns[2][3] = {{"!=", ">=", ">"}, {"==", "<", "<="}};
  static constexpr const char* kTurned[2][3] = {{"!=", "<=", "<"}, {"==", ">", ">="}};
  const bool turned = numbers_[decision.a].kind == NumberKind::kConstant;
  const auto& signs = turned ? kTurned : kSigns;
  return Text(turned ? decision.b : decision.a, name) + " " +
         signs[decision.held][static_cast<int>(decision.relation)] + " " + Text(turned ? decision.a : decision.b, name);
}

bool Sizes::DependsOnItems(NumberId id, const std::function<bool(int32_t)>& loose) const {
  const Number& number = numbers_[id];
  if (number.kind == NumberKind::kItem) return true;
  if (IsRead(number.kind)) return loose(number.a);
  if (number.kind < NumberKind::kAdd) return false;
  return DependsOnItems(number.a, loose) || (number.b >= 0 && DependsOnItems(number.b, loose));
}

Sizes Sizes::Part(int32_t begin, int32_t end, std::span<const int32_t> without) const {
  Sizes part;
  for (Number number : numbers_) {
    if (number.step >= end && number.step > begin) break;
    const auto left_out = std::count_if(without.begin(), without.end(), [&](int32_t i) { return i < number.step; });
    number.step = std::max(number.step - begin - static_cast<int32_t>(left_out), 0);
    part.numbers_.push_back(std::move(number));
  }
  return part;
}

Value SizesNow::Early(NumberId id) const {
  if (id < static_cast<NumberId>(found_.size())) return found_[id];
  const Sizes::Number& number = sizes_[id];
  if (number.kind < NumberKind::kAdd) return Find(number);
  return Compute(number.kind, Early(number.a), number.b < 0 ? Value() : Early(number.b));
}

void SizesNow::Reach(int32_t step) {
  for (auto next = static_cast<NumberId>(found_.size()); next < sizes_.count(); ++next) {
    const Sizes::Number& number = sizes_[next];
    if (number.step > step) return;
    found_.push_back(Find(number));
  }
}

Value SizesNow::Find(const Sizes::Number& number) const {
  switch (number.kind) {
    case NumberKind::kConstant:
      return number.hint;
    case NumberKind::kSymbol:
      return symbols_[number.a];
    case NumberKind::kSize:
      return tensors_[number.a].shape()[number.b];
    case NumberKind::kStride:
      tensors_[number.a].Settle();  // as it was when the program asked
      return tensors_[number.a].strides()[number.b];
    case NumberKind::kCount:
      return tensors_[number.a].numel();
    case NumberKind::kDense:
      tensors_[number.a].Settle();
      return static_cast<int64_t>(tensors_[number.a].is_contiguous());
    case NumberKind::kItem: {
      const Value item = tensors_[number.a].Item();
      return item.kind() == Value::Kind::kBool ? Value(item.integer()) : item;
    }
    case NumberKind::kElement:
      return ElementOf(tensors_[number.a], number.b);
    default:
      return Compute(number.kind, found_[number.a], number.b < 0 ? Value() : found_[number.b]);
  }
}

}  // namespace dragon
