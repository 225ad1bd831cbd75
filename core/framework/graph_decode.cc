// The bytes of a GraphDef to a graph. Nothing is taken on trust: bytes come from files, and files from anywhere.
#include <cstring>

#include "core/framework/graph_body.h"
#include "core/framework/graph_check.h"
#include "core/framework/graph_proto.h"
#include "core/framework/op.h"
#include "core/proto/wire.h"

namespace dragon {

namespace {

using wire::Reader;

/// Graphs hold graphs; deeper than this is nobody's program.
constexpr int kMostNested = 32;

DType ReadDType(Reader& reader) {
  const int32_t number = reader.Integer32() - 1;
  if (number < 0 || number >= kDTypeCount) reader.Fail("dtype " + std::to_string(number + 1ll));
  return static_cast<DType>(number);
}

/// Run what may throw, and have its error tell the place.
template <typename Body>
auto At(const Reader& reader, Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(error.kind(), "graph: byte " + std::to_string(reader.offset()) + ": " + error.what());
  }
}

Device ReadDevice(Reader& reader) {
  const std::string text = reader.Text();
  return At(reader, [&] { return Device::Parse(text); });
}

/// A message whose fields 1, 2, ... are read by these, in any order and number.
template <typename In, typename... Reads>
void ReadFields(In&& reader, Reads&&... reads) {
  while (reader.Next()) {
    int number = 0;
    if (!((reader.field() == ++number && (reads(reader), true)) || ...)) reader.FailUnknown();
  }
}

Expression ReadExpression(Reader reader, int depth = 0);

Factor ReadFactor(Reader reader, int depth) {
  Factor factor;
  factor.symbol = 0, factor.divisor = 0;  // what is not said is 0
  const auto read_dividend = [&](Reader& it) {
    factor.dividend = std::make_shared<const Expression>(ReadExpression(it.Message("ExpressionDef"), depth + 1));
    factor.symbol = -1;
  };
  Dims between;
  ReadFields(
      reader, [&](Reader& it) { factor.symbol = it.Integer32(); }, read_dividend,
      [&](Reader& it) { factor.divisor = it.Integer(); }, [&](Reader& it) { it.Integers(&between, 2); });
  if (between.size() == 1) reader.Fail("one bound of a number");
  if (between.size() == 2) factor.low = between[0], factor.high = between[1];
  return factor;
}

Expression ReadExpression(Reader reader, int depth) {
  if (depth > kDeepestQuotient) reader.Fail("quotients of quotients, deeper than " + std::to_string(kDeepestQuotient));
  Expression expression;
  const auto read_term = [&](Reader& it) {
    Term& term = expression.terms.emplace_back(Term{0, {}});
    int32_t symbol = 0;
    ReadFields(
        it.Message("TermDef"), [&](Reader& in) { symbol = in.Integer32(); },
        [&](Reader& in) { term.coefficient = in.Integer(); },
        [&](Reader& in) { term.factors.push_back(ReadFactor(in.Message("FactorDef"), depth)); });
    if (term.factors.empty()) term.factors.push_back({symbol, nullptr});
  };
  ReadFields(reader, [&](Reader& it) { expression.offset = it.Integer(); }, read_term);
  return expression;
}

Condition ReadCondition(Reader reader) {
  Condition condition;
  condition.held = false;
  const auto read_relation = [&](Reader& it) {
    const int64_t relation = it.Integer();
    if (relation < 0 || relation > static_cast<int64_t>(Relation::kLessEqual)) {
      it.Fail("relation " + std::to_string(relation));
    }
    condition.relation = static_cast<Relation>(relation);
  };
  ReadFields(
      reader, read_relation, [&](Reader& it) { condition.held = it.Boolean(); },
      [&](Reader& it) { condition.a = ReadExpression(it.Message("ExpressionDef")); },
      [&](Reader& it) { condition.b = ReadExpression(it.Message("ExpressionDef")); });
  return condition;
}

ValueInfo ReadValue(Reader reader) {
  ValueInfo info;
  bool has_dtype = false;
  const size_t begin = reader.offset();
  const auto read_dtype = [&](Reader& it) {
    info.dtype = ReadDType(it);
    has_dtype = true;
  };
  const auto read_size = [&](Reader& it) {
    auto& size = info.symbolic.emplace_back();
    ReadFields(
        it.Message("SizeDef"), [&](Reader& in) { size.first = in.Integer32(); },
        [&](Reader& in) { size.second = ReadExpression(in.Message("ExpressionDef")); });
  };
  ReadFields(
      reader, read_dtype, [&](Reader& it) { it.Integers(&info.shape, kMaxDims); },
      [&](Reader& it) { it.Integers(&info.strides, kMaxDims); }, [&](Reader& it) { info.name = it.Text(); },
      [&](Reader& it) { info.device = ReadDevice(it); }, read_size);
  if (!has_dtype) reader.Fail("the end of a value without a dtype");
  CheckValueInfo("graph: value at byte " + std::to_string(begin), info);
  return info;
}

/// Tensors from their bytes, which are copied, or are where they are for as long as somebody holds them.
class TensorReader {
 public:
  TensorReader(Reader reader, const StoredWeights* weights) : reader_(reader), weights_(weights) {}

