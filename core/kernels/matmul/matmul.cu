// Matrix products on CUDA. NVIDIA's library has the first word; what it lacks (integers, bools) or cannot take is done
// here in tiles. A matrix times a vector is bound by memory, and done here by rows that are read sixteen bytes at a
// time.
#include <algorithm>
#include <utility>

#include "core/device/cuda/block.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/matmul/batch_cuda.h"
#include "core/kernels/matmul/strand_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kThreads = 256;

// --- tiles

constexpr int kTile = 64, kDepth = 16, kSide = 16, kEach = kTile / kSide;

/// What of a Product the tiles' kernel reads. `along_k`: neighbours in memory are neighbours along k.
template <typename T>
struct TileJob {
  int64_t m, n, k, batch_count, columns;  // tiles per row of tiles
  T* y;
  const T *a, *b;
  Steps y_steps, a_steps, b_steps;
  bool a_along_k, b_along_k;
  BatchAxes batch;
  Epilogue<T> epilogue;
};

/// Bring `kTile` lines of `kDepth` elements into shared memory, neighbours of the source by neighbouring threads.
template <typename T>
__device__ __forceinline__ void LoadTile(const T* from, int64_t line_step, int64_t k_step, int64_t lines, int64_t depth,
                                         bool along_k, SumOf<T> (*to)[kTile + 1]) {
#pragma unroll
  for (int j = 0; j < kTile * kDepth / kThreads; ++j) {
    const int e = static_cast<int>(threadIdx.x) + j * kThreads;
    const int p = along_k ? e % kDepth : e / kTile, line = along_k ? e / kDepth : e % kTile;
    const bool inside = line < lines && p < depth;
    to[p][line] = inside ? WidenForSum(from[line * line_step + p * k_step]) : SumOf<T>(0);
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads) TileKernel(const __grid_constant__ TileJob<T> job) {
  using Sum = SumOf<T>;
  alignas(16) __shared__ Sum left[kDepth][kTile + 1], right[kDepth][kTile + 1];
  cuda::FillShared(left);
  cuda::FillShared(right);
  const int64_t tile_row = blockIdx.x / job.columns * kTile, tile_col = blockIdx.x % job.columns * kTile;
  const int x = threadIdx.x % kSide, y = threadIdx.x / kSide;
  for (int64_t i = blockIdx.y; i < job.batch_count; i += gridDim.y) {
    int64_t y_offset, a_offset, b_offset;
    job.batch.Offsets(i, &y_offset, &a_offset, &b_offset);
    const T* a = job.a + a_offset + tile_row * job.a_steps.row;
    const T* b = job.b + b_offset + tile_col * job.b_steps.col;
    Sum sums[kEach][kEach];
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
#pragma unroll
      for (int c = 0; c < kEach; ++c) sums[r][c] = Sum(0);
    }
    for (int64_t p = 0; p < job.k; p += kDepth) {
      LoadTile(a + p * job.a_steps.col, job.a_steps.row, job.a_steps.col, job.m - tile_row, job.k - p, job.a_along_k,
               left);
      LoadTile(b + p * job.b_steps.row, job.b_steps.col, job.b_steps.row, job.n - tile_col, job.k - p, job.b_along_k,
               right);
      __syncthreads();
#pragma unroll
      for (int q = 0; q < kDepth; ++q) {
        Sum column[kEach], row[kEach];
#pragma unroll
        for (int r = 0; r < kEach; ++r) column[r] = left[q][y + r * kSide];
#pragma unroll
        for (int c = 0; c < kEach; ++c) row[c] = right[q][x + c * kSide];
#pragma unroll
        for (int r = 0; r < kEach; ++r) {
#pragma unroll
          for (int c = 0; c < kEach; ++c) sums[r][c] = sums[r][c] + column[r] * row[c];
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < kEach; ++r) {
      const int64_t row = tile_row + y + r * kSide;
#pragma unroll
      for (int c = 0; c < kEach; ++c) {
        const int64_t col = tile_col + x + c * kSide;
        if (row >= job.m || col >= job.n) continue;
        T& out = job.y[y_offset + row * job.y_steps.row + col * job.y_steps.col];
        out = job.epilogue(sums[r][c], out, col);
      }
    }
  }
}

template <typename T>
void Tiles(const Context& ctx, const Product& product, const Epilogue<T>& epilogue) {
  const int64_t rows = (product.m + kTile - 1) / kTile, columns = (product.n + kTile - 1) / kTile;
  const int64_t batch = product.batch.numel();
  TileJob<T> job{product.m,
                 product.n,
                 product.k,
                 batch,
                 columns,
                 static_cast<T*>(product.y),
                 static_cast<const T*>(product.a),
                 static_cast<const T*>(product.b),
                 product.y_steps,
                 product.a_steps,
                 product.b_steps,
                 product.a_steps.col == 1,
                 product.b_steps.row == 1,
                 product.batch,
                 epilogue};
  const dim3 blocks(static_cast<unsigned>(rows * columns), static_cast<unsigned>(std::min(batch, cuda::kMostBlocks)));
  cuda::Launch("matmul", ctx, &TileKernel<T>, cuda::Grid{blocks, dim3(kThreads)}, job);
}

// --- a matrix times a vector

/// y[i] is the product of row i of `matrix`, whose elements lie side by side, and the vector. Offsets of the batch:
/// y's, the matrix's (as `a`) and the vector's (as `b`).
template <typename T>
struct VectorJob {
  int64_t rows, k, outputs;
  T* y;
  const T *matrix, *vector;
  int64_t y_step, matrix_step, vector_step;
  bool packed, bias_along_rows;
  int team;  // threads that share a row: a power of two up to 32, or all of the block
  BatchAxes batch;
  Epilogue<T> epilogue;
};

template <typename T>
__global__ void __launch_bounds__(kThreads) VectorKernel(const __grid_constant__ VectorJob<T> job) {
  const int teams = kThreads / job.team, member = threadIdx.x % job.team;
  const int64_t step = static_cast<int64_t>(gridDim.x) * teams;
  for (int64_t base = static_cast<int64_t>(blockIdx.x) * teams; base < job.outputs; base += step) {
    const int64_t output = base + threadIdx.x / job.team;
    const bool inside = output < job.outputs;
    const int64_t place = inside ? output / job.rows : 0, row = inside ? output - place * job.rows : 0;
    int64_t y, a, b;
    job.batch.Offsets(place, &y, &a, &b);
    const Lines<T> lines{job.matrix + a + row * job.matrix_step, job.vector + b, 1, job.vector_step, job.packed, false};
    SumOf<T> sum = Strand(lines, inside ? job.k : 0, member, job.team);
    if (job.team == kThreads) {
      sum = cuda::BlockReduce(sum, Plus{});
    } else {
      for (int distance = job.team / 2; distance > 0; distance /= 2) sum = sum + cuda::FromLaneBelow(sum, distance);
    }
    if (!inside || member != 0) continue;
    T& out = job.y[y + row * job.y_step];
    out = job.epilogue(sum, out, job.bias_along_rows ? row : 0);
  }
}

template <typename T>
bool IsAligned(const void* data, int64_t step) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0 && step * static_cast<int64_t>(sizeof(T)) % 16 == 0;
}

/// Whether all lines begin at multiples of 16 bytes and lie without gaps.
template <typename T>
bool AllPacked(const VectorJob<T>& job) {
  if (job.vector_step != 1 || !IsAligned<T>(job.matrix, job.matrix_step) || !IsAligned<T>(job.vector, 0)) return false;
  for (int axis = 0; axis < job.batch.count; ++axis) {
    if (!IsAligned<T>(nullptr, job.batch.a[axis]) || !IsAligned<T>(nullptr, job.batch.b[axis])) return false;
  }
  return true;
}

/// True if the product was one of a matrix, contiguous along k, and a vector.
template <typename T>
bool TimesVector(const Context& ctx, const Product& p, const Epilogue<T>& epilogue) {
  const bool right = p.n == 1 && p.a_steps.col == 1, left = !right && p.m == 1 && p.b_steps.row == 1;
  if ((!right && !left) || p.k < 8) return false;
  VectorJob<T> job{};
  job.k = p.k;
  job.y = static_cast<T*>(p.y);
  job.rows = right ? p.m : p.n;
  job.matrix = static_cast<const T*>(right ? p.a : p.b);
  job.vector = static_cast<const T*>(right ? p.b : p.a);
  job.y_step = right ? p.y_steps.row : p.y_steps.col;
  job.matrix_step = right ? p.a_steps.row : p.b_steps.col;
  job.vector_step = right ? p.b_steps.row : p.a_steps.col;
  job.bias_along_rows = left;
  job.batch = p.batch;
  job.epilogue = epilogue;
  if (left) {
    for (int axis = 0; axis < job.batch.count; ++axis) std::swap(job.batch.a[axis], job.batch.b[axis]);
  }
  job.outputs = job.rows * p.batch.numel();
  if (job.rows == 1) job.matrix_step = 0;
  job.packed = AllPacked(job);
  // A thread is worth some sixteen bytes of a row; a block is, where rows are few and long.
  const int64_t worth = p.k * static_cast<int64_t>(sizeof(T)) / 16;
  job.team = 4;
  while (job.team < cuda::kWarpThreads && job.team < worth) job.team *= 2;
  if (worth >= 2 * kThreads && job.outputs < 16384) job.team = kThreads;
  const int64_t blocks = (job.outputs * job.team + kThreads - 1) / kThreads;
  cuda::Launch("matmul", ctx, &VectorKernel<T>,
               cuda::Grid{dim3(static_cast<unsigned>(std::min<int64_t>(blocks, 1 << 20))), dim3(kThreads)}, job);
  return true;
}

// --- who does it

/// Fold a batch of rows that share b into one tall product: a[i] and y[i] follow each other at one row stride.
bool FoldBatch(const View& y, const View& a, const View& b, int64_t* rows) {
  *rows = y.dim(-2);
  for (int axis = y.ndim - 3; axis >= 0; --axis) {
    if (y.shape[axis] == 1) continue;
    if (b.strides[axis] != 0 || a.strides[axis] != *rows * a.stride(-2) || y.strides[axis] != *rows * y.stride(-2)) {
      return false;
    }
    *rows *= y.shape[axis];
  }
  return true;
}

/// The strides of x's last two axes. One along an axis of one element is free to choose: 1 lets more shapes qualify for
/// the quick paths.
Steps StepsOf(const View& x, int64_t rows) {
  return {rows == 1 && x.stride(-1) != 1 ? 1 : x.stride(-2), x.dim(-1) == 1 && x.stride(-2) != 1 ? 1 : x.stride(-1)};
}

template <typename T>
void Multiply(const Context& ctx, const Product& product, const View& bias, const MatmulPost& post) {
  const Epilogue<T> epilogue(bias, post);
  if (TimesVector<T>(ctx, product, epilogue)) return;
  if constexpr (!std::is_integral_v<T>) {
    if (product.k > 0 && AsksVendor() && MatmulVendor(ctx, product, bias, post)) return;
  }
  Tiles<T>(ctx, product, epilogue);
}

}  // namespace

