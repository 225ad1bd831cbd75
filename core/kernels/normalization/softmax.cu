// Softmax and its logarithm on CUDA. Rows of up to 32,768 elements are read once; longer ones, and lines along an axis
// that is not the last, twice.
#include "core/kernels/normalization.h"
#include "core/kernels/rows_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

using rows::Exp;
using rows::Log;

/// What becomes of an element once the maximum and `part`, log(sum) or 1 / sum, are known.
template <bool kLog, typename A>
__device__ __forceinline__ A Finished(A value, A max, A part) {
  return kLog ? value - max - part : Exp(value - max) * part;
}

template <typename T, bool kLog, int kWidth, int kItems, bool kByBlock>
__global__ void __launch_bounds__(kByBlock ? 1024 : rows::kWarpBlock)
    SoftmaxHeldRows(T* y, const T* x, int64_t count, int n) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<kByBlock>();
  for (int64_t row = place.row; row < count; row += place.step) {
    rows::Tile<T, kWidth, kItems> tile;
    tile.Load(x + row * n, n, place, -std::numeric_limits<A>::infinity());
    A max = tile.at[0], sum = A(0);
#pragma unroll
    for (int j = 1; j < kItems; ++j) max = rows::MaxOf{}(max, tile.at[j]);
    max = rows::Share<kByBlock>(max, rows::MaxOf{});
    tile.ForEach(n, place, [&](A& value, int, int) {
      const A e = Exp(value - max);
      if constexpr (!kLog) value = e;
      sum += e;
    });
    sum = rows::Share<kByBlock>(sum, rows::SumOf{});
    const A part = kLog ? Log(sum) : A(1) / sum;
    tile.Store(y + row * n, n, place, [&](A value, int, int) { return kLog ? value - max - part : value * part; });
  }
}

template <typename T, bool kLog, int kWidth>
__global__ void __launch_bounds__(rows::kLongBlock) SoftmaxLongRows(T* y, const T* x, int64_t count, int64_t n) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<true>();
  for (int64_t row = place.row; row < count; row += place.step) {
    const auto running = cuda::BlockReduce(rows::RunningOfRow<T, kWidth>(x + row * n, n, place), rows::MeetRunning{});
    const A part = kLog ? Log(running.sum) : A(1) / running.sum;
    rows::MapRow<T, kWidth>(y + row * n, x + row * n, n, place,
                            [&](A value, int64_t) { return Finished<kLog>(value, running.max, part); });
  }
}

template <typename T, bool kLog>
__global__ void SoftmaxColumns(T* y, const T* x, int64_t lines, int64_t n, int64_t inner) {
  using A = Accumulator<T>;
  for (int64_t block = blockIdx.x; block * blockDim.x < lines; block += gridDim.x) {
    const rows::Column column = rows::ColumnOf(block, lines, n, inner);
    rows::Running<A> running;
    if (column.inside) running = rows::RunningOfColumn(x + column.base, n, inner);
    running = rows::ShareColumn(running, rows::MeetRunning{});
    if (!column.inside) continue;
    const A part = kLog ? Log(running.sum) : A(1) / running.sum;
#pragma unroll 4
    for (int64_t c = threadIdx.y; c < n; c += blockDim.y) {
      const int64_t at = column.base + c * inner;
      y[at] = static_cast<T>(Finished<kLog>(static_cast<A>(x[at]), running.max, part));
    }
  }
}

/// A slope's part in the sum that comes off all slopes of its line.
template <bool kLog, typename A>
__device__ __forceinline__ A Term(A slope, A value) {
  return kLog ? slope : slope * value;
}
template <bool kLog, typename A>
__device__ __forceinline__ A Slope(A slope, A value, A sum) {
  return kLog ? slope - Exp(value) * sum : (slope - sum) * value;
}

template <typename T, bool kLog, int kWidth, int kItems, bool kByBlock>
__global__ void __launch_bounds__(kByBlock ? 1024 : rows::kWarpBlock)
    BackwardHeldRows(T* dx, const T* dy, const T* y, int64_t count, int n) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<kByBlock>();
  for (int64_t row = place.row; row < count; row += place.step) {
    rows::Tile<T, kWidth, kItems> slope, value;
    slope.Load(dy + row * n, n, place, 0);
    value.Load(y + row * n, n, place, 0);
    A sum = A(0);
#pragma unroll
    for (int j = 0; j < kItems; ++j) sum += Term<kLog>(slope.at[j], value.at[j]);
    sum = rows::Share<kByBlock>(sum, rows::SumOf{});
    slope.Store(dx + row * n, n, place, [&](A s, int, int j) { return Slope<kLog>(s, value.at[j], sum); });
  }
}

