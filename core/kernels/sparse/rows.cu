// Matrices in compressed rows by dense ones on CUDA. A thread sums one column of one row, in the order of its numbers;
// where columns are few, a warp shares a row, and its lanes meet in one order.
#include "core/kernels/sparse/rows_cuda.h"

namespace dragon::DRAGON_DEVICE {
namespace {

constexpr int64_t kFewColumns = 8;

template <typename T>
struct SumColumn {
  CompressedRows matrix;
  const T *values, *dense;
  T* y;
  int64_t width;
  __device__ void operator()(int64_t i) const {
    using W = Wide<T>;
    const int64_t row = i / width, column = i - row * width;
    int64_t begin, end;
    matrix.Row(row, &begin, &end);
    W sum = W(0);
    for (int64_t k = begin; k < end; ++k) {
      const int64_t place = matrix.places[k];
      if (matrix.Has(place)) sum += static_cast<W>(values[k]) * static_cast<W>(dense[place * width + column]);
    }
    y[i] = static_cast<T>(sum);
  }
};

template <typename T>
__global__ void SumRowKernel(const __grid_constant__ SumColumn<T> sum) {
  using W = Wide<T>;
  const CompressedRows& matrix = sum.matrix;
  const int lane = threadIdx.x % cuda::kWarpThreads;
  const int64_t step = cuda::StepOfThreads() / cuda::kWarpThreads;
  for (int64_t i = cuda::FirstOfThread() / cuda::kWarpThreads; i < matrix.rows * sum.width; i += step) {
    const int64_t row = i / sum.width, column = i - row * sum.width;
    int64_t begin, end;
    matrix.Row(row, &begin, &end);
    W mine = W(0);
    for (int64_t k = begin + lane; k < end; k += cuda::kWarpThreads) {
      const int64_t place = matrix.places[k];
      if (!matrix.Has(place)) continue;
      mine += static_cast<W>(sum.values[k]) * static_cast<W>(sum.dense[place * sum.width + column]);
    }
    mine = cuda::WarpReduce(mine, [](W a, W b) { return static_cast<W>(a + b); });
    if (lane == 0) sum.y[i] = static_cast<T>(mine);
  }
}

/// A warp for every number.
template <typename T>
__global__ void DotKernel(const __grid_constant__ CompressedRows matrix, const T* a, const T* b, T* y, int64_t width) {
  using W = Wide<T>;
  const int lane = threadIdx.x % cuda::kWarpThreads;
  const int64_t step = cuda::StepOfThreads() / cuda::kWarpThreads;
  for (int64_t k = cuda::FirstOfThread() / cuda::kWarpThreads; k < matrix.count; k += step) {
    const int64_t place = matrix.places[k];
    W mine = W(0);
    if (matrix.Has(place) && matrix.rows > 0) {
      const T *left = a + matrix.RowOf(k) * width, *right = b + place * width;
      for (int64_t j = lane; j < width; j += cuda::kWarpThreads) {
        mine += static_cast<W>(left[j]) * static_cast<W>(right[j]);
      }
    }
    mine = cuda::WarpReduce(mine, [](W p, W q) { return static_cast<W>(p + q); });
    if (lane == 0) y[k] = static_cast<T>(mine);
  }
}

/// Places as keys: what leads nowhere comes last.
struct PlaceKey {
  CompressedRows matrix;
  uint32_t* keys;
  __device__ void operator()(int64_t k) const {
    keys[k] = static_cast<uint32_t>(matrix.Has(matrix.places[k]) ? matrix.places[k] : matrix.size);
  }
};

struct TurnPlace {
  CompressedRows matrix;
  const uint32_t* order;
  int64_t *places, *from;
  __device__ void operator()(int64_t i) const {
    from[i] = order[i];
    places[i] = matrix.rows > 0 ? matrix.RowOf(order[i]) : 0;
  }
};

/// Where a column's numbers start: before the first key that is no less.
struct FindStart {
  const uint32_t* keys;
  int64_t count;
  int64_t* starts;
  __device__ void operator()(int64_t column) const {
    int64_t low = 0, high = count;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (keys[middle] < column) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    starts[column] = low;
  }
};

}  // namespace

template <typename T>
void RowsMatmul(Context& ctx, View y, View starts, View places, View values, View dense) {
  const CompressedRows matrix(ctx, "rows_matmul", starts, places, dense.shape[0]);
  CheckRows(ctx, "rows_matmul", matrix);
  const int64_t width = dense.shape[1];
  if (matrix.rows * width == 0) return;
  const SumColumn<T> sum{matrix, values.as<const T>(), dense.as<const T>(), y.as<T>(), width};
  if (width > kFewColumns || matrix.count <= 4 * matrix.rows) {
    return LaunchOver("rows_matmul", ctx, matrix.rows * width, sum);
  }
  cuda::Launch("rows_matmul", ctx, &SumRowKernel<T>, cuda::GridFor(matrix.rows * width * cuda::kWarpThreads), sum);
}
DRAGON_KERNEL(RowsMatmul, Numeric);

template <typename T>
void RowsDots(Context& ctx, View y, View starts, View places, View a, View b) {
  const CompressedRows matrix(ctx, "rows_dots", starts, places, b.shape[0]);
  CheckRows(ctx, "rows_dots", matrix);
  if (matrix.count == 0) return;
  cuda::Launch("rows_dots", ctx, &DotKernel<T>, cuda::GridFor(matrix.count * cuda::kWarpThreads), matrix,
               a.as<const T>(), b.as<const T>(), y.as<T>(), b.shape[1]);
}
DRAGON_KERNEL(RowsDots, Numeric);

template <typename T>
void TurnRows(Context& ctx, View turned_starts, View turned_places, View order, View starts, View places) {
  const int64_t columns = turned_starts.numel - 1, count = places.numel;
  const CompressedRows matrix(ctx, "turn_rows", starts, places, columns);
  CheckRows(ctx, "turn_rows", matrix);
  if (columns >= std::numeric_limits<uint32_t>::max() || count >= std::numeric_limits<uint32_t>::max()) {
    throw NotImplementedError("turn_rows")
        .Got(count, " numbers, ", columns, " columns")
        .Expected("fewer than 2**32 on cuda");
  }
  if (count == 0) {
    CheckCuda(cudaMemsetAsync(turned_starts.data, 0, turned_starts.numel * sizeof(int64_t), cuda::StreamOf(ctx)),
              "turn_rows");
    return;
  }
  const Scratch keys = ctx.Allocate<uint32_t>(count);
  LaunchOver("turn_rows", ctx, count, PlaceKey{matrix, keys.as<uint32_t>()});
  const Order sorted(ctx, keys.as<uint32_t>(), count, static_cast<uint32_t>(columns));
  LaunchOver("turn_rows", ctx, count,
             TurnPlace{matrix, sorted.order, turned_places.as<int64_t>(), order.as<int64_t>()});
  LaunchOver("turn_rows", ctx, columns + 1, FindStart{sorted.keys, count, turned_starts.as<int64_t>()});
}
using Places = TypeList<int64_t>;
DRAGON_KERNEL(TurnRows, DRAGON_DEVICE::Places);

}  // namespace dragon::DRAGON_DEVICE
