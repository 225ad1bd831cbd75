// The driver of reductions: see reduce_run.h.
#include "core/kernels/reduce_run.h"

#include <algorithm>
#include <cstring>

#include "core/device/parallel.h"
#include "core/kernels/plan.h"
#include "core/kernels/reduce_plan.h"
#include "core/kernels/transfer.h"

namespace dragon::kernels {

namespace {

using cpu::ReduceAxis;
using cpu::ReducePlan;
using cpu::ReduceWalker;

constexpr int64_t kShort = 16, kShortTile = 64;
/// Bytes of converted elements that wait for a loop.
constexpr int64_t kStateBytes = 32768;
/// Rows that one call of a loop reduces.
constexpr int64_t kRun = 64;
constexpr int64_t kMostItem = 16;

struct StatePair {
  uint64_t low, high;
};

/// About half of n, in whole blocks.
int64_t Half(int64_t n, int64_t block) {
  const int64_t half = n / 2 / block * block;
  return half ? half : n / 2;
}

/// Elements on their way to the loops: gathered, and made the dtype that these read.
class ElementLoader {
 public:
  explicit ElementLoader(const ReduceCall& call)
      : loops_(*call.loops),
        reducer_(call.reducer),
        dtype_(call.x->dtype),
        size_(ItemSize(dtype_)),
        loaded_size_(ItemSize(loops_.element)),
        converts_(loops_.load || dtype_ != loops_.element) {}

  bool converts() const { return converts_; }
  int64_t size() const { return size_; }

  /// As ReduceLoops::rows, of rows in x's dtype. Strides count bytes.
  void Rows(const char* x, int64_t n, int64_t stride, int64_t index, int64_t rows, int64_t step, void* states) const {
    if (!converts_ && (stride == size_ || n == 1)) {
      return loops_.rows(reducer_, x, n, index, rows, step / size_, states);
    }
    alignas(64) char loaded[kRowBlock * kMostItem];
    const int64_t most = std::max<int64_t>(1, kRowBlock / n);
    char* at = static_cast<char*>(states);
    for (int64_t i = 0; i < rows; i += most) {
      const int64_t some = std::min(most, rows - i);
      Load(loaded, x + i * step, n, stride, some, step);
      loops_.rows(reducer_, loaded, n, index, some, n, at + i * loops_.state_size);
    }
  }

  /// As ReduceLoops::columns. A row that goes on is taken together with the next one, as loops do.
  void Columns(const char* x, int64_t rows, int64_t stride, int64_t cols, int64_t index, char* states) const {
    if (!converts_) {
      return loops_.columns(reducer_, x, rows, stride / size_, cols, index, false, states);
    }
    alignas(64) char loaded[kStateBytes];
    const int64_t fit = kStateBytes / loaded_size_;
    const int64_t width = loops_.goes_on ? std::min(cols, fit / 4) : std::min(cols, std::max<int64_t>(1, fit / rows));
    const int64_t height = loops_.goes_on ? std::max<int64_t>(2, (fit / width - 1) / 2 * 2) : rows;
    for (int64_t first = 0; first < cols; first += width) {
      const int64_t some = std::min(width, cols - first);
      for (int64_t i = 0; i < rows;) {
        const int64_t block = std::min(rows - i, i == 0 && height < rows ? height + 1 : height);
        Load(loaded, x + i * stride + first * size_, some, size_, block, stride);
        loops_.columns(reducer_, loaded, block, some, some, index + i, i > 0, states + first * loops_.state_size);
        i += block;
      }
    }
  }

  /// `rows` rows of n elements at a stride, one after another.
  void Load(char* to, const char* x, int64_t n, int64_t stride, int64_t rows, int64_t step) const {
    if (stride == size_ && (rows == 1 || step == n * size_)) return Convert(to, x, n * rows);
    char gathered[kRowBlock * kMostItem];
    for (int64_t i = 0; i < rows; ++i) {
      const char* row = x + i * step;
      char* place = to + i * n * loaded_size_;
      if (stride != size_) {
        Gather(converts_ ? gathered : place, row, stride, n);
        row = gathered;
      }
      if (converts_) Convert(place, row, n);
    }
  }

