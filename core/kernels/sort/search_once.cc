// Searching and counting: unique, searchsorted, isin, bincount and the histograms.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <vector>

#include "core/device/parallel.h"
#include "core/kernels/index/walk.h"
#include "core/kernels/sort.h"
#include "core/kernels/sort/order.h"

namespace dragon {

/// What counts are kept in: integers, or the dtype of the weights.
using CountTypes = TypeList<int64_t, float, double>;
using IndexTypes = TypeList<int64_t>;

}  // namespace dragon

namespace dragon::DRAGON_DEVICE {

namespace {

/// List rows in ascending order by their keys (n by m).
void SortRows(int64_t* order, const uint64_t* keys, int64_t n, int64_t m) {
  std::iota(order, order + n, 0);
  std::stable_sort(order, order + n, [&](int64_t a, int64_t b) {
    return std::lexicographical_compare(keys + a * m, keys + (a + 1) * m, keys + b * m, keys + (b + 1) * m);
  });
}

/// Fill group and starts from the order; rows are equal if their keys are and none is `nan`.
int64_t GroupRows(View order, View group, View starts, const uint64_t* keys, int64_t m, bool has_nan, uint64_t nan) {
  const int64_t n = order.numel;
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = order.as<int64_t>()[i];
    bool same = i > 0;
    const uint64_t* mine = keys + row * m;
    const uint64_t* last = same ? keys + order.as<int64_t>()[i - 1] * m : nullptr;
    for (int64_t j = 0; same && j < m; ++j) same = mine[j] == last[j] && !(has_nan && mine[j] == nan);
    if (!same) starts.as<int64_t>()[count++] = i;
    group.as<int64_t>()[row] = count - 1;
  }
  starts.as<int64_t>()[count] = n;
  return count;
}

/// Where `value` belongs in a sorted line: before its equals, or after them. NaN goes to the end.
template <typename T>
int64_t Search(const T* line, const int64_t* sorter, int64_t size, T value, bool right) {
  int64_t low = 0, high = size;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    int64_t place = middle;
    if (sorter) {
      place = sorter[middle];
      if (place < 0 || place >= size) {
        throw IndexError("searchsorted").Got(place, " in sorter").Expected("0 to ", size - 1);
      }
    }
    const Wide<T> here = line[place], wanted = value;
    const bool before = right ? !(here > wanted) : !(here >= wanted);
    if (before) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

template <typename T>
void Unique(Context& ctx, View order, View group, View starts, int64_t* count, View x, bool sorted) {
  const int64_t n = order.numel, m = n ? x.numel / n : 0;
  CheckLine("unique", n);
  Scratch keys = ctx.Allocate<uint64_t>(x.numel);
  ParallelFor(x.numel, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) keys.as<uint64_t>()[i] = OrderedKey(x.as<const T>()[i]);
  });
  if (!sorted) {
    std::iota(order.as<int64_t>(), order.as<int64_t>() + n, 0);
  } else if (m == 1) {
    using P = PackedOf<T>;
    Scratch packed = ctx.Allocate<P>(n), spare = ctx.Allocate<P>(n);
    PackLine(packed.as<P>(), x.as<const T>(), 1, n, false);
    SortPacked(packed.as<P>(), spare.as<P>(), n, 8 * sizeof(T));
    for (int64_t i = 0; i < n; ++i) order.as<int64_t>()[i] = Place(packed.as<P>()[i]);
  } else {
    SortRows(order.as<int64_t>(), keys.as<uint64_t>(), n, m);
  }
  *count = GroupRows(order, group, starts, keys.as<uint64_t>(), m, kIsFloating<T>, kNaNKey<T>);
}
DRAGON_KERNEL(Unique, RealAndBool);

template <typename T>
void SearchSorted(Context& ctx, View y, View edges, View values, View sorter, bool right) {
  if (values.numel == 0) return;
  const int64_t size = edges.shape[edges.ndim - 1];
  const int64_t per_line = edges.ndim == 1 ? values.numel : values.shape[values.ndim - 1];
  ParallelFor(values.numel, kGrain / 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t start = i / per_line * size;
      y.as<int64_t>()[i] = Search(edges.as<const T>() + start, sorter ? sorter.as<const int64_t>() + start : nullptr,
                                  size, values.as<const T>()[i], right);
    }
  });
}
DRAGON_KERNEL(SearchSorted, Real);

