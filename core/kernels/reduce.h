// One driver for every reduction: a kernel author writes what one element means and how two partial results meet.
//
// A reducer R offers:
//   Element, State                                the input's type, and a partial result (trivially copyable)
//   State Identity()                              the result of nothing
//   State Map(Element x, int64_t index)           the result of one element; index counts along the reduced axes
//   State Combine(State a, State b)               associative; ties and NaN must not depend on the order of a and b
//   void Store(int64_t offset, State s, int64_t count)   write output `offset`, made from `count` elements
// and, for the CPU's inner loops, Row and Columns: derive from Elementwise<R> where State is one number, and the
// compiler makes vectors of Map and Combine. All parts must be DRAGON_FN, so that they compile for a GPU too.
#pragma once

#include <algorithm>

#include "core/kernels/lanes.h"
#include "core/kernels/reduce_plan.h"

#if defined(DRAGON_GPU)
#include "core/kernels/reduce_cuda.h"
#else
#include "core/device/parallel.h"
#endif

namespace dragon::DRAGON_DEVICE {

/// Rounding errors grow with the logarithm of the size: this many elements are reduced in a row, then pairs meet.
inline constexpr int64_t kRowBlock = 4096;
inline constexpr int64_t kColumnBlock = 128;

/// The inner loops of a reducer whose State is one number.
template <typename Self>
struct Elementwise {
  static constexpr bool kOrdered = false;

  /// Reduce n elements at a stride.
  template <typename T>
  auto Row(const T* DRAGON_RESTRICT x, int64_t n, int64_t stride, int64_t index) const {
    const Self& self = static_cast<const Self&>(*this);
    using State = decltype(self.Identity());
    if (stride != 1 || n < 16) return Strided(x, n, stride);
    return LaneFold<State>(
        n, [x, self](int64_t i) { return self.Map(x[i], 0); },
        [self](State a, State b) -> State { return self.Combine(a, b); });
  }

  /// Reduce `rows` rows of `cols` neighbouring columns into acc[cols].
  template <typename T, typename State>
  void Columns(const T* x, int64_t rows, int64_t stride, int64_t cols, int64_t index,
               State* DRAGON_RESTRICT acc) const {
    const Self& self = static_cast<const Self&>(*this);
    for (int64_t j = 0; j < cols; ++j) acc[j] = self.Map(x[j], 0);
    int64_t i = 1;
    for (; i + 2 <= rows; i += 2) {  // two rows at a time: half the traffic on acc
      const T* DRAGON_RESTRICT a = x + i * stride;
      const T* DRAGON_RESTRICT b = a + stride;
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) {
        acc[j] = self.Combine(acc[j], self.Combine(self.Map(a[j], 0), self.Map(b[j], 0)));
      }
    }
    if (i < rows) {
      const T* DRAGON_RESTRICT a = x + i * stride;
#pragma omp simd
      for (int64_t j = 0; j < cols; ++j) acc[j] = self.Combine(acc[j], self.Map(a[j], 0));
    }
  }

 private:
  /// Four chains hide the latency of Combine.
  template <typename T>
  auto Strided(const T* x, int64_t n, int64_t stride) const {
    const Self& self = static_cast<const Self&>(*this);
    auto a = self.Map(x[0], 0);
    int64_t i = 1;
    if (n >= 8) {
      auto b = self.Map(x[stride], 0), c = self.Map(x[2 * stride], 0), d = self.Map(x[3 * stride], 0);
      for (i = 4; i + 4 <= n; i += 4) {
        const T* at = x + i * stride;
        a = self.Combine(a, self.Map(at[0], 0));
        b = self.Combine(b, self.Map(at[stride], 0));
        c = self.Combine(c, self.Map(at[2 * stride], 0));
        d = self.Combine(d, self.Map(at[3 * stride], 0));
      }
      a = self.Combine(self.Combine(a, b), self.Combine(c, d));
    }
    for (; i < n; ++i) a = self.Combine(a, self.Map(x[i * stride], 0));
    return a;
  }
};

#if !defined(DRAGON_GPU)

/// Walks one plan with one reducer. "Units" are what a long reduction is cut into: elements (or rows, in column mode)
/// when there is a single reduced axis, positions on the outer reduced axes otherwise.
template <typename R>
class ReduceRun {
 public:
  using T = typename R::Element;
  using State = typename R::State;
  static constexpr int64_t kTile = std::max<int64_t>(128, 4096 / static_cast<int64_t>(sizeof(State)));
  static constexpr int64_t kShort = 16, kShortTile = 64;

