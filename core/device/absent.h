// A thread says here that numbers are absent: memory that nobody has filled may not be asked for them.
#pragma once

#include "core/base/macros.h"

namespace dragon {

/// Where shapes are worked out before anything runs, memory without numbers stands for memory that will have some. To
/// read it, or to have it allocated, is a NotImplementedError while this is true.
DRAGON_API bool& NumbersAreAbsent();

}  // namespace dragon
