// Ordering along an axis on CUDA: sort, topk, kthvalue, median and mode, all on packed keys. A line that fits in shared
// memory is packed, sorted and stored by one block; longer ones go by way of the sorters.
#include "core/device/cuda/block.h"
#include "core/kernels/plan.h"
#include "core/kernels/sort.h"
#include "core/kernels/sort/sort_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// What is wanted of a sorted line.
enum class Want { kFirst, kKth, kMedian, kMedianOfNumbers, kMode };

/// Where the lines of x and of both results are: axes other than the sorted one, and the step along that.
struct LineMap {
  int32_t ndim = 0;
  int64_t lines = 1, size = 1, x_step = 1, value_step = 1, place_step = 1;
  int64_t shape[kMaxDims];
  int64_t x[kMaxDims], values[kMaxDims], places[kMaxDims];

  LineMap(const View& of_values, const View& of_places, const View& of_x, int axis) {
    if (of_x.ndim > 0) {
      size = of_x.shape[axis], x_step = of_x.strides[axis];
      value_step = of_values ? of_values.strides[axis] : 0;
      place_step = of_places ? of_places.strides[axis] : 0;
    }
    for (int i = 0; i < of_x.ndim; ++i) {
      if (i == axis) continue;
      lines *= shape[ndim] = of_x.shape[i];
      x[ndim] = of_x.strides[i];
      values[ndim] = of_values ? of_values.strides[i] : 0;
      places[ndim] = of_places ? of_places.strides[i] : 0;
      ++ndim;
    }
  }
  /// Threads along the lines, and blocks for each of them.
  cuda::Grid GridFor(int64_t count) const {
    constexpr int64_t kEach = 4;
    const auto blocks = cuda::GridFor((count + kEach - 1) / kEach).blocks.x;
    return {dim3(blocks, static_cast<unsigned>(std::min(lines, cuda::kMostBlocks))), dim3(cuda::kThreads)};
  }
  __device__ void Line(int64_t line, int64_t* at_x, int64_t* at_value, int64_t* at_place) const {
    *at_x = *at_value = *at_place = 0;
    for (int i = ndim - 1; i >= 0; --i) {
      const int64_t index = line % shape[i];
      line /= shape[i];
      *at_x += index * x[i], *at_value += index * values[i], *at_place += index * places[i];
    }
  }
};

/// A run of equal keys; the longest wins, and the first of those.
struct Run {
  int64_t length, last;
};
struct LongerRun {
  __device__ Run operator()(const Run& a, const Run& b) const {
    return b.length > a.length || (b.length == a.length && b.last < a.last) ? b : a;
  }
};