  void Convert(void* to, const void* from, int64_t n) const {
    if (loops_.load) return loops_.load(reducer_, to, from, n);
    ConvertRun(to, loops_.element, from, dtype_, n);
  }

 private:
  void Gather(void* to, const char* from, int64_t stride, int64_t n) const {
    switch (size_) {
      case 1:
        return GatherItems(static_cast<uint8_t*>(to), from, stride, n);
      case 2:
        return GatherItems(static_cast<uint16_t*>(to), from, stride, n);
      case 4:
        return GatherItems(static_cast<uint32_t*>(to), from, stride, n);
      case 8:
        return GatherItems(static_cast<uint64_t*>(to), from, stride, n);
      default:
        return GatherItems(static_cast<StatePair*>(to), from, stride, n);
    }
  }
  /// Items are put together in a register: memory takes fewer of these than of items.
  template <typename T>
  static void GatherItems(T* to, const char* from, int64_t stride, int64_t n) {
    const auto item = [](const char* at) { return *reinterpret_cast<const T*>(at); };
    int64_t i = 0;
    if constexpr (sizeof(T) < 4) {
      constexpr int kItems = 8 / sizeof(T);
      for (; i + kItems <= n; i += kItems, from += kItems * stride) {
        uint64_t word = 0;
#pragma GCC unroll 8
        for (int k = 0; k < kItems; ++k) {
          word |= static_cast<uint64_t>(item(from + k * stride)) << (8 * static_cast<int>(sizeof(T)) * k);
        }
        std::memcpy(to + i, &word, sizeof(word));
      }
    } else {
      for (; i + 4 <= n; i += 4, from += 4 * stride) {
        const T a = item(from), b = item(from + stride), c = item(from + 2 * stride), d = item(from + 3 * stride);
        to[i] = a, to[i + 1] = b, to[i + 2] = c, to[i + 3] = d;
      }
    }
    for (; i < n; ++i, from += stride) to[i] = item(from);
  }

  const ReduceLoops& loops_;
  const void* reducer_;
  DType dtype_;
  int64_t size_, loaded_size_;
  bool converts_;
};

/// Results on their way out.
class StateWriter {
 public:
  StateWriter(const ReduceCall& call, int64_t count) : call_(call), loops_(*call.loops), count_(count) {
    for (int k = 0; k < 2; ++k) converts_ |= *call.outputs[k] && call.outputs[k]->dtype != loops_.outputs[k];
  }

  /// n outputs, at a step from `y` on.
  void Put(int64_t y, int64_t step, const void* states, int64_t n) const {
    if (converts_) return Convert(y, step, nullptr, states, n);
    void* const to[2] = {Address(0, y), Address(1, y)};
    loops_.store(call_.reducer, to, step, states, n, count_);
  }
  /// n outputs, each somewhere else.
  void Put(const int64_t* places, const void* states, int64_t n) const { Convert(0, 0, places, states, n); }

 private:
  char* Address(int k, int64_t y) const {
    const View& view = *call_.outputs[k];
    return view ? view.as<char>() + y * ItemSize(view.dtype) : nullptr;
  }

  void Convert(int64_t y, int64_t step, const int64_t* places, const void* states, int64_t n) const {
    constexpr int64_t kMost = 256;
    alignas(64) char stored[2][kMost * kMostItem];
    char narrow[kMost * kMostItem];
    for (int64_t first = 0; first < n; first += kMost) {
      const int64_t some = std::min(kMost, n - first);
      void* const to[2] = {*call_.outputs[0] ? stored[0] : nullptr, *call_.outputs[1] ? stored[1] : nullptr};
      loops_.store(call_.reducer, to, 1, static_cast<const char*>(states) + first * loops_.state_size, some, count_);
      for (int k = 0; k < 2; ++k) {
        const View& view = *call_.outputs[k];
        if (!view) continue;
        const char* from = stored[k];
        if (view.dtype != loops_.outputs[k]) {
          ConvertRun(narrow, view.dtype, stored[k], loops_.outputs[k], some);
          from = narrow;
        }
        const int64_t size = ItemSize(view.dtype);
        if (!places) {
          CopyRun(Address(k, y + first * step), step * size, from, size, size, some);
          continue;
        }
        for (int64_t j = 0; j < some; ++j) std::memcpy(Address(k, places[first + j]), from + j * size, size);
      }
    }
  }

