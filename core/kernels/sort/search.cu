// Searching in sorted lines on CUDA: searchsorted and isin.
#include "core/kernels/each_cuda.h"
#include "core/kernels/sort.h"
#include "core/kernels/sort/search_cuda.h"
#include "core/kernels/sort/sort_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
struct WriteFound {
  int64_t* y;
  const T *edges, *values;
  const int64_t* sorter;
  int64_t size, per_line;
  bool right;
  __device__ void operator()(int64_t i) const {
    const int64_t start = i / per_line * size;
    y[i] = SearchLine(edges + start, sorter ? sorter + start : nullptr, size, values[i], right);
  }
};

template <typename T>
struct WriteTestKey {
  uint64_t* keys;
  const T* tests;
  __device__ void operator()(int64_t i) const { keys[i] = OrderedKey(tests[i]); }
};
template <typename T>
struct WriteIsIn {
  bool* y;
  const T* x;
  const uint64_t* keys;
  int64_t count;
  bool invert;
  __device__ void operator()(int64_t i) const {
    const uint64_t key = OrderedKey(x[i]);
    int64_t low = 0, high = count;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (keys[middle] < key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const bool is_nan = kIsFloating<T> && key == kNaNKey<T>;  // a NaN equals nothing
    y[i] = (!is_nan && low < count && keys[low] == key) != invert;
  }
};

}  // namespace

template <typename T>
void SearchSorted(Context& ctx, View y, View edges, View values, View sorter, bool right) {
  if (values.numel == 0) return;
  const int64_t size = edges.shape[edges.ndim - 1];
  const int64_t per_line = edges.ndim == 1 ? values.numel : values.shape[values.ndim - 1];
  LaunchForEach(ctx, values.numel,
                WriteFound<T>{y.as<int64_t>(), edges.as<const T>(), values.as<const T>(),
                              sorter ? sorter.as<const int64_t>() : nullptr, size, per_line, right});
}
DRAGON_KERNEL(SearchSorted, Real);

template <typename T>
void IsIn(Context& ctx, View y, View x, View tests, bool invert) {
  if (x.numel == 0) return;
  const int64_t count = tests.numel;
  const Scratch room = ctx.Allocate<uint64_t>(count), spare = ctx.Allocate<uint64_t>(count);
  LaunchForEach(ctx, count, WriteTestKey<T>{room.as<uint64_t>(), tests.as<const T>()});
  const uint64_t* const keys =
      SortWords(ctx, room.as<uint64_t>(), spare.as<uint64_t>(), count, 0, 8 * static_cast<int>(sizeof(T)));
  LaunchForEach(ctx, x.numel, WriteIsIn<T>{y.as<bool>(), x.as<const T>(), keys, count, invert});
}
DRAGON_KERNEL(IsIn, RealAndBool);

}  // namespace dragon::DRAGON_DEVICE
