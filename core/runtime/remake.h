// What the backward pass reads and need not be kept for it: large values that few and cheap calls make again.
#pragma once

#include <vector>

#include "core/framework/trace.h"

namespace dragon {

/// What `needed` says of an input that only remaking reads: eager code would let the program write it meanwhile.
inline constexpr char kNeededToRemake = 2;

/// By value: the backward pass makes it again. `needed` holds, by value, whether the backward pass reads it; what
/// remaking reads besides is entered.
std::vector<char> FindRemade(const Capture& capture, const Differentiation& whole, const std::vector<int>& producers,
                             std::vector<char>* needed);

}  // namespace dragon
