// Identities of arithmetic that hold to the bit: x + 0 is not among them, for it turns -0 into 0.
#include <cmath>

#include "core/passes/simplify.h"

namespace dragon {
namespace {

bool IsNumber(const std::optional<Value>& number, double wanted) {
  if (!number || !number->is_number() || number->kind() == Value::Kind::kComplex) return false;
  return number->real() == wanted && std::signbit(number->real()) == std::signbit(wanted);
}

bool IsReal(const Simplifier& s, ValueId id) { return !IsComplex(s.info(id).dtype); }

// --- a number that changes nothing

bool TimesOne(Simplifier& s, GraphCall* call) {
  if (!IsReal(s, call->inputs[0])) return false;
  for (int k = 0; k < 2; ++k) {
    if (IsNumber(s.NumberOf(call->inputs[1 - k]), 1) && s.Become(*call, call->inputs[k])) return true;
  }
  return false;
}
bool OverOne(Simplifier& s, GraphCall* call) {  // and to the power of one
  return IsReal(s, call->inputs[0]) && IsNumber(s.NumberOf(call->inputs[1]), 1) && s.Become(*call, call->inputs[0]);
}
bool ZeroOff(Simplifier& s, GraphCall* call) {
  return IsReal(s, call->inputs[0]) && IsNumber(call->attr("alpha"), 1) && IsNumber(s.NumberOf(call->inputs[1]), 0) &&
         s.Become(*call, call->inputs[0]);
}
/// Of integers; of floats only -0 changes nothing.
bool ZeroOn(Simplifier& s, GraphCall* call) {
  const bool exact = !IsInexact(s.info(call->inputs[0]).dtype);
  if (!IsReal(s, call->inputs[0]) || !IsNumber(call->attr("alpha"), 1)) return false;
  for (int k = 0; k < 2; ++k) {
    const std::optional<Value> number = s.NumberOf(call->inputs[1 - k]);
    if (IsNumber(number, exact ? 0.0 : -0.0) && s.Become(*call, call->inputs[k])) return true;
  }
  return false;
}
bool Squared(Simplifier& s, GraphCall* call) {
  return IsInexact(s.info(call->inputs[0]).dtype) && IsNumber(s.NumberOf(call->inputs[1]), 2) &&
         s.Exchange(call, "square", {call->inputs[0]}, {});
}

// --- an operator once more

bool SameAgain(const GraphCall& outer, const GraphCall* inner) {
  return inner && inner->op == outer.op &&
         std::equal(outer.attrs.begin(), outer.attrs.end(), inner->attrs.begin(), inner->attrs.end(), SameAttribute);
}
bool Idempotent(Simplifier& s, GraphCall* call) {
  return SameAgain(*call, s.Maker(call->inputs[0])) && s.Become(*call, call->inputs[0]);
}
bool Involution(Simplifier& s, GraphCall* call) {
  const GraphCall* inner = s.Maker(call->inputs[0]);
  return SameAgain(*call, inner) && s.Become(*call, inner->inputs[0]);
}
/// Of the negative as of the positive.
bool Even(Simplifier& s, GraphCall* call) {
  const GraphCall* inner = s.Maker(call->inputs[0], "neg");
  return inner && s.Exchange(call, call->op->name().c_str(), {inner->inputs[0]}, call->attrs);
}
bool WithItself(Simplifier& s, GraphCall* call) {
  return call->inputs[0] == call->inputs[1] && s.Become(*call, call->inputs[0]);
}
bool EitherWay(Simplifier& s, GraphCall* call) {
  return call->inputs[1] == call->inputs[2] && s.Become(*call, call->inputs[1]);
}
bool KnownWay(Simplifier& s, GraphCall* call) {
  const double condition = s.RealOf(call->inputs[0]);
  return !std::isnan(condition) && s.Become(*call, call->inputs[condition != 0 ? 1 : 2]);
}

// --- copies and casts

/// Nobody overwrites a graph's values, so a copy in the same form is the value itself.
bool Copied(Simplifier& s, GraphCall* call) {
  return call->inputs.size() == 1 && call->inputs[0] != kNoValue && s.Become(*call, call->inputs[0]);
}

/// Every number of `from` is a number of `to`.
bool Holds(DType from, DType to) {
  if (from == to || from == DType::kBool) return true;
  if (from == DType::kFloat16 || from == DType::kBFloat16) return to == DType::kFloat32 || to == DType::kFloat64;
  if (from == DType::kFloat32) return to == DType::kFloat64;
  if (from == DType::kUInt8) return to == DType::kInt16 || to == DType::kInt32 || to == DType::kInt64;
  if (from == DType::kInt8) return to == DType::kInt16 || to == DType::kInt32 || to == DType::kInt64;
  if (from == DType::kInt16) return to == DType::kInt32 || to == DType::kInt64;
  return from == DType::kInt32 && to == DType::kInt64;
}
/// A cast of a cast that lost nothing. Numbers that left a dtype's kind (int to float to int) are as they are.
bool CastTwice(Simplifier& s, GraphCall* call) {
  const GraphCall* inner = s.Maker(call->inputs[0], "cast");
  if (!inner) return false;
  const DType from = s.info(inner->inputs[0]).dtype, middle = s.info(call->inputs[0]).dtype;
  const DType to = call->attr("dtype").dtype();
  if (!Holds(from, middle)) return false;
  if (to == from && s.Become(*call, inner->inputs[0])) return true;
  const bool same_kind = IsFloating(from) == IsFloating(middle) && IsFloating(from) == IsFloating(to);
  if (!same_kind && from != DType::kBool) return false;
  return s.Exchange(call, "cast", {inner->inputs[0]}, call->attrs);
}
bool MovedTwice(Simplifier& s, GraphCall* call) {
  const GraphCall* inner = s.Maker(call->inputs[0], "to_device");
  return inner && !s.info(call->inputs[0]).device.is_meta() && s.Become(*call, inner->inputs[0]);
}

/// A sum of one number, and its like; without the axis it is a view.
bool ReducedOne(Simplifier& s, GraphCall* call) {
  const ValueInfo &from = s.info(call->inputs[0]), &to = s.info(call->outputs[0]);
  int64_t before = 1, after = 1;
  for (int64_t size : from.shape) before *= size;
  for (int64_t size : to.shape) after *= size;
  if (before != after || before == 0 || !from.symbolic.empty() || from.dtype != to.dtype || !from.strides.empty()) {
    return false;
  }
  if (from.shape == to.shape) return s.Become(*call, call->inputs[0]);
  return s.Exchange(call, "view", {call->inputs[0]}, {Value(to.shape)});
}

/// An operand that is one number throughout need not be spread out in memory.
bool SpreadNumber(Simplifier& s, GraphCall* call) {
  if (!call->op->pointwise || call->inputs.size() < 2 || call->inputs[0] == kNoValue) return false;
  for (size_t k = 0; k < call->inputs.size(); ++k) {
    const GraphCall* maker = s.Maker(call->inputs[k]);
    if (!maker || s.info(call->inputs[k]).shape.empty()) continue;
    if (!s.info(call->inputs[k]).device.is_cpu() || IsComplex(s.info(call->inputs[k]).dtype)) continue;
    const std::optional<Value> number = s.NumberOf(call->inputs[k]);
    if (!number || !number->is_number()) continue;
    std::vector<ValueId> inputs = call->inputs;
    inputs[k] = s.Number(*number, s.info(call->inputs[k]).dtype);
    if (s.Exchange(call, call->op->name().c_str(), inputs, call->attrs, call->symbolic)) return true;
  }
  return false;
}

SimplifyRules MakeRules() {
  SimplifyRules rules = {
      {"mul", TimesOne}, {"div", OverOne},     {"pow", OverOne},    {"pow", Squared},    {"sub", ZeroOff},
      {"add", ZeroOn},   {"where", EitherWay}, {"where", KnownWay}, {"cast", CastTwice}, {"to_device", MovedTwice},
  };
  const auto all = [&](SimplifyRule rule, std::initializer_list<const char*> ops) {
    for (const char* op : ops) rules.emplace(op, rule);
  };
  all(Idempotent, {"relu", "relu6", "abs", "floor", "ceil", "trunc", "round", "sign", "positive"});
  all(Involution, {"neg", "conj", "bitwise_not"});
  all(Even, {"abs", "square"});
  all(WithItself, {"maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or"});
  all(Copied, {"clone", "copy", "to_row_major", "contiguous", "cast", "to_device", "positive", "cat"});
  all(ReducedOne, {"sum", "mean", "prod", "amax", "amin"});
  all(SpreadNumber, {"add", "sub", "mul", "div", "maximum", "minimum", "pow", "where", "eq", "ne", "lt", "le", "gt",
                     "ge", "atan2", "lerp", "addcmul", "addcdiv", "clamp"});
  return rules;
}

}  // namespace

const SimplifyRules& AlgebraRules() {
  static const auto rules = MakeRules();
  return rules;
}

}  // namespace dragon
