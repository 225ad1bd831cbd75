// Groups of equal rows on CUDA: rows are ordered by their keys, and heads of groups are counted.
#include "core/device/cuda/check.h"
#include "core/device/cuda/fetch.h"
#include "core/kernels/each_cuda.h"
#include "core/kernels/sort.h"
#include "core/kernels/sort/scan_cuda.h"
#include "core/kernels/sort/sort_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
struct WriteKey {
  uint64_t* keys;
  const T* x;
  __device__ void operator()(int64_t i) const { keys[i] = OrderedKey(x[i]); }
};
template <typename T>
struct WritePacked {
  PackedOf<T>* packed;
  const T* x;
  Fields<PackedOf<T>> fields;
  __device__ void operator()(int64_t i) const { packed[i] = fields.Pack(OrderedKey(x[i]), i, 0); }
};
template <typename P>
struct WritePlace {
  int64_t* order;
  const P* sorted;
  Fields<P> fields;
  __device__ void operator()(int64_t i) const { order[i] = fields.Place(sorted[i]); }
};
struct WriteNumber {
  int64_t* order;
  __device__ void operator()(int64_t i) const { order[i] = i; }
};
struct WriteSame {
  int64_t* to;
  const int64_t* from;
  __device__ void operator()(int64_t i) const { to[i] = from[i]; }
};

/// Whether a group begins at place i: the row before has other keys, or one of them is NaN.
struct IsHead {
  const int64_t* order;
  const uint64_t* keys;
  int64_t width;
  bool has_nan;
  uint64_t nan;
  __device__ bool operator()(int64_t i) const {
    if (i == 0) return true;
    const uint64_t *mine = keys + order[i] * width, *last = keys + order[i - 1] * width;
    for (int64_t j = 0; j < width; ++j) {
      if (mine[j] != last[j] || (has_nan && mine[j] == nan)) return true;
    }
    return false;
  }
};
struct TakeGroup {
  const int64_t* order;
  int64_t *group, *starts, n;
  __device__ void operator()(int64_t i, bool head, int64_t count) const {
    group[order[i]] = count - 1;
    if (head) starts[count - 1] = i;
    if (i == n - 1) starts[count] = n;
  }
};

template <typename T>
void OrderRows(Context& ctx, int64_t* order, const uint64_t* keys, View x, int64_t n, int64_t m) {
  if (m == 1) {
    using P = PackedOf<T>;
    const Scratch packed = ctx.Allocate<P>(n), spare = ctx.Allocate<P>(n);
    const Fields<P> fields(1, n, 8 * static_cast<int>(sizeof(T)));
    LaunchForEach(ctx, n, WritePacked<T>{packed.as<P>(), x.as<const T>(), fields});
    const P* const sorted = SortPackedLines(ctx, packed.as<P>(), spare.as<P>(), 1, n, fields);
    return LaunchForEach(ctx, n, WritePlace<P>{order, sorted, fields});
  }
  const Scratch spare = ctx.Allocate<int64_t>(n);
  LaunchForEach(ctx, n, WriteNumber{order});
  const int64_t* const sorted = SortLines(ctx, order, spare.as<int64_t>(), 1, n, ByRow{keys, m});
  if (sorted != order) LaunchForEach(ctx, n, WriteSame{order, sorted});
}

}  // namespace

template <typename T>
void Unique(Context& ctx, View order, View group, View starts, int64_t* count, View x, bool sorted) {
  const int64_t n = order.numel, m = n ? x.numel / n : 0;
  CheckLine("unique", n);
  *count = 0;
  if (n == 0) {
    return CheckCuda(cudaMemsetAsync(starts.data, 0, sizeof(int64_t), cuda::StreamOf(ctx)), "unique");
  }
  auto* const places = order.as<int64_t>();
  const Scratch key_room = ctx.Allocate<uint64_t>(x.numel);
  auto* const keys = key_room.as<uint64_t>();
  LaunchForEach(ctx, x.numel, WriteKey<T>{keys, x.as<const T>()});
  if (sorted) {
    OrderRows<T>(ctx, places, keys, x, n, m);
  } else {
    LaunchForEach(ctx, n, WriteNumber{places});
  }
  const int64_t* total;
  const Scratch counts = RunningCounts(ctx, n, IsHead{places, keys, m, kIsFloating<T>, kNaNKey<T>},
                                       TakeGroup{places, group.as<int64_t>(), starts.as<int64_t>(), n}, &total);
  // How many groups there are decides a shape: the host has to wait.
  cuda::Fetch("unique", ctx, count, total);
}
DRAGON_KERNEL(Unique, RealAndBool);

}  // namespace dragon::DRAGON_DEVICE