template <typename T>
void Matmul(Context& ctx, View y, View a, View b, View bias, const MatmulPost& post) {
  if (y.numel == 0) return;
  Product p{y.dtype, y.dim(-2), y.dim(-1), a.dim(-1), y.data, a.data, b.data, {}, {}, {}, {}};
  int64_t rows = p.m;
  const bool folded = y.ndim > 2 && FoldBatch(y, a, b, &rows);
  if (folded) p.m = rows;
  p.y_steps = StepsOf(y, p.m), p.a_steps = StepsOf(a, p.m), p.b_steps = StepsOf(b, p.k);
  int axis = folded ? -1 : y.ndim - 3, first = 0;
  // From the innermost axis outwards would merge as well, but offsets are wanted outermost first: find where what fits
  // begins, and walk what lies outside of it.
  for (; axis >= 0; ++first) {
    p.batch = {};
    bool fits = true;
    for (int i = first; fits && i <= axis; ++i)
      fits = p.batch.Add(y.shape[i], y.strides[i], a.strides[i], b.strides[i]);
    if (fits) break;
  }
  int64_t outer = 1;
  for (int i = 0; i < first; ++i) outer *= y.shape[i];
  for (int64_t i = 0; i < outer; ++i) {
    int64_t rest = i, y_offset = 0, a_offset = 0, b_offset = 0;
    for (int j = first - 1; j >= 0; --j) {
      const int64_t index = rest % y.shape[j];
      y_offset += index * y.strides[j], a_offset += index * a.strides[j], b_offset += index * b.strides[j];
      rest /= y.shape[j];
    }
    p.y = y.as<T>() + y_offset, p.a = a.as<T>() + a_offset, p.b = b.as<T>() + b_offset;
    Multiply<T>(ctx, p, bias, post);
  }
}

DRAGON_KERNEL(Matmul, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
