// The detour over wider dtypes; which operators can do with the words of uint64.
#include "core/framework/stand_in.h"

#include <algorithm>
#include <set>

#include "core/framework/op.h"

namespace dragon {

namespace {

/// Operators to which numbers are words: they come out the same whether a word's highest bit is a sign or not.
bool TreatsWordsAlike(const std::string& op) {
  static const std::set<std::string> kNames = {
      "add",
      "sub",
      "rsub",
      "mul",
      "neg",
      "square",
      "addcmul",
      "sum",
      "prod",
      "cumsum",
      "cumprod",
      "matmul",
      "dot",
      "arange",
      "bitwise_and",
      "bitwise_or",
      "bitwise_xor",
      "bitwise_not",
      "bitwise_left_shift",
      "logical_and",
      "logical_or",
      "logical_xor",
      "logical_not",
      "any",
      "all",
      "count_nonzero",
      "nonzero",
      "gather",
      "index_read",
      "index_write",
      "masked_fill",
      "masked_select",
      "masked_scatter",
      "scatter_write",
      "scatter_add",
      "embedding",
      "cat",
      "flip",
      "roll_axes",
      "repeat",
      "pad",
      "pad_backward",
      "tril",
      "triu",
      "diag_embed",
      "write_view",
      "subview",
      "eye",
  };
  return kNames.count(op) > 0;
}

bool AnyNegative(const Tensor& x) {
  return x.numel() > 0 && Op<"any">(Op<"lt">(x, Number(int64_t{0}))).Item().boolean();
}

/// The argument in its stand-in.
Tensor StandInOf(const Call& call, const Tensor& x) {
  if (!x.defined() || !IsKept(x.dtype())) return x;
  const Tensor standing = Op<"cast">(x, StandIn(x.dtype()));
  standing.impl()->weak = x.impl()->weak;
  if (x.dtype() == DType::kUInt64 && !TreatsWordsAlike(call.op->name()) && AnyNegative(standing)) {
    throw NotImplementedError(call.name())
        .Got("uint64 numbers of 2**63 or more")
        .Expected("smaller ones: there is no kernel for all of uint64, and int64 holds no more");
  }
  return standing;
}

/// A dynamic operator's first result that holds elements of its first argument.
bool SelectsElements(const Operator& op) {
  static const std::set<std::string> kNames = {"masked_select", "unique", "unique_consecutive"};
  return op.dynamic && kNames.count(op.name()) > 0;
}

/// Arguments that the call writes get what was written to their stand-ins.
void WriteBack(const Call& call, std::span<const Tensor> standing) {
  const Schema& schema = call.op->schema;
  if (!schema.mutates()) return;
  size_t i = 0, list = 0;
  for (int slot = 0; slot < schema.tensor_count(); ++slot) {
    const size_t count = schema.tensor(slot).type == ArgumentType::kTensorList ? call.list_sizes[list++] : 1;
    for (size_t k = 0; k < count; ++k, ++i) {
      const Tensor& x = call.inputs[i];
      if (schema.tensor(slot).mutated && x.defined() && !x.is_same(standing[i])) OpInto<"copy">(x, standing[i]);
    }
  }
}

}  // namespace

bool WantsStandIn(const Call& call, const Tensors& outputs, DeviceType device) {
  const auto lacks = [&](const Tensor& x) {
    return x.defined() && IsKept(x.dtype()) && !call.op->kernel->Has(device, x.dtype());
  };
  if (call.op->takes_kept) return false;
  const bool any =
      std::any_of(call.inputs.begin(), call.inputs.end(), lacks) || std::any_of(outputs.begin(), outputs.end(), lacks);
  // What has a body runs the operators of that, each in its own stand-in.
  return any && std::none_of(call.attrs.begin(), call.attrs.end(), [](const Value& value) { return value.object(); });
}

void RunInStandIn(const Call& call, Context& ctx, Tensors& outputs) {
  InlineVector<Tensor, 4> inputs;
  for (const Tensor& x : call.inputs) inputs.push_back(StandInOf(call, x));
  InlineVector<Value, 6> attrs;
  for (const Value& value : call.attrs) {
    attrs.push_back(value.kind() == Value::Kind::kDType ? Value(StandIn(value.dtype())) : value);
  }
  const Call standing{call.op, inputs, {attrs.data(), attrs.size()}, call.list_sizes};
  Tensors results;
  if (!call.op->dynamic) {
    Infer infer(standing);  // the real part of complex32, say, is a dtype of its own, and that of the stand-in another
    infer.device = outputs.empty() ? ctx.device : outputs[0].device();
    call.op->infer(infer);
    for (const OutputSpec& spec : infer.outputs) {
      results.push_back(spec.strides.empty()
                            ? Tensor::Empty(spec.shape, spec.dtype, infer.device)
                            : Tensor::EmptyStrided(spec.shape, spec.strides, spec.dtype, infer.device));
    }
  }
  Run run(standing, ctx, results);
  call.op->run(run);
  WriteBack(call, inputs);
  if (call.op->dynamic) {
    outputs = std::move(results);
    if (SelectsElements(*call.op)) outputs[0] = Op<"cast">(outputs[0], call.inputs[0].dtype());
    return;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].defined()) OpInto<"copy">(outputs[i], results[i]);
  }
}

}  // namespace dragon