  Tensor Read() {
    bool has_dtype = false;
    const auto read_dtype = [&](Reader& it) {
      info_.dtype = ReadDType(it);
      has_dtype = true;
    };
    const auto read_data = [&](Reader& it) {
      data_ = it.Bytes();
      inside_ = true;
    };
    const auto read_offset = [&](Reader& it) {
      offset_ = it.Integer();
      inside_ = false;
    };
    ReadFields(
        reader_, read_dtype, [&](Reader& it) { it.Integers(&info_.shape, kMaxDims); },
        [&](Reader& it) { it.Integers(&info_.strides, kMaxDims); }, read_data, read_offset);
    if (!has_dtype) reader_.Fail("the end of a tensor without a dtype");
    CheckValueInfo("graph: tensor before byte " + std::to_string(reader_.offset()), info_);
    if (info_.strides.empty()) info_.strides = ContiguousStrides(info_.shape);
    return inside_ ? Copied() : Stored();
  }

 private:
  int64_t Bytes() const {
    int64_t extent = 1;  // CheckValueInfo has seen that it fits
    for (int i = 0; i < info_.shape.size(); ++i) {
      if (info_.shape[i] == 0) return 0;
      extent += (info_.shape[i] - 1) * info_.strides[i];
    }
    return extent * ItemSize(info_.dtype);
  }

  Tensor Copied() {
    if (static_cast<int64_t>(data_.size()) != Bytes()) {
      reader_.Fail(std::to_string(data_.size()) + " bytes of numbers instead of " + std::to_string(Bytes()));
    }
    Tensor tensor = Tensor::EmptyStrided(info_.shape, info_.strides, info_.dtype);
    if (!data_.empty()) std::memcpy(tensor.mutable_data(), data_.data(), data_.size());
    return Checked(tensor);
  }

  Tensor Stored() {
    if (!weights_) reader_.Fail("a place in a file's weights, where there is no file");
    const int64_t bytes = Bytes(), size = static_cast<int64_t>(weights_->bytes.size());
    if (offset_ < 0 || offset_ > size || bytes > size - offset_) {
      reader_.Fail(std::to_string(bytes) + " bytes at " + std::to_string(offset_) + " of the weights, which have " +
                   std::to_string(size));
    }
    if (offset_ % ItemSize(info_.dtype)) reader_.Fail("a place in the weights that its dtype cannot have");
    return Checked(Tensor::Borrow(weights_->bytes.data() + offset_, info_.shape, info_.strides, info_.dtype, Device{},
                                  [owner = weights_->owner] {}));
  }

  /// Kernels take a bool to be 0 or 1.
  Tensor Checked(const Tensor& tensor) {
    if (info_.dtype != DType::kBool) return tensor;
    const auto* bits = static_cast<const uint8_t*>(tensor.data());
    for (int64_t i = 0; i < Bytes(); ++i) {
      if (bits[i] > 1) reader_.Fail("a bool that is neither 0 nor 1");
    }
    return tensor;
  }

  Reader reader_;
  const StoredWeights* weights_;
  ValueInfo info_;
  std::span<const uint8_t> data_;
  int64_t offset_ = 0;
  bool inside_ = true;
};

class Decoder {
 public:
  explicit Decoder(const StoredWeights* weights, int depth = 0) : weights_(weights), depth_(depth) {}

