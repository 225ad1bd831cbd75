// Bytes in the widest vectors of the level: pairs of them are weighed by 16-bit numbers into 32-bit sums.
//
// Vectors are seen as lanes of 16 bytes, within which bytes are interleaved and sums are packed: what the one does to
// their order, the other undoes.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/kernels/kernel.h"

#if defined(__x86_64__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace dragon::DRAGON_DEVICE {

#if defined(__AVX512BW__) && !defined(__CUDACC__)
using ByteVector = __m512i;
inline ByteVector InterleaveLow(ByteVector a, ByteVector b) { return _mm512_unpacklo_epi8(a, b); }
inline ByteVector InterleaveHigh(ByteVector a, ByteVector b) { return _mm512_unpackhi_epi8(a, b); }
inline ByteVector MultiplyPairs(ByteVector a, ByteVector b) { return _mm512_madd_epi16(a, b); }
inline ByteVector PackBytes(ByteVector a, ByteVector b, ByteVector c, ByteVector d) {
  return _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
}
#elif defined(__AVX2__) && !defined(__CUDACC__)
using ByteVector = __m256i;
inline ByteVector InterleaveLow(ByteVector a, ByteVector b) { return _mm256_unpacklo_epi8(a, b); }
inline ByteVector InterleaveHigh(ByteVector a, ByteVector b) { return _mm256_unpackhi_epi8(a, b); }
inline ByteVector MultiplyPairs(ByteVector a, ByteVector b) { return _mm256_madd_epi16(a, b); }
inline ByteVector PackBytes(ByteVector a, ByteVector b, ByteVector c, ByteVector d) {
  return _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
}
#elif defined(__x86_64__) && !defined(__CUDACC__)
using ByteVector = __m128i;
inline ByteVector InterleaveLow(ByteVector a, ByteVector b) { return _mm_unpacklo_epi8(a, b); }
inline ByteVector InterleaveHigh(ByteVector a, ByteVector b) { return _mm_unpackhi_epi8(a, b); }
inline ByteVector MultiplyPairs(ByteVector a, ByteVector b) { return _mm_madd_epi16(a, b); }
inline ByteVector PackBytes(ByteVector a, ByteVector b, ByteVector c, ByteVector d) {
  return _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d));
}
#else  // what the compiler knows of every processor whose lowest bytes come first
typedef uint8_t ByteVector __attribute__((vector_size(16)));
typedef int32_t FourWords __attribute__((vector_size(16)));
inline ByteVector InterleaveLow(ByteVector a, ByteVector b) {
  return __builtin_shuffle(a, b, ByteVector{0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23});
}
inline ByteVector InterleaveHigh(ByteVector a, ByteVector b) {
  return __builtin_shuffle(a, b, ByteVector{8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
}
inline ByteVector MultiplyPairs(ByteVector a, ByteVector b) {
  const auto x = reinterpret_cast<FourWords>(a), y = reinterpret_cast<FourWords>(b);
  return reinterpret_cast<ByteVector>(((x << 16) >> 16) * ((y << 16) >> 16) + (x >> 16) * (y >> 16));
}
/// The lowest bytes of both's words, kept within 0 ... 255, twice.
inline ByteVector LowestBytes(ByteVector a, ByteVector b) {
  const auto kept = [](ByteVector vector) {
    auto words = reinterpret_cast<FourWords>(vector);
    words = words < 0 ? FourWords{} : words;
    return reinterpret_cast<ByteVector>(words > 255 ? FourWords{} + 255 : words);
  };
  return __builtin_shuffle(kept(a), kept(b), ByteVector{0, 4, 8, 12, 16, 20, 24, 28, 0, 4, 8, 12, 16, 20, 24, 28});
}
inline ByteVector PackBytes(ByteVector a, ByteVector b, ByteVector c, ByteVector d) {
  return __builtin_shuffle(LowestBytes(a, b), LowestBytes(c, d),
                           ByteVector{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23});
}
#endif

inline constexpr int64_t kVectorOfBytes = sizeof(ByteVector);
inline constexpr int64_t kLaneOfBytes = 16;
typedef int32_t WordVector __attribute__((vector_size(sizeof(ByteVector)), may_alias));

inline ByteVector Repeated(int32_t word) { return reinterpret_cast<ByteVector>(WordVector{} + word); }
inline ByteVector AddWords(ByteVector a, ByteVector b) {
  return reinterpret_cast<ByteVector>(reinterpret_cast<WordVector>(a) + reinterpret_cast<WordVector>(b));
}
inline ByteVector ShiftWords(ByteVector a, int bits) {
  return reinterpret_cast<ByteVector>(reinterpret_cast<WordVector>(a) >> bits);
}

inline ByteVector LoadBytes(const uint8_t* from) {
  ByteVector vector;
  std::memcpy(&vector, from, sizeof(vector));
  return vector;
}
/// The first `count` bytes, and zeros.
inline ByteVector LoadBytes(const uint8_t* from, int64_t count) {
  if (count >= kVectorOfBytes) return LoadBytes(from);
#if defined(__AVX512BW__) && !defined(__CUDACC__)
  return _mm512_maskz_loadu_epi8((uint64_t{1} << count) - 1, from);
#else
  ByteVector vector{};
  std::memcpy(&vector, from, count);
  return vector;
#endif
}
inline void StoreBytes(uint8_t* to, ByteVector vector, int64_t count = kVectorOfBytes) {
  if (count >= kVectorOfBytes) {
    std::memcpy(to, &vector, sizeof(vector));
  } else {
#if defined(__AVX512BW__) && !defined(__CUDACC__)
    _mm512_mask_storeu_epi8(to, (uint64_t{1} << count) - 1, vector);
#else
    std::memcpy(to, &vector, count);
#endif
  }
}

/// Turn sixteen rows: of row c, lane l then holds byte c of lane l of each.
inline void TurnLanes(ByteVector* rows) {
  for (int round = 0; round < 4; ++round) {  // each turns the bits of (row, byte) round by one
    ByteVector turned[kLaneOfBytes];
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      turned[2 * i] = InterleaveLow(rows[i], rows[i + 8]);
      turned[2 * i + 1] = InterleaveHigh(rows[i], rows[i + 8]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) rows[i] = turned[i];
  }
}

}  // namespace dragon::DRAGON_DEVICE
