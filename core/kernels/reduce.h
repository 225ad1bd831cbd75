// Reductions: a kernel author writes what one element means and how two partial results meet.
//
// A reducer R offers:
//   Element, State                                the input's type, and a partial result (trivially copyable)
//   Out* y, and perhaps Out2* second              where results go
//   State Identity()                              the result of nothing
//   State Map(Element x, int64_t index)           the result of one element; index counts along the reduced axes
//   State Combine(State a, State b)               associative; ties and NaN must not depend on the order of a and b
//   void Store(int64_t offset, State s, int64_t count)   write output `offset`, made from `count` elements
// and, for the CPU's inner loops, Row and Columns: derive from Elementwise<R> where State is one number. All parts must
// be DRAGON_FN, so that they compile for a GPU too.
//
// On a CPU one driver (reduce_run.cc) runs the loops of all of them. Views whose dtype is not Element's are converted
// on their way to the loops, and results on their way out, so that few dtypes need loops of their own. What a reducer's
// `using Alike = Other` names has the same loops, and `Load(Element* to, const void* from, n)` takes the conversion's
// place.
#pragma once

#include <algorithm>
#include <type_traits>

#include "core/kernels/reduce_plan.h"
#include "core/kernels/reduce_run.h"

#if defined(DRAGON_GPU)
#include "core/kernels/reduce_cuda.h"
#else
#include "core/kernels/vectors.h"
#endif

namespace dragon::DRAGON_DEVICE {

using kernels::kColumnBlock;
using kernels::kRowBlock;

#if defined(DRAGON_GPU)

template <typename Self, typename Lane = void>
struct Elementwise {
  static constexpr bool kOrdered = false;
  template <typename V>
  DRAGON_FN static V Term(V x) {
    return x;
  }
};

template <typename T>
using Loaded = T;  // threads convert what they read

/// Reduce `x` to `y` and `second`, one of which may be absent; they have x's shape with size 1 along reduced axes.
template <typename R>
void Reduce(Context& ctx, View y, View second, View x, R reducer) {
  reducer.y = y.as<std::remove_pointer_t<decltype(R::y)>>();
  if constexpr (requires { reducer.second; }) reducer.second = second.as<std::remove_pointer_t<decltype(R::second)>>();
  Reduce(ctx, y ? y : second, x, reducer);
}

#else

/// What loops that the compiler makes vectors of read: GCC 12 leaves conversions of float16 in them scalar.
template <typename T>
using Loaded = std::conditional_t<std::is_same_v<T, float16>, float, T>;

/// The inner loops of a reducer whose State is one number. It is made of two functions of vectors as well as of
/// numbers:
///   V Term(V x)           what an element that was made a State is worth; unless given, itself
///   V Meet(V a, V b)      what two partial results are
/// `Lane` is what vectors hold, where that is not State: if narrower, those of rows only.
template <typename Self, typename Lane = void>
struct Elementwise {
  static constexpr bool kOrdered = false, kGoesOn = true;

  template <typename V>
  DRAGON_FN static V Term(V x) {
    return x;
  }

  /// Reduce n neighbours.
  template <typename T>
  static auto Row(const T* DRAGON_RESTRICT x, int64_t n, int64_t) {
    using State = typename Self::State;
    if (n < 16) return FewOf(x, n);
    if constexpr (kIsComplex<State>) {
      return LaneFold<State>(
          n, [x](int64_t i) { return Self::Term(State(x[i])); },
          [](State a, State b) -> State { return Self::Meet(a, b); });
    } else {
      using A = std::conditional_t<std::is_void_v<Lane>, State, Lane>;
      return static_cast<State>(VectorFold<A>(n, Terms<A, T>{x}, [](auto a, auto b) { return Self::Meet(a, b); }));
    }
  }

