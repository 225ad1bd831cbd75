// Embedding gradients and embedding bags on CUDA. Gradients bring the indices in order, so that each row of the table
// is summed once, in the order of its indices; bags have a thread for every column, and read whole rows side by side.
#include "core/kernels/index.h"
#include "core/kernels/index/write_cuda.h"

namespace dragon::DRAGON_DEVICE {

using kernels::BagMode;
using kernels::Walk;

namespace {

/// What the indices of a table's rows become: keys, and how often each row is listed (if that is asked for).
struct FindRows {
  const int64_t* index;
  DeviceIndex row;
  int64_t padding, width;
  uint32_t* keys;
  int64_t* sources;
  int32_t* frequency;
  __device__ void operator()(int64_t i) const {
    const int64_t found = row(index[i]);
    if (frequency && found != kNowhere) atomicAdd(&frequency[found], 1);
    keys[i] = static_cast<uint32_t>(found == kNowhere || found == padding ? row.size : found);
    if (sources) sources[i] = i * width;
  }
};

template <typename W>
struct ScaleByFrequency {
  const uint32_t* keys;
  const int32_t* frequency;
  int64_t rows;
  W* scales;
  bool is_first;
  __device__ void operator()(int64_t i) const {
    if (keys[i] >= rows) return;
    const W often = static_cast<W>(frequency[keys[i]]);
    scales[i] = is_first ? W(1) / often : scales[i] / often;
  }
};

/// Walks the columns of contiguous rows, in src and y alike.
struct RowColumns {
  int64_t shape[1], step[1] = {1};
  explicit RowColumns(int64_t width) : shape{width} {}
  Walk<2> walk() const { return Walk<2>(shape, 0, 1, {step, step}); }
};

void ClearFrequencies(const Context& ctx, const Scratch& frequency, int64_t rows) {
  CheckCuda(cudaMemsetAsync(frequency.data(), 0, rows * sizeof(int32_t), cuda::StreamOf(ctx)), "embedding");
}

PlaceKeys RowKeys(const char* who, int64_t rows, int64_t width, int64_t count) {
  const PlaceKeys places{0, width, rows};
  if (!places.Fits(count))
    throw NotImplementedError(who).Got(count, " indices into ", rows, " rows").Expected("fewer than 2**31 on cuda");
  return places;
}

// --- bags

/// The bags' offsets, none of which leads a kernel out of the index.
struct Bags {
  const int64_t *offsets, *index;
  int64_t count, bags;
  DeviceIndex row;  // with a stride of 1
  int64_t padding;

