// Which calls write their arguments.
#pragma once

#include <span>

#include "core/framework/op.h"

namespace dragon {

/// False for a call that leaves its `Tensor!` arguments as they are: a norm that is not training its statistics.
DRAGON_API bool Writes(const Operator& op, std::span<const Value> attrs);

/// `see` each tensor that a call writes to.
template <typename See>
void EachWritten(const Call& call, std::span<const Tensor> outs, const See& see) {
  for (const Tensor& out : outs) {
    if (out.defined()) see(out);
  }
  const Schema& schema = call.op->schema;
  if (!Writes(*call.op, call.attrs)) return;
  size_t i = 0, list = 0;
  for (int slot = 0; slot < schema.tensor_count(); ++slot) {
    const size_t count = schema.tensor(slot).type == ArgumentType::kTensorList ? call.list_sizes[list++] : 1;
    for (size_t k = 0; k < count; ++k, ++i) {
      if (schema.tensor(slot).mutated && call.inputs[i].defined()) see(call.inputs[i]);
    }
  }
}

}  // namespace dragon
