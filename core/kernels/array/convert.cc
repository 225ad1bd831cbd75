// The conversions between every two dtypes, each a loop over contiguous elements.
#include "core/kernels/convert.h"

#if defined(__F16C__) && !defined(DRAGON_GPU)
#include <immintrin.h>
#endif

#include "core/kernels/cast.h"

namespace dragon::DRAGON_DEVICE {

template <typename To, typename From>
void Convert(Context&, void* to, const void* from, int64_t n) {
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
