// Functions of the program around: operators that call them when a graph runs, for printing and checks.
#pragma once

#include <cstdint>
#include <span>

#include "core/framework/tensor.h"

namespace dragon {

/// Who knows the functions.
struct HostRules {
  /// Calls a function by its number; what it throws ends the run. Told by Python's bindings.
  void (*call)(int64_t function, std::span<const Tensor> inputs) = nullptr;
};
DRAGON_API HostRules& Host();

}  // namespace dragon
