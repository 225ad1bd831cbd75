// The largest and the smallest, and whether any or all are true.
#include <bit>

#include "core/kernels/reduce.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
DRAGON_FN T Lowest() {
  if constexpr (std::is_floating_point_v<T>) {
    return -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::lowest();
  }
}
template <typename T>
DRAGON_FN T Highest() {
  if constexpr (std::is_floating_point_v<T>) {
    return std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::max();
  }
}

template <typename T, bool kMax>
struct ExtremeOf : Elementwise<ExtremeOf<T, kMax>> {
  using Element = T;
  using State = Wide<T>;
  T* y;

  DRAGON_FN State Identity() const { return kMax ? Lowest<State>() : Highest<State>(); }
  DRAGON_FN State Map(T x, int64_t) const { return x; }
  /// A NaN in `a` stays, since a != a; a NaN in `b` is taken, since no comparison with it holds.
  DRAGON_FN State Combine(State a, State b) const {
    if constexpr (std::is_floating_point_v<State>) {
      return ((kMax ? a > b : a < b) || a != a) ? a : b;
    } else {
      return (kMax ? a > b : a < b) ? a : b;
    }
  }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const { y[offset] = static_cast<T>(s); }

  /// Looking for NaN apart from the extreme makes each a vector instruction or two.
  State Row(const T* DRAGON_RESTRICT x, int64_t n, int64_t stride, int64_t index) const {
    if constexpr (std::is_floating_point_v<State>) {
      if (stride == 1 && n >= 16) {
        // Without its sign, a NaN has the highest bits of all.
        using Bits = std::conditional_t<sizeof(State) == 4, uint32_t, uint64_t>;
        constexpr Bits kMagnitude = ~Bits{0} >> 1;
        const Bits most = LaneFold<Bits>(
            n, [x](int64_t i) { return std::bit_cast<Bits>(static_cast<State>(x[i])) & kMagnitude; },
            [](Bits a, Bits b) { return a > b ? a : b; });
        if (DRAGON_LIKELY(most <= std::bit_cast<Bits>(std::numeric_limits<State>::infinity()))) {
          return LaneFold<State>(
              n, [x](int64_t i) { return static_cast<State>(x[i]); },
              [](State a, State b) { return kMax ? (a > b ? a : b) : (a < b ? a : b); });
        }
      }
    }
    return Elementwise<ExtremeOf>::Row(x, n, stride, index);
  }
};

/// 0 or 1; the bytes of a bool and of a uint8 are the same.
template <typename T, bool kAny>
struct TruthOf : Elementwise<TruthOf<T, kAny>> {
  using Element = T;
  using State = uint8_t;
  uint8_t* y;

  DRAGON_FN State Identity() const { return kAny ? 0 : 1; }
  DRAGON_FN State Map(T x, int64_t) const { return x != T(0) ? 1 : 0; }
  DRAGON_FN State Combine(State a, State b) const { return kAny ? (a | b) : (a & b); }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const { y[offset] = s; }
};

/// Integers that the stand-in of their dtype cannot hold.
using Largest = TypeList<uint64_t>;

const bool entered[] = {
    kernels::Enter(kernels::Amax, Largest{}, []<typename T>(TypeTag<T>) { return &ReduceBy<ExtremeOf<T, true>>; }),
    kernels::Enter(kernels::Amin, Largest{}, []<typename T>(TypeTag<T>) { return &ReduceBy<ExtremeOf<T, false>>; }),
    kernels::Enter(kernels::Amax, RealAndBool{}, []<typename T>(TypeTag<T>) { return &ReduceBy<ExtremeOf<T, true>>; }),
    kernels::Enter(kernels::Amin, RealAndBool{}, []<typename T>(TypeTag<T>) { return &ReduceBy<ExtremeOf<T, false>>; }),
    kernels::Enter(kernels::Any, AllTypes{}, []<typename T>(TypeTag<T>) { return &ReduceBy<TruthOf<T, true>>; }),
    kernels::Enter(kernels::All, AllTypes{}, []<typename T>(TypeTag<T>) { return &ReduceBy<TruthOf<T, false>>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
