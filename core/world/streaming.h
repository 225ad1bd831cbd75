// Writing what another processor reads next.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dragon {

/// Copy into shared memory past this processor's caches. The lines there belong to the other processor, which has read
/// them before; to fetch each of them back only to overwrite it takes ten times as long as the copy itself.
inline void StreamInto(char* there, const char* from, int64_t bytes) {
#if defined(__SSE2__)
  constexpr int64_t kLine = 64, kLeast = 1024;
  const int64_t before = bytes < kLeast ? bytes : -reinterpret_cast<intptr_t>(there) & (kLine - 1);
  std::memcpy(there, from, before);
  there += before, from += before, bytes -= before;
  const int64_t lines = bytes / kLine;
  for (int64_t line = 0; line < lines; ++line) {
    const auto* source = reinterpret_cast<const __m128i*>(from + line * kLine);
    auto* target = reinterpret_cast<__m128i*>(there + line * kLine);
    const __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  if (lines > 0) _mm_sfence();  // before anybody is told that it is there
  there += lines * kLine, from += lines * kLine, bytes -= lines * kLine;
#endif
  std::memcpy(there, from, bytes);
}

}  // namespace dragon
