// Two 16-bit floats as storage types: arithmetic happens in float, memory holds 16 bits.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/base/macros.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace dragon {

namespace bits {

template <typename To, typename From>
DRAGON_FN To Cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

// A NaN stays a (quiet) NaN in every conversion. Which one is the processor's affair: of a NaN's payload, CPUs keep
// what fits, and GPUs nothing.

/// Convert a float to the bits of the nearest bfloat16, ties to even.
DRAGON_FN uint16_t FloatToBFloat16(float value) {
#if defined(__CUDA_ARCH__)
  return __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
  const uint32_t word = Cast<uint32_t>(value);
  const uint32_t rounded = (word + 0x7FFFu + ((word >> 16) & 1u)) >> 16;
  const uint32_t quiet = (word >> 16) | 0x0040u;
  return static_cast<uint16_t>((word & 0x7FFFFFFFu) > 0x7F800000u ? quiet : rounded);
#endif
}

DRAGON_FN float BFloat16ToFloat(uint16_t half) { return Cast<float>(static_cast<uint32_t>(half) << 16); }

#if defined(__CUDA_ARCH__)
DRAGON_FN uint16_t FloatToFloat16(float value) { return __half_as_ushort(__float2half_rn(value)); }
DRAGON_FN float Float16ToFloat(uint16_t half) { return __half2float(__ushort_as_half(half)); }
#elif defined(__aarch64__) && !defined(__CUDACC__)
// Of C++ compilers for ARM only young ones know _Float16; all of them know ARM's own name, and the instructions.
DRAGON_FN uint16_t FloatToFloat16(float value) {
  const __fp16 half = static_cast<__fp16>(value);
  uint16_t word;
  memcpy(&word, &half, sizeof(word));
  return word;
}
DRAGON_FN float Float16ToFloat(uint16_t word) {
  __fp16 half;
  memcpy(&half, &word, sizeof(half));
  return half;
}
#elif defined(__FLT16_MANT_DIG__) && !defined(__CUDACC__)
DRAGON_FN uint16_t FloatToFloat16(float value) { return Cast<uint16_t>(static_cast<_Float16>(value)); }
DRAGON_FN float Float16ToFloat(uint16_t half) { return static_cast<float>(Cast<_Float16>(half)); }
#else
/// Round by letting float addition do it: `value * 2^-112` lands on the binary16 grid of subnormals.
inline uint16_t FloatToFloat16(float value) {
  const uint32_t word = Cast<uint32_t>(value);
  const uint32_t sign = (word >> 16) & 0x8000u;
  uint32_t magnitude = word & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u);
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7C00u);
  if (magnitude < 0x38800000u) {  // subnormal in binary16: add 0.5, whose last mantissa bit is 2^-24
    const float shifted = Cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (Cast<uint32_t>(shifted) - 0x3F000000u));
  }
  magnitude += 0xC8000FFFu + ((magnitude >> 13) & 1u);  // rebias the exponent by -112, round to even
  return static_cast<uint16_t>(sign | (magnitude >> 13));
}

inline float Float16ToFloat(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7FFFu;
  if (magnitude >= 0x7C00u) return Cast<float>(sign | 0x7F800000u | ((magnitude & 0x3FFu) << 13));
  if (magnitude >= 0x0400u) return Cast<float>(sign | ((magnitude << 13) + 0x38000000u));
  const float tiny = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2^-24
  return Cast<float>(sign | Cast<uint32_t>(tiny));
}
#endif

}  // namespace bits

/// IEEE binary16.
struct float16 {
  uint16_t bits;

  float16() = default;
  DRAGON_FN explicit float16(float value) : bits(bits::FloatToFloat16(value)) {}
  DRAGON_FN operator float() const { return bits::Float16ToFloat(bits); }
};

/// The upper half of an IEEE binary32.
struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  DRAGON_FN explicit bfloat16(float value) : bits(bits::FloatToBFloat16(value)) {}
  DRAGON_FN operator float() const { return bits::BFloat16ToFloat(bits); }
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

}  // namespace dragon
