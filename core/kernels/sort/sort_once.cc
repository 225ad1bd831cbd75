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

/// Call `body(x line, step, size, values, indices, packed, spare)` for every line along `axis`, dividing lines among
/// threads. A single line leaves the threads to the sorter.
template <typename T, typename Body>
void ForLines(Context& ctx, const char* op, View values, View indices, View x, int axis, Body body) {
  using P = PackedOf<T>;
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
        body(x.as<const T>() + at[0] + i * walk.step(0), step, size, to, places, packed.as<P>(), spare.as<P>());
      }
    });
  };
  if (walk.total() < NumThreads() && size > kGrain) {
    run(0, walk.total());
  } else {
    ParallelFor(walk.total(), 1 + kGrain / (16 * size + 1), run);
  }
}

template <typename T, typename P>
void Store(const T* x, int64_t step, const Line<T>& values, const Line<int64_t>& places, const P* packed,
           int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = Place(packed[i]);
    places.Set(i, place);
    values.Set(i, x[place * step]);
  }
}

}  // namespace

template <typename T>
void Sort(Context& ctx, View values, View indices, View x, int axis, bool descending) {
  using P = PackedOf<T>;
  if (x.numel == 0) return;
  ForLines<T>(ctx, "sort", values, indices, x, axis,
              [&](const T* line, int64_t step, int64_t size, auto& to, auto& places, P* packed, P* spare) {
                PackLine(packed, line, step, size, descending);
                SortPacked(packed, spare, size, 8 * sizeof(T));
                Store(line, step, to, places, packed, size);
              });
}
DRAGON_KERNEL(Sort, RealAndBool);

template <typename T>
void TopK(Context& ctx, View values, View indices, View x, int axis, bool largest) {
  using P = PackedOf<T>;
  if (values.numel == 0) return;
  const int64_t k = values.ndim ? values.shape[axis] : 1;
  ForLines<T>(ctx, "topk", values, indices, x, axis,
              [&](const T* line, int64_t step, int64_t size, auto& to, auto& places, P* packed, P*) {
                PackLine(packed, line, step, size, largest);
                if (k <= size / 64) {
                  std::partial_sort(packed, packed + k, packed + size);
                } else {
                  if (k < size) std::nth_element(packed, packed + k - 1, packed + size);
                  std::sort(packed, packed + k);
                }
                Store(line, step, to, places, packed, k);
              });
}
DRAGON_KERNEL(TopK, RealAndBool);

template <typename T>
void KthValue(Context& ctx, View values, View indices, View x, int axis, int64_t k) {
  using P = PackedOf<T>;
  if (x.numel == 0) return;
  ForLines<T>(ctx, "kthvalue", values, indices, x, axis,
              [&](const T* line, int64_t step, int64_t size, auto& to, auto& places, P* packed, P*) {
                PackLine(packed, line, step, size, false);
                std::nth_element(packed, packed + k - 1, packed + size);
                Store(line, step, to, places, packed + k - 1, 1);
              });
}
DRAGON_KERNEL(KthValue, RealAndBool);

template <typename T>
void Median(Context& ctx, View values, View indices, View x, int axis, bool ignore_nan) {
  using P = PackedOf<T>;
  if (x.numel == 0) return;
  ForLines<T>(ctx, "median", values, indices, x, axis,
              [&](const T* line, int64_t step, int64_t size, auto& to, auto& places, P* packed, P*) {
                PackLine(packed, line, step, size, false);
                int64_t numbers = size, first_nan = 0;
                if constexpr (kIsFloating<T>) {
                  for (int64_t i = size - 1; i >= 0; --i) {
                    if (Key(packed[i]) == kNaNKey<T>) --numbers, first_nan = i;
                  }
                }
                if (numbers == 0 || (numbers < size && !ignore_nan))
                  return Store(line, step, to, places, packed + first_nan, 1);
                const int64_t middle = (numbers - 1) / 2;
                std::nth_element(packed, packed + middle, packed + size);
                Store(line, step, to, places, packed + middle, 1);
              });
}
DRAGON_KERNEL(Median, RealAndBool);

template <typename T>
void Mode(Context& ctx, View values, View indices, View x, int axis) {
  using P = PackedOf<T>;
  if (x.numel == 0) return;
  ForLines<T>(ctx, "mode", values, indices, x, axis,
              [&](const T* line, int64_t step, int64_t size, auto& to, auto& places, P* packed, P* spare) {
                PackLine(packed, line, step, size, false);
                SortPacked(packed, spare, size, 8 * sizeof(T));
                int64_t best = 0, longest = 0, run = 0;
                for (int64_t i = 0; i < size; ++i) {
                  const bool same = i > 0 && Key(packed[i]) == Key(packed[i - 1]) &&
                                    !(kIsFloating<T> && Key(packed[i]) == kNaNKey<T>);
                  run = same ? run + 1 : 1;
                  if (run > longest) longest = run, best = i;
                }
                Store(line, step, to, places, packed + best, 1);
              });
}
DRAGON_KERNEL(Mode, RealAndBool);

}  // namespace dragon::DRAGON_DEVICE
