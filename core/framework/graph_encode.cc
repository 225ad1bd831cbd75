// A graph to the bytes of a GraphDef.
#include "core/framework/generator.h"
#include "core/framework/graph_body.h"
#include "core/framework/graph_proto.h"
#include "core/framework/op.h"
#include "core/proto/wire.h"

namespace dragon {

int64_t WrittenBytes(const Tensor& tensor) {
  if (tensor.numel() == 0) return 0;
  int64_t extent = 1;
  for (int i = 0; i < tensor.ndim(); ++i) extent += (tensor.shape()[i] - 1) * tensor.strides()[i];
  return extent * tensor.item_size();
}

Tensor ToWritten(const Tensor& tensor) {
  if (tensor.is_meta())
    throw NotImplementedError("graph").Got("a constant without numbers").Expected("one with numbers");
  GradMode off(false);
  Tensor written = tensor.device().is_cpu() ? tensor.Detach() : Op<"to_device">(tensor, Device{});
  return WrittenBytes(written) <= written.numel() * written.item_size() ? written : Op<"contiguous">(written);
}

namespace {

using wire::Writer;

int Number(DType dtype) { return static_cast<int>(dtype) + 1; }

class Encoder {
 public:
  Encoder(const Graph& graph, const PutWeights* put) : graph_(graph), put_(put), who_(graph.name) {}

  Writer Encode() {
    graph_.Verify();
    Writer out;
    out.Integer(1, kGraphVersion);
    out.Text(2, graph_.name, "graph's name");
    for (const std::string& symbol : graph_.symbols) out.Text(3, symbol, who_, /*of_oneof=*/true);
    for (size_t id = 0; id < graph_.values.size(); ++id) out.Message(4, EncodeValue(static_cast<ValueId>(id)));
    out.Integers(5, graph_.inputs);
    for (const auto& [id, tensor] : graph_.constants) {
      Writer constant;
      constant.Integer(1, id);
      constant.Message(2, EncodeTensor(tensor));
      out.Message(6, constant);
    }
    for (const GraphCall& call : graph_.calls) out.Message(7, EncodeCall(call));
    out.Integers(8, graph_.outputs);
    for (const auto& [input, id] : graph_.updates) {
      Writer update;
      update.Integer(1, input);
      update.Integer(2, id);
      out.Message(9, update);
    }
    for (size_t i = 0; i < graph_.bounds.size(); ++i) {
      if (graph_.bounds[i] == SymbolBounds()) continue;
      Writer bounds;
      bounds.Integer(1, static_cast<int64_t>(i));
      bounds.Integer(2, graph_.bounds[i].low);
      bounds.Integer(3, graph_.bounds[i].high);
      bounds.Integer(4, graph_.bounds[i].multiple);
      out.Message(10, bounds);
    }
    for (const Condition& condition : graph_.conditions) {
      Writer one;
      one.Integer(1, static_cast<int64_t>(condition.relation));
      one.Integer(2, condition.held);
      one.Message(3, EncodeExpression(condition.a));
      one.Message(4, EncodeExpression(condition.b));
      out.Message(11, one);
    }
    return out;
  }

 private:
  Writer EncodeExpression(const Expression& expression) const {
    Writer out;
    out.Integer(1, expression.offset);
    for (const Term& term : expression.terms) {
      Writer one;
      const int32_t symbol = term.lone_symbol();
      if (symbol >= 0) one.Integer(1, symbol);
      one.Integer(2, term.coefficient);
      for (const Factor& factor : term.factors) {
        if (symbol < 0) one.Message(3, EncodeFactor(factor));
      }
      out.Message(2, one);
    }
    return out;
  }

  Writer EncodeFactor(const Factor& factor) const {
    Writer out;
    if (!factor.dividend) {
      out.Integer(1, factor.symbol);
    } else {
      out.Message(2, EncodeExpression(*factor.dividend));
      out.Integer(3, factor.divisor);
      if (factor.low != INT64_MIN || factor.high != INT64_MAX) out.Integers(4, Dims{factor.low, factor.high});
    }
    return out;
  }