template <typename T, bool kLog, int kWidth>
__global__ void __launch_bounds__(rows::kLongBlock)
    BackwardLongRows(T* dx, const T* dy, const T* y, int64_t count, int64_t n) {
  using A = Accumulator<T>;
  const rows::Place place = rows::PlaceOf<true>();
  const int64_t step = static_cast<int64_t>(place.threads) * rows::Chunk<T, kWidth>::kPacks * kWidth;
  for (int64_t row = place.row; row < count; row += place.step) {
    A sum = A(0);
    for (int64_t first = 0; first < n; first += step) {
      rows::Chunk<T, kWidth> slope, value;
      slope.Load(dy + row * n + first, n - first, place, 0);
      value.Load(y + row * n + first, n - first, place, 0);
      slope.ForEach(n - first, place, [&](A s, int, int j) { sum += Term<kLog>(s, value.at[j]); });
    }
    sum = cuda::BlockReduce(sum, rows::SumOf{});
    for (int64_t first = 0; first < n; first += step) {
      rows::Chunk<T, kWidth> slope, value;
      slope.Load(dy + row * n + first, n - first, place, 0);
      value.Load(y + row * n + first, n - first, place, 0);
      slope.Store(dx + row * n + first, n - first, place,
                  [&](A s, int, int j) { return Slope<kLog>(s, value.at[j], sum); });
    }
  }
}

template <typename T, bool kLog>
__global__ void BackwardColumns(T* dx, const T* dy, const T* y, int64_t lines, int64_t n, int64_t inner) {
  using A = Accumulator<T>;
  for (int64_t block = blockIdx.x; block * blockDim.x < lines; block += gridDim.x) {
    const rows::Column column = rows::ColumnOf(block, lines, n, inner);
    A sum = A(0);
    if (column.inside) {
#pragma unroll 4
      for (int64_t c = threadIdx.y; c < n; c += blockDim.y) {
        const int64_t at = column.base + c * inner;
        sum += Term<kLog>(static_cast<A>(dy[at]), static_cast<A>(y[at]));
      }
    }
    sum = rows::ShareColumn(sum, rows::SumOf{});
    if (!column.inside) continue;
#pragma unroll 4
    for (int64_t c = threadIdx.y; c < n; c += blockDim.y) {
      const int64_t at = column.base + c * inner;
      dx[at] = static_cast<T>(Slope<kLog>(static_cast<A>(dy[at]), static_cast<A>(y[at]), sum));
    }
  }
}

template <typename T, bool kLog>
void Forward(Context& ctx, View y, View x, int axis) {
  if (x.numel == 0) return;
  const rows::Around size(x.shape, x.ndim, axis);
  const int64_t n = size.n, count = size.lines();
  T* out = y.as<T>();
  const T* in = x.as<const T>();
  if (size.inner > 1) {
    cuda::Launch("softmax", ctx, &SoftmaxColumns<T, kLog>, rows::ColumnGrid(count, n), out, in, count, n, size.inner);
    return;
  }
  const bool wide = rows::TakesWide<T>(n, out, in);
  const auto held = [&]<int kWidth, int kItems, bool kByBlock>(const cuda::Grid& grid) {
    cuda::Launch("softmax", ctx, &SoftmaxHeldRows<T, kLog, kWidth, kItems, kByBlock>, grid, out, in, count, n);
  };
  if (rows::WithHeldRows<T, sizeof(T) == 8 ? 16 : 32>(count, n, wide, held)) return;
  const cuda::Grid grid{dim3(rows::BlocksFor(count, 1)), dim3(rows::kLongBlock)};
  cuda::Launch("softmax", ctx, wide ? &SoftmaxLongRows<T, kLog, rows::kWide<T>> : &SoftmaxLongRows<T, kLog, 1>, grid,
               out, in, count, n);
}

template <typename T, bool kLog>
void Backward(Context& ctx, View dx, View dy, View y, int axis) {
  if (y.numel == 0) return;
  const rows::Around size(y.shape, y.ndim, axis);
  const int64_t n = size.n, count = size.lines();
  T* out = dx.as<T>();
  const T *slope = dy.as<const T>(), *value = y.as<const T>();
  if (size.inner > 1) {
    cuda::Launch("softmax_backward", ctx, &BackwardColumns<T, kLog>, rows::ColumnGrid(count, n), out, slope, value,
                 count, n, size.inner);
    return;
  }
  const bool wide = rows::TakesWide<T>(n, out, slope, value);
  const auto held = [&]<int kWidth, int kItems, bool kByBlock>(const cuda::Grid& grid) {
    cuda::Launch("softmax_backward", ctx, &BackwardHeldRows<T, kLog, kWidth, kItems, kByBlock>, grid, out, slope, value,
                 count, n);
  };
  if (rows::WithHeldRows<T, 16>(count, n, wide, held)) return;
  const cuda::Grid grid{dim3(rows::BlocksFor(count, 1)), dim3(rows::kLongBlock)};
  cuda::Launch("softmax_backward", ctx,
               wide ? &BackwardLongRows<T, kLog, rows::kWide<T>> : &BackwardLongRows<T, kLog, 1>, grid, out, slope,
               value, count, n);
}

const bool entered[] = {
    kernels::Enter(kernels::Softmax, Floating{}, []<typename T>(TypeTag<T>) { return &Forward<T, false>; }),
    kernels::Enter(kernels::LogSoftmax, Floating{}, []<typename T>(TypeTag<T>) { return &Forward<T, true>; }),
    kernels::Enter(kernels::SoftmaxBackward, Floating{}, []<typename T>(TypeTag<T>) { return &Backward<T, false>; }),
    kernels::Enter(kernels::LogSoftmaxBackward, Floating{}, []<typename T>(TypeTag<T>) { return &Backward<T, true>; }),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
