// Calls that are computed while shapes are worked out.
#pragma once

#include <span>

#include "core/framework/op.h"

namespace dragon {

/// May a call's results be known while shapes are worked out? Its operands are few numbers, which are there, and it
/// changes nothing but what this run has made; a trace looks at shapes only, unless whoever started it says otherwise.
bool IsKnown(const Call& call, std::span<const Tensor> outs, std::span<const OutputSpec> specs);
/// What a call writes that is not computed has no numbers any more, as far as they are this run's own.
void ForgetWritten(const Call& call, std::span<const Tensor> outs);
/// Results that were computed are the run's own, but for those that share the memory of an operand.
void NoteImagined(const Call& call, std::span<const Tensor> results);

}  // namespace dragon
