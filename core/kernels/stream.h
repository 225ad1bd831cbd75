// Writing past the caches, for results so large that they would be evicted before anyone reads them.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <cstdint>
#include <cstring>
#include <limits>

namespace dragon {

#if defined(__SSE2__)

/// Results from here on bypass the caches.
inline constexpr int64_t kStreamBytes = int64_t{20} << 20;

/// Copy past the caches; both ends 16-byte aligned. After the last one call StreamEnd.
inline void StreamCopy(void* to, const void* from, int64_t bytes) {
  char* target = static_cast<char*>(to);
  const char* source = static_cast<const char*>(from);
  int64_t i = 0;
  for (; i + 64 <= bytes; i += 64) {
    for (int64_t j = 0; j < 64; j += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(target + i + j), *reinterpret_cast<const __m128i*>(source + i + j));
    }
  }
  std::memcpy(target + i, source + i, bytes - i);
}

/// What was copied so far is seen by other threads before what is written from here on.
inline void StreamEnd() { _mm_sfence(); }

#else

/// Processors of other kinds find out by themselves that a line is written as a whole: nothing is large enough.
inline constexpr int64_t kStreamBytes = std::numeric_limits<int64_t>::max();

inline void StreamCopy(void* to, const void* from, int64_t bytes) { std::memcpy(to, from, bytes); }

inline void StreamEnd() {}

#endif

}  // namespace dragon
