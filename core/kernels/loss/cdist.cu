// Distances between all rows of two matrices on CUDA: tiles of 16 x 16 pairs, whose rows pass through shared memory.
#include "core/kernels/loss.h"
#include "core/kernels/rows_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

inline constexpr int kTile = 16, kDepth = 32;

enum class Order { kZero, kOne, kTwo, kInfinity, kAny };

inline Order OrderOf(double p) {
  if (std::isinf(p)) return Order::kInfinity;
  return p == 0 ? Order::kZero : p == 1 ? Order::kOne : p == 2 ? Order::kTwo : Order::kAny;
}

__device__ __forceinline__ float Power(float x, float p) { return powf(x, p); }
__device__ __forceinline__ double Power(double x, double p) { return pow(x, p); }

template <typename A>
__device__ __forceinline__ A Absolute(A x) {
  return x < A(0) ? -x : x;
}

template <typename A>
__device__ __forceinline__ A AddGap(A sum, A gap, Order order, A p) {
  switch (order) {
    case Order::kZero:
      return sum + (gap != A(0) ? A(1) : A(0));
    case Order::kOne:
      return sum + gap;
    case Order::kTwo:
      return sum + gap * gap;
    case Order::kInfinity:
      return rows::MaxOf{}(sum, gap);
    default:
      return sum + Power(gap, p);
  }
}

template <typename T>
__global__ void Distances(T* y, const T* x1, const T* x2, int64_t batch, int64_t n, int64_t m, int64_t size,
                          Order order, Accumulator<T> p) {
  using A = Accumulator<T>;
  alignas(16) __shared__ A left[kTile][kDepth + 1], right[kTile][kDepth + 1];
  cuda::FillShared(left);
  cuda::FillShared(right);
  const int64_t across = (m + kTile - 1) / kTile, down = (n + kTile - 1) / kTile;
  const int thread = threadIdx.y * kTile + threadIdx.x;
  for (int64_t block = blockIdx.x; block < batch * down * across; block += gridDim.x) {
    const int64_t b = block / across / down, first = block / across % down * kTile, other = block % across * kTile;
    A sum = A(0);
    for (int64_t depth = 0; depth < size; depth += kDepth) {
      __syncthreads();  // what was staged before has been read
      for (int i = thread; i < kTile * kDepth; i += kTile * kTile) {
        const int r = i / kDepth, d = i % kDepth;
        const bool in_row = depth + d < size;
        left[r][d] = in_row && first + r < n ? static_cast<A>(x1[(b * n + first + r) * size + depth + d]) : A(0);
        right[r][d] = in_row && other + r < m ? static_cast<A>(x2[(b * m + other + r) * size + depth + d]) : A(0);
      }
      __syncthreads();
      const int count = static_cast<int>(min(size - depth, int64_t{kDepth}));
      for (int d = 0; d < count; ++d) {
        sum = AddGap(sum, Absolute(left[threadIdx.y][d] - right[threadIdx.x][d]), order, p);
      }
    }
    if (first + threadIdx.y >= n || other + threadIdx.x >= m) continue;
    if (order == Order::kTwo) sum = rows::Root(sum);
    if (order == Order::kAny && size > 0) sum = Power(sum, A(1) / p);
    y[(b * n + first + threadIdx.y) * m + other + threadIdx.x] = static_cast<T>(sum);
  }
}

/// A thread adds up the gradient of one number of x1 over all rows of x2.
template <typename T>
__global__ void DistanceSlopes(T* dx1, const T* dy, const T* x1, const T* x2, const T* y, int64_t batch, int64_t n,
                               int64_t m, int64_t size, Order order, Accumulator<T> p) {
  using A = Accumulator<T>;
  const int64_t count = batch * n * size;
  for (int64_t i = cuda::FirstOfThread(); i < count; i += cuda::StepOfThreads()) {
    const int64_t row = i / size, column = i % size;
    const T* other = x2 + row / n * m * size + column;
    const A value = static_cast<A>(x1[i]);
    A sum = A(0);
    for (int64_t j = 0; j < m && order != Order::kZero; ++j) {
      const A distance = static_cast<A>(y[row * m + j]), slope = static_cast<A>(dy[row * m + j]);
      if (distance == A(0) && order != Order::kOne) continue;  // at distance 0 there is no direction
      const A d = value - static_cast<A>(other[j * size]), gap = Absolute(d);
      const A sign = d > A(0) ? A(1) : d < A(0) ? A(-1) : A(0);
      if (order == Order::kOne) {
        sum += slope * sign;
      } else if (order == Order::kTwo) {
        sum += slope / distance * d;
      } else if (order == Order::kInfinity) {
        sum += gap == distance ? slope * sign : A(0);
      } else if (gap != A(0)) {
        sum += slope * sign * Power(gap / distance, p - A(1));
      }
    }
    dx1[i] = static_cast<T>(sum);
  }
}

}  // namespace

template <typename T>
void Cdist(Context& ctx, View y, View x1, View x2, double p) {
  if (y.numel == 0) return;
  const int64_t batch = x1.shape[0], n = x1.shape[1], m = x2.shape[1];
  const int64_t blocks = batch * ((n + kTile - 1) / kTile) * ((m + kTile - 1) / kTile);
  cuda::Launch("cdist", ctx, &Distances<T>, {dim3(rows::BlocksFor(blocks, 1)), dim3(kTile, kTile)}, y.as<T>(),
               x1.as<const T>(), x2.as<const T>(), batch, n, m, x1.shape[2], OrderOf(p), p);
}
DRAGON_KERNEL(Cdist, Floating);

template <typename T>
void CdistBackward(Context& ctx, View dx1, View dy, View x1, View x2, View y, double p) {
  if (dx1.numel == 0) return;
  cuda::Launch("cdist_backward", ctx, &DistanceSlopes<T>, cuda::GridFor(dx1.numel), dx1.as<T>(), dy.as<const T>(),
               x1.as<const T>(), x2.as<const T>(), y.as<const T>(), x1.shape[0], x1.shape[1], x2.shape[1], x1.shape[2],
               OrderOf(p), p);
}
DRAGON_KERNEL(CdistBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
