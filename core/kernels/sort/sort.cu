// Ordering along an axis on CUDA: sort, topk, kthvalue, median and mode, all on packed keys. A line that fits in shared
// memory is packed, sorted and stored by one block; longer ones go by way of the sorter.
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
__device__ int64_t FirstNotBelow(const P* sorted, int64_t size, uint64_t key) {
  int64_t low = 0, high = size;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (Key(sorted[middle]) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The last place of the longest run of equal keys. A NaN is a run by itself.
template <typename T>
__device__ int64_t ModeOf(const PackedOf<T>* sorted, int64_t size) {
  Run best{0, 0};
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    const uint64_t key = Key(sorted[i]);
    if (kIsFloating<T> && key == kNaNKey<T>) {
      best = LongerRun{}(best, Run{1, i});
    } else if (i + 1 == size || Key(sorted[i + 1]) != key) {
      best = LongerRun{}(best, Run{i + 1 - FirstNotBelow(sorted, i + 1, key), i});
    }
  }
  return cuda::BlockReduce(best, LongerRun{}).last;
}

/// Which element of a sorted line is wanted; for all threads of the block.
template <typename T>
__device__ int64_t ChosenOf(Want want, const PackedOf<T>* sorted, int64_t size, int64_t k) {
  switch (want) {
    case Want::kFirst:
      return 0;
    case Want::kKth:
      return k - 1;
    case Want::kMode:
      return ModeOf<T>(sorted, size);
    default:
      break;
  }
  const int64_t numbers = kIsFloating<T> ? FirstNotBelow(sorted, size, kNaNKey<T>) : size;
  if (numbers == 0 || (numbers < size && want == Want::kMedian)) return numbers;
  return (numbers - 1) / 2;
}

template <typename T>
__device__ __forceinline__ PackedOf<T> PackedAt(T value, int64_t i, uint64_t flip) {
  using P = PackedOf<T>;
  return (static_cast<P>(OrderedKey(value) ^ flip) << kPlaceBits<P>) | static_cast<P>(i);
}

template <typename T>
struct Operands {
  const T* x;
  T* values;
  int64_t* places;
  uint64_t flip;  // inverts the order
  Want want;
  int64_t count, k;  // results of a line, and which one
};

/// Short lines, a block for each.
template <typename T>
__global__ void ShortLinesKernel(const Operands<T> to, const __grid_constant__ LineMap map) {
  using P = PackedOf<T>;
  alignas(16) __shared__ P shared[kTile<P>];
  const int size = static_cast<int>(map.size), power = PowerOfTwo(map.size);
  for (int64_t line = blockIdx.x; line < map.lines; line += gridDim.x) {
    int64_t x, value, place;
    map.Line(line, &x, &value, &place);
    for (int i = threadIdx.x; i < power; i += blockDim.x) {
      shared[i] = i < size ? PackedAt(to.x[x + i * map.x_step], i, to.flip) : ByPacked<P>::Last();
    }
    SortShared(shared, power, ByPacked<P>{});
    const int64_t from = ChosenOf<T>(to.want, shared, size, to.k);
    for (int64_t i = threadIdx.x; i < to.count; i += blockDim.x) {
      const int64_t at = Place(shared[from + i]);
      if (to.places) to.places[place + i * map.place_step] = at;
      if (to.values) to.values[value + i * map.value_step] = to.x[x + at * map.x_step];
    }
    __syncthreads();
  }
}

template <typename T>
__global__ void PackKernel(PackedOf<T>* packed, const T* data, uint64_t flip, const __grid_constant__ LineMap map) {
  for (int64_t at = cuda::FirstOfThread(); at < map.lines * map.size; at += cuda::StepOfThreads()) {
    const int64_t line = at / map.size, i = at % map.size;
    int64_t x, value, place;
    map.Line(line, &x, &value, &place);
    packed[at] = PackedAt(data[x + i * map.x_step], i, flip);
  }
}

/// The first results of every sorted line.
template <typename T>
__global__ void StoreKernel(const Operands<T> to, const PackedOf<T>* sorted, const __grid_constant__ LineMap map) {
  for (int64_t at = cuda::FirstOfThread(); at < map.lines * to.count; at += cuda::StepOfThreads()) {
    const int64_t line = at / to.count, i = at % to.count;
    int64_t x, value, place;
    map.Line(line, &x, &value, &place);
    const int64_t from = Place(sorted[line * map.size + i]);
    if (to.places) to.places[place + i * map.place_step] = from;
    if (to.values) to.values[value + i * map.value_step] = to.x[x + from * map.x_step];
  }
}

/// The one wanted result of every sorted line, a block for each.
template <typename T>
__global__ void ChooseKernel(const Operands<T> to, const PackedOf<T>* sorted, const __grid_constant__ LineMap map) {
  for (int64_t line = blockIdx.x; line < map.lines; line += gridDim.x) {
    const PackedOf<T>* const own = sorted + line * map.size;
    const int64_t chosen = ChosenOf<T>(to.want, own, map.size, to.k);
    if (threadIdx.x > 0) continue;
    int64_t x, value, place;
    map.Line(line, &x, &value, &place);
    const int64_t from = Place(own[chosen]);
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
  cuda::Launch(op, ctx, &PackKernel<T>, cuda::GridFor(x.numel), packed.as<P>(), to.x, to.flip, map);
  const P* const sorted = SortLines(ctx, packed.as<P>(), spare.as<P>(), map.lines, map.size, ByPacked<P>{});
  if (want == Want::kFirst) {
    cuda::Launch(op, ctx, &StoreKernel<T>, cuda::GridFor(map.lines * count), to, sorted, map);
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
