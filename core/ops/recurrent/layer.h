// One recurrent layer in one direction, as the stacked networks call it.
#pragma once

#include <string>

#include "core/framework/op.h"
#include "core/kernels/recurrent.h"

namespace dragon::recurrent {

/// The operands of one layer and direction; bias, projection and c0 may be undefined.
struct Operands {
  Tensor gates_x, h0, c0, weight, bias, projection;
};

/// "tanh", "relu", "lstm" or "gru"; anything else is a ValueError in the name of `who`.
RecurrentMode ModeNamed(const char* who, const std::string& name);

/// out, hn, cn in ordinary operators: the slow twin of the kernel, with gradients of any order.
Tensors LayerByOperators(const Operands& x, RecurrentMode mode, bool reverse, const Dims& batch_sizes);

}  // namespace dragon::recurrent
