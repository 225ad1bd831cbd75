// Where the largest or smallest element stands. A block is first searched for the value (a vector loop), then for its
// first position, so that no vector has to carry an index.
#include "core/kernels/lanes.h"
#include "core/kernels/reduce.h"
#include "core/kernels/reduction.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename V>
struct Placed {
  V value;
  int64_t index;
};

/// A signed integer as wide as V: vector compares and blends then need no conversion.
template <typename V>
using SlotOf = std::conditional_t<
    sizeof(V) == 1, int8_t,
    std::conditional_t<sizeof(V) == 2, int16_t, std::conditional_t<sizeof(V) == 4, int32_t, int64_t>>>;

template <typename T, bool kMax>
struct ArgOf {
  static constexpr bool kOrdered = true;
  using Element = T;
  using V = std::conditional_t<std::is_same_v<T, bool>, uint8_t, Wide<T>>;
  using State = Placed<V>;
  T* y;
  int64_t* second;  // where it stands

  /// Strictly better; NaN is better than any number.
  DRAGON_FN static bool Better(V a, V b) {
    if constexpr (std::is_floating_point_v<V>) {
      return (kMax ? a > b : a < b) || (a != a && b == b);
    } else {
      return kMax ? a > b : a < b;
    }
  }
  DRAGON_FN State Identity() const {
    if constexpr (std::is_floating_point_v<V>) {
      const V worst = std::numeric_limits<V>::infinity();
      return {kMax ? -worst : worst, std::numeric_limits<int64_t>::max()};
    } else {
      return {kMax ? std::numeric_limits<V>::lowest() : std::numeric_limits<V>::max(),
              std::numeric_limits<int64_t>::max()};
    }
  }
  DRAGON_FN State Map(T x, int64_t index) const { return {static_cast<V>(x), index}; }
  DRAGON_FN State Combine(State a, State b) const {
    if (Better(a.value, b.value)) return a;
    if (Better(b.value, a.value)) return b;
    return a.index <= b.index ? a : b;
  }
  DRAGON_FN void Store(int64_t offset, State s, int64_t) const {
    second[offset] = s.index;
    if (y) y[offset] = static_cast<T>(s.value);
  }

  State Row(const T* DRAGON_RESTRICT x, int64_t n, int64_t index) const {
    if (n >= 64) return LongRow(x, n, index);
    State best = Map(x[0], index);
    for (int64_t i = 1; i < n; ++i) {
      const V value = static_cast<V>(x[i]);
      if (Better(value, best.value)) best = {value, index + i};
    }
    return best;
  }
  void Columns(const T* x, int64_t rows, int64_t stride, int64_t cols, int64_t index, State* acc) const {
    constexpr int64_t kCols = 256;
    V best[kCols];
    SlotOf<V> row_of[kCols];
    for (int64_t first = 0; first < cols; first += kCols) {
      const int64_t width = std::min<int64_t>(kCols, cols - first);
      ColumnsOf(x + first, rows, stride, width, best, row_of);
      for (int64_t j = 0; j < width; ++j) acc[first + j] = {best[j], index + row_of[j]};
    }
  }

 private:
  static State LongRow(const T* DRAGON_RESTRICT x, int64_t n, int64_t index) {
    const V best =
        LaneFold<V>(n, [x](int64_t i) { return static_cast<V>(x[i]); }, [](V a, V b) { return Better(b, a) ? b : a; });
    for (int64_t first = 0; first < n; first += 64) {
      const int64_t width = std::min<int64_t>(64, n - first);
      SlotOf<V> found = 0;
#pragma omp simd reduction(| : found)
      for (int64_t j = 0; j < width; ++j) {
        const V value = static_cast<V>(x[first + j]);
        found |= static_cast<SlotOf<V>>(!Better(best, value));
      }
      if (!found) continue;
      for (int64_t j = 0; j < width; ++j) {
        if (!Better(best, static_cast<V>(x[first + j]))) return {best, index + first + j};
      }
    }
    return {best, index};
  }
  static void ColumnsOf(const T* x, int64_t rows, int64_t stride, int64_t cols, V* DRAGON_RESTRICT best,
                        SlotOf<V>* DRAGON_RESTRICT row_of) {
    static_assert(kColumnBlock <= 128, "a row number must fit in int8");
    for (int64_t j = 0; j < cols; ++j) best[j] = static_cast<V>(x[j]), row_of[j] = 0;
    for (int64_t i = 1; i < rows; ++i) {
      const T* DRAGON_RESTRICT row = x + i * stride;
      const SlotOf<V> slot = static_cast<SlotOf<V>>(i);
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) {
        const V value = static_cast<V>(row[j]);
        const bool take = Better(value, best[j]);
        best[j] = take ? value : best[j];
        row_of[j] = take ? slot : row_of[j];
      }
    }
  }
};

template <typename T, bool kMax>
void Run(Context& ctx, View y, View index, View x) {
#if defined(DRAGON_GPU)
  using Read = T;
#else
  using Read = std::conditional_t<std::is_same_v<T, bool>, uint8_t, Loaded<T>>;
  if constexpr (std::is_same_v<T, bool>) x.dtype = y.dtype = DType::kUInt8;
#endif
  Reduce(ctx, y, index, x, ArgOf<Read, kMax>{});
}

const bool entered[] = {
    kernels::Enter(kernels::ArgMax, RealAndBool{}, []<typename T>(TypeTag<T>) { return &Run<T, true>; }),
    kernels::Enter(kernels::ArgMin, RealAndBool{}, []<typename T>(TypeTag<T>) { return &Run<T, false>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