  const ReduceCall& call_;
  const ReduceLoops& loops_;
  int64_t count_;
  bool converts_ = false;
};

/// Walks one plan. "Units" are what a long reduction is cut into: elements (or rows, in column mode) when there is a
/// single reduced axis, positions on the outer reduced axes otherwise.
class ReduceRun {
 public:
  ReduceRun(const ReducePlan& plan, const ReduceCall& call)
      : plan_(plan),
        loops_(*call.loops),
        reducer_(call.reducer),
        x_(call.x->as<const char>()),
        load_(call),
        write_(call, plan.count),
        size_(load_.size()),
        state_(loops_.state_size) {
    units_ = plan.reduced_count == 1 ? plan.reduced[0].size : plan.count / Inner().size;
    columns_ = plan.columns();
    width_ = columns_ ? plan.kept[plan.kept_count - 1].size : 1;
    tile_ = kMostTile / state_;
    tiles_ = columns_ ? (width_ + tile_ - 1) / tile_ : 1;
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
  static constexpr int64_t kMostTile = 128 * kMostStateBytes;  // bytes of a tile's states

  const ReduceAxis& Inner() const { return plan_.reduced[plan_.reduced_count - 1]; }

  /// Few outputs: every thread makes a partial result of all of them.
  void Split(Context& ctx, int64_t tasks, int64_t threads) {
    const int64_t bytes = plan_.outputs * state_;
    Scratch scratch = ctx.Allocate<char>(threads * bytes);
    char* parts = scratch.as<char>();
    ParallelFor(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        Tasks(0, tasks, units_ * i / threads, units_ * (i + 1) / threads, parts + i * bytes);
      }
    });
    for (int64_t i = 1; i < threads; ++i) loops_.combine(reducer_, parts, parts + i * bytes, plan_.outputs);
    PutAll(0, plan_.outputs, parts);
  }

  /// Write outputs [begin, end), run by run along the innermost axis.
  void PutAll(int64_t begin, int64_t end, const char* states) const {
    ReduceWalker at(plan_.kept, plan_.kept_count, begin);
    for (int64_t j = begin; j < end;) {
      const int64_t n = std::min(end - j, LeftOf(at));
      write_.Put(at.y, plan_.kept_count ? plan_.kept[plan_.kept_count - 1].y : 0, states + (j - begin) * state_, n);
      j += n;
      at.Skip(n);
    }
  }
  /// Outputs from a place to the end of the innermost axis.
  int64_t LeftOf(const ReduceWalker& at) const {
    return plan_.kept_count ? plan_.kept[plan_.kept_count - 1].size - at.index[plan_.kept_count - 1] : 1;
  }

  /// Reduce units [low, high) of tasks [begin, end), into `parts` if given, else into the output.
  void Tasks(int64_t begin, int64_t end, int64_t low, int64_t high, char* parts) const {
    if (begin >= end) return;
    if (columns_) return ColumnTasks(begin, end, low, high, parts);
    if (!parts && plan_.count <= kShort && plan_.reduced_count == 1 && end - begin >= kShortTile) {
      return ShortRows(begin, end);
    }
    const bool whole = plan_.reduced_count == 1 && high - low <= kRowBlock;
    const ReduceAxis inner = Inner(), kept = plan_.kept_count ? plan_.kept[plan_.kept_count - 1] : ReduceAxis{1, 0, 0};
    alignas(16) char states[kRun * kMostStateBytes];
    ReduceWalker at(plan_.kept, plan_.kept_count, begin);
    for (int64_t task = begin; task < end;) {
      const int64_t n = std::min({end - task, LeftOf(at), kRun});
      char* to = parts ? parts + task * state_ : states;
      if (whole) {
        load_.Rows(x_ + (at.x + low * inner.x) * size_, high - low, inner.x * size_, low, n, kept.x * size_, to);
      } else {
        for (int64_t i = 0; i < n; ++i) Rows(x_ + (at.x + i * kept.x) * size_, low, high, to + i * state_);
      }
      if (!parts) write_.Put(at.y, kept.y, states, n);
      task += n;
      at.Skip(n);
    }
  }

