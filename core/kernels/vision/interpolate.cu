// Resizing. Where a result is made of few elements, one launch makes it of all axes at once: what is read and written
// is x and y once each, and a thread uses its weights for the same place of many images. Where it is made of many, axis
// follows axis. Gradients are resized by the transposed matrices: each is gathered, in the same order in every run.
#include <limits>

#include "core/device/cuda/block.h"
#include "core/device/cuda/divide.h"
#include "core/kernels/vision/resize_tables.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();

// --- all axes at once

template <typename W>
struct Resizing {
  AxisTable<W> axes[3];
  cuda::Divider<uint32_t> channels, out1, out2;
  uint32_t steps[3];  ///< of the input's axes
  int64_t planes, in, out;

  Resizing(const ImageSizes& sizes)
      : channels(sizes.channels), out1(sizes.out[1]), out2(sizes.out[2]), planes(sizes.planes) {
    steps[2] = static_cast<uint32_t>(sizes.channels);
    steps[1] = static_cast<uint32_t>(steps[2] * sizes.in[2]);
    steps[0] = static_cast<uint32_t>(steps[1] * sizes.in[1]);
    in = sizes.in[0] * sizes.in[1] * sizes.in[2] * sizes.channels;
    out = sizes.out[0] * sizes.out[1] * sizes.out[2] * sizes.channels;
  }
};

/// The elements of one result along an axis, at most so many.
template <typename W, int kMost>
struct Near {
  int count = 1;
  uint32_t offset[kMost];
  W weight[kMost];

  __device__ __forceinline__ Near(const AxisTable<W>& table, uint32_t i, uint32_t step) {
    offset[0] = i * step, weight[0] = W(1);
    if (!table.begin) return;
    const int32_t begin = table.begin[i];
    count = table.begin[i + 1] - begin;
#pragma unroll
    for (int k = 0; k < kMost; ++k) {
      if (k < count)
        offset[k] = static_cast<uint32_t>(table.index[begin + k]) * step, weight[k] = table.weight[begin + k];
    }
  }
};

/// As many elements as there are, which stay in the table.
template <typename W>
struct Near<W, 0> {
  int count = 1;
  const int32_t* index = nullptr;
  const W* weights = nullptr;
  uint32_t own, step;

  __device__ __forceinline__ Near(const AxisTable<W>& table, uint32_t i, uint32_t the_step) : own(i), step(the_step) {
    if (!table.begin) return;
    const int32_t begin = table.begin[i];
    count = table.begin[i + 1] - begin, index = table.index + begin, weights = table.weight + begin;
  }
  __device__ __forceinline__ uint32_t Offset(int k) const {
    return (index ? static_cast<uint32_t>(index[k]) : own) * step;
  }
  __device__ __forceinline__ W Weight(int k) const { return index ? weights[k] : W(1); }
};

template <typename T, typename W, int kMost>
__device__ __forceinline__ W SumOf(const T* __restrict__ x, const Near<W, kMost>& deep, const Near<W, kMost>& down,
                                   const Near<W, kMost>& across) {
  W sum = 0;
  if constexpr (kMost > 0) {
#pragma unroll
    for (int a = 0; a < kMost; ++a) {
      if (a >= deep.count) continue;
#pragma unroll
      for (int b = 0; b < kMost; ++b) {
        if (b >= down.count) continue;
        W line = 0;
#pragma unroll
        for (int c = 0; c < kMost; ++c) {
          if (c >= across.count) continue;
          line += across.weight[c] * static_cast<W>(x[deep.offset[a] + down.offset[b] + across.offset[c]]);
        }
        sum += deep.weight[a] * down.weight[b] * line;
      }
    }
  } else {
    for (int a = 0; a < deep.count; ++a) {
      for (int b = 0; b < down.count; ++b) {
        const T* from = x + deep.Offset(a) + down.Offset(b);
        W line = 0;
        for (int c = 0; c < across.count; ++c) line += across.Weight(c) * static_cast<W>(from[across.Offset(c)]);
        sum += deep.Weight(a) * down.Weight(b) * line;
      }
    }
  }
  return sum;
}

/// Every result is one element (kMost = 1), of at most two along each axis (2), or of any number (0).
template <typename T, typename W, int kMost>
__global__ void ResizeKernel(T* __restrict__ y, const T* __restrict__ x, const __grid_constant__ Resizing<W> sizes) {
  const auto all = static_cast<uint32_t>(sizes.out), step = static_cast<uint32_t>(cuda::StepOfThreads());
  for (uint32_t at = static_cast<uint32_t>(cuda::FirstOfThread()); at < all; at += step) {
    const uint32_t pixel = sizes.channels.Divide(at), channel = at - pixel * sizes.channels.divisor;
    const uint32_t line = sizes.out2.Divide(pixel), column = pixel - line * sizes.out2.divisor;
    const uint32_t slice = sizes.out1.Divide(line), row = line - slice * sizes.out1.divisor;
    const Near<W, kMost> deep(sizes.axes[0], slice, sizes.steps[0]), down(sizes.axes[1], row, sizes.steps[1]);
    const Near<W, kMost> across(sizes.axes[2], column, sizes.steps[2]);
#pragma unroll 4
    for (int64_t plane = blockIdx.y; plane < sizes.planes; plane += gridDim.y) {
      const T* from = x + plane * sizes.in + channel;
      if constexpr (kMost == 1) {
        y[plane * sizes.out + at] = from[deep.offset[0] + down.offset[0] + across.offset[0]];
      } else {
        y[plane * sizes.out + at] = EndSum<T>(SumOf<T, W, kMost>(from, deep, down, across));
      }
    }
  }
}

