// The largest and the smallest, and whether any or all are true.
#include <limits>

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

/// Of numbers of type T, or vectors of them. A NaN in `a` stays, since a != a; a NaN in `b` is taken, since no
/// comparison with it holds.
template <bool kMax, typename T, typename V>
DRAGON_FN V Further(V a, V b) {
  if constexpr (std::is_integral_v<T>) {
    return (kMax ? a > b : a < b) ? a : b;
  } else {
#if !defined(DRAGON_GPU)
    if constexpr (std::is_same_v<V, Vector<Wide<T>>>) return MoreExtreme<Wide<T>, kMax>(a, b);
#endif
    if constexpr (std::is_same_v<V, Wide<T>>) return (kMax ? a > b : a < b) || a != a ? a : b;
    const V further = (kMax ? a > b : a < b) ? a : b;
    return a != a ? a : further;
  }
}

template <typename T, bool kMax>
struct ExtremeOf : Elementwise<ExtremeOf<T, kMax>> {
  using Element = T;
  using State = Wide<T>;
  T* y;

  template <typename V>
  DRAGON_FN static V Meet(V a, V b) {
    return Further<kMax, T>(a, b);
  }
  DRAGON_FN State Identity() const { return kMax ? Lowest<State>() : Highest<State>(); }
  DRAGON_FN State Map(T x, int64_t) const { return x; }
  DRAGON_FN State Combine(State a, State b) const { return Meet(a, b); }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const { y[offset] = static_cast<T>(s); }
};

/// 0 or 1; the bytes of a bool and of a uint8 are the same.
template <typename T, bool kAny>
struct TruthOf : Elementwise<TruthOf<T, kAny>> {
  using Element = T;
  using State = uint8_t;
  uint8_t* y;

  template <typename V>
  DRAGON_FN static V Meet(V a, V b) {
    return kAny ? (a | b) : (a & b);
  }
  DRAGON_FN State Identity() const { return kAny ? 0 : 1; }
  DRAGON_FN State Map(T x, int64_t) const { return x != T(0) ? 1 : 0; }
  DRAGON_FN State Combine(State a, State b) const { return Meet(a, b); }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const { y[offset] = s; }
};

#if defined(DRAGON_GPU)

template <typename T, bool kMax>
constexpr auto kExtreme = &ReduceBy<ExtremeOf<T, kMax>>;
template <typename T, bool kAny>
constexpr auto kTruth = &ReduceBy<TruthOf<T, kAny>>;

#else

/// Looking for NaN apart from the extreme makes each a vector instruction or two.
template <typename T, bool kMax>
struct FloatExtreme : ExtremeOf<T, kMax> {
  using W = Wide<T>;

  static W Row(const T* DRAGON_RESTRICT x, int64_t n, int64_t index) {
    if (n < kItems<W>) return ExtremeOf<T, kMax>::Row(x, n, index);
    return LongExtreme<W, kMax>(n, [x](int64_t i) { return LoadVector<W>(x + i); });
  }
};

template <typename T, bool kMax>
void Extreme(Context& ctx, View y, View x) {
  if constexpr (kIsFloating<T>) {
    ReduceBy<FloatExtreme<T, kMax>>(ctx, y, x);
  } else if constexpr (std::is_same_v<T, bool>) {
    ReduceBy<ExtremeOf<uint8_t, kMax>>(ctx, As(y, DType::kUInt8), As(x, DType::kUInt8));
  } else {
    ReduceBy<ExtremeOf<T, kMax>>(ctx, y, x);
  }
}
template <typename T, bool kMax>
constexpr auto kExtreme = &Extreme<T, kMax>;

/// Of bytes, of which the smallest is 0 where not all are true.
template <bool kAny>
struct TruthOfBytes : Elementwise<TruthOfBytes<kAny>> {
  using Element = uint8_t;
  using State = uint8_t;
  uint8_t* y;

  template <typename V>
  DRAGON_FN static V Meet(V a, V b) {
    if constexpr (kAny) return a | b;
    return a < b ? a : b;
  }
  State Identity() const { return kAny ? 0 : 1; }
  State Map(uint8_t x, int64_t) const { return x; }
  State Combine(State a, State b) const { return Meet(a, b); }
  void Store(int64_t offset, State s, int64_t) const { y[offset] = s != 0; }
};

/// Elements that are no bytes are made bools.
template <typename T, bool kAny>
void Truth(Context& ctx, View y, View x) {
  static constexpr kernels::ReduceLoops kLoops = [] {
    kernels::ReduceLoops loops = kLoopsOf<TruthOfBytes<kAny>>;
    if (sizeof(T) > 1) loops.element = DType::kBool;
    return loops;
  }();
  const TruthOfBytes<kAny> reducer{};
  const View none;
  if (sizeof(T) == 1) x.dtype = DType::kUInt8;
  y.dtype = DType::kUInt8;
  kernels::RunReduce(ctx, {&kLoops, &reducer, {&y, &none}, &x});
}
template <typename T, bool kAny>
constexpr auto kTruth = &Truth<T, kAny>;

#endif

/// Integers that the stand-in of their dtype cannot hold.
using Largest = TypeList<uint64_t>;

const bool entered[] = {
    kernels::Enter(kernels::Amax, Largest{}, []<typename T>(TypeTag<T>) { return kExtreme<T, true>; }),
    kernels::Enter(kernels::Amin, Largest{}, []<typename T>(TypeTag<T>) { return kExtreme<T, false>; }),
    kernels::Enter(kernels::Amax, RealAndBool{}, []<typename T>(TypeTag<T>) { return kExtreme<T, true>; }),
    kernels::Enter(kernels::Amin, RealAndBool{}, []<typename T>(TypeTag<T>) { return kExtreme<T, false>; }),
    kernels::Enter(kernels::Any, AllTypes{}, []<typename T>(TypeTag<T>) { return kTruth<T, true>; }),
    kernels::Enter(kernels::All, AllTypes{}, []<typename T>(TypeTag<T>) { return kTruth<T, false>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