  __device__ bool At(int64_t bag, int64_t* begin, int64_t* end) const {
    *begin = offsets[bag], *end = offsets[bag + 1];
    if (*begin >= 0 && *end >= *begin && *end <= count) return true;
    row.faults.Report(cuda::FaultKind::kOffsets, *begin, count, static_cast<int32_t>(bag));
    return false;
  }
  /// The row of element i, or nowhere for padding.
  __device__ int64_t Row(int64_t i) const {
    const int64_t found = row(index[i]);
    return found == padding ? kNowhere : found;
  }
};

template <typename T>
struct SumBag {
  Bags bags;
  const T *weight, *scale;
  T* y;
  int64_t width;
  bool mean;
  __device__ void operator()(int64_t i) const {
    using W = Wide<T>;
    const int64_t bag = i / width, column = i - bag * width;
    int64_t begin, end, used = 0;
    W total = W(0);
    if (bags.At(bag, &begin, &end)) {
      for (int64_t k = begin; k < end; ++k) {
        const int64_t row = bags.Row(k);
        if (row == kNowhere) continue;
        const W s = scale ? static_cast<W>(scale[k]) : W(1);
        total += s * static_cast<W>(weight[row * width + column]);
        ++used;
      }
    }
    y[i] = static_cast<T>(mean && used > 0 ? total / static_cast<W>(used) : total);
  }
};

template <typename T>
struct MaxBag {
  Bags bags;
  const T* weight;
  T* y;
  int64_t* places;
  int64_t width;
  __device__ void operator()(int64_t i) const {
    const int64_t bag = i / width, column = i - bag * width;
    int64_t begin, end, place = -1;
    T best = T(0);
    if (bags.At(bag, &begin, &end)) {
      for (int64_t k = begin; k < end; ++k) {
        const int64_t row = bags.Row(k);
        if (row == kNowhere) continue;
        const T value = weight[row * width + column];
        if (place < 0 || value > best || (value != value && best == best)) best = value, place = row;
      }
    }
    y[i] = best;
    if (places) places[i] = place;
  }
};

/// How many of each bag's elements are not padding, for means.
struct CountBag {
  Bags bags;
  int64_t* used;
  __device__ void operator()(int64_t bag) const {
    int64_t begin, end, found = 0;
    if (bags.At(bag, &begin, &end)) {
      for (int64_t k = begin; k < end; ++k) found += bags.Row(k) != kNowhere;
    }
    used[bag] = found;
  }
};

/// The bag that an element lies in: the last that begins at it or before.
struct FindBags {
  Bags bags;
  int64_t width;
  uint32_t* keys;
  int64_t* sources;
  __device__ void operator()(int64_t i) const {
    int64_t low = 0, high = bags.bags;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (bags.offsets[middle] <= i) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const bool inside = low > 0 && i < bags.offsets[low];
    if (!inside) keys[i] = static_cast<uint32_t>(bags.row.size);
    sources[i] = inside ? (low - 1) * width : -1;
  }
};

template <typename T>
struct ScaleElements {
  const T* scale;
  const int64_t *sources, *used;
  int64_t width;
  Wide<T>* scales;
  __device__ void operator()(int64_t i) const {
    using W = Wide<T>;
    scales[i] = scale ? static_cast<W>(scale[i]) : W(1);
    if (used && sources[i] >= 0) scales[i] = W(1) / static_cast<W>(used[sources[i] / width]);
  }
};

/// A warp for each element: the product of its row and its bag's gradient.
template <typename T>
__global__ void ScaleGradientKernel(const T* dy, const T* weight, const uint32_t* keys, const int64_t* sources,
                                    int64_t count, int64_t rows, int64_t width, T* dscale) {
  const int lane = threadIdx.x % cuda::kWarpThreads;
  const int64_t step = cuda::StepOfThreads() / cuda::kWarpThreads;
  for (int64_t i = cuda::FirstOfThread() / cuda::kWarpThreads; i < count; i += step) {
    Wide<T> dot = 0;
    if (keys[i] < rows) {
      const T *left = dy + sources[i], *right = weight + keys[i] * width;
      for (int64_t j = lane; j < width; j += cuda::kWarpThreads) {
        dot += static_cast<Wide<T>>(left[j]) * static_cast<Wide<T>>(right[j]);
      }
    }
    dot = cuda::WarpReduce(dot, [](Wide<T> a, Wide<T> b) { return a + b; });
    if (lane == 0) dscale[i] = static_cast<T>(dot);
  }
}

/// A thread for each column of the table: bags add to the rows that their largest elements came from, one by one.
template <typename T>
struct MaxBagGradient {
  const T* dy;
  const int64_t* places;
  DeviceIndex row;
  int64_t bags, width;
  T* dweight;
  __device__ void operator()(int64_t column) const {
    for (int64_t i = column; i < bags * width; i += width) {
      const int64_t found = places[i] < 0 ? kNowhere : row(places[i]);
      if (found == kNowhere) continue;
      T& to = dweight[found * width + column];
      to = static_cast<T>(static_cast<Wide<T>>(to) + static_cast<Wide<T>>(dy[i]));
    }
  }
};

Bags BagsOf(const Context& ctx, const char* who, const View& index, const View& offsets, int64_t rows,
            int64_t padding) {
  return {offsets.as<const int64_t>(),
          index.as<const int64_t>(),
          index.numel,
          offsets.numel - 1,
          DeviceIndex(ctx, {rows, 1, 0, {who}}),
          padding};
}

void Clear(const Context& ctx, const View& y, int64_t item) {
  if (y && y.numel) CheckCuda(cudaMemsetAsync(y.data, 0, y.numel * item, cuda::StreamOf(ctx)), "embedding");
}

}  // namespace

template <typename T>
void EmbeddingBackward(Context& ctx, View dweight, View dy, View index, int64_t padding, bool scale_by_frequency) {
  const int64_t rows = dweight.shape[0], width = dweight.shape[1], count = index.numel;
  Clear(ctx, dweight, sizeof(T));
  if (count == 0) return;
  const PlaceKeys places = RowKeys("embedding", rows, width, count);
  const Scratch keys = ctx.Allocate<uint32_t>(count), sources = ctx.Allocate<int64_t>(count);
  const Scratch frequency = ctx.Allocate<int32_t>(scale_by_frequency ? rows : 0);
  const Scratch scales = ctx.Allocate<Wide<T>>(scale_by_frequency ? count : 0);
  auto* factors = scale_by_frequency ? scales.template as<Wide<T>>() : nullptr;
  if (scale_by_frequency) ClearFrequencies(ctx, frequency, rows);
  LaunchOver(
      "embedding", ctx, count,
      FindRows{index.as<const int64_t>(), DeviceIndex(ctx, {rows, 1, 0, {"embedding"}}), padding, width,
               keys.as<uint32_t>(), sources.as<int64_t>(), scale_by_frequency ? frequency.as<int32_t>() : nullptr});
  if (scale_by_frequency) {
    LaunchOver("embedding", ctx, count,
               ScaleByFrequency<Wide<T>>{keys.as<uint32_t>(), frequency.as<int32_t>(), rows, factors, true});
  }
  const RowColumns columns(width);
  JoinOrdered<T>(ctx, "embedding", dweight.as<T>(), dy.as<const T>(), keys.as<uint32_t>(), sources.as<int64_t>(),
                 factors, count, places, columns.walk(), Combine::kAdd);
}
DRAGON_KERNEL(EmbeddingBackward, Floating);

template <typename T>
void EmbeddingBag(Context& ctx, View y, View places, View weight, View index, View offsets, View scale, BagMode mode,
                  int64_t padding) {
  const int64_t width = y.shape[1];
  const Bags bags = BagsOf(ctx, "embedding_bag", index, offsets, weight.shape[0], padding);
  if (mode == BagMode::kMax) {
    LaunchOver("embedding_bag", ctx, y.numel,
               MaxBag<T>{bags, weight.as<const T>(), y.as<T>(), places ? places.as<int64_t>() : nullptr, width});
    return;
  }
  LaunchOver("embedding_bag", ctx, y.numel,
             SumBag<T>{bags, weight.as<const T>(), scale && mode == BagMode::kSum ? scale.as<const T>() : nullptr,
                       y.as<T>(), width, mode == BagMode::kMean});
}
DRAGON_KERNEL(EmbeddingBag, Floating);

template <typename T>
void EmbeddingBagBackward(Context& ctx, View dweight, View dscale, View dy, View places, View weight, View index,
                          View offsets, View scale, BagMode mode, int64_t padding, bool scale_by_frequency) {
  const char* who = "embedding_bag_backward";
  const int64_t bag_count = dy.shape[0], width = dy.shape[1], rows = weight.shape[0], count = index.numel;
  const Bags bags = BagsOf(ctx, who, index, offsets, rows, padding);
  Clear(ctx, dweight, sizeof(T));
  Clear(ctx, dscale, sizeof(T));
  if (count == 0 || bag_count == 0 || width == 0) return;
  if (mode == BagMode::kMax) {
    if (!dweight) return;
    LaunchOver(
        who, ctx, width,
        MaxBagGradient<T>{dy.as<const T>(), places.as<const int64_t>(), bags.row, bag_count, width, dweight.as<T>()});
    return;
  }
  const PlaceKeys table = RowKeys(who, rows, width, count);
  const Scratch keys = ctx.Allocate<uint32_t>(count), sources = ctx.Allocate<int64_t>(count);
  const Scratch frequency = ctx.Allocate<int32_t>(scale_by_frequency ? rows : 0);
  const Scratch scales = ctx.Allocate<Wide<T>>(count), used = ctx.Allocate<int64_t>(bag_count);
  const bool mean = mode == BagMode::kMean;
  if (scale_by_frequency) ClearFrequencies(ctx, frequency, rows);
  LaunchOver(who, ctx, count,
             FindRows{bags.index, bags.row, padding, width, keys.as<uint32_t>(), nullptr,
                      scale_by_frequency ? frequency.as<int32_t>() : nullptr});
  LaunchOver(who, ctx, bag_count, CountBag{bags, used.as<int64_t>()});
  LaunchOver(who, ctx, count, FindBags{bags, width, keys.as<uint32_t>(), sources.as<int64_t>()});
  LaunchOver(who, ctx, count,
             ScaleElements<T>{scale && !mean ? scale.as<const T>() : nullptr, sources.as<int64_t>(),
                              mean ? used.as<int64_t>() : nullptr, width, scales.template as<Wide<T>>()});
  if (scale_by_frequency) {
    LaunchOver(who, ctx, count,
               ScaleByFrequency<Wide<T>>{keys.as<uint32_t>(), frequency.as<int32_t>(), rows,
                                         scales.template as<Wide<T>>(), false});
  }
  if (dweight) {
    const RowColumns columns(width);
    JoinOrdered<T>(ctx, who, dweight.as<T>(), dy.as<const T>(), keys.as<uint32_t>(), sources.as<int64_t>(),
                   scales.template as<Wide<T>>(), count, table, columns.walk(), Combine::kAdd);
  }
  if (!dscale) return;
  cuda::Launch(who, ctx, &ScaleGradientKernel<T>, cuda::GridFor(count * cuda::kWarpThreads), dy.as<const T>(),
               weight.as<const T>(), keys.as<uint32_t>(), sources.as<int64_t>(), count, rows, width, dscale.as<T>());
}
DRAGON_KERNEL(EmbeddingBagBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