// --- one axis

/// One axis, seen as (outer, rows, inner) of the result.
template <typename W, typename Index>
struct AxisWalk {
  AxisTable<W> table;
  cuda::Divider<Index> rows, inner;
  Index numel;
  int64_t in;  ///< elements of the input's axis
  int bits;
};

/// The end of a sum of whole numbers, within the range of bytes.
__device__ __forceinline__ uint8_t EndWhole(int32_t sum, int bits) {
  const int32_t half = bits > 0 ? 1 << (bits - 1) : 0, whole = (sum + half) >> bits;
  return static_cast<uint8_t>(min(max(whole, 0), 255));
}

template <typename Out, typename In, typename W, typename Index>
__global__ void AxisKernel(Out* __restrict__ y, const In* __restrict__ x,
                           const __grid_constant__ AxisWalk<W, Index> walk) {
  const Index step = static_cast<Index>(cuda::StepOfThreads());
  for (Index i = static_cast<Index>(cuda::FirstOfThread()); i < walk.numel; i += step) {
    const Index line = walk.inner.Divide(i), at = i - line * walk.inner.divisor;
    const Index outer = walk.rows.Divide(line), row = line - outer * walk.rows.divisor;
    const int64_t inner = walk.inner.divisor;
    const In* from = x + static_cast<int64_t>(outer) * walk.in * inner + at;
    W sum = 0;
    for (int32_t k = walk.table.begin[row]; k < walk.table.begin[row + 1]; ++k) {
      sum += walk.table.weight[k] * static_cast<W>(from[walk.table.index[k] * inner]);
    }
    if constexpr (std::is_same_v<W, int32_t>) {
      y[i] = EndWhole(sum, walk.bits);
    } else {
      y[i] = EndSum<Out>(sum);
    }
  }
}

// --- the host's side

template <typename T, typename W>
class DeviceResizer {
 public:
  using Middle = std::conditional_t<std::is_same_v<T, uint8_t>, uint8_t, W>;

  DeviceResizer(const Context& ctx, const View& y, const View& x, const ResampleSpec& spec, bool backward)
      : ctx_(ctx), sizes_(y, x), copies_(CopiesOnly(spec.mode) && !backward) {
    for (int i = 0; i < 3; ++i) {
      if (sizes_.Resizes(i, spec)) tables_[i] = ResizeTable<W>::Of(ctx, spec, sizes_, i, backward);
    }
  }

  void Run(T* y, const T* x) const {
    const Resizing<W> all(sizes_);
    if (!tables_[0] && !tables_[1] && !tables_[2]) {
      CheckCuda(cudaMemcpyAsync(y, x, all.out * all.planes * sizeof(T), cudaMemcpyDeviceToDevice, cuda::StreamOf(ctx_)),
                "interpolate");
      return;
    }
    if (all.in > kMost32 || all.out > kMost32 || !AtOnce()) return RunAxes(y, x);
    if (copies_) return RunAll<1>(all, y, x);
    // Bytes are weighed at once only where they are copied.
    if constexpr (!std::is_same_v<T, uint8_t>) MostOfAxis() <= 2 ? RunAll<2>(all, y, x) : RunAll<0>(all, y, x);
  }

 private:
  int64_t MostOfAxis() const {
    int64_t most = 1;
    for (const auto& table : tables_) most = std::max(most, table ? table->most() : 1);
    return most;
  }
  bool AtOnce() const {
    constexpr int64_t kFew = 32;
    if (copies_) return true;
    if (std::is_same_v<T, uint8_t>) return false;
    int64_t elements = 1, axes = 0;
    for (const auto& table : tables_) {
      if (table) elements *= std::max<int64_t>(table->most(), 1), ++axes;
    }
    return MostOfAxis() <= 2 || (axes > 1 && elements <= kFew);
  }
  template <int kMost>
  void RunAll(Resizing<W> all, T* y, const T* x) const {
    constexpr int64_t kEnough = 132 * 2048, kFewPlanes = 4;
    for (int i = 0; i < 3; ++i) {
      if (tables_[i]) all.axes[i] = tables_[i]->get();
    }
    const int64_t warps = (all.out + cuda::kWarpThreads - 1) / cuda::kWarpThreads;
    auto grid = cuda::GridFor(all.out, static_cast<int>(std::min<int64_t>(warps * cuda::kWarpThreads, cuda::kThreads)));
    // Planes are shared among rows of blocks until the device is full, and no block has less than a few of many.
    const int64_t most =
        std::max<int64_t>((all.planes + kFewPlanes - 1) / kFewPlanes, std::min<int64_t>(all.planes, 16));
    const int64_t wanted = std::max<int64_t>(8 * kEnough / all.out, 1);
    grid.blocks.y = static_cast<unsigned>(std::min({most, wanted, cuda::kMostBlocks}));
    cuda::Launch("interpolate", ctx_, &ResizeKernel<T, W, kMost>, grid, y, x, all);
  }

