// Looking at numbers to refuse them: checks of arguments, on which no result depends.
#pragma once

#include "core/framework/batching.h"
#include "core/framework/op.h"

namespace dragon {

/// True if a 0-d tensor of bools says so. A trace need not hear of it, and shapes without numbers pass;
/// of slices, all must say so.
inline bool Holds(const Tensor& condition) {
  if (const Tensor* batch = FindBatch(condition)) return Holds(Op<"all">(*batch));
  if (Door().phantom || condition.is_meta()) return true;
  const Tensor unheard = condition.Detach();
  unheard.impl()->weak = true;
  return unheard.Item().boolean();
}

}  // namespace dragon