  /// Reduce `rows` rows of `cols` neighbouring columns into acc[cols], or go on from what is there.
  template <typename T, typename State>
  static void Columns(const T* x, int64_t rows, int64_t stride, int64_t cols, int64_t, bool go_on,
                      State* DRAGON_RESTRICT acc) {
    int64_t i = 0;
    if (!go_on) AddRows<0>(x, stride, cols, acc), i = 1;
    // Some rows at a time: less traffic on acc. Rows meet in pairs, wherever they are cut. Of more than four, whose
    // addresses differ by a power of two, the first ones would have left the cache.
    for (; i + 4 <= rows; i += 4) AddRows<4>(x + i * stride, stride, cols, acc);
    for (; i + 2 <= rows; i += 2) AddRows<2>(x + i * stride, stride, cols, acc);
    if (i < rows) AddRows<1>(x + i * stride, stride, cols, acc);
  }

 private:
  template <typename A, typename T>
  struct Terms {
    const T* x;
    DRAGON_FN Vector<A> operator()(int64_t i) const { return Self::Term(LoadVector<A>(x + i)); }
    DRAGON_FN Vector<A> operator()(int64_t i, int count) const { return Self::Term(LoadSome<A>(x + i, count)); }
  };

  /// Rows, of which `row` gets the elements of one column or of some, added to `acc`; with no rows the first begins it.
  template <int kRows, typename V, typename Row>
  DRAGON_FN static V Added(V acc, Row row) {
    if constexpr (kRows == 0) return row(0);
    if constexpr (kRows == 1) return Self::Meet(acc, row(0));
#pragma GCC unroll 4
    for (int i = 0; i + 2 <= kRows; i += 2) acc = Self::Meet(acc, Self::Meet(row(i), row(i + 1)));
    return acc;
  }
  template <int kRows, typename T, typename State>
  static void AddRows(const T* DRAGON_RESTRICT x, int64_t stride, int64_t cols, State* DRAGON_RESTRICT acc) {
    const auto one = [=](int64_t j) {
      acc[j] = Added<kRows>(acc[j], [=](int i) { return Self::Term(static_cast<State>(x[i * stride + j])); });
    };
    int64_t j = 0;
    if constexpr (kIsComplex<State>) {
#pragma omp simd
      for (int64_t k = 0; k < cols; ++k) one(k);
    } else {
      using Whole = std::conditional_t<std::is_void_v<Lane>, State, Lane>;
      using A = std::conditional_t<sizeof(Whole) == sizeof(State), Whole, State>;
      A* lanes = reinterpret_cast<A*>(acc);
      for (; j + kItems<A> <= cols; j += kItems<A>) {
        StoreVector(lanes + j, Added<kRows>(LoadVector<A>(lanes + j),
                                            [=](int i) { return Self::Term(LoadVector<A>(x + i * stride + j)); }));
      }
      for (; j < cols; ++j) one(j);
    }
  }

  /// Four chains hide the latency of Meet.
  template <typename T>
  __attribute__((noinline)) static auto FewOf(const T* x, int64_t n) {
    using State = typename Self::State;
    const auto at = [x](int64_t i) { return Self::Term(static_cast<State>(x[i])); };
    State a = at(0);
    int64_t i = 1;
    if (n >= 8) {
      State b = at(1), c = at(2), d = at(3);
      for (i = 4; i + 4 <= n; i += 4) {
        a = Self::Meet(a, at(i));
        b = Self::Meet(b, at(i + 1));
        c = Self::Meet(c, at(i + 2));
        d = Self::Meet(d, at(i + 3));
      }
      a = Self::Meet(Self::Meet(a, b), Self::Meet(c, d));
    }
    for (; i < n; ++i) a = Self::Meet(a, at(i));
    return a;
  }
};

template <typename R>
struct AlikeTo {
  using type = R;
};
template <typename R>
  requires requires { typename R::Alike; }
struct AlikeTo<R> {
  using type = typename R::Alike;
};
template <typename R>
using AlikeOf = typename AlikeTo<R>::type;

/// A reducer's loops as the driver calls them.
template <typename R>
struct LoopsOf {
  using T = typename R::Element;
  using State = typename R::State;
  static_assert(sizeof(State) <= kernels::kMostStateBytes && std::is_trivially_copyable_v<State>);

