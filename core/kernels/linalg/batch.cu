// Small kernels between the calls of a library: identities, pivots, a look for numbers that are not finite.
#include <cmath>

#include "core/device/cuda/block.h"
#include "core/device/cuda/fetch.h"
#include "core/kernels/linalg/batch_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Real parts and ones in between, as `step` reals to an element.
template <typename Real>
__global__ void IdentityKernel(Real* to, int64_t n, int64_t total, int step) {
  for (int64_t i = cuda::FirstOfThread(); i < total; i += cuda::StepOfThreads()) {
    const int64_t element = i / step % (n * n);
    to[i] = i % step == 0 && element / n == element % n ? Real(1) : Real(0);
  }
}

__global__ void ClampKernel(int32_t* to, const int32_t* from, int64_t count, int32_t n) {
  for (int64_t i = cuda::FirstOfThread(); i < count; i += cuda::StepOfThreads()) {
    to[i] = from[i] < 1 ? 1 : from[i] > n ? n : from[i];
  }
}

struct Either {
  __device__ int operator()(int a, int b) const { return a | b; }
};

/// A block for each matrix of `size` reals.
template <typename Real>
__global__ void __launch_bounds__(cuda::kThreads)
    FiniteKernel(const Real* a, int64_t size, int64_t count, int32_t* info) {
  for (int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    int wild = 0;
    for (int64_t j = threadIdx.x; j < size; j += cuda::kThreads)
      wild |= !(a[i * size + j] - a[i * size + j] == Real(0));
    wild = cuda::BlockReduce(wild, Either{});
    if (threadIdx.x == 0) info[i] = wild ? kNotFiniteCode : 0;
  }
}

bool IsDouble(DType dtype) { return RealDType(dtype) == DType::kFloat64; }

}  // namespace

void FillIdentity(const Context& ctx, DType dtype, void* to, int64_t n, int64_t count) {
  const int step = IsComplex(dtype) ? 2 : 1;
  const int64_t total = count * n * n * step;
  if (total == 0) return;
  if (IsDouble(dtype)) {
    cuda::Launch("linalg", ctx, &IdentityKernel<double>, cuda::GridFor(total), static_cast<double*>(to), n, total,
                 step);
  } else {
    cuda::Launch("linalg", ctx, &IdentityKernel<float>, cuda::GridFor(total), static_cast<float*>(to), n, total, step);
  }
}

void ClampPivots(const Context& ctx, int32_t* to, const int32_t* from, int64_t count, int64_t n) {
  if (count == 0) return;
  cuda::Launch("linalg", ctx, &ClampKernel, cuda::GridFor(count), to, from, count, static_cast<int32_t>(n));
}

void MarkNotFinite(const Context& ctx, DType dtype, const void* a, int64_t size, int64_t count, int32_t* info) {
  if (count == 0) return;
  const int64_t reals = size * (IsComplex(dtype) ? 2 : 1);
  const cuda::Grid grid = cuda::GridFor(count * cuda::kThreads);
  if (IsDouble(dtype)) {
    cuda::Launch("linalg", ctx, &FiniteKernel<double>, grid, static_cast<const double*>(a), reals, count, info);
  } else {
    cuda::Launch("linalg", ctx, &FiniteKernel<float>, grid, static_cast<const float*>(a), reals, count, info);
  }
}

void CheckInfo(const Context& ctx, const char* who, const View& batch, const void* info, int64_t count,
               const char* sentence) {
  if (!who || count == 0) return;
  std::vector<int32_t> codes(static_cast<size_t>(count));
  cuda::Fetch(who, ctx, codes.data(), static_cast<const int32_t*>(info), codes.size());
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] == 0) continue;
    const bool single = batch.ndim <= 2, wild = codes[i] == kNotFiniteCode;
    throw LinAlgError(who).Says(single ? "the matrix" : "matrix ", single ? "" : std::to_string(i),
                                single ? " " : " of the batch ", wild ? "has elements that are not finite" : sentence,
                                " (code ", wild ? 0 : codes[i], ")");
  }
}

}  // namespace dragon::DRAGON_DEVICE
