// Looking at numbers to refuse them: checks of arguments, on which no result depends.
#pragma once

#include "core/framework/apply.h"

namespace dragon {

/// True if a 0-d tensor of bools says so. A trace need not hear of it, and shapes without numbers pass.
inline bool Holds(const Tensor& condition) {
  if (Door().phantom || condition.is_meta()) return true;
  const Tensor unheard = condition.Detach();
  unheard.impl()->weak = true;
  return unheard.Item().boolean();
}

}  // namespace dragon
