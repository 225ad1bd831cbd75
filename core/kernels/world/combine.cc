// Reductions of numbers of several processes, element by element.
#include <algorithm>
#include <type_traits>

#include "core/kernels/world.h"

namespace dragon::DRAGON_DEVICE {

using ::dragon::kernels::CombineSpec;

namespace {

constexpr int64_t kBlock = 1024;  // numbers that stay near while all sources are added

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <typename T>
inline constexpr bool kIsComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
/// What numbers are added in.
template <typename T>
using Sum = std::conditional_t<kIsHalf<T>, float, std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;

/// NaN, where one of two is.
template <typename T, typename Better>
T Choose(T a, T b, Better better) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a) return a;
  }
  return better(a, b) ? a : b;
}

/// What becomes of a joined number: a share of it, where an average is asked for.
template <typename T>
T Finish(Sum<T> sum, double divisor) {
  if constexpr (std::is_same_v<T, bool>) return sum != 0;
  return divisor == 1 ? static_cast<T>(sum) : static_cast<T>(sum / static_cast<Sum<T>>(divisor));
}

/// Two sources, as between two processes: each number is read and written once.
template <bool kDivides, typename T, typename Join>
void JoinTwo(const CombineSpec& spec, const Join& join, double divisor) {
  T* out = reinterpret_cast<T*>(spec.out);
  const T* one = reinterpret_cast<const T*>(spec.sources[0]);
  const T* other = reinterpret_cast<const T*>(spec.sources[1]);
  // The result may be one of the two, but never a part of one.
  const int64_t count = spec.count;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const Sum<T> sum = join(static_cast<Sum<T>>(one[i]), static_cast<Sum<T>>(other[i]));
    out[i] = kDivides ? Finish<T>(sum, divisor) : Finish<T>(sum, 1);
  }
}

template <typename T, typename Join>
void JoinMany(const CombineSpec& spec, const Join& join, double divisor) {
  T* out = reinterpret_cast<T*>(spec.out);
  Sum<T> sums[kBlock];
  for (int64_t begin = 0; begin < spec.count; begin += kBlock) {
    const int64_t count = std::min(kBlock, spec.count - begin);
    const T* first = reinterpret_cast<const T*>(spec.sources[0]) + begin;
    for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<Sum<T>>(first[i]);
    for (size_t q = 1; q < spec.sources.size(); ++q) {
      const T* source = reinterpret_cast<const T*>(spec.sources[q]) + begin;
      for (int64_t i = 0; i < count; ++i) sums[i] = join(sums[i], static_cast<Sum<T>>(source[i]));
    }
    for (int64_t i = 0; i < count; ++i) out[begin + i] = Finish<T>(sums[i], divisor);
  }
}

template <typename T, typename Join>
void JoinAll(const CombineSpec& spec, const Join& join, double divisor) {
  if (spec.sources.size() != 2) {
    JoinMany<T>(spec, join, divisor);
  } else if (divisor == 1) {
    JoinTwo<false, T>(spec, join, divisor);
  } else {
    JoinTwo<true, T>(spec, join, divisor);
  }
}

/// Bits of whole numbers; false where the numbers are others, or the reduction is.
template <typename T>
bool JoinBits(const CombineSpec& spec) {
  if constexpr (std::is_integral_v<T>) {
    using S = Sum<T>;
    if (spec.reduction == Reduction::kAnd) JoinAll<T>(spec, [](S a, S b) { return static_cast<S>(a & b); }, 1);
    if (spec.reduction == Reduction::kOr) JoinAll<T>(spec, [](S a, S b) { return static_cast<S>(a | b); }, 1);
    if (spec.reduction == Reduction::kXor) JoinAll<T>(spec, [](S a, S b) { return static_cast<S>(a ^ b); }, 1);
    return spec.reduction == Reduction::kAnd || spec.reduction == Reduction::kOr || spec.reduction == Reduction::kXor;
  }
  return false;
}

/// The least or the greatest; false where numbers have no order, or the reduction is another.
template <typename T>
bool JoinByOrder(const CombineSpec& spec) {
  if constexpr (!kIsComplex<T>) {
    using S = Sum<T>;
    if (spec.reduction == Reduction::kMinimum) {
      JoinAll<T>(spec, [](S a, S b) { return Choose(a, b, [](S x, S y) { return x < y; }); }, 1);
      return true;
    }
    if (spec.reduction == Reduction::kMaximum) {
      JoinAll<T>(spec, [](S a, S b) { return Choose(a, b, [](S x, S y) { return x > y; }); }, 1);
      return true;
    }
  }
  return false;
}

}  // namespace

template <typename T>
void Combine(Context& ctx, const CombineSpec& spec) {
  using S = Sum<T>;
  const bool average = spec.reduction == Reduction::kAverage;
  if (JoinBits<T>(spec) || JoinByOrder<T>(spec)) return;
  if (spec.reduction == Reduction::kSum || (average && !std::is_same_v<T, bool>)) {
    const double divisor = average ? static_cast<double>(spec.sources.size()) : 1;
    if constexpr (std::is_same_v<T, bool>) {
      JoinAll<T>(spec, [](S a, S b) { return static_cast<S>(a | b); }, 1);
    } else {
      JoinAll<T>(spec, [](S a, S b) { return static_cast<S>(a + b); }, divisor);
    }
  } else if (spec.reduction == Reduction::kProduct) {
    JoinAll<T>(spec, [](S a, S b) { return static_cast<S>(a * b); }, 1);
  } else {
    throw ValueError("combine")
        .Got("the reduction ", NameOf(spec.reduction), " of ", kDTypeOf<T>)
        .Expected("one that this dtype has");
  }
}

DRAGON_KERNEL(Combine, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
