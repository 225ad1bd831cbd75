// Vectors as wide as the level's registers, as values: a loop over them needs no vectorizer, which takes most of the
// time to compile of what is left to one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "core/base/types.h"
#include "core/kernels/lanes.h"

namespace dragon::DRAGON_DEVICE {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <typename A>
struct VectorOf {
  typedef A type __attribute__((vector_size(kVectorBytes)));  // `using` would drop the attribute of a dependent type
};
template <typename A>
using Vector = typename VectorOf<A>::type;
template <typename A>
inline constexpr int kItems = kVectorBytes / static_cast<int>(sizeof(A));

#if defined(__AVX2__)
#if defined(__AVX512F__)
#define DRAGON_WIDE(name, mask, value) _mm512_maskz_##name(mask, value)  // of all lanes, but without a warning
#else
#define DRAGON_WIDE(name, mask, value) _mm256_##name(value)
#endif
/// What one instruction makes of a register's lower part: GCC 12 has several for it, or one for every element.
template <int kFrom, int kTo, bool kSigned, typename Register>
DRAGON_FN auto WidenIntegers(Register x) {
  if constexpr (kFrom == 1 && kTo == 4) {
    return kSigned ? DRAGON_WIDE(cvtepi8_epi32, 0xffff, x) : DRAGON_WIDE(cvtepu8_epi32, 0xffff, x);
  } else if constexpr (kFrom == 1) {
    return kSigned ? DRAGON_WIDE(cvtepi8_epi64, 0xff, x) : DRAGON_WIDE(cvtepu8_epi64, 0xff, x);
  } else if constexpr (kFrom == 2 && kTo == 4) {
    return kSigned ? DRAGON_WIDE(cvtepi16_epi32, 0xffff, x) : DRAGON_WIDE(cvtepu16_epi32, 0xffff, x);
  } else if constexpr (kFrom == 2) {
    return kSigned ? DRAGON_WIDE(cvtepi16_epi64, 0xff, x) : DRAGON_WIDE(cvtepu16_epi64, 0xff, x);
  } else {
    return kSigned ? DRAGON_WIDE(cvtepi32_epi64, 0xff, x) : DRAGON_WIDE(cvtepu32_epi64, 0xff, x);
  }
}
/// A register with so many bytes in its lower part.
template <int kBytes>
DRAGON_FN auto LoadRegister(const void* x) {
  if constexpr (kBytes == 32) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(x));
  } else if constexpr (kBytes == 16) {
    return _mm_loadu_si128(static_cast<const __m128i*>(x));
  } else if constexpr (kBytes == 8) {
    return _mm_loadl_epi64(static_cast<const __m128i*>(x));
  } else {
    int32_t word;
    std::memcpy(&word, x, sizeof(word));
    return _mm_cvtsi32_si128(word);
  }
}
DRAGON_FN Vector<float> WidenHalves(auto x) { return DRAGON_WIDE(cvtph_ps, 0xffff, x); }
#undef DRAGON_WIDE
#endif

