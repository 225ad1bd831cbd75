// Each on CUDA: one grid-stride kernel over the same plan, a thread per element, conversions done in registers.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/kernels/cast.h"
#include "core/kernels/plan.h"

namespace dragon::DRAGON_DEVICE {

inline constexpr int kLaunchDims = 12;
inline constexpr int kLaunchThreads = 256;
inline constexpr int64_t kLaunchBlocks = 4096;

/// What of a Plan fits among a launch's arguments.
template <int kCount>
struct LaunchPlan {
  int64_t numel;
  int32_t ndim;
  int64_t shape[kLaunchDims];
  int64_t strides[kCount][kLaunchDims];
  char* data[kCount];
  DType dtypes[kCount];

  explicit LaunchPlan(const kernels::Plan& plan) : numel(plan.numel), ndim(plan.ndim) {
    if (ndim > kLaunchDims) {
      throw NotImplementedError("pointwise on cuda")
          .Got(ndim, " axes that do not merge")
          .Expected("at most ", kLaunchDims);
    }
    std::copy_n(plan.shape, ndim, shape);
    for (int k = 0; k < kCount; ++k) {
      std::copy_n(plan.operands[k].strides, ndim, strides[k]);
      data[k] = plan.operands[k].data;
      dtypes[k] = plan.operands[k].dtype;
    }
  }
};

/// Call `f(T*)` with the address as a pointer to its own type.
template <typename F>
__device__ void WithType(DType dtype, char* address, F&& f) {
  switch (dtype) {
    case DType::kBool:
      return f(reinterpret_cast<bool*>(address));
    case DType::kUInt8:
      return f(reinterpret_cast<uint8_t*>(address));
    case DType::kInt8:
      return f(reinterpret_cast<int8_t*>(address));
    case DType::kInt16:
      return f(reinterpret_cast<int16_t*>(address));
    case DType::kInt32:
      return f(reinterpret_cast<int32_t*>(address));
    case DType::kInt64:
      return f(reinterpret_cast<int64_t*>(address));
    case DType::kFloat16:
      return f(reinterpret_cast<float16*>(address));
    case DType::kBFloat16:
      return f(reinterpret_cast<bfloat16*>(address));
    case DType::kFloat32:
      return f(reinterpret_cast<float*>(address));
    case DType::kFloat64:
      return f(reinterpret_cast<double*>(address));
    case DType::kComplex64:
      return f(reinterpret_cast<complex64*>(address));
    case DType::kComplex128:
      return f(reinterpret_cast<complex128*>(address));
    case DType::kUInt16:
      return f(reinterpret_cast<uint16_t*>(address));
    case DType::kUInt32:
      return f(reinterpret_cast<uint32_t*>(address));
    case DType::kUInt64:
      return f(reinterpret_cast<uint64_t*>(address));
    case DType::kFloat8E4M3FN:
      return f(reinterpret_cast<float8_e4m3fn*>(address));
    case DType::kFloat8E5M2:
      return f(reinterpret_cast<float8_e5m2*>(address));
    case DType::kFloat8E4M3FNUZ:
      return f(reinterpret_cast<float8_e4m3fnuz*>(address));
    case DType::kFloat8E5M2FNUZ:
      return f(reinterpret_cast<float8_e5m2fnuz*>(address));
    case DType::kComplex32:
      return f(reinterpret_cast<complex32*>(address));
  }
}

template <typename T>
__device__ T LoadAs(DType dtype, char* address) {
  if (dtype == kDTypeOf<T>) return *reinterpret_cast<T*>(address);
  T value{};
  WithType(dtype, address, [&](auto* typed) { value = Cast<T>(*typed); });
  return value;
}

template <typename T>
__device__ void StoreAs(DType dtype, char* address, T value) {
  if (dtype == kDTypeOf<T>) {
    *reinterpret_cast<T*>(address) = value;
    return;
  }
  WithType(dtype, address, [&](auto* typed) { *typed = Cast<std::remove_pointer_t<decltype(typed)>>(value); });
}

template <typename R, typename... A, typename F, size_t... kIndex>
__device__ void RunElement(const F& f, const LaunchPlan<1 + sizeof...(A)>& plan, int64_t i,
                           std::index_sequence<kIndex...>) {
  int64_t offsets[1 + sizeof...(A)] = {};
  for (int axis = plan.ndim - 1; axis >= 0; --axis) {
    const int64_t outer = i / plan.shape[axis], index = i - outer * plan.shape[axis];
    for (int k = 0; k < 1 + static_cast<int>(sizeof...(A)); ++k) offsets[k] += index * plan.strides[k][axis];
    i = outer;
  }
  const R value = f(LoadAs<A>(plan.dtypes[1 + kIndex], plan.data[1 + kIndex] + offsets[1 + kIndex])...);
  StoreAs<R>(plan.dtypes[0], plan.data[0] + offsets[0], value);
}

template <typename F, typename R, typename... A>
__global__ void EachKernel(const F f, const LaunchPlan<1 + sizeof...(A)> plan) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < plan.numel; i += step) {
    RunElement<R, A...>(f, plan, i, std::index_sequence_for<A...>{});
  }
}

template <typename Signature>
struct LaunchOf;

/// Takes the signature apart: nvcc 13 emits a stub that does not compile when a kernel's argument is a function type.
template <typename R, typename... A>
struct LaunchOf<R(A...)> {
  template <typename F, typename... Views>
  static void Run(const Context& ctx, const F& f, const View& y, const Views&... x) {
    static_assert(sizeof...(A) == sizeof...(Views));
    if (y.numel == 0) return;
    const View* const views[] = {&y, &x...};
    const LaunchPlan<1 + sizeof...(A)> plan(kernels::Plan(views, 1 + sizeof...(A)));
    const auto blocks = std::min<int64_t>((y.numel + kLaunchThreads - 1) / kLaunchThreads, kLaunchBlocks);
    EachKernel<F, R, A...>
        <<<static_cast<unsigned>(blocks), kLaunchThreads, 0, static_cast<cudaStream_t>(ctx.stream)>>>(f, plan);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
      throw RuntimeError("pointwise on cuda").Says(cudaGetErrorString(error));
    }
  }
};

template <typename F>
__global__ void ForEachKernel(const F f, int64_t n) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) f(i);
}

template <typename F>
void LaunchForEach(const Context& ctx, int64_t n, const F& f) {
  if (n == 0) return;
  const auto blocks = std::min<int64_t>((n + kLaunchThreads - 1) / kLaunchThreads, kLaunchBlocks);
  ForEachKernel<<<static_cast<unsigned>(blocks), kLaunchThreads, 0, static_cast<cudaStream_t>(ctx.stream)>>>(f, n);
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    throw RuntimeError("for each on cuda").Says(cudaGetErrorString(error));
  }
}

}  // namespace dragon::DRAGON_DEVICE
