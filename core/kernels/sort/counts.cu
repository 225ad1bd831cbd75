// Counting on CUDA: bincount, the histograms and the range of indices. Whole numbers are added in any order; weights
// are added bin by bin in the order of the elements, so that sums are the same in every run.
#include <limits>

#include "core/device/cuda/block.h"
#include "core/device/cuda/check.h"
#include "core/device/cuda/fetch.h"
#include "core/kernels/each_cuda.h"
#include "core/kernels/sort.h"
#include "core/kernels/sort/search_cuda.h"
#include "core/kernels/sort/sort_cuda.h"

namespace dragon {

/// What counts are kept in: integers, or the dtype of the weights.
using CountTypes = TypeList<int64_t, float, double>;
using IndexTypes = TypeList<int64_t>;

}  // namespace dragon

namespace dragon::DRAGON_DEVICE {

namespace {

using Counter = unsigned long long;  // what atomicAdd takes
constexpr int kSharedBins = 4096;

/// Numbers of a bin, per element: below 0, or beyond the last, for none.
struct IndexBin {
  const int64_t* x;
  int64_t step;
  /// A number that is no bin is left out: the CPU's kernel refuses it, but here the host does not wait to hear of it.
  __device__ int64_t operator()(int64_t i) const { return x[i * step]; }
};
template <typename T>
struct EdgeBin {
  const T *x, *edges;
  int64_t bins;
  __device__ int64_t operator()(int64_t i) const {
    const T value = x[i];
    if (!(value >= edges[0] && value <= edges[bins])) return -1;
    return min(bins - 1, SearchLine<T>(edges, nullptr, bins + 1, value, true) - 1);
  }
};
template <typename T>
struct EvenBin {
  const T* x;
  double low, high;
  int64_t bins;
  __device__ int64_t operator()(int64_t i) const {
    const double value = static_cast<double>(static_cast<Wide<T>>(x[i]));
    if (!(value >= low && value <= high)) return -1;
    return min(bins - 1, static_cast<int64_t>((value - low) / (high - low) * static_cast<double>(bins)));
  }
};

/// Every block counts in shared memory if all bins fit there.
template <typename Bin>
__global__ void CountKernel(Counter* counts, int64_t bins, int64_t n, const Bin bin) {
  alignas(16) __shared__ unsigned own[kSharedBins];
  cuda::FillShared(own);
  const bool shared = bins <= kSharedBins;
  if (shared) {
    for (int i = threadIdx.x; i < bins; i += blockDim.x) own[i] = 0;
    __syncthreads();
  }
  for (int64_t i = cuda::FirstOfThread(); i < n; i += cuda::StepOfThreads()) {
    const int64_t at = bin(i);
    if (at < 0 || at >= bins) continue;
    if (shared) {
      atomicAdd(&own[at], 1u);
    } else {
      atomicAdd(&counts[at], Counter{1});
    }
  }
  if (!shared) return;
  __syncthreads();
  for (int i = threadIdx.x; i < bins; i += blockDim.x) {
    if (own[i] != 0) atomicAdd(&counts[i], static_cast<Counter>(own[i]));
  }
}

template <typename T>
struct WriteCount {
  T* y;
  const Counter* counts;
  __device__ void operator()(int64_t i) const { y[i] = static_cast<T>(static_cast<Wide<T>>(counts[i])); }
};

template <typename T, typename Bin>
void CountInto(Context& ctx, View y, int64_t n, const Bin& bin) {
  if (y.numel == 0) return;
  const Scratch room = ctx.Allocate<Counter>(y.numel);
  auto* const counts = room.as<Counter>();
  CheckCuda(cudaMemsetAsync(counts, 0, static_cast<size_t>(y.numel) * sizeof(Counter), cuda::StreamOf(ctx)),
            "bincount");
  // Few blocks: each of them adds all of its bins once.
  if (n > 0)
    cuda::Launch("bincount", ctx, &CountKernel<Bin>, cuda::GridFor(n, cuda::kThreads, 1024), counts, y.numel, n, bin);
  LaunchForEach(ctx, y.numel, WriteCount<T>{y.as<T>(), counts});
}

template <typename Bin>
struct WriteBin {
  Packed* packed;
  int64_t bins;
  Bin bin;
  __device__ void operator()(int64_t i) const {
    const int64_t at = bin(i);
    const auto key = static_cast<Packed>(at < 0 || at >= bins ? bins : at);  // what has no bin comes last
    packed[i] = key << kPlaceBits<Packed> | static_cast<Packed>(i);
  }
};

/// Where keys of at least `key` begin.
__device__ inline int64_t BeginOf(const Packed* sorted, int64_t n, uint64_t key) {
  int64_t low = 0, high = n;
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

struct AddDoubles {
  __device__ double operator()(double a, double b) const { return a + b; }
};

/// A warp for each bin.
template <typename T>
__global__ void WeighKernel(T* y, int64_t bins, const Packed* sorted, int64_t n, const T* weights, int64_t step) {
  const int lane = threadIdx.x % cuda::kWarpThreads;
  const int64_t warps = cuda::StepOfThreads() / cuda::kWarpThreads;
  for (int64_t bin = cuda::FirstOfThread() / cuda::kWarpThreads; bin < bins; bin += warps) {
    const int64_t begin = BeginOf(sorted, n, static_cast<uint64_t>(bin));
    const int64_t end = BeginOf(sorted, n, static_cast<uint64_t>(bin) + 1);
    double sum = 0;
    for (int64_t i = begin + lane; i < end; i += cuda::kWarpThreads) {
      sum += static_cast<double>(weights[Place(sorted[i]) * step]);
    }
    sum = cuda::WarpReduce(sum, AddDoubles{});
    if (lane == 0) y[bin] = static_cast<T>(sum);
  }
}

template <typename T, typename Bin>
void WeighInto(Context& ctx, View y, int64_t n, const T* weights, int64_t step, const Bin& bin) {
  if (y.numel == 0) return;
  CheckLine("bincount", n);
  CheckLine("bincount", y.numel);
  const Scratch packed = ctx.Allocate<Packed>(n), spare = ctx.Allocate<Packed>(n);
  LaunchForEach(ctx, n, WriteBin<Bin>{packed.as<Packed>(), y.numel, bin});
  const int end = kPlaceBits<Packed> + BitsToTell(y.numel + 1);
  const Packed* const sorted = SortWords(ctx, packed.as<Packed>(), spare.as<Packed>(), n, kPlaceBits<Packed>, end);
  cuda::Launch("bincount", ctx, &WeighKernel<T>, cuda::GridFor(y.numel * cuda::kWarpThreads), y.as<T>(), y.numel,
               sorted, n, weights, step);
}

struct Range {
  int64_t least, largest;
};
struct Spread {
  __device__ Range operator()(const Range& a, const Range& b) const {
    return {min(a.least, b.least), max(a.largest, b.largest)};
  }
};
struct LineMap {
  int32_t ndim;
  int64_t shape[kMaxDims], strides[kMaxDims];
};

__global__ void RangeKernel(Range* parts, const int64_t* x, int64_t n, const __grid_constant__ LineMap map) {
  Range own{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (int64_t i = cuda::FirstOfThread(); i < n; i += cuda::StepOfThreads()) {
    int64_t rest = i, at = 0;
    for (int axis = map.ndim - 1; axis >= 0; --axis) {
      at += rest % map.shape[axis] * map.strides[axis];
      rest /= map.shape[axis];
    }
    own = Spread{}(own, Range{x[at], x[at]});
  }
  own = cuda::BlockReduce(own, Spread{});
  if (threadIdx.x == 0) parts[blockIdx.x] = own;
}

}  // namespace

template <typename T>
void Bincount(Context& ctx, View y, View x, View weights) {
  const IndexBin bin{x.as<const int64_t>(), x.strides[0]};
  if (!weights) return CountInto<T>(ctx, y, x.numel, bin);
  WeighInto<T>(ctx, y, x.numel, weights.as<const T>(), weights.strides[0], bin);
}
DRAGON_KERNEL(Bincount, CountTypes);

template <typename T>
void Histogram(Context& ctx, View y, View x, View edges, View weights) {
  const EdgeBin<T> bin{x.as<const T>(), edges.as<const T>(), y.numel};
  if (!weights) return CountInto<T>(ctx, y, x.numel, bin);
  WeighInto<T>(ctx, y, x.numel, weights.as<const T>(), 1, bin);
}
DRAGON_KERNEL(Histogram, Singles);

template <typename T>
void Histc(Context& ctx, View y, View x, double low, double high) {
  CountInto<T>(ctx, y, x.numel, EvenBin<T>{x.as<const T>(), low, high, y.numel});
}
DRAGON_KERNEL(Histc, Floating);

template <typename T>
void IndexRange(Context& ctx, int64_t* least, int64_t* largest, View x) {
  *least = 0;
  *largest = -1;
  if (x.numel == 0) return;
  LineMap map{x.ndim, {}, {}};
  for (int axis = 0; axis < x.ndim; ++axis) map.shape[axis] = x.shape[axis], map.strides[axis] = x.strides[axis];
  constexpr int kMostParts = 64;
  Range parts[kMostParts];
  const cuda::Grid grid = cuda::GridFor(x.numel, cuda::kThreads, kMostParts);
  const Scratch room = ctx.Allocate<Range>(kMostParts);
  cuda::Launch("index range", ctx, &RangeKernel, grid, room.as<Range>(), x.as<const int64_t>(), x.numel, map);
  // Both decide a shape: the host has to wait.
  cuda::Fetch("index_range", ctx, parts, room.as<const Range>(), grid.blocks.x);
  *least = parts[0].least, *largest = parts[0].largest;
  for (unsigned i = 1; i < grid.blocks.x; ++i) {
    *least = std::min(*least, parts[i].least), *largest = std::max(*largest, parts[i].largest);
  }
}
DRAGON_KERNEL(IndexRange, IndexTypes);

}  // namespace dragon::DRAGON_DEVICE