/// Neighbours in memory, each made an A, at any address.
template <typename A, typename T>
DRAGON_FN Vector<A> LoadVector(const T* x) {
  using Item = std::conditional_t<std::is_same_v<T, bool>, uint8_t, std::conditional_t<kIsHalf<T>, uint16_t, T>>;
  if constexpr (std::is_same_v<A, Item> || sizeof(A) == sizeof(Item)) {
    typedef Item Stored __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
    return reinterpret_cast<Vector<A>>(*reinterpret_cast<const Stored*>(x));
  } else {
#if defined(__AVX2__)
    const auto stored = LoadRegister<kItems<A>* static_cast<int>(sizeof(T))>(x);
    if constexpr (std::is_same_v<T, float16>) {
      return WidenHalves(stored);
    } else {
      const auto wide = WidenIntegers<sizeof(T), sizeof(A), std::is_signed_v<Item>>(stored);
      if constexpr (!std::is_same_v<T, bfloat16>) return reinterpret_cast<Vector<A>>(wide);
      return reinterpret_cast<Vector<A>>(reinterpret_cast<Vector<uint32_t>>(wide) << 16);
    }
#else
    Vector<A> wide = {};
    for (int i = 0; i < kItems<A>; ++i) wide[i] = static_cast<A>(x[i]);
    return wide;
#endif
  }
}
template <typename A>
DRAGON_FN void StoreVector(A* y, Vector<A> value) {
  typedef A Stored __attribute__((vector_size(kVectorBytes), aligned(alignof(A)), may_alias));
  *reinterpret_cast<Stored*>(y) = value;
}
/// The first `count` neighbours, and zeros.
template <typename A, typename T>
DRAGON_FN Vector<A> LoadSome(const T* x, int count) {
#if defined(__AVX512BW__)
  constexpr size_t kBytes = sizeof(T) * kItems<A>;
  const uint64_t mask = (uint64_t{1} << count * sizeof(T)) - 1;
  if constexpr (kBytes == 64) {
    const __m512i stored = _mm512_maskz_loadu_epi8(mask, x);
    return LoadVector<A>(reinterpret_cast<const T*>(&stored));
  } else if constexpr (kBytes == 32) {
    const __m256i stored = _mm256_maskz_loadu_epi8(static_cast<__mmask32>(mask), x);
    return LoadVector<A>(reinterpret_cast<const T*>(&stored));
  }
#endif
  alignas(64) T room[kItems<A>] = {};
  std::memcpy(room, x, count * sizeof(T));
  return LoadVector<A>(room);
}

/// Without the sign, of a number or of a vector of them.
template <typename T, typename V>
DRAGON_FN V Absolute(V x) {
  if constexpr (std::is_same_v<V, T>) {
    return std::abs(x);
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    return reinterpret_cast<V>(reinterpret_cast<Vector<Bits>>(x) & (~Bits{0} >> 1));
  }
}

/// The larger or smaller of each two floats, NaN where either is: intrinsics, since GCC 12 compares twice for it.
template <typename A, bool kMax>
DRAGON_FN Vector<A> MoreExtreme(Vector<A> a, Vector<A> b) {
#if defined(__AVX512F__)
  const auto is_number = [](Vector<A> x) {
    if constexpr (sizeof(A) == 4) return _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
    if constexpr (sizeof(A) == 8) return _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q);
  };
  // Either instruction gives b where one of the two is NaN.
  if constexpr (sizeof(A) == 4) {
    return kMax ? _mm512_mask_max_ps(a, is_number(a), a, b) : _mm512_mask_min_ps(a, is_number(a), a, b);
  } else {
    return kMax ? _mm512_mask_max_pd(a, is_number(a), a, b) : _mm512_mask_min_pd(a, is_number(a), a, b);
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(A) == 4) {
    return _mm256_blendv_ps(kMax ? _mm256_max_ps(a, b) : _mm256_min_ps(a, b), a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
  } else {
    return _mm256_blendv_pd(kMax ? _mm256_max_pd(a, b) : _mm256_min_pd(a, b), a, _mm256_cmp_pd(a, a, _CMP_UNORD_Q));
  }
#else
  const Vector<A> further = (kMax ? a > b : a < b) ? a : b;
  return a != a ? a : further;
#endif
}

/// Fold the first `used` lanes of an array: halves meet. `lanes` has room for a vector more.
template <typename A, typename Meet>
__attribute__((noinline)) A FoldFew(A* lanes, int used, Meet meet) {
  while (used > 1) {
    const int half = (used + 1) / 2, pairs = used - half;
    if (pairs < kItems<A> / 2) {
      for (int j = 0; j < pairs; ++j) lanes[j] = meet(lanes[j], lanes[j + half]);
    } else {
      const A middle = lanes[half - 1];  // of an odd number one has no other to meet
      for (int j = 0; j < pairs; j += kItems<A>) {
        StoreVector(lanes + j, meet(LoadVector<A>(lanes + j), LoadVector<A>(lanes + j + half)));
      }
      if (pairs < half) lanes[half - 1] = middle;
    }
    used = half;
  }
  return lanes[0];
}