  /// Rows of a few elements would leave vectors empty: they are turned into columns, some rows at a time.
  void ShortRows(int64_t begin, int64_t end) const {
    switch (size_) {
      case 1:
        return ShortRowsOf<uint8_t>(begin, end);
      case 2:
        return ShortRowsOf<uint16_t>(begin, end);
      case 4:
        return ShortRowsOf<uint32_t>(begin, end);
      case 8:
        return ShortRowsOf<uint64_t>(begin, end);
      default:
        return ShortRowsOf<StatePair>(begin, end);
    }
  }
  template <typename T>
  void ShortRowsOf(int64_t begin, int64_t end) const {
    const int64_t n = plan_.count, step = plan_.reduced[0].x;
    const T* x = reinterpret_cast<const T*>(x_);
    T block[kShort * kShortTile];
    alignas(64) char loaded[kShort * kShortTile * kMostItem], states[kShortTile * kMostStateBytes];
    int64_t places[kShortTile];
    ReduceWalker at(plan_.kept, plan_.kept_count, begin);
    for (int64_t first = begin; first < end; first += kShortTile) {
      const int64_t rows = std::min(kShortTile, end - first), y = at.y;
      const bool together = rows <= LeftOf(at);
      if (together) {
        const int64_t row = plan_.kept[plan_.kept_count - 1].x;
        for (int64_t i = 0; i < n; ++i) {
          const T* from = x + at.x + i * step;
          for (int64_t j = 0; j < rows; ++j) block[i * kShortTile + j] = from[j * row];
        }
        at.Skip(rows);
      } else {
        for (int64_t j = 0; j < rows; ++j, at.Next()) {
          for (int64_t i = 0; i < n; ++i) block[i * kShortTile + j] = x[at.x + i * step];
          places[j] = at.y;
        }
      }
      if (load_.converts()) load_.Convert(loaded, block, n * kShortTile);
      loops_.columns(reducer_, load_.converts() ? static_cast<void*>(loaded) : block, n, kShortTile, rows, 0, false,
                     states);
      if (together) {
        write_.Put(y, plan_.kept[plan_.kept_count - 1].y, states, rows);
      } else {
        write_.Put(places, states, rows);
      }
    }
  }

  void ColumnTasks(int64_t begin, int64_t end, int64_t low, int64_t high, char* parts) const {
    const ReduceAxis& column = plan_.kept[plan_.kept_count - 1];
    alignas(64) char states[kMostTile];
    ReduceWalker at(plan_.kept, plan_.kept_count - 1, begin / tiles_);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task % tiles_ * tile_, cols = std::min(tile_, width_ - first);
      char* to = parts ? parts + (task / tiles_ * width_ + first) * state_ : states;
      Columns(x_ + (at.x + first) * size_, cols, low, high, to);
      if (!parts) write_.Put(at.y + first * column.y, column.y, to, cols);
      if (first + cols == width_) at.Next();
    }
  }

  /// Pairwise: halves until a piece is small enough to be reduced in a row.
  void Rows(const char* x, int64_t low, int64_t high, char* state) const {
    alignas(16) char other[kMostStateBytes];
    const ReduceAxis& inner = Inner();
    if (plan_.reduced_count == 1) return Row(x, low, high, 0, state);
    if (high - low <= 8) {
      ReduceWalker at(plan_.reduced, plan_.reduced_count - 1, low);
      Row(x + at.x * size_, 0, inner.size, low * inner.size, state);
      for (int64_t unit = low + 1; unit < high; ++unit) {
        at.Next();
        Row(x + at.x * size_, 0, inner.size, unit * inner.size, other);
        loops_.combine(reducer_, state, other, 1);
      }
      return;
    }
    const int64_t middle = low + Half(high - low, kRowBlock);
    Rows(x, low, middle, state);
    Rows(x, middle, high, other);
    loops_.combine(reducer_, state, other, 1);
  }
  void Row(const char* x, int64_t low, int64_t high, int64_t index, char* state) const {
    const int64_t stride = Inner().x * size_;
    if (high - low <= kRowBlock) return load_.Rows(x + low * stride, high - low, stride, index + low, 1, 0, state);
    alignas(16) char other[kMostStateBytes];
    const int64_t middle = low + Half(high - low, kRowBlock);
    Row(x, low, middle, index, state);
    Row(x, middle, high, index, other);
    loops_.combine(reducer_, state, other, 1);
  }