  ReduceRun(const ReducePlan& plan, const R& reducer, const T* x) : plan_(plan), reducer_(reducer), x_(x) {
    units_ = plan.reduced_count == 1 ? plan.reduced[0].size : plan.count / Inner().size;
    columns_ = plan.columns();
    width_ = columns_ ? plan.kept[plan.kept_count - 1].size : 1;
    tiles_ = columns_ ? (width_ + kTile - 1) / kTile : 1;
  }

  void Go(Context& ctx) {
    const int64_t tasks = plan_.outputs / width_ * tiles_, total = plan_.outputs * plan_.count;
    const int64_t threads = total < 2 * kGrain ? 1 : std::min<int64_t>(NumThreads(), total / kGrain);
    if (threads == 1) return Tasks(0, tasks, 0, units_, nullptr);
    if (tasks >= 4 * threads || units_ < 2 * threads) {
      const int64_t grain = std::max<int64_t>(1, kGrain * tasks / total);
      ParallelFor(tasks, grain, [&](int64_t begin, int64_t end) { Tasks(begin, end, 0, units_, nullptr); });
      return;
    }
    Split(ctx, tasks, threads);
  }

 private:
  const ReduceAxis& Inner() const { return plan_.reduced[plan_.reduced_count - 1]; }

  /// Few outputs: every thread makes a partial result of all of them.
  void Split(Context& ctx, int64_t tasks, int64_t threads) {
    Scratch scratch = ctx.Allocate<State>(threads * plan_.outputs);
    State* parts = scratch.template as<State>();
    ParallelFor(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Tasks(0, tasks, units_ * i / threads, units_ * (i + 1) / threads, parts + i * plan_.outputs);
      }
    });
    ReduceWalker at(plan_.kept, plan_.kept_count, 0);
    for (int64_t j = 0; j < plan_.outputs; ++j, at.Next()) {
      State state = parts[j];
      for (int64_t i = 1; i < threads; ++i) state = reducer_.Combine(state, parts[i * plan_.outputs + j]);
      reducer_.Store(at.y, state, plan_.count);
    }
  }

  /// Reduce units [low, high) of tasks [begin, end), into `parts` if given, else into the output.
  void Tasks(int64_t begin, int64_t end, int64_t low, int64_t high, State* parts) const {
    if (begin >= end) return;
    if (columns_) return ColumnTasks(begin, end, low, high, parts);
    if (!parts && plan_.count <= kShort && plan_.reduced_count == 1 && end - begin >= kShortTile) {
      return ShortRows(begin, end);
    }
    ReduceWalker at(plan_.kept, plan_.kept_count, begin);
    for (int64_t task = begin; task < end; ++task, at.Next()) {
      const State state = Rows(x_ + at.x, low, high);
      if (parts) {
        parts[task] = state;
      } else {
        reducer_.Store(at.y, state, plan_.count);
      }
    }
  }

  /// Rows of a few elements would leave vectors empty: they are turned into columns, some rows at a time.
  void ShortRows(int64_t begin, int64_t end) const {
    const int64_t n = plan_.count, step = plan_.reduced[0].x;
    T block[kShort * kShortTile];
    State acc[kShortTile];
    int64_t places[kShortTile];
    ReduceWalker at(plan_.kept, plan_.kept_count, begin);
    for (int64_t first = begin; first < end; first += kShortTile) {
      const int64_t rows = std::min(kShortTile, end - first);
      for (int64_t j = 0; j < rows; ++j, at.Next()) {
        for (int64_t i = 0; i < n; ++i) block[i * kShortTile + j] = x_[at.x + i * step];
        places[j] = at.y;
      }
      reducer_.Columns(block, n, kShortTile, rows, 0, acc);
      for (int64_t j = 0; j < rows; ++j) reducer_.Store(places[j], acc[j], n);
    }
  }

  void ColumnTasks(int64_t begin, int64_t end, int64_t low, int64_t high, State* parts) const {
    const ReduceAxis& column = plan_.kept[plan_.kept_count - 1];
    ReduceWalker at(plan_.kept, plan_.kept_count - 1, begin / tiles_);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % tiles_ * kTile, cols = std::min(kTile, width_ - first);
      State acc[kTile];
      Columns(x_ + at.x + first, cols, low, high, acc);
      const int64_t y = at.y + first * column.y;
      if (parts) {
        std::copy(acc, acc + cols, parts + task / tiles_ * width_ + first);
      } else {
        for (int64_t j = 0; j < cols; ++j) reducer_.Store(y + j * column.y, acc[j], plan_.count);
      }
      if (first + cols == width_) at.Next();
    }
  }

  /// Pairwise: halves until a piece is small enough to be reduced in a row.
  State Rows(const T* x, int64_t low, int64_t high) const {
    const ReduceAxis& inner = Inner();
    if (plan_.reduced_count == 1) {
      if (high - low <= kRowBlock) return reducer_.Row(x + low * inner.x, high - low, inner.x, low);
    } else if (high - low <= 8) {
      ReduceWalker at(plan_.reduced, plan_.reduced_count - 1, low);
      State state = Row(x + at.x, 0, inner.size, low * inner.size);
      for (int64_t unit = low + 1; unit < high; ++unit) {
        at.Next();
        state = reducer_.Combine(state, Row(x + at.x, 0, inner.size, unit * inner.size));
      }
      return state;
    }
    const int64_t middle = low + Half(high - low, kRowBlock);
    const State left = Rows(x, low, middle);
    return reducer_.Combine(left, Rows(x, middle, high));
  }
  State Row(const T* x, int64_t low, int64_t high, int64_t index) const {
    const int64_t stride = Inner().x;
    if (high - low <= kRowBlock) return reducer_.Row(x + low * stride, high - low, stride, index + low);
    const int64_t middle = low + Half(high - low, kRowBlock);
    const State left = Row(x, low, middle, index);
    return reducer_.Combine(left, Row(x, middle, high, index));
  }

  void Columns(const T* x, int64_t cols, int64_t low, int64_t high, State* acc) const {
    const ReduceAxis& inner = Inner();
    if (plan_.reduced_count == 1) return Block(x, cols, low, high, 0, acc);
    if (high - low == 1) {
      const ReduceWalker at(plan_.reduced, plan_.reduced_count - 1, low);
      return Block(x + at.x, cols, 0, inner.size, low * inner.size, acc);
    }
    const int64_t middle = low + (high - low) / 2;
    State other[kTile];
    Columns(x, cols, low, middle, acc);
    Columns(x, cols, middle, high, other);
    for (int64_t j = 0; j < cols; ++j) acc[j] = reducer_.Combine(acc[j], other[j]);
  }
  void Block(const T* x, int64_t cols, int64_t low, int64_t high, int64_t index, State* acc) const {
    const int64_t stride = Inner().x;
    if (high - low <= kColumnBlock) {
      return reducer_.Columns(x + low * stride, high - low, stride, cols, index + low, acc);
    }
    const int64_t middle = low + Half(high - low, kColumnBlock);
    State other[kTile];
    Block(x, cols, low, middle, index, acc);
    Block(x, cols, middle, high, index, other);
    for (int64_t j = 0; j < cols; ++j) acc[j] = reducer_.Combine(acc[j], other[j]);
  }

  /// About half of n, in whole blocks.
  static int64_t Half(int64_t n, int64_t block) {
    const int64_t half = n / 2 / block * block;
    return half ? half : n / 2;
  }

  const ReducePlan& plan_;
  const R& reducer_;
  const T* x_;
  int64_t units_, width_, tiles_;
  bool columns_;
};