/// An integer as wide as A: what compares of vectors make, and what shuffles are told.
template <typename A>
using LaneIndex = std::conditional_t<
    sizeof(A) == 8, int64_t,
    std::conditional_t<sizeof(A) == 4, int32_t, std::conditional_t<sizeof(A) == 2, int16_t, int8_t>>>;

/// The numbers of a vector's lanes from `first` on, around its end.
template <typename A, int... kLane>
DRAGON_FN Vector<LaneIndex<A>> LanesOf(int first, std::integer_sequence<int, kLane...>) {
  return Vector<LaneIndex<A>>{static_cast<LaneIndex<A>>((kLane + first) % kItems<A>)...};
}
template <typename A>
DRAGON_FN Vector<LaneIndex<A>> LanesFrom(int first) {
  return LanesOf<A>(first, std::make_integer_sequence<int, kItems<A>>{});
}

/// Halves of one vector meet, until one number is left: narrower registers are quicker to shuffle.
template <typename V, typename Meet, int... kLane>
DRAGON_FN auto MeetHalves(V value, Meet meet, std::integer_sequence<int, kLane...>) {
  constexpr int kHalf = sizeof...(kLane);
  return meet(__builtin_shufflevector(value, value, kLane...),
              __builtin_shufflevector(value, value, (kLane + kHalf)...));
}
template <typename V, typename Meet, int... kLane>
DRAGON_FN auto FoldLast(V value, Meet meet, std::integer_sequence<int, kLane...>) {
  constexpr int kCount = sizeof...(kLane);
  if constexpr (kCount >= 16) value = meet(value, __builtin_shufflevector(value, value, (kLane + 8) % kCount...));
  if constexpr (kCount >= 8) value = meet(value, __builtin_shufflevector(value, value, (kLane + 4) % kCount...));
  if constexpr (kCount >= 4) value = meet(value, __builtin_shufflevector(value, value, (kLane + 2) % kCount...));
  value = meet(value, __builtin_shufflevector(value, value, (kLane + 1) % kCount...));
  return value[0];
}
template <typename A, typename V, typename Meet>
DRAGON_FN A FoldVector(V value, Meet meet) {
  constexpr int kCount = sizeof(V) / sizeof(A);
  if constexpr (sizeof(V) > 16) {
    return FoldVector<A>(MeetHalves(value, meet, std::make_integer_sequence<int, kCount / 2>{}), meet);
  } else {
    return FoldLast(value, meet, std::make_integer_sequence<int, kCount>{});
  }
}

/// Only the first `count` lanes meet.
template <typename A, typename Meet>
DRAGON_FN Vector<A> MeetSome(Vector<A> lanes, Vector<A> some, int count, Meet meet) {
  const Vector<LaneIndex<A>> end = Vector<LaneIndex<A>>{} + static_cast<LaneIndex<A>>(count);
  return LanesFrom<A>(0) < end ? meet(lanes, some) : lanes;
}

/// Vectors of n >= kItems<A> terms met one after another.
template <typename A, typename Load, typename Meet>
DRAGON_FN Vector<A> OneChain(int n, Load load, Meet meet) {
  Vector<A> lanes = load(0);
  int i = kItems<A>;
  for (; i + kItems<A> <= n; i += kItems<A>) lanes = meet(lanes, load(i));
  return i < n ? MeetSome<A>(lanes, load(i, n - i), n - i, meet) : lanes;
}