  Graph Decode(Reader reader) {
    if (depth_ > kMostNested) reader.Fail("graphs within graphs, deeper than " + std::to_string(kMostNested));
    ReadVersion(reader);
    graph_.name.clear();
    ReadFields(
        reader, [](Reader& it) { it.FailUnknown(); }, [&](Reader& it) { graph_.name = it.Text(); },
        [&](Reader& it) { graph_.symbols.push_back(it.Text()); },
        [&](Reader& it) { graph_.values.push_back(ReadValue(it.Message("ValueDef"))); },
        [&](Reader& it) { it.Integers(&graph_.inputs); }, [&](Reader& it) { ReadConstant(it.Message("ConstantDef")); },
        [&](Reader& it) { graph_.calls.push_back(ReadCall(it.Message("OpDef"))); },
        [&](Reader& it) { it.Integers(&graph_.outputs); }, [&](Reader& it) { ReadUpdate(it.Message("UpdateDef")); },
        [&](Reader& it) { ReadBounds(it.Message("BoundsDef")); },
        [&](Reader& it) { graph_.conditions.push_back(ReadCondition(it.Message("ConditionDef"))); });
    for (const auto& [id, tensor] : constants_) AddConstant(id, tensor);
    graph_.Verify();
    return std::move(graph_);
  }

 private:
  void ReadVersion(Reader& reader) {
    if (!reader.Next() || reader.field() != 1) reader.Fail("no version at the beginning");
    const int64_t version = reader.Integer();
    if (version >= 1 && version <= kGraphVersion) return;
    throw ValueError("graph")
        .Got("version ", version, " of the format")
        .Expected("1 to ", kGraphVersion, version > kGraphVersion ? "; a newer Dragon has written it" : "");
  }

  void ReadBounds(Reader reader) {
    SymbolBounds bounds{0, 0, 0};  // what is not said is 0, as everywhere in this form
    int32_t symbol = 0;
    ReadFields(
        reader, [&](Reader& it) { symbol = it.Integer32(); }, [&](Reader& it) { bounds.low = it.Integer(); },
        [&](Reader& it) { bounds.high = it.Integer(); }, [&](Reader& it) { bounds.multiple = it.Integer(); });
    if (symbol < 0 || symbol >= static_cast<int32_t>(graph_.symbols.size())) {
      reader.Fail("bounds of symbol " + std::to_string(symbol));
    }
    At(reader, [&] { graph_.Bound(symbol, bounds); });
  }

  void ReadConstant(Reader reader) {
    auto& constant = constants_.emplace_back();
    ReadFields(
        reader, [&](Reader& it) { constant.first = it.Integer32(); },
        [&](Reader& it) { constant.second = TensorReader(it.Message("TensorDef"), weights_).Read(); });
    if (!constant.second.defined()) reader.Fail("the end of a constant without a tensor");
  }

  void AddConstant(ValueId id, Tensor tensor) {
    if (id < 0 || id >= static_cast<ValueId>(graph_.values.size())) {
      throw ValueError("graph " + graph_.name)
          .Got("a constant making %", id)
          .Expected("one of ", graph_.values.size(), " values");
    }
    const Device device = graph_.values[id].device;
    if (!device.is_cpu()) tensor = Op<"to_device">(tensor, device);
    if (!graph_.constants.emplace(id, std::move(tensor)).second) {
      throw ValueError("graph " + graph_.name)
          .Got("constant %", id, " once more")
          .Expected("values that are made once");
    }
  }

  void ReadUpdate(Reader reader) {
    auto& update = graph_.updates.emplace_back();
    ReadFields(
        reader, [&](Reader& it) { update.first = it.Integer32(); },
        [&](Reader& it) { update.second = it.Integer32(); });
  }

  GraphCall ReadCall(Reader reader) {
    GraphCall call;
    std::vector<std::pair<std::string, Value>> attrs;
    const Reader whole = reader;
    const auto read_op = [&](Reader& it) {
      const std::string name = it.Text();
      call.op = At(it, [&] { return &GetOp(name); });
    };
    ReadFields(
        reader, read_op, [&](Reader& it) { it.SignedIntegers(&call.inputs); },
        [&](Reader& it) { it.Integers(&call.list_sizes); },
        [&](Reader& it) { attrs.push_back(ReadAttribute(it.Message("AttrDef"))); },
        [&](Reader& it) { it.SignedIntegers(&call.outputs); }, [&](Reader& it) { call.scope = it.Text(); },
        [&](Reader& it) { call.symbolic.push_back(ReadSymbolic(it.Message("SymbolicDef"))); });
    if (!call.op) reader.Fail("the end of a call without an operator");
    At(whole, [&] { SetAttributes(std::move(attrs), &call); });
    return call;
  }