/// Reduce `x` to `y`, whose shape is x's with size 1 along reduced axes.
template <typename R>
void Reduce(Context& ctx, View y, View x, const R& reducer) {
  const auto* data = x.as<const typename R::Element>();
  if (y.numel == 1 && x.numel > 0 && x.numel <= 16 && x.is_contiguous()) {  // tiny: no plan at all
    auto state = reducer.Map(data[0], 0);
    for (int64_t i = 1; i < x.numel; ++i) state = reducer.Combine(state, reducer.Map(data[i], i));
    return reducer.Store(0, state, x.numel);
  }
  ReducePlan plan;
  MakeReducePlan(&plan, y, x, R::kOrdered);
  if (plan.outputs == 0) return;
  if (plan.count == 0) {
    ReduceWalker at(plan.kept, plan.kept_count, 0);
    for (int64_t i = 0; i < plan.outputs; ++i, at.Next()) reducer.Store(at.y, reducer.Identity(), 0);
    return;
  }
  ReduceRun<R>(plan, reducer, data).Go(ctx);
}

#endif

/// The whole kernel of a reducer that knows nothing but where its results go.
template <typename R>
void ReduceBy(Context& ctx, View y, View x) {
  R reducer;
  reducer.y = y.as<std::remove_pointer_t<decltype(R::y)>>();
  Reduce(ctx, y, x, reducer);
}

}  // namespace dragon::DRAGON_DEVICE
