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
constexpr int kMostNested = 8;

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

Expression ReadExpression(Reader reader) {
  Expression expression;
  while (reader.Next()) {
    if (reader.field() == 1) {
      expression.offset = reader.Integer();
    } else if (reader.field() == 2) {
      Reader term = reader.Message("TermDef");
      auto& [symbol, coefficient] = expression.terms.emplace_back();
      while (term.Next()) {
        if (term.field() == 1) {
          symbol = term.Integer32();
        } else if (term.field() == 2) {
          coefficient = term.Integer();
        } else {
          term.FailUnknown();
        }
      }
    } else {
      reader.FailUnknown();
    }
  }
  return expression;
}

ValueInfo ReadValue(Reader reader) {
  ValueInfo info;
  bool has_dtype = false;
  const size_t begin = reader.offset();
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        info.dtype = ReadDType(reader);
        has_dtype = true;
        break;
      case 2:
        reader.Integers(&info.shape, kMaxDims);
        break;
      case 3:
        reader.Integers(&info.strides, kMaxDims);
        break;
      case 4:
        info.name = reader.Text();
        break;
      case 5:
        info.device = ReadDevice(reader);
        break;
      case 6: {
        Reader size = reader.Message("SizeDef");
        auto& [axis, expression] = info.symbolic.emplace_back();
        while (size.Next()) {
          if (size.field() == 1) {
            axis = size.Integer32();
          } else if (size.field() == 2) {
            expression = ReadExpression(size.Message("ExpressionDef"));
          } else {
            size.FailUnknown();
          }
        }
        break;
      }
      default:
        reader.FailUnknown();
    }
  }
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
    while (reader_.Next()) {
      switch (reader_.field()) {
        case 1:
          info_.dtype = ReadDType(reader_);
          has_dtype = true;
          break;
        case 2:
          reader_.Integers(&info_.shape, kMaxDims);
          break;
        case 3:
          reader_.Integers(&info_.strides, kMaxDims);
          break;
        case 4:
          data_ = reader_.Bytes();
          inside_ = true;
          break;
        case 5:
          offset_ = reader_.Integer();
          inside_ = false;
          break;
        default:
          reader_.FailUnknown();
      }
    }
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
    while (reader.Next()) ReadField(reader);
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

  void ReadField(Reader& reader) {
    switch (reader.field()) {
      case 2:
        graph_.name = reader.Text();
        break;
      case 3:
        graph_.symbols.push_back(reader.Text());
        break;
      case 4:
        graph_.values.push_back(ReadValue(reader.Message("ValueDef")));
        break;
      case 5:
        reader.Integers(&graph_.inputs);
        break;
      case 6:
        ReadConstant(reader.Message("ConstantDef"));
        break;
      case 7:
        graph_.calls.push_back(ReadCall(reader.Message("OpDef")));
        break;
      case 8:
        reader.Integers(&graph_.outputs);
        break;
      case 9:
        ReadUpdate(reader.Message("UpdateDef"));
        break;
      default:
        reader.FailUnknown();
    }
  }

  void ReadConstant(Reader reader) {
    auto& [id, tensor] = constants_.emplace_back();
    while (reader.Next()) {
      if (reader.field() == 1) {
        id = reader.Integer32();
      } else if (reader.field() == 2) {
        tensor = TensorReader(reader.Message("TensorDef"), weights_).Read();
      } else {
        reader.FailUnknown();
      }
    }
    if (!tensor.defined()) reader.Fail("the end of a constant without a tensor");
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
    auto& [input, id] = graph_.updates.emplace_back();
    while (reader.Next()) {
      if (reader.field() == 1) {
        input = reader.Integer32();
      } else if (reader.field() == 2) {
        id = reader.Integer32();
      } else {
        reader.FailUnknown();
      }
    }
  }

  GraphCall ReadCall(Reader reader) {
    GraphCall call;
    std::vector<std::pair<std::string, Value>> attrs;
    const Reader whole = reader;
    while (reader.Next()) {
      switch (reader.field()) {
        case 1: {
          const std::string name = reader.Text();
          call.op = At(reader, [&] { return &GetOp(name); });
          break;
        }
        case 2:
          reader.SignedIntegers(&call.inputs);
          break;
        case 3:
          reader.Integers(&call.list_sizes);
          break;
        case 4:
          attrs.push_back(ReadAttribute(reader.Message("AttrDef")));
          break;
        case 5:
          reader.SignedIntegers(&call.outputs);
          break;
        case 6:
          call.scope = reader.Text();
          break;
        case 7:
          call.symbolic.push_back(ReadSymbolic(reader.Message("SymbolicDef")));
          break;
        default:
          reader.FailUnknown();
      }
    }
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
        ReadList(reader.Message("IntegersDef"), [&](Reader& one) { one.Integers(&list); });
        return Value(std::move(list));
      }
      case 9: {
        std::vector<double> list;
        ReadList(reader.Message("RealsDef"), [&](Reader& one) { one.Reals(&list); });
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
    while (reader.Next()) {
      if (reader.field() == 1) {
        number.re = reader.Real();
      } else if (reader.field() == 2) {
        number.im = reader.Real();
      } else {
        reader.FailUnknown();
      }
    }
    return Value(number);
  }

  template <typename Read>
  static void ReadList(Reader reader, Read&& read) {
    while (reader.Next()) {
      if (reader.field() != 1) reader.FailUnknown();
      read(reader);
    }
  }

  static GraphCall::Symbolic ReadSymbolic(Reader reader) {
    GraphCall::Symbolic symbolic;
    symbolic.element = 0;
    while (reader.Next()) {
      if (reader.field() == 1) {
        symbolic.attr = reader.Integer32();
      } else if (reader.field() == 2) {
        symbolic.element = reader.SignedInteger32();
      } else if (reader.field() == 3) {
        symbolic.value = ReadExpression(reader.Message("ExpressionDef"));
      } else {
        reader.FailUnknown();
      }
    }
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
