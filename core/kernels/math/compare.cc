// Comparisons, logic, choice by a mask, and bits.
#include <functional>

#include "core/kernels/pointwise.h"

namespace dragon::DRAGON_DEVICE {
namespace {

struct EqOf {
  DRAGON_FN bool operator()(auto a, auto b) const { return a == b; }
};
struct NeOf {
  DRAGON_FN bool operator()(auto a, auto b) const { return a != b; }
};
struct LtOf {
  DRAGON_FN bool operator()(auto a, auto b) const { return a < b; }
};
struct LeOf {
  DRAGON_FN bool operator()(auto a, auto b) const { return a <= b; }
};
struct GtOf {
  DRAGON_FN bool operator()(auto a, auto b) const { return a > b; }
};
struct GeOf {
  DRAGON_FN bool operator()(auto a, auto b) const { return a >= b; }
};

/// Any number but zero is true, NaN too.
template <typename T>
DRAGON_FN bool IsTrue(T x) {
  return x != T(0);
}
#if !defined(__CUDACC__)
/// Bools inverted by their bytes: a loop over bools stays scalar.
inline void InvertBools(int64_t n, bool* y, const bool* x) {
  auto* to = reinterpret_cast<uint8_t*>(y);
  const auto* from = reinterpret_cast<const uint8_t*>(x);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] ^ 1;
}
#endif

struct LogicalNotOf {
  DRAGON_FN bool operator()(auto x) const { return !IsTrue(x); }
#if !defined(__CUDACC__)
  void Block(int64_t n, bool* y, const bool* x) const { InvertBools(n, y, x); }
#endif
};
struct LogicalAndOf {
  DRAGON_FN bool operator()(auto a, auto b) const { return IsTrue(a) & IsTrue(b); }
};
struct LogicalOrOf {
  DRAGON_FN bool operator()(auto a, auto b) const { return IsTrue(a) | IsTrue(b); }
};
struct LogicalXorOf {
  DRAGON_FN bool operator()(auto a, auto b) const { return IsTrue(a) != IsTrue(b); }
};

struct BitwiseNotOf {
#if !defined(__CUDACC__)
  void Block(int64_t n, bool* y, const bool* x) const { InvertBools(n, y, x); }
#endif
  template <typename T>
  DRAGON_FN T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>) {
      return !x;
    } else {
      return static_cast<T>(~x);
    }
  }
};
struct BitwiseAndOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return static_cast<decltype(a)>(a & b); }
};
struct BitwiseOrOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return static_cast<decltype(a)>(a | b); }
};
struct BitwiseXorOf {
  DRAGON_FN auto operator()(auto a, auto b) const { return static_cast<decltype(a)>(a ^ b); }
};
/// A shift by a negative count, or by all bits and more, leaves what shifting one by one forever would leave.
struct LeftShiftOf {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    constexpr int kBits = 8 * sizeof(T);
    if (b < 0 || b >= kBits) return 0;
    return static_cast<T>(static_cast<Wrapping<T>>(a) << b);
  }
};
struct RightShiftOf {
  template <typename T>
  DRAGON_FN T operator()(T a, T b) const {
    constexpr int kMost = 8 * sizeof(T) - std::is_signed_v<T>;
    if (b < 0 || b >= kMost) return std::is_signed_v<T> ? static_cast<T>(a >> (kMost - 1) >> 1) : T(0);
    return static_cast<T>(a >> b);
  }
};

struct WhereOf {
  template <typename T>
  DRAGON_FN T operator()(uint8_t condition, T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      // By bits, not by a branch: that would make the loads conditional and the loop scalar.
      const T mask = static_cast<T>(T(0) - static_cast<T>(condition));
      return static_cast<T>((a & mask) | (b & static_cast<T>(~mask)));
    } else {
      return condition ? a : b;
    }
  }
};
/// Choosing moves bits only, so one loop per size serves all dtypes.
template <int kSize>
using WordOf = std::conditional_t<
    kSize == 1, uint8_t,
    std::conditional_t<kSize == 2, int16_t,
                       std::conditional_t<kSize == 4, int32_t, std::conditional_t<kSize == 8, int64_t, complex128>>>>;
template <typename T>
void Where(Context& ctx, View y, View condition, View a, View b) {
  using Word = WordOf<sizeof(T)>;
  for (View* view : {&y, &a, &b}) {
    if (view->dtype != kDTypeOf<T>) throw TypeError("where").Got(view->dtype).Expected(kDTypeOf<T>, " everywhere");
    view->dtype = kDTypeOf<Word>;
  }
  if (condition.dtype == DType::kBool) condition.dtype = DType::kUInt8;  // its bytes are 0 and 1; bools stay scalar
  Each<Word(uint8_t, Word, Word)>(ctx, WhereOf{}, y, condition, a, b);
}

const bool entered[] = {
    EnterBinary<EqOf>("eq", AllTypes{}),
    EnterBinary<NeOf>("ne", AllTypes{}),
    EnterBinary<LtOf>("lt", RealAndBool{}),
    EnterBinary<LeOf>("le", RealAndBool{}),
    EnterBinary<GtOf>("gt", RealAndBool{}),
    EnterBinary<GeOf>("ge", RealAndBool{}),
    EnterBinary<LtOf>("lt", Largest{}),
    EnterBinary<LeOf>("le", Largest{}),
    EnterBinary<GtOf>("gt", Largest{}),
    EnterBinary<GeOf>("ge", Largest{}),
    EnterBinary<EqOf>("eq", Largest{}),
    EnterBinary<NeOf>("ne", Largest{}),
    EnterBinary<RightShiftOf>("bitwise_right_shift", Largest{}),
    EnterUnary<LogicalNotOf>("logical_not", AllTypes{}),
    EnterBinary<LogicalAndOf>("logical_and", AllTypes{}),
    EnterBinary<LogicalOrOf>("logical_or", AllTypes{}),
    EnterBinary<LogicalXorOf>("logical_xor", AllTypes{}),
    EnterUnary<BitwiseNotOf>("bitwise_not", Bits{}),
    EnterBinary<BitwiseAndOf>("bitwise_and", Bits{}),
    EnterBinary<BitwiseOrOf>("bitwise_or", Bits{}),
    EnterBinary<BitwiseXorOf>("bitwise_xor", Bits{}),
    EnterBinary<LeftShiftOf>("bitwise_left_shift", Integral{}),
    EnterBinary<RightShiftOf>("bitwise_right_shift", Integral{}),
    kernels::Enter(kernels::Ternary{"where"}, StoredTypes{}, []<typename T>(TypeTag<T>) { return &Where<T>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
