// Writing past the caches, for results so large that they would be evicted before anyone reads them.
#pragma once

#include <emmintrin.h>

#include <cstdint>
#include <cstring>

namespace dragon {

/// Results from here on bypass the caches.
inline constexpr int64_t kStreamBytes = int64_t{20} << 20;

/// Copy past the caches; both ends 16-byte aligned. After the last one call _mm_sfence.
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

}  // namespace dragon
