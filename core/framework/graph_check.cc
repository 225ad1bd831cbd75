// Checks of attributes, values and expressions.
#include "core/framework/graph_check.h"

namespace dragon {

namespace {

bool Fits(const Argument& argument, const Value& value) {
  using Kind = Value::Kind;
  const Kind kind = value.kind();
  if (value.is_none()) return argument.optional || (argument.has_default && argument.default_value.is_none());
  switch (argument.type) {
    case ArgumentType::kInt:
    case ArgumentType::kFloat:
    case ArgumentType::kBool:
      return value.is_number() && kind != Kind::kComplex;
    case ArgumentType::kScalar:
      return value.is_number();
    case ArgumentType::kString:
      return kind == Kind::kString;
    case ArgumentType::kDType:
      return kind == Kind::kDType && static_cast<int>(value.dtype()) < kDTypeCount;
    case ArgumentType::kDevice:
      return kind == Kind::kDevice;
    case ArgumentType::kInts:  // a lone number has been repeated where the schema says so
      return kind == Kind::kInts && (argument.repeat <= 1 || value.ints().size() != 1);
    case ArgumentType::kFloats:
      return kind == Kind::kDoubles;
    default:
      return kind == Kind::kObject && value.object() != nullptr;
  }
}

/// Sizes are solved for symbols, so coefficients divide; nothing in memory is longer than this.
constexpr int64_t kLargest = int64_t{1} << 48;

void CheckExpression(const Graph& graph, const std::string& who, const Expression& expression) {
  const auto is_large = [](int64_t number) { return number > kLargest || number < -kLargest; };
  for (const auto& [symbol, coefficient] : expression.terms) {
    if (symbol < 0 || symbol >= static_cast<int64_t>(graph.symbols.size())) {
      throw ValueError("graph " + graph.name)
          .Got(who, " following symbol ", symbol)
          .Expected("one of ", graph.symbols.size());
    }
    if (coefficient == 0 || is_large(coefficient) || is_large(expression.offset)) {
      throw ValueError("graph " + graph.name)
          .Got(who, " as ", expression.offset, " and ", coefficient, " of a symbol")
          .Expected("numbers of which one can be a size");
    }
  }
}

}  // namespace

void CheckAttributes(const GraphCall& call) {
  const Schema& schema = call.op->schema;
  for (int i = 0; i < schema.attr_count(); ++i) {
    if (Fits(schema.attr(i), call.attrs[i])) continue;
    throw TypeError(schema.name())
        .Got(call.attrs[i].str(), " for argument '", schema.attr(i).name, "'")
        .Expected(schema.attr(i).type_name());
  }
}

void CheckValueInfo(const std::string& who, const ValueInfo& info) {
  const int64_t item = ItemSize(info.dtype);
  if (info.shape.size() > kMaxDims)
    throw ValueError(who).Got(info.shape.size(), " axes").Expected("at most ", kMaxDims);
  const int64_t numel = CheckedNumel(who.c_str(), info.shape, item);
  if (info.strides.empty() && !info.shape.empty()) return;
  if (info.strides.size() != info.shape.size()) {
    throw ValueError(who).Got("shape ", info.shape, " and strides ", info.strides).Expected("equally many of both");
  }
  int64_t extent = item;
  for (int i = 0; i < info.shape.size() && numel; ++i) {
    int64_t reach;
    if (info.strides[i] < 0 || __builtin_mul_overflow(info.strides[i], (info.shape[i] - 1) * item, &reach) ||
        __builtin_add_overflow(extent, reach, &extent)) {
      throw ValueError(who).Got("strides ", info.strides).Expected("none below 0, and fewer than 2**63 bytes");
    }
  }
}

bool LiesWithin(const Dims& shape, const Dims& strides, int64_t offset, int64_t elements) {
  int64_t first = offset, last = offset;
  for (int axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return true;
    int64_t reach;
    int64_t& end = strides[axis] < 0 ? first : last;
    if (shape[axis] < 0 || __builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      return false;
    }
  }
  return first >= 0 && last < elements;
}

void CheckSymbolic(const Graph& graph) {
  for (size_t id = 0; id < graph.values.size(); ++id) {
    const ValueInfo& info = graph.values[id];
    for (const auto& [axis, size] : info.symbolic) {
      const std::string who = "%" + std::to_string(id);
      if (axis < 0 || axis >= info.shape.size()) {
        throw ValueError("graph " + graph.name)
            .Got(who, " with a symbolic axis ", axis)
            .Expected("one of ", info.shape.size());
      }
      CheckExpression(graph, who, size);
    }
  }
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    const GraphCall& call = graph.calls[i];
    const std::string who = "call " + std::to_string(i) + " (" + call.op->name() + ")";
    for (const GraphCall::Symbolic& symbolic : call.symbolic) {
      CheckExpression(graph, who, symbolic.value);
      const bool known = symbolic.attr >= 0 && symbolic.attr < static_cast<int>(call.attrs.size());
      const Value* attr = known ? &call.attrs[symbolic.attr] : nullptr;
      const bool is_list = known && attr->kind() == Value::Kind::kInts;
      if (known &&
          (symbolic.element == -1 ? attr->is_number()
                                  : is_list && symbolic.element >= 0 && symbolic.element < attr->ints().size())) {
        continue;
      }
      throw ValueError("graph " + graph.name)
          .Got(who, " whose attribute ", symbolic.attr, ", element ", symbolic.element, " follows a symbol")
          .Expected("a number, or an element of a list");
    }
  }
}

}  // namespace dragon