template <typename T>
void IsIn(Context& ctx, View y, View x, View tests, bool invert) {
  std::vector<uint64_t> keys;
  for (int64_t i = 0; i < tests.numel; ++i) {
    const uint64_t key = OrderedKey(tests.as<const T>()[i]);
    if (!kIsFloating<T> || key != kNaNKey<T>) keys.push_back(key);  // a NaN equals nothing
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  ParallelFor(x.numel, kGrain / 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = OrderedKey(x.as<const T>()[i]);
      y.as<bool>()[i] = std::binary_search(keys.begin(), keys.end(), key) != invert;
    }
  });
}
DRAGON_KERNEL(IsIn, RealAndBool);

/// Counts of [begin, end) on top of what y holds.
template <typename T>
void Count(T* y, int64_t bins, const int64_t* where, int64_t step, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const int64_t bin = where[i * step];
    if (DRAGON_UNLIKELY(static_cast<uint64_t>(bin) >= static_cast<uint64_t>(bins))) {
      throw ValueError("bincount").Got(bin, " in x").Expected("0 to ", bins - 1);
    }
    y[bin] += T(1);
  }
}

template <typename T>
void Bincount(Context& ctx, View y, View x, View weights) {
  const int64_t bins = y.numel, step = x.strides[0];
  const int64_t* where = x.as<const int64_t>();
  std::fill_n(y.as<T>(), bins, T(0));
  if (!weights) {
    std::mutex mutex;  // whole numbers: the order in which threads add theirs does not matter
    ParallelFor(x.numel, kGrain + 4 * bins, [&](int64_t begin, int64_t end) {
      if (end - begin == x.numel) return Count(y.as<T>(), bins, where, step, begin, end);
      std::vector<T> mine(bins, T(0));
      Count(mine.data(), bins, where, step, begin, end);
      std::lock_guard<std::mutex> lock(mutex);
      for (int64_t bin = 0; bin < bins; ++bin) y.as<T>()[bin] += mine[bin];
    });
    return;
  }
  for (int64_t i = 0; i < x.numel; ++i) {
    const int64_t bin = where[i * step];
    if (bin < 0 || bin >= bins) throw ValueError("bincount").Got(bin, " in x").Expected("0 to ", bins - 1);
    y.as<T>()[bin] += weights.as<const T>()[i * weights.strides[0]];
  }
}
DRAGON_KERNEL(Bincount, CountTypes);

template <typename T>
void IndexRange(Context& ctx, int64_t* least, int64_t* largest, View x) {
  *least = 0;
  *largest = -1;
  if (x.numel == 0) return;
  const kernels::Walk<1> walk(x.shape, 0, x.ndim, {x.strides});
  const int64_t step = walk.step(0);
  *least = *largest = x.as<const int64_t>()[0];
  std::mutex mutex;
  ParallelFor(walk.total(), kGrain, [&](int64_t begin, int64_t end) {
    int64_t low = x.as<const int64_t>()[0], high = low;
    walk.Range(begin, end, [&](const auto& at, int64_t count) {
      const int64_t* line = x.as<const int64_t>() + at[0];
      for (int64_t i = 0; i < count; ++i) {
        low = std::min(low, line[i * step]);
        high = std::max(high, line[i * step]);
      }
    });
    std::lock_guard<std::mutex> lock(mutex);
    *least = std::min(*least, low);
    *largest = std::max(*largest, high);
  });
}
DRAGON_KERNEL(IndexRange, IndexTypes);

template <typename T>
void Histogram(Context& ctx, View y, View x, View edges, View weights) {
  const int64_t bins = y.numel;
  const T* edge = edges.as<const T>();
  std::vector<double> total(bins, 0.0);
  for (int64_t i = 0; i < x.numel; ++i) {
    const T value = x.as<const T>()[i];
    if (!(value >= edge[0] && value <= edge[bins])) continue;
    const int64_t bin = std::min(bins - 1, Search<T>(edge, nullptr, bins + 1, value, true) - 1);
    total[bin] += weights ? static_cast<double>(weights.as<const T>()[i]) : 1.0;
  }
  for (int64_t i = 0; i < bins; ++i) y.as<T>()[i] = static_cast<T>(total[i]);
}
DRAGON_KERNEL(Histogram, Singles);

template <typename T>
void Histc(Context& ctx, View y, View x, double low, double high) {
  const int64_t bins = y.numel;
  std::vector<int64_t> count(bins, 0);
  for (int64_t i = 0; i < x.numel; ++i) {
    const double value = static_cast<double>(static_cast<Wide<T>>(x.as<const T>()[i]));
    if (!(value >= low && value <= high)) continue;
    const auto bin = static_cast<int64_t>((value - low) / (high - low) * static_cast<double>(bins));
    ++count[std::min(bins - 1, bin)];
  }
  for (int64_t i = 0; i < bins; ++i) y.as<T>()[i] = static_cast<T>(count[i]);
}
DRAGON_KERNEL(Histc, Floating);

}  // namespace dragon::DRAGON_DEVICE
