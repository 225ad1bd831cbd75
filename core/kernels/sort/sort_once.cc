// Ordering along an axis: sort, topk, kthvalue, median and mode, all on packed keys.
#include <algorithm>

#include "core/device/parallel.h"
#include "core/kernels/index/walk.h"
#include "core/kernels/sort.h"
#include "core/kernels/sort/order.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Lines of a result that may be missing.
template <typename V>
struct Line {
  V* data;
  int64_t step;
  void Set(int64_t i, V value) const {
    if (data) data[i * step] = value;
  }
};

const int64_t* StridesWithout(const View& view, int axis, Dims& dims) {
  if (!view) {
    dims.resize(64, 0);
    return dims.data();
  }
  dims = Dims(view.strides, view.ndim);
  if (view.ndim > 0) dims.erase(axis);
  return dims.data();
}

/// One line of x, where its results go, and its keys, packed as they come.
template <typename T>
struct Task {
  const T* x;
  int64_t step, size;
  Line<T> values;
  Line<int64_t> places;
  PackedOf<T>*packed, *spare;

  /// Write `count` results from those packed keys on.
  void Store(const PackedOf<T>* from, int64_t count) const {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = Place(from[i]);
      places.Set(i, place);
      values.Set(i, x[place * step]);
    }
  }
};

/// Call `body(task)` for every line along `axis`, dividing lines among threads; with `invert`, the largest sorts first.
/// A single line leaves the threads to the sorter.
template <typename T, typename Body>
void ForLines(Context& ctx, const char* op, View values, View indices, View x, int axis, bool invert, Body body) {
  using P = PackedOf<T>;
  if (x.numel == 0) return;
  const int64_t size = x.ndim ? x.shape[axis] : 1, step = x.ndim ? x.strides[axis] : 1;
  CheckLine(op, size);
  Dims shape(x.shape, x.ndim), x_strides, value_strides, index_strides;
  if (x.ndim > 0) shape.erase(axis);
  const kernels::Walk<3> walk(shape.data(), 0, shape.size(),
                              {StridesWithout(x, axis, x_strides), StridesWithout(values, axis, value_strides),
                               StridesWithout(indices, axis, index_strides)});
  const auto run = [&](int64_t begin, int64_t end) {
    Scratch packed = ctx.Allocate<P>(size), spare = ctx.Allocate<P>(size);
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        const Line<T> to{values ? values.as<T>() + at[1] + i * walk.step(1) : nullptr,
                         values && values.ndim ? values.strides[axis] : 1};
        const Line<int64_t> places{indices ? indices.as<int64_t>() + at[2] + i * walk.step(2) : nullptr,
                                   indices && indices.ndim ? indices.strides[axis] : 1};
        const T* line = x.as<const T>() + at[0] + i * walk.step(0);
        PackLine(packed.as<P>(), line, step, size, invert);
        body(Task<T>{line, step, size, to, places, packed.as<P>(), spare.as<P>()});
      }
    });
  };
  if (walk.total() < NumThreads() && size > kGrain) {
    run(0, walk.total());
  } else {
    ParallelFor(walk.total(), 1 + kGrain / (16 * size + 1), run);
  }
}

}  // namespace

template <typename T>
void Sort(Context& ctx, View values, View indices, View x, int axis, bool descending) {
  ForLines<T>(ctx, "sort", values, indices, x, axis, descending, [](const Task<T>& line) {
    SortPacked(line.packed, line.spare, line.size, 8 * sizeof(T));
    line.Store(line.packed, line.size);
  });
}
DRAGON_KERNEL(Sort, RealAndBool);

template <typename T>
void TopK(Context& ctx, View values, View indices, View x, int axis, bool largest) {
  if (values.numel == 0) return;
  const int64_t k = values.ndim ? values.shape[axis] : 1;
  ForLines<T>(ctx, "topk", values, indices, x, axis, largest, [k](const Task<T>& line) {
    auto* const packed = line.packed;
    if (k <= line.size / 64) {
      std::partial_sort(packed, packed + k, packed + line.size);
    } else {
      if (k < line.size) std::nth_element(packed, packed + k - 1, packed + line.size);
      std::sort(packed, packed + k);
    }
    line.Store(packed, k);
  });
}
DRAGON_KERNEL(TopK, RealAndBool);

template <typename T>
void KthValue(Context& ctx, View values, View indices, View x, int axis, int64_t k) {
  ForLines<T>(ctx, "kthvalue", values, indices, x, axis, false, [k](const Task<T>& line) {
    std::nth_element(line.packed, line.packed + k - 1, line.packed + line.size);
    line.Store(line.packed + k - 1, 1);
  });
}
DRAGON_KERNEL(KthValue, RealAndBool);

template <typename T>
void Median(Context& ctx, View values, View indices, View x, int axis, bool ignore_nan) {
  ForLines<T>(ctx, "median", values, indices, x, axis, false, [ignore_nan](const Task<T>& line) {
    int64_t numbers = line.size, first_nan = 0;
    if constexpr (kIsFloating<T>) {
      for (int64_t i = line.size - 1; i >= 0; --i) {
        if (Key(line.packed[i]) == kNaNKey<T>) --numbers, first_nan = i;
      }
    }
    if (numbers == 0 || (numbers < line.size && !ignore_nan)) return line.Store(line.packed + first_nan, 1);
    const int64_t middle = (numbers - 1) / 2;
    std::nth_element(line.packed, line.packed + middle, line.packed + line.size);
    line.Store(line.packed + middle, 1);
  });
}
DRAGON_KERNEL(Median, RealAndBool);

template <typename T>
void Mode(Context& ctx, View values, View indices, View x, int axis) {
  ForLines<T>(ctx, "mode", values, indices, x, axis, false, [](const Task<T>& line) {
    const auto* const packed = line.packed;
    SortPacked(line.packed, line.spare, line.size, 8 * sizeof(T));
    int64_t best = 0, longest = 0, run = 0;
    for (int64_t i = 0; i < line.size; ++i) {
      const bool same =
          i > 0 && Key(packed[i]) == Key(packed[i - 1]) && !(kIsFloating<T> && Key(packed[i]) == kNaNKey<T>);
      run = same ? run + 1 : 1;
      if (run > longest) longest = run, best = i;
    }
    line.Store(packed + best, 1);
  });
}
DRAGON_KERNEL(Mode, RealAndBool);

}  // namespace dragon::DRAGON_DEVICE