  Writer EncodeValue(ValueId id) const {
    const ValueInfo& info = graph_.values[id];
    const auto constant = graph_.constants.find(id);
    Writer out;
    out.Integer(1, Number(info.dtype));
    out.Integers(2, info.shape);
    if (constant == graph_.constants.end()) {
      out.Integers(3, info.strides);
    } else if (const Tensor written = ToWritten(constant->second); !written.is_contiguous()) {
      out.Integers(3, written.strides());
    }
    out.Text(4, info.name, who_ + ": %" + std::to_string(id));
    if (!info.device.is_cpu()) out.Text(5, info.device.str(), who_);
    for (const auto& [axis, expression] : info.symbolic) {
      Writer size;
      size.Integer(1, axis);
      size.Message(2, EncodeExpression(expression));
      out.Message(6, size);
    }
    return out;
  }

  Writer EncodeTensor(const Tensor& tensor) const {
    const Tensor written = ToWritten(tensor);
    const int64_t bytes = WrittenBytes(written);
    Writer out;
    out.Integer(1, Number(written.dtype()));
    out.Integers(2, written.shape());
    if (!written.is_contiguous()) out.Integers(3, written.strides());
    if (put_) {
      out.Integer(5, (*put_)(written, bytes), /*of_oneof=*/true);
    } else {
      out.Bytes(4, {static_cast<const char*>(written.data()), static_cast<size_t>(bytes)});
    }
    return out;
  }

  Writer EncodeAttribute(const GraphCall& call, int slot) const {
    const Value& value = call.attrs[slot];
    const std::string who = call.op->name() + "." + call.op->schema.attr(slot).name;
    Writer out, list;
    out.Text(1, call.op->schema.attr(slot).name, who);
    switch (value.kind()) {
      case Value::Kind::kNone:
        break;
      case Value::Kind::kBool:
        out.Integer(2, value.boolean(), /*of_oneof=*/true);
        break;
      case Value::Kind::kInt:
        out.Integer(3, value.integer(), /*of_oneof=*/true);
        break;
      case Value::Kind::kDouble:
        out.Real(4, value.real(), /*of_oneof=*/true);
        break;
      case Value::Kind::kComplex:
        list.Real(1, value.complex().re);
        list.Real(2, value.complex().im);
        out.Message(5, list);
        break;
      case Value::Kind::kDType:
        out.Integer(6, Number(value.dtype()), /*of_oneof=*/true);
        break;
      case Value::Kind::kDevice:
        out.Text(7, value.device().str(), who, /*of_oneof=*/true);
        break;
      case Value::Kind::kInts:
        list.Integers(1, value.ints());
        out.Message(8, list);
        break;
      case Value::Kind::kDoubles:
        list.Reals(1, value.doubles());
        out.Message(9, list);
        break;
      case Value::Kind::kString:
        out.Text(10, value.string(), who, /*of_oneof=*/true);
        break;
      case Value::Kind::kObject:
        EncodeObject(who, value.object(), &out);
        break;
    }
    return out;
  }

  void EncodeObject(const std::string& who, const Object* object, Writer* out) const {
    if (const auto* body = dynamic_cast<const GraphBody*>(object)) {
      out->Message(11, Encoder(body->graph(), put_).Encode());
    } else if (object != DefaultGenerator().get()) {  // that one is what None stands for
      throw NotImplementedError(who)
          .Got("an object")
          .Expected("numbers, texts, lists or a graph: a file cannot hold it, nor the state of a generator of its own");
    }
  }

  Writer EncodeCall(const GraphCall& call) const {
    Writer out;
    out.Text(1, call.op->name(), who_);
    out.SignedIntegers(2, call.inputs);
    out.Integers(3, call.list_sizes);
    for (size_t i = 0; i < call.attrs.size(); ++i) out.Message(4, EncodeAttribute(call, static_cast<int>(i)));
    out.SignedIntegers(5, call.outputs);
    out.Text(6, call.scope, call.op->name() + "'s scope");
    for (const GraphCall::Symbolic& symbolic : call.symbolic) {
      Writer one;
      one.Integer(1, symbolic.attr);
      one.SignedInteger(2, symbolic.element);
      one.Message(3, EncodeExpression(symbolic.value));
      out.Message(7, one);
    }
    return out;
  }

  const Graph& graph_;
  const PutWeights* put_;
  const std::string who_;
};

}  // namespace

std::string EncodeGraph(const Graph& graph) { return Encoder(graph, nullptr).Encode().bytes(); }
std::string EncodeGraph(const Graph& graph, const PutWeights& put) { return Encoder(graph, &put).Encode().bytes(); }

}  // namespace dragon
