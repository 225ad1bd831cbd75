// Determinants from LU factors on CUDA, and the permutations that pivots stand for. A block has a matrix.
#include <cmath>

#include "core/device/cuda/block.h"
#include "core/kernels/linalg/batch_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kThreads = 128;

struct Times {
  template <typename T>
  __device__ T operator()(T a, T b) const {
    return a * b;
  }
};

cuda::Grid GridOf(int64_t count) { return cuda::GridFor(count * kThreads, kThreads); }

/// -1 for each row that was swapped with another.
template <typename T>
__device__ T SignOf(int32_t pivot, int64_t row) {
  return pivot == row + 1 ? T(1) : T(-1);
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    DetKernel(T* det, const T* lu, const int32_t* pivots, int64_t n, int64_t count) {
  for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    T product = T(1);
    for (int64_t j = threadIdx.x; j < n; j += kThreads) {
      product = product * (lu[(i * n + j) * n + j] * SignOf<T>(pivots[i * n + j], j));
    }
    product = cuda::BlockReduce(product, Times{});
    if (threadIdx.x == 0) det[i] = product;
  }
}

/// A determinant as a phase and the logarithm of its magnitude.
template <typename T>
struct Logarithm {
  T phase;
  RealOf<T> sum;
};
template <typename T>
struct TimesLogarithm {
  __device__ Logarithm<T> operator()(const Logarithm<T>& a, const Logarithm<T>& b) const {
    return {a.phase * b.phase, a.sum + b.sum};
  }
};

template <typename T>
__device__ Logarithm<T> LogarithmOf(T pivot) {
  using Real = RealOf<T>;
  if constexpr (kIsComplex<T>) {
    const Real magnitude = std::hypot(pivot.re, pivot.im);
    return {magnitude == 0 ? T(0) : T(pivot.re / magnitude, pivot.im / magnitude), std::log(magnitude)};
  } else {
    return {pivot != pivot ? pivot : static_cast<T>((pivot > 0) - (pivot < 0)), std::log(std::fabs(pivot))};
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    SlogdetKernel(T* sign, RealOf<T>* logabs, const T* lu, const int32_t* pivots, int64_t n, int64_t count) {
  for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    Logarithm<T> all{T(1), RealOf<T>(0)};
    for (int64_t j = threadIdx.x; j < n; j += kThreads) {
      Logarithm<T> one = LogarithmOf(lu[(i * n + j) * n + j]);
      one.phase = one.phase * SignOf<T>(pivots[i * n + j], j);
      all = TimesLogarithm<T>{}(all, one);
    }
    all = cuda::BlockReduce(all, TimesLogarithm<T>{});
    if (threadIdx.x == 0) sign[i] = all.phase, logabs[i] = all.sum;
  }
}

/// P is zero; `order` has room for n numbers of each matrix. Swaps follow one another: one thread does them.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    PermutationKernel(T* p, int32_t* order, const int32_t* pivots, int64_t n, int64_t k, int64_t count) {
  for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    int32_t* mine = order + i * n;
    for (int64_t j = threadIdx.x; j < n; j += kThreads) mine[j] = static_cast<int32_t>(j);
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int64_t j = 0; j < k && j < n; ++j) {
        const int32_t other = pivots[i * k + j] - 1, row = mine[j];
        mine[j] = mine[other], mine[other] = row;
      }
    }
    __syncthreads();
    for (int64_t j = threadIdx.x; j < n; j += kThreads) p[(i * n + mine[j]) * n + j] = T(1);
  }
}

}  // namespace

template <typename T>
void LinalgLuPermutation(Context& ctx, View p, View pivots, const char*) {
  if (p.numel == 0) return;
  const Batch batch(p);
  Zero(ctx, p.data, p.numel * ItemSize(p.dtype));
  const Scratch order = Bytes(ctx, DType::kInt32, batch.count * batch.rows),
                swaps = Bytes(ctx, DType::kInt32, pivots.numel);
  ClampPivots(ctx, swaps.as<int32_t>(), pivots.as<int32_t>(), pivots.numel, batch.rows);
  cuda::Launch("lu_unpack", ctx, &PermutationKernel<T>, GridOf(batch.count), p.as<T>(), order.as<int32_t>(),
               swaps.as<const int32_t>(), batch.rows, pivots.dim(-1), batch.count);
}
DRAGON_KERNEL(LinalgLuPermutation, LinearTypes);

template <typename T>
void LinalgDet(Context& ctx, View det, View lu, View pivots) {
  if (det.numel == 0) return;
  cuda::Launch("linalg_det", ctx, &DetKernel<T>, GridOf(det.numel), det.as<T>(), lu.as<const T>(),
               pivots.as<const int32_t>(), lu.dim(-1), det.numel);
}
DRAGON_KERNEL(LinalgDet, LinearTypes);

template <typename T>
void LinalgSlogdet(Context& ctx, View sign, View logabs, View lu, View pivots) {
  if (sign.numel == 0) return;
  cuda::Launch("linalg_slogdet", ctx, &SlogdetKernel<T>, GridOf(sign.numel), sign.as<T>(), logabs.as<RealOf<T>>(),
               lu.as<const T>(), pivots.as<const int32_t>(), lu.dim(-1), sign.numel);
}
DRAGON_KERNEL(LinalgSlogdet, LinearTypes);

}  // namespace dragon::DRAGON_DEVICE
