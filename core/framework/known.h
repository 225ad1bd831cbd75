// Which calls are computed although only shapes are wanted.
#pragma once

#include <algorithm>

#include "core/framework/apply.h"

namespace dragon {

/// Numbers that are computed even where only shapes are wanted: sizes of other tensors, as a rule, which shapes follow.
inline constexpr int64_t kMostSizes = 64;

/// May a call's results be known while shapes are worked out? Its operands are few numbers, which are there, and it
/// changes nothing; a trace looks at shapes only.
inline bool IsKnown(const Call& call, std::span<const Tensor> outs, std::span<const OutputSpec> specs) {
  if (Door().tracer || !outs.empty() || call.op->schema.mutates()) return false;
  for (const Argument& argument : call.op->schema.arguments()) {
    if (argument.type == ArgumentType::kGenerator) return false;
  }
  for (const Tensor& x : call.inputs) {
    if (!x.defined()) continue;
    const Storage* storage = x.impl()->storage.get();
    if (!storage || x.numel() > kMostSizes || storage->memory.state() == UnifiedMemory::State::kUninitialized) {
      return false;
    }
  }
  return std::all_of(specs.begin(), specs.end(),
                     [](const OutputSpec& spec) { return CheckedNumel("sizes", spec.shape, 1) <= kMostSizes; });
}

}  // namespace dragon