  /// Attributes that the file does not name have the schema's default: it may be older than the argument.
  static void SetAttributes(std::vector<std::pair<std::string, Value>> attrs, GraphCall* call) {
    const Schema& schema = call->op->schema;
    std::vector<char> given(schema.attr_count(), 0);
    call->attrs.resize(schema.attr_count());
    for (auto& [name, value] : attrs) {
      const int at = schema.Find(name);
      if (at < 0 || schema.arguments()[at].is_tensor()) {
        throw ValueError(schema.name()).Got("attribute '", name, "'").Expected(schema.line());
      }
      const int slot = schema.arguments()[at].slot;
      if (given[slot]++) throw ValueError(schema.name()).Got("attribute '", name, "' twice").Expected("it once");
      call->attrs[slot] = std::move(value);
    }
    for (int slot = 0; slot < schema.attr_count(); ++slot) {
      const Argument& argument = schema.attr(slot);
      if (given[slot]) continue;
      if (!argument.has_default && !argument.optional) {
        throw ValueError(schema.name()).Got("no attribute '", argument.name, "'").Expected(argument.type_name());
      }
      call->attrs[slot] = argument.default_value;
    }
  }

  std::pair<std::string, Value> ReadAttribute(Reader reader) {
    std::pair<std::string, Value> attr;
    while (reader.Next()) {
      if (reader.field() == 1) {
        attr.first = reader.Text();
      } else {
        attr.second = ReadAttributeValue(reader);
      }
    }
    return attr;
  }

  Value ReadAttributeValue(Reader& reader) {
    switch (reader.field()) {
      case 2:
        return Value(reader.Boolean());
      case 3:
        return Value(reader.Integer());
      case 4:
        return Value(reader.Real());
      case 5:
        return ReadComplex(reader.Message("ComplexDef"));
      case 6:
        return Value(ReadDType(reader));
      case 7:
        return Value(ReadDevice(reader));
      case 8: {
        Dims list;
        ReadFields(reader.Message("IntegersDef"), [&](Reader& one) { one.Integers(&list); });
        return Value(std::move(list));
      }
      case 9: {
        std::vector<double> list;
        ReadFields(reader.Message("RealsDef"), [&](Reader& one) { one.Reals(&list); });
        return Value(std::move(list));
      }
      case 10:
        return Value(reader.Text());
      case 11: {
        Graph body = Decoder(weights_, depth_ + 1).Decode(reader.Message("GraphDef"));
        return Value(Ref<Object>(MakeRef<GraphBody>(std::move(body))));
      }
      default:
        reader.FailUnknown();
    }
  }

  static Value ReadComplex(Reader reader) {
    complex128 number{0, 0};
    ReadFields(reader, [&](Reader& it) { number.re = it.Real(); }, [&](Reader& it) { number.im = it.Real(); });
    return Value(number);
  }

  static GraphCall::Symbolic ReadSymbolic(Reader reader) {
    GraphCall::Symbolic symbolic;
    symbolic.element = 0;
    ReadFields(
        reader, [&](Reader& it) { symbolic.attr = it.Integer32(); },
        [&](Reader& it) { symbolic.element = it.SignedInteger32(); },
        [&](Reader& it) { symbolic.value = ReadExpression(it.Message("ExpressionDef")); });
    return symbolic;
  }

  Graph graph_;
  std::vector<std::pair<ValueId, Tensor>> constants_;
  const StoredWeights* weights_;
  int depth_;
};

}  // namespace

Graph DecodeGraph(std::span<const uint8_t> bytes, const StoredWeights* weights) {
  return Decoder(weights).Decode(Reader("GraphDef", bytes));
}

Graph DecodeGraph(std::span<const uint8_t> bytes) { return DecodeGraph(bytes, nullptr); }

}  // namespace dragon
