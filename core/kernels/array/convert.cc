// The conversions between every two dtypes, each a loop over contiguous elements.
#include "core/kernels/convert.h"

#include <algorithm>

#if defined(__F16C__) && !defined(DRAGON_GPU)
#include <immintrin.h>
#endif

#include "core/kernels/cast.h"

namespace dragon::DRAGON_DEVICE {

/// Dtypes that numbers are only kept in go by way of the one that they are computed in.
template <typename T>
using Stop = std::conditional_t<kIsFloat8<T>, float, std::conditional_t<std::is_same_v<T, complex32>, complex64, T>>;

template <typename To, typename From>
void Convert(Context& ctx, void* to, const void* from, int64_t n);

/// The same by way of numbers of another dtype, which hold all of either.
template <typename To, typename By, typename From>
void ConvertBy(Context& ctx, void* to, const void* from, int64_t n) {
  constexpr int64_t kPiece = 1024;
  By piece[kPiece];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = std::min(kPiece, n - i);
    Convert<By, From>(ctx, piece, static_cast<const From*>(from) + i, count);
    Convert<To, By>(ctx, static_cast<To*>(to) + i, piece, count);
  }
}

template <typename To, typename From>
__attribute__((noinline)) void Convert(Context& ctx, void* to, const void* from, int64_t n) {
#if !defined(DRAGON_GPU)
  using StopTo = Stop<To>;
  using StopFrom = Stop<From>;
  if constexpr (std::is_same_v<To, From>) {
    return std::copy_n(static_cast<const From*>(from), n, static_cast<To*>(to)), void();
  } else if constexpr (std::is_same_v<From, bool>) {
    return Convert<To, uint8_t>(ctx, to, from, n);  // the same bytes; GCC 12 leaves loops over bools scalar
  } else if constexpr (!std::is_same_v<StopFrom, From> && !std::is_same_v<StopFrom, To>) {
    return ConvertBy<To, StopFrom, From>(ctx, to, from, n);
  } else if constexpr (!std::is_same_v<StopTo, To> && !std::is_same_v<StopTo, From>) {
    return ConvertBy<To, StopTo, From>(ctx, to, from, n);
  }
#endif
  auto* y = static_cast<To*>(to);
  auto* x = static_cast<const From*>(from);
  int64_t i = 0;
#if defined(__F16C__) && !defined(DRAGON_GPU)
  // GCC 12 leaves these two scalar, although the instructions are there.
  if constexpr (std::is_same_v<From, float16> && std::is_same_v<To, float>) {
    for (; i + 8 <= n; i += 8) {
      _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
    }
  }
  if constexpr (std::is_same_v<From, float> && std::is_same_v<To, float16>) {
    for (; i + 8 <= n; i += 8) {
      const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i), halves);
    }
  }
#endif
#pragma omp simd
  for (int64_t j = i; j < n; ++j) y[j] = Cast<To>(x[j]);
}

template <typename To, typename... From>
bool EnterConversionsTo(TypeList<From...>) {
  const kernels::ConvertKernel& kernel = kernels::kConvertTo[static_cast<int>(kDTypeOf<To>)];
  (kernel.Set(DRAGON_DEVICE_TYPE, kDTypeOf<From>, &Convert<To, From>), ...);
  return true;
}

template <typename... To>
bool EnterConversions(TypeList<To...>) {
  return (EnterConversionsTo<To>(StoredTypes{}) & ...);
}

#if !defined(DRAGON_GPU)  // elsewhere `Each` converts in registers
[[maybe_unused]] static const bool conversions_entered = EnterConversions(StoredTypes{});
#endif

}  // namespace dragon::DRAGON_DEVICE