  void Columns(const char* x, int64_t cols, int64_t low, int64_t high, char* states) const {
    const ReduceAxis& inner = Inner();
    if (plan_.reduced_count == 1) return Block(x, cols, low, high, 0, states);
    if (high - low == 1) {
      const ReduceWalker at(plan_.reduced, plan_.reduced_count - 1, low);
      return Block(x + at.x * size_, cols, 0, inner.size, low * inner.size, states);
    }
    const int64_t middle = low + (high - low) / 2;
    alignas(64) char other[kMostTile];
    Columns(x, cols, low, middle, states);
    Columns(x, cols, middle, high, other);
    loops_.combine(reducer_, states, other, cols);
  }
  void Block(const char* x, int64_t cols, int64_t low, int64_t high, int64_t index, char* states) const {
    const int64_t stride = Inner().x * size_;
    if (high - low <= kColumnBlock) {
      return load_.Columns(x + low * stride, high - low, stride, cols, index + low, states);
    }
    const int64_t middle = low + Half(high - low, kColumnBlock);
    alignas(64) char other[kMostTile];
    Block(x, cols, low, middle, index, states);
    Block(x, cols, middle, high, index, other);
    loops_.combine(reducer_, states, other, cols);
  }

  const ReducePlan& plan_;
  const ReduceLoops& loops_;
  const void* reducer_;
  const char* x_;
  const ElementLoader load_;
  const StateWriter write_;
  int64_t size_, state_, units_, width_, tile_, tiles_;
  bool columns_;
};

/// One row to one result: no plan at all.
void OneRow(const ReduceCall& call) {
  const ReduceLoops& loops = *call.loops;
  const View &x = *call.x, &y = *call.outputs[0], &second = *call.outputs[1];
  alignas(16) char state[kMostStateBytes];
  if (x.numel > kShort) {
    const ElementLoader load(call);
    load.Rows(x.as<const char>(), x.numel, load.size(), 0, 1, 0, state);
  } else if (x.dtype == loops.element && !loops.load) {
    loops.few(call.reducer, x.data, x.numel, state);
  } else {
    alignas(16) char loaded[kShort * kMostItem];
    ElementLoader(call).Convert(loaded, x.data, x.numel);
    loops.few(call.reducer, loaded, x.numel, state);
  }
  if ((y && y.dtype != loops.outputs[0]) || (second && second.dtype != loops.outputs[1])) {
    return StateWriter(call, x.numel).Put(0, 0, state, 1);
  }
  void* const to[2] = {y ? y.data : nullptr, second ? second.data : nullptr};
  loops.store(call.reducer, to, 1, state, 1, x.numel);
}

}  // namespace

void RunReduce(Context& ctx, const ReduceCall& call) {
  const View &x = *call.x, &y = *call.outputs[0] ? *call.outputs[0] : *call.outputs[1];
  if (y.numel == 1 && x.numel > 0 && x.numel <= kRowBlock && x.is_contiguous()) return OneRow(call);
  ReducePlan plan;
  cpu::MakeReducePlan(&plan, y, x, call.loops->ordered);
  if (plan.outputs == 0) return;
  if (plan.count > 0) return ReduceRun(plan, call).Go(ctx);
  alignas(16) char state[kMostStateBytes];
  call.loops->identity(call.reducer, state);
  const StateWriter write(call, 0);
  ReduceWalker at(plan.kept, plan.kept_count, 0);
  for (int64_t i = 0; i < plan.outputs; ++i, at.Next()) write.Put(at.y, 0, state, 1);
}

}  // namespace dragon::kernels