  static const R& Of(const void* reducer) { return *static_cast<const R*>(reducer); }
  static void Rows(const void* reducer, const void* x, int64_t n, int64_t index, int64_t rows, int64_t step,
                   void* states) {
    const R& r = Of(reducer);
    for (int64_t i = 0; i < rows; ++i) {
      static_cast<State*>(states)[i] = r.Row(static_cast<const T*>(x) + i * step, n, index);
    }
  }
  static void Columns(const void* reducer, const void* x, int64_t rows, int64_t stride, int64_t cols, int64_t index,
                      bool go_on, void* states) {
    if constexpr (requires { R::kGoesOn; }) {
      Of(reducer).Columns(static_cast<const T*>(x), rows, stride, cols, index, go_on, static_cast<State*>(states));
    } else {
      Of(reducer).Columns(static_cast<const T*>(x), rows, stride, cols, index, static_cast<State*>(states));
    }
  }
  static void Combine(const void* reducer, void* a, const void* b, int64_t n) {
    const R& r = Of(reducer);
    auto* to = static_cast<State*>(a);
    for (int64_t j = 0; j < n; ++j) to[j] = r.Combine(to[j], static_cast<const State*>(b)[j]);
  }
  static void Store(const void* reducer, void* const* to, int64_t step, const void* states, int64_t n, int64_t count) {
    R r = Of(reducer);
    r.y = static_cast<decltype(r.y)>(to[0]);
    if constexpr (requires { r.second; }) r.second = static_cast<decltype(r.second)>(to[1]);
    const auto* state = static_cast<const State*>(states);
    if (std::is_floating_point_v<State> && step == 1) {  // vectors of square roots and quotients
#pragma omp simd
      for (int64_t j = 0; j < n; ++j) r.Store(j, state[j], count);
      return;
    }
    for (int64_t j = 0; j < n; ++j) r.Store(j * step, state[j], count);
  }
  static void Identity(const void* reducer, void* state) { *static_cast<State*>(state) = Of(reducer).Identity(); }
  static void Few(const void* reducer, const void* x, int64_t n, void* state) {
    const R& r = Of(reducer);
    const T* data = static_cast<const T*>(x);
    State all = r.Map(data[0], 0);
    for (int64_t i = 1; i < n; ++i) all = r.Combine(all, r.Map(data[i], i));
    *static_cast<State*>(state) = all;
  }

  static void Load(const void* reducer, void* to, const void* from, int64_t n) {
    Of(reducer).Load(static_cast<T*>(to), from, n);
  }

  static constexpr kernels::ReduceLoops Make() {
    kernels::ReduceLoops loops{};
    if constexpr (!std::is_same_v<AlikeOf<R>, R>) {
      loops = LoopsOf<AlikeOf<R>>::Make();
    } else {
      loops = {kDTypeOf<T>, {},       sizeof(State), R::kOrdered, false, &Rows,
               &Columns,    &Combine, nullptr,       nullptr,     &Few,  nullptr};
      if constexpr (requires { R::kGoesOn; }) loops.goes_on = true;
    }
    loops.store = &Store;
    loops.identity = &Identity;
    loops.outputs[0] = kDTypeOf<std::remove_pointer_t<decltype(R::y)>>;
    if constexpr (requires { R::second; }) loops.outputs[1] = kDTypeOf<std::remove_pointer_t<decltype(R::second)>>;
    if constexpr (requires(const R& r) { r.Load(static_cast<T*>(nullptr), nullptr, int64_t{}); }) loops.load = &Load;
    return loops;
  }
};
template <typename R>
inline constexpr kernels::ReduceLoops kLoopsOf = LoopsOf<R>::Make();

/// The same bytes as another dtype.
inline View As(View view, DType dtype) {
  view.dtype = dtype;
  return view;
}

/// Reduce `x` to `y` and `second`, one of which may be absent; their shape is x's with size 1 along reduced axes, their
/// strides are the same.
template <typename R>
void Reduce(Context& ctx, View y, View second, View x, const R& reducer) {
  kernels::RunReduce(ctx, {&kLoopsOf<R>, &reducer, {&y, &second}, &x});
}

#endif

/// The whole kernel of a reducer that knows nothing but where its results go.
template <typename R>
void ReduceBy(Context& ctx, View y, View x) {
  Reduce(ctx, y, View{}, x, R{});
}

}  // namespace dragon::DRAGON_DEVICE