/// The first of `size` sorted elements whose key is not below `key`.
template <typename P>
__device__ int64_t FirstNotBelow(const P* sorted, const Fields<P>& fields, int64_t size, uint64_t key) {
  int64_t low = 0, high = size;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (fields.Key(sorted[middle]) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The last place of the longest run of equal keys. A NaN is a run by itself.
template <typename T>
__device__ int64_t ModeOf(const PackedOf<T>* sorted, const Fields<PackedOf<T>>& fields, int64_t size) {
  Run best{0, 0};
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    const uint64_t key = fields.Key(sorted[i]);
    if (kIsFloating<T> && key == kNaNKey<T>) {
      best = LongerRun{}(best, Run{1, i});
    } else if (i + 1 == size || fields.Key(sorted[i + 1]) != key) {
      best = LongerRun{}(best, Run{i + 1 - FirstNotBelow(sorted, fields, i + 1, key), i});
    }
  }
  return cuda::BlockReduce(best, LongerRun{}).last;
}

/// Which element of a sorted line is wanted; for all threads of the block.
template <typename T>
__device__ int64_t ChosenOf(Want want, const PackedOf<T>* sorted, const Fields<PackedOf<T>>& fields, int64_t size,
                            int64_t k) {
  switch (want) {
    case Want::kFirst:
      return 0;
    case Want::kKth:
      return k - 1;
    case Want::kMode:
      return ModeOf<T>(sorted, fields, size);
    default:
      break;
  }
  const int64_t numbers = kIsFloating<T> ? FirstNotBelow(sorted, fields, size, kNaNKey<T>) : size;
  if (numbers == 0 || (numbers < size && want == Want::kMedian)) return numbers;
  return (numbers - 1) / 2;
}

template <typename T>
struct Operands {
  const T* x;
  T* values;
  int64_t* places;
  uint64_t flip;  // inverts the order
  Fields<PackedOf<T>> fields;
  Want want;
  int64_t count, k;  // results of a line, and which one
};

/// Short lines, a block for each.
template <typename T>
__global__ void ShortLinesKernel(const Operands<T> to, const __grid_constant__ LineMap map) {
  using P = PackedOf<T>;
  alignas(16) __shared__ P shared[kTile<P>];
  cuda::FillShared(shared);
  const int size = static_cast<int>(map.size), power = PowerOfTwo(map.size);
  for (int64_t line = blockIdx.x; line < map.lines; line += gridDim.x) {
    int64_t x, value, place;
    map.Line(line, &x, &value, &place);
    for (int i = threadIdx.x; i < power; i += blockDim.x) {
      shared[i] = i < size ? to.fields.Pack(OrderedKey(to.x[x + i * map.x_step]) ^ to.flip, i, 0) : ByPacked<P>::Last();
    }
    SortShared(shared, power, ByPacked<P>{});
    const int64_t from = ChosenOf<T>(to.want, shared, to.fields, size, to.k);
    for (int64_t i = threadIdx.x; i < to.count; i += blockDim.x) {
      const int64_t at = to.fields.Place(shared[from + i]);
      if (to.places) to.places[place + i * map.place_step] = at;
      if (to.values) to.values[value + i * map.value_step] = to.x[x + at * map.x_step];
    }
    __syncthreads();
  }
}

template <typename T>
__global__ void PackKernel(PackedOf<T>* packed, const Operands<T> to, const __grid_constant__ LineMap map) {
  for (int64_t line = blockIdx.y; line < map.lines; line += gridDim.y) {
    int64_t x, value, place;
    map.Line(line, &x, &value, &place);
    for (int64_t i = cuda::FirstOfThread(); i < map.size; i += cuda::StepOfThreads()) {
      packed[line * map.size + i] = to.fields.Pack(OrderedKey(to.x[x + i * map.x_step]) ^ to.flip, i, line);
    }
  }
}

/// The first results of every sorted line. Most keys tell the value, which need not be looked up where it was.
template <typename T>
__global__ void StoreKernel(const Operands<T> to, const PackedOf<T>* sorted, const __grid_constant__ LineMap map) {
  for (int64_t line = blockIdx.y; line < map.lines; line += gridDim.y) {
    int64_t x, value, place;
    map.Line(line, &x, &value, &place);
    for (int64_t i = cuda::FirstOfThread(); i < to.count; i += cuda::StepOfThreads()) {
      const PackedOf<T> packed = sorted[line * map.size + i];
      const int64_t from = to.fields.Place(packed);
      if (to.places) to.places[place + i * map.place_step] = from;
      if (!to.values) continue;
      const uint64_t key = to.fields.Key(packed) ^ to.flip;
      to.values[value + i * map.value_step] = TellsValue<T>(key) ? ValueOfKey<T>(key) : to.x[x + from * map.x_step];
    }
  }
}

/// The one wanted result of every sorted line, a block for each.
template <typename T>
__global__ void ChooseKernel(const Operands<T> to, const PackedOf<T>* sorted, const __grid_constant__ LineMap map) {
  for (int64_t line = blockIdx.x; line < map.lines; line += gridDim.x) {
    const PackedOf<T>* const own = sorted + line * map.size;
    const int64_t chosen = ChosenOf<T>(to.want, own, to.fields, map.size, to.k);
    if (threadIdx.x > 0) continue;
    int64_t x, value, place;
    map.Line(line, &x, &value, &place);
    const int64_t from = to.fields.Place(own[chosen]);
    if (to.places) to.places[place] = from;
    if (to.values) to.values[value] = to.x[x + from * map.x_step];
  }
}

template <typename T>
void OrderLines(Context& ctx, const char* op, View values, View indices, View x, int axis, bool invert, Want want,
                int64_t count, int64_t k) {
  using P = PackedOf<T>;
  if (x.numel == 0 || count == 0) return;
  const LineMap map(values, indices, x, axis);
  CheckLine(op, map.size);
  const Operands<T> to{x.as<const T>(),
                       values ? values.as<T>() : nullptr,
                       indices ? indices.as<int64_t>() : nullptr,
                       invert ? kNaNKey<T> : 0,
                       {map.lines, map.size, 8 * static_cast<int>(sizeof(T))},
                       want,
                       count,
                       k};
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(map.lines, int64_t{1} << 30));
  if (map.size <= kTile<P>) {
    const int threads = std::clamp(PowerOfTwo(map.size) / 2, cuda::kWarpThreads, kSortThreads);
    cuda::Launch(op, ctx, &ShortLinesKernel<T>, {dim3(blocks), dim3(static_cast<unsigned>(threads))}, to, map);
    return;
  }
  const Scratch packed = ctx.Allocate<P>(x.numel), spare = ctx.Allocate<P>(x.numel);
  cuda::Launch(op, ctx, &PackKernel<T>, map.GridFor(map.size), packed.as<P>(), to, map);
  const P* const sorted = SortPackedLines(ctx, packed.as<P>(), spare.as<P>(), map.lines, map.size, to.fields);
  if (want == Want::kFirst) {
    cuda::Launch(op, ctx, &StoreKernel<T>, map.GridFor(count), to, sorted, map);
  } else {
    cuda::Launch(op, ctx, &ChooseKernel<T>, {dim3(blocks), dim3(kSortThreads)}, to, sorted, map);
  }
}

}  // namespace

template <typename T>
void Sort(Context& ctx, View values, View indices, View x, int axis, bool descending) {
  OrderLines<T>(ctx, "sort", values, indices, x, axis, descending, Want::kFirst, x.ndim ? x.shape[axis] : 1, 0);
}
DRAGON_KERNEL(Sort, RealAndBool);

template <typename T>
void TopK(Context& ctx, View values, View indices, View x, int axis, bool largest) {
  OrderLines<T>(ctx, "topk", values, indices, x, axis, largest, Want::kFirst, values.ndim ? values.shape[axis] : 1, 0);
}
DRAGON_KERNEL(TopK, RealAndBool);

template <typename T>
void KthValue(Context& ctx, View values, View indices, View x, int axis, int64_t k) {
  OrderLines<T>(ctx, "kthvalue", values, indices, x, axis, false, Want::kKth, 1, k);
}
DRAGON_KERNEL(KthValue, RealAndBool);

template <typename T>
void Median(Context& ctx, View values, View indices, View x, int axis, bool ignore_nan) {
  OrderLines<T>(ctx, "median", values, indices, x, axis, false, ignore_nan ? Want::kMedianOfNumbers : Want::kMedian, 1,
                0);
}
DRAGON_KERNEL(Median, RealAndBool);

template <typename T>
void Mode(Context& ctx, View values, View indices, View x, int axis) {
  OrderLines<T>(ctx, "mode", values, indices, x, axis, false, Want::kMode, 1, 0);
}
DRAGON_KERNEL(Mode, RealAndBool);

}  // namespace dragon::DRAGON_DEVICE
