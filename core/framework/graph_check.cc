// Checks of attributes, values and expressions, and of a graph from its first call to its last.
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

bool IsLarge(int64_t number) { return number > kLargest || number < -kLargest; }

void CheckExpression(const Graph& graph, const std::string& who, const Expression& expression, int depth = 0) {
  if (depth > kDeepestQuotient) {
    throw ValueError("graph " + graph.name)
        .Got(who, " following quotients of quotients")
        .Expected("at most ", kDeepestQuotient);
  }
  for (const Term& term : expression.terms) {
    if (term.coefficient == 0 || IsLarge(term.coefficient) || IsLarge(expression.offset) || term.factors.empty()) {
      throw ValueError("graph " + graph.name)
          .Got(who, " as ", expression.offset, " and ", term.coefficient, " of a symbol")
          .Expected("numbers of which one can be a size");
    }
    for (const Factor& factor : term.factors) {
      if (factor.dividend) {
        if (factor.divisor < 1 || IsLarge(factor.divisor)) {
          throw ValueError("graph " + graph.name).Got(who, " divided by ", factor.divisor).Expected("1 or more");
        }
        if (factor.low > factor.high) {
          throw ValueError("graph " + graph.name)
              .Got(who, " between ", factor.low, " and ", factor.high)
              .Expected("numbers of which there is one");
        }
        CheckExpression(graph, who, *factor.dividend, depth + 1);
      } else if (factor.symbol < 0 || factor.symbol >= static_cast<int64_t>(graph.symbols.size())) {
        throw ValueError("graph " + graph.name)
            .Got(who, " following symbol ", factor.symbol)
            .Expected("one of ", graph.symbols.size());
      }
    }
  }
}

void CheckBounds(const Graph& graph) {
  if (graph.bounds.size() > graph.symbols.size()) {
    throw ValueError("graph " + graph.name)
        .Got("bounds of ", graph.bounds.size(), " symbols")
        .Expected("at most ", graph.symbols.size());
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
  CheckBounds(graph);
  for (const Condition& condition : graph.conditions) {
    CheckExpression(graph, "a condition", condition.a);
    CheckExpression(graph, "a condition", condition.b);
  }
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

namespace {

/// Walks a graph in the order in which it runs.
class Verifier {
 public:
  explicit Verifier(const Graph& graph)
      : graph_(graph), me_(graph.name.empty() ? "graph" : "graph " + graph.name), known_(graph.values.size(), 0) {}

  void CheckWhatIsGiven();
  void CheckCall(size_t i);
  void CheckResults();

 private:
  std::string Who(size_t i) const { return "call " + std::to_string(i) + " (" + graph_.calls[i].op->name() + ")"; }
  void RequireValue(ValueId id, const std::string& by, const char* what) const;
  void Define(ValueId id, const std::string& by);
  void Read(ValueId id, const std::string& by) const;

  const Graph& graph_;
  std::string me_;
  std::vector<char> known_;
};

void Verifier::RequireValue(ValueId id, const std::string& by, const char* what) const {
  const auto count = static_cast<ValueId>(graph_.values.size());
  if (id >= 0 && id < count) return;
  throw ValueError(me_).Got(by, what, id).Expected("a value from 0 to ", count - 1);
}

void Verifier::Define(ValueId id, const std::string& by) {
  RequireValue(id, by, " making %");
  if (known_[id]) throw ValueError(me_).Got(by, " making %", id, " once more").Expected("values that are made once");
  known_[id] = 1;
}

void Verifier::Read(ValueId id, const std::string& by) const {
  RequireValue(id, by, " reading %");
  if (!known_[id]) throw ValueError(me_).Got(by, " reading %", id).Expected("a value that is made before it is read");
}

void Verifier::CheckWhatIsGiven() {
  for (size_t id = 0; id < graph_.values.size(); ++id) {
    CheckValueInfo(me_ + ": %" + std::to_string(id), graph_.values[id]);
  }
  for (ValueId id : graph_.inputs) Define(id, "an input");
  for (const auto& [id, tensor] : graph_.constants) {
    Define(id, "a constant");
    const ValueInfo& info = graph_.values[id];
    if (tensor.shape() == info.shape && tensor.dtype() == info.dtype) continue;
    throw ValueError(me_)
        .Got("constant %", id, " of shape ", tensor.shape(), " and ", tensor.dtype())
        .Expected("shape ", info.shape, " and ", info.dtype);
  }
}

void Verifier::CheckCall(size_t i) {
  const GraphCall& call = graph_.calls[i];
  if (!call.op) throw ValueError(me_).Got("call ", i, " of nothing").Expected("an operator");
  for (ValueId id : call.inputs) {
    if (id != kNoValue) Read(id, Who(i));
  }
  std::vector<ValueInfo> infos;
  try {
    infos = InferCall(graph_, call);
  } catch (const Error& error) {
    throw ValueError(me_).Says(Who(i) + ": " + error.what());
  }
  if (infos.size() != call.outputs.size()) {
    throw ValueError(me_).Got(Who(i), " with ", call.outputs.size(), " outputs").Expected(infos.size());
  }
  for (size_t k = 0; k < infos.size(); ++k) {
    const ValueId id = call.outputs[k];
    if (id == kNoValue) continue;
    Define(id, Who(i));
    const ValueInfo& info = graph_.values[id];
    if (info.shape == infos[k].shape && info.dtype == infos[k].dtype) continue;
    throw ValueError(me_)
        .Got(Who(i), " making %", id, " of shape ", info.shape, " and ", info.dtype)
        .Expected("shape ", infos[k].shape, " and ", infos[k].dtype);
  }
}

void Verifier::CheckResults() {
  for (ValueId id : graph_.outputs) Read(id, "the outputs");
  for (const auto& [input, id] : graph_.updates) {
    if (input < 0 || input >= static_cast<int>(graph_.inputs.size())) {
      throw ValueError(me_).Got("an update of input ", input).Expected("0 to ", graph_.inputs.size(), " - 1");
    }
    Read(id, "the updates");
    const ValueInfo &from = graph_.values[id], &to = graph_.values[graph_.inputs[input]];
    if (from.shape == to.shape && from.dtype == to.dtype) continue;
    throw ValueError(me_)
        .Got("an update of input ", input, " by ", from.shape, " ", from.dtype)
        .Expected(to.shape, " ", to.dtype);
  }
}

}  // namespace

void Graph::Verify() const {
  Verifier verifier(*this);
  verifier.CheckWhatIsGiven();
  for (size_t i = 0; i < calls.size(); ++i) verifier.CheckCall(i);
  verifier.CheckResults();
  CheckSymbolic(*this);
}

}  // namespace dragon