  /// In which order axes are resized: bytes, that are rounded in between, from the last to the first; others so that
  /// what is between them is small.
  std::vector<int> Order() const {
    std::vector<int> order;
    for (int i = 2; i >= 0; --i) {
      if (tables_[i]) order.push_back(i);
    }
    if (std::is_same_v<T, uint8_t>) return order;
    const auto growth = [&](int i) { return static_cast<double>(sizes_.out[i]) / static_cast<double>(sizes_.in[i]); };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return growth(a) < growth(b); });
    return order;
  }
  void RunAxes(T* y, const T* x) const {
    const auto order = Order();
    int64_t sizes[3] = {sizes_.in[0], sizes_.in[1], sizes_.in[2]};
    std::vector<Scratch> between;
    const Middle* from = nullptr;
    for (size_t n = 0; n < order.size(); ++n) {
      const int i = order[n];
      const bool first = n == 0, last = n + 1 == order.size();
      int64_t outer = sizes_.planes, inner = sizes_.channels;
      for (int j = 0; j < i; ++j) outer *= sizes[j];
      for (int j = i + 1; j < 3; ++j) inner *= sizes[j];
      sizes[i] = sizes_.out[i];
      if (first && last) return RunAxis(i, outer, inner, y, x);
      if (last) return RunAxis(i, outer, inner, y, from);
      between.push_back(ctx_.Allocate<Middle>(outer * sizes_.out[i] * inner));
      Middle* const to = between.back().template as<Middle>();
      first ? RunAxis(i, outer, inner, to, x) : RunAxis(i, outer, inner, to, from);
      from = to;
    }
  }
  template <typename Out, typename In>
  void RunAxis(int i, int64_t outer, int64_t inner, Out* y, const In* x) const {
    const int64_t numel = outer * sizes_.out[i] * inner;
    if (numel <= kMost32) return LaunchAxis<uint32_t>(i, numel, inner, y, x);
    LaunchAxis<int64_t>(i, numel, inner, y, x);
  }
  template <typename Index, typename Out, typename In>
  void LaunchAxis(int i, int64_t numel, int64_t inner, Out* y, const In* x) const {
    AxisWalk<W, Index> walk;
    walk.table = tables_[i]->get(), walk.bits = tables_[i]->bits();
    walk.rows = cuda::Divider<Index>(sizes_.out[i]), walk.inner = cuda::Divider<Index>(inner);
    walk.numel = static_cast<Index>(numel), walk.in = sizes_.in[i];
    cuda::Launch("interpolate", ctx_, &AxisKernel<Out, In, W, Index>, cuda::GridFor(numel), y, x, walk);
  }

  const Context& ctx_;
  ImageSizes sizes_;
  bool copies_;
  std::shared_ptr<const ResizeTable<W>> tables_[3];
};

template <typename T>
void Resample(Context& ctx, View y, View x, const ResampleSpec& spec, bool backward) {
  if (y.numel == 0) return;
  if (x.numel == 0) {
    CheckCuda(cudaMemsetAsync(y.data, 0, y.numel * sizeof(T), cuda::StreamOf(ctx)), "interpolate");
    return;
  }
  if constexpr (std::is_same_v<T, uint8_t>) {
    if (WeighsBytes(spec.mode)) return DeviceResizer<T, int32_t>(ctx, y, x, spec, backward).Run(y.as<T>(), x.as<T>());
  }
  DeviceResizer<T, Summed<T>>(ctx, y, x, spec, backward).Run(y.as<T>(), x.as<T>());
}

}  // namespace

template <typename T>
void Interpolate(Context& ctx, View y, View x, const ResampleSpec& spec) {
  Resample<T>(ctx, y, x, spec, /*backward=*/false);
}
using ResampleTypes = TypeList<uint8_t, float16, bfloat16, float, double>;
DRAGON_KERNEL(Interpolate, DRAGON_DEVICE::ResampleTypes);

template <typename T>
void InterpolateBackward(Context& ctx, View dx, View dy, const ResampleSpec& spec) {
  Resample<T>(ctx, dx, dy, spec, /*backward=*/true);
}
DRAGON_KERNEL(InterpolateBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
