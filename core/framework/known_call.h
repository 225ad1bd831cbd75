// What calls write, and which are computed while shapes are worked out.
#pragma once

#include <span>

#include "core/framework/op.h"
#include "core/framework/writes.h"

namespace dragon {

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

/// False for operators that give memory with whatever is in it.
bool MakesNumbers(const Operator& op);
/// May a call's results be known while shapes are worked out? Its operands are few numbers, which are there, and it
/// changes nothing but what this run has made; a trace looks at shapes only, unless whoever started it says otherwise.
bool IsKnown(const Call& call, std::span<const Tensor> outs, std::span<const OutputSpec> specs);
/// What a call writes that is not computed has no numbers any more, as far as they are this run's own.
void ForgetWritten(const Call& call, std::span<const Tensor> outs);
/// Results that were computed are the run's own, but for those that share the memory of an operand.
void NoteImagined(const Call& call, std::span<const Tensor> results);

}  // namespace dragon
