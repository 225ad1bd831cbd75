// Whole numbers of 64 bits as Python has them: division rounds down, and what is beyond 64 bits is told by `false`.
#pragma once

#include <cstdint>

namespace dragon {

/// a + b; false where it is beyond 64 bits.
inline bool Added(int64_t a, int64_t b, int64_t* sum) { return !__builtin_add_overflow(a, b, sum); }
/// a * b; false where it is beyond 64 bits.
inline bool Multiplied(int64_t a, int64_t b, int64_t* product) { return !__builtin_mul_overflow(a, b, product); }
/// a divided by a number other than 0 and -1, rounded down.
inline int64_t FloorDivided(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace dragon
