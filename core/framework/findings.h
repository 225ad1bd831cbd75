// What a program finds by looking at the numbers of its tensors, and somebody who foretells it: a program that computes
// nothing goes on as one did that computed.
#pragma once

#include <optional>
#include <vector>

#include "core/framework/tensor.h"

namespace dragon {

/// One number, or results of an operator whose shapes depend on numbers.
struct Finding {
  Value number;
  std::vector<Tensor> results;  ///< without numbers themselves
};

/// Asked before a number is read.
class DRAGON_API NumberTeller {
 public:
  virtual ~NumberTeller() = default;
  /// The number; nothing where it is to be read.
  virtual std::optional<Value> Tell(const Tensor& tensor) = 0;
};

/// This thread's, if there is one.
DRAGON_API NumberTeller*& Teller();

}  // namespace dragon