/// As LaneFold, in the same order, of load(i) for kItems<A> terms from i on and load(i, count) for fewer.
template <typename A, typename Load, typename Meet>
DRAGON_FN A VectorFold(int64_t n, Load load, Meet meet) {
  constexpr int kLanes = kLaneCount<A>, kWidth = kItems<A>, kCount = kLanes / kWidth;
  if (n < kLanes) {
    const int few = static_cast<int>(n);
    if constexpr (std::is_integral_v<A>) {  // whose order does not matter
      if (few >= kWidth) return FoldVector<A>(OneChain<A>(few, load, meet), meet);
    }
    alignas(64) A lanes[kLanes + kWidth];
    int j = 0;
    for (; j + kWidth <= few; j += kWidth) StoreVector(lanes + j, load(j));
    if (j < few) StoreVector(lanes + j, load(j, few - j));
    return FoldFew<A>(lanes, few, meet);
  }
  Vector<A> lanes[kCount];
#pragma GCC unroll 16
  for (int k = 0; k < kCount; ++k) lanes[k] = load(k * kWidth);
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
#pragma GCC unroll 16
    for (int k = 0; k < kCount; ++k) lanes[k] = meet(lanes[k], load(i + k * kWidth));
  }
#pragma GCC unroll 16
  for (int k = 0; k < kCount; ++k, i += kWidth) {
    if (i + kWidth <= n) {
      lanes[k] = meet(lanes[k], load(i));
      continue;
    }
    if (i < n) {
      const int rest = static_cast<int>(n - i);
      lanes[k] = MeetSome<A>(lanes[k], load(i, rest), rest, meet);
    }
    break;
  }
#pragma GCC unroll 8
  for (int half = kCount / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
    for (int k = 0; k < half; ++k) lanes[k] = meet(lanes[k], lanes[k + half]);
  }
  return FoldVector<A>(lanes[0], meet);
}

/// The largest or smallest of n >= kItems<W> floats, or NaN if there is one, load(i) being those from i on.
template <typename W, bool kMax, typename Load>
DRAGON_FN W LongExtreme(int64_t n, Load load) {
  constexpr int kWidth = kItems<W>, kCount = 4;
  const auto better = [](auto a, auto b) { return (kMax ? a > b : a < b) ? a : b; };
  Vector<W> best[kCount];
#pragma GCC unroll 4
  for (int k = 0; k < kCount; ++k) best[k] = load(0);
  using Odd = std::conditional_t<sizeof(W) == 4, uint32_t, uint64_t>;
#if defined(__AVX512F__)
  // Without its sign, a NaN has the highest bits of all.
  constexpr Odd kMost = (Odd{1} << (8 * sizeof(W) - 1)) - (Odd{1} << (sizeof(W) == 4 ? 23 : 52));
  const auto odd_of = [](Vector<Odd> odd, Vector<W> value) {
    const auto magnitude = reinterpret_cast<Vector<Odd>>(value) & (~Odd{0} >> 1);
    return magnitude > odd ? magnitude : odd;
  };
#else
  constexpr Odd kMost = 0;
  const auto odd_of = [](Vector<Odd> odd, Vector<W> value) {
    return odd | reinterpret_cast<Vector<Odd>>(value != value);
  };
#endif
  Vector<Odd> odd[kCount] = {};
  const auto meet = [&](int k, Vector<W> value) {
    best[k] = better(best[k], value);
    odd[k] = odd_of(odd[k], value);
  };
  int64_t i = 0;
  for (; i + kCount * kWidth <= n; i += kCount * kWidth) {
#pragma GCC unroll 4
    for (int k = 0; k < kCount; ++k) meet(k, load(i + k * kWidth));
  }
  for (; i + kWidth <= n; i += kWidth) meet(0, load(i));
  meet(1, load(n - kWidth));  // some are met again
  const auto more = [](auto a, auto b) { return a > b ? a : b; };
  const Odd top = FoldVector<Odd>(more(more(odd[0], odd[1]), more(odd[2], odd[3])), more);
  if (DRAGON_UNLIKELY(top > kMost)) return std::numeric_limits<W>::quiet_NaN();
  return FoldVector<W>(better(better(best[0], best[1]), better(best[2], best[3])), better);
}

}  // namespace dragon::DRAGON_DEVICE
