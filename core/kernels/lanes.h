// Sums and maxima over an index, written so that the compiler keeps several vectors in flight, and vector exponentials.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/base/types.h"
#include "core/kernels/exponent.h"

#if defined(__x86_64__) && !defined(__CUDACC__)
// glibc has vector variants of these; the attribute lets a simd loop call them (at most 4 ulp).
extern "C" {
__attribute__((simd("notinbranch"))) double exp(double) noexcept;
__attribute__((simd("notinbranch"))) float logf(float) noexcept;
__attribute__((simd("notinbranch"))) double log(double) noexcept;
}
#endif

namespace dragon::DRAGON_DEVICE {

DRAGON_FN float Exp(float x) { return libm::ExpOfFloat(x); }
DRAGON_FN double Exp(double x) { return exp(x); }
DRAGON_FN float Log(float x) { return logf(x); }
DRAGON_FN double Log(double x) { return log(x); }

/// Lanes that a running sum is spread over: four of the widest vectors.
template <typename A>
inline constexpr int kLaneCount = 256 / sizeof(A);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 does not see that lanes beyond `used` are not read
/// Fold term(0) ... term(n - 1), n > 0, with `combine`: every lane stays in a register, and lanes meet pairwise at the
/// end.
template <typename A, typename Term, typename Combine>
DRAGON_FN A LaneFold(int64_t n, Term term, Combine combine) {
  constexpr int kLanes = kLaneCount<A>;
  A lanes[kLanes];
  if (n < kLanes) {
    const int few = static_cast<int>(n);
#pragma omp simd
    for (int j = 0; j < few; ++j) lanes[j] = term(j);
    for (int used = few; used > 1;) {
      const int half = (used + 1) / 2;
      for (int j = 0; j < used - half; ++j) lanes[j] = combine(lanes[j], lanes[j + half]);
      used = half;
    }
    return lanes[0];
  }
#pragma omp simd
  for (int j = 0; j < kLanes; ++j) lanes[j] = term(j);
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
#pragma omp simd
    for (int j = 0; j < kLanes; ++j) lanes[j] = combine(lanes[j], term(i + j));
  }
  const int rest = static_cast<int>(n - i);
#pragma omp simd
  for (int j = 0; j < rest; ++j) lanes[j] = combine(lanes[j], term(i + j));
#pragma GCC unroll 8
  for (int half = kLanes / 2; half > 0; half /= 2) {
#pragma omp simd
    for (int j = 0; j < half; ++j) lanes[j] = combine(lanes[j], lanes[j + half]);
  }
  return lanes[0];
}
#pragma GCC diagnostic pop

/// The sum of term(i); rows of more than some thousand terms are better cut by the caller.
template <typename A, typename Term>
DRAGON_FN A LaneSum(int64_t n, Term term) {
  return n > 0 ? LaneFold<A>(n, term, [](A a, A b) { return a + b; }) : A(0);
}

/// The largest term(i), or NaN if there is one; n > 0.
template <typename A, typename Term>
DRAGON_FN A LaneMax(int64_t n, Term term) {
  return LaneFold<A>(n, term, [](A a, A b) { return (a > b || a != a) ? a : b; });
}

}  // namespace dragon::DRAGON_DEVICE
