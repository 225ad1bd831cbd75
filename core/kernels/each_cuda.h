// Each on CUDA: one plan as on the CPU, walked in one of two ways. Operands that lie alike in memory are read and
// written sixteen bytes at a time; all others go element by element, with 32-bit indices where the sizes allow.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/device/cuda/divide.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/cast.h"
#include "core/kernels/cost.h"
#include "core/kernels/plan.h"

namespace dragon::DRAGON_DEVICE {

/// The axes that one launch walks; those outside of them are walked by the host, a launch for each of their places.
inline constexpr int kLaunchDims = 10;

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

/// Twenty conversions: a function that is called, lest every kernel have them all for each of its operands.
template <typename T>
__device__ __noinline__ T LoadOther(DType dtype, char* address) {
  T value{};
  WithType(dtype, address, [&](auto* typed) { value = Cast<T>(*typed); });
  return value;
}

template <typename T>
__device__ __noinline__ void StoreOther(DType dtype, char* address, T value) {
  WithType(dtype, address, [&](auto* typed) { *typed = Cast<std::remove_pointer_t<decltype(typed)>>(value); });
}

template <typename T>
__device__ __forceinline__ T LoadAs(DType dtype, char* address) {
  return dtype == kDTypeOf<T> ? *reinterpret_cast<T*>(address) : LoadOther<T>(dtype, address);
}

template <typename T>
__device__ __forceinline__ void StoreAs(DType dtype, char* address, T value) {
  if (dtype == kDTypeOf<T>) {
    *reinterpret_cast<T*>(address) = value;
  } else {
    StoreOther<T>(dtype, address, value);
  }
}

// --- strided

/// What of a Plan fits among a launch's arguments.
template <int kCount, typename Index>
struct LaunchPlan {
  Index numel;
  int32_t ndim;
  cuda::Divider<Index> shape[kLaunchDims];
  Index strides[kCount][kLaunchDims];
  char* data[kCount];
  DType dtypes[kCount];
};

template <typename R, typename... A, typename F, typename Index, size_t... kIndex>
__device__ __forceinline__ void RunElement(const F& f, const LaunchPlan<1 + sizeof...(A), Index>& plan, Index i,
                                           std::index_sequence<kIndex...>) {
  constexpr int kCount = 1 + sizeof...(A);
  Index offsets[kCount] = {};
#pragma unroll 1
  for (int axis = plan.ndim - 1; axis > 0; --axis) {
    const Index outer = plan.shape[axis].Divide(i), index = i - outer * plan.shape[axis].divisor;
#pragma unroll
    for (int k = 0; k < kCount; ++k) offsets[k] += index * plan.strides[k][axis];
    i = outer;
  }
#pragma unroll
  for (int k = 0; k < kCount; ++k) offsets[k] += i * plan.strides[k][0];
  const R value = f(LoadAs<A>(plan.dtypes[1 + kIndex], plan.data[1 + kIndex] + offsets[1 + kIndex])...);
  StoreAs<R>(plan.dtypes[0], plan.data[0] + offsets[0], value);
}

template <typename F, typename Index, typename R, typename... A>
__global__ void EachKernel(const F f, const __grid_constant__ LaunchPlan<1 + sizeof...(A), Index> plan) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < plan.numel; i += step) {
    RunElement<R, A...>(f, plan, i, std::index_sequence_for<A...>{});
  }
}

// --- flat: every operand lies in the order of the output, or is one number

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth) Pack {
  T at[kWidth];
};

/// Elements that a thread takes at once: sixteen bytes of the widest operand, or eight where the functor is long.
template <typename F, typename... Stored>
inline constexpr int kPackWidth =
    std::max<int>(1, (CostOf<F>() > 8 ? 8 : 16) / static_cast<int>(std::max({sizeof(Stored)...})));

template <typename T, typename Stored>
__device__ __forceinline__ T As(const Stored& stored) {
  if constexpr (std::is_same_v<T, Stored>) {
    return stored;
  } else {
    return Cast<T>(stored);
  }
}

template <int kCount>
struct FlatPlan {
  int64_t numel;
  char* data[kCount];
  bool constant[kCount];
};

template <typename Stored, int kWidth>
__device__ __forceinline__ Pack<Stored, kWidth> LoadPack(const char* data, int64_t i, bool constant) {
  if (!constant) return reinterpret_cast<const Pack<Stored, kWidth>*>(data)[i];
  Pack<Stored, kWidth> pack;
  const Stored number = *reinterpret_cast<const Stored*>(data);
#pragma unroll
  for (int j = 0; j < kWidth; ++j) pack.at[j] = number;
  return pack;
}

/// What a functor computes in, and what its operands are stored as, the output first.
template <typename F, typename Computed, typename Stored>
struct FlatOf;

template <typename F, typename R, typename... A, typename StoredR, typename... StoredA>
struct FlatOf<F, R(A...), StoredR(StoredA...)> {
  static constexpr int kCount = 1 + sizeof...(A);
  static constexpr int kWidth = kPackWidth<F, StoredR, StoredA...>;
  static constexpr size_t kSizes[] = {sizeof(StoredR), sizeof(StoredA)...};
  static constexpr DType kDTypes[] = {kDTypeOf<StoredR>, kDTypeOf<StoredA>...};

  static __device__ __forceinline__ void Compute(const F& f, Pack<StoredR, kWidth>* y,
                                                 const Pack<StoredA, kWidth>&... x) {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) y->at[j] = As<StoredR>(static_cast<R>(f(As<A>(x.at[j])...)));
  }
  template <size_t... kIndex>
  static __device__ __forceinline__ void Walk(const F& f, const FlatPlan<kCount>& plan,
                                              std::index_sequence<kIndex...>) {
    const int64_t packs = plan.numel / kWidth, step = cuda::StepOfThreads();
    for (int64_t i = cuda::FirstOfThread(); i < packs; i += step) {
      Pack<StoredR, kWidth> y;
      Compute(f, &y, LoadPack<StoredA, kWidth>(plan.data[1 + kIndex], i, plan.constant[1 + kIndex])...);
      reinterpret_cast<Pack<StoredR, kWidth>*>(plan.data[0])[i] = y;
    }
    const int64_t last = packs * kWidth + cuda::FirstOfThread();
    if (last >= plan.numel) return;
    reinterpret_cast<StoredR*>(plan.data[0])[last] = As<StoredR>(static_cast<R>(
        f(As<A>(reinterpret_cast<const StoredA*>(plan.data[1 + kIndex])[plan.constant[1 + kIndex] ? 0 : last])...)));
  }

  /// Whether a plan's operands lie so, in these types.
  static bool Takes(const kernels::Plan& plan) {
    if (plan.ndim != 1 || plan.operands[0].constant) return false;
    for (int k = 0; k < kCount; ++k) {
      const auto& operand = plan.operands[k];
      if (operand.dtype != kDTypes[k] || !(operand.contiguous || operand.constant)) return false;
      if (!operand.constant && reinterpret_cast<uintptr_t>(operand.data) % (kSizes[k] * kWidth)) return false;
    }
    return true;
  }
};

/// Functions as classes: nvcc 13 emits a stub that does not compile when a kernel's argument is a function type.
template <typename F, typename R, typename Arguments, typename StoredR, typename StoredArguments>
struct FlatFrom;
template <typename F, typename R, typename... A, typename StoredR, typename... StoredA>
struct FlatFrom<F, R, TypeList<A...>, StoredR, TypeList<StoredA...>> {
  using type = FlatOf<F, R(A...), StoredR(StoredA...)>;
};

template <typename F, typename R, typename A, typename StoredR, typename StoredA>
__global__ void FlatKernel(const F f,
                           const __grid_constant__ FlatPlan<FlatFrom<F, R, A, StoredR, StoredA>::type::kCount> plan) {
  using Flat = typename FlatFrom<F, R, A, StoredR, StoredA>::type;
  Flat::Walk(f, plan, std::make_index_sequence<Flat::kCount - 1>{});
}

// --- the launch

template <typename R, typename... A>
class Launcher {
 public:
  static constexpr int kCount = 1 + sizeof...(A);
  static constexpr bool kHasFloat = (std::is_same_v<R, float> || ... || std::is_same_v<A, float>);
  /// Where floats are computed in, shorter ones may be kept.
  template <typename Half, typename T>
  using Short = std::conditional_t<std::is_same_v<T, float>, Half, T>;

  template <typename F, typename... Views>
  static void Run(const Context& ctx, const F& f, const View& y, const Views&... x) {
    static_assert(sizeof...(A) == sizeof...(Views));
    if (y.numel == 0) return;
    const View* const views[] = {&y, &x...};
    for (const View* view : views) cuda::RequireDevice("pointwise", view->data);
    kernels::Plan plan(views, kCount);
    if (RunFlat<R, A...>(ctx, f, plan)) return;
    if constexpr (kHasFloat) {
      if (RunFlat<Short<float16, R>, Short<float16, A>...>(ctx, f, plan)) return;
      if (RunFlat<Short<bfloat16, R>, Short<bfloat16, A>...>(ctx, f, plan)) return;
    }
    RunOuter(ctx, f, plan, 0);
  }

 private:
  template <typename StoredR, typename... StoredA, typename F>
  static bool RunFlat(const Context& ctx, const F& f, const kernels::Plan& plan) {
    using Flat = FlatOf<F, R(A...), StoredR(StoredA...)>;
    if (!Flat::Takes(plan)) return false;
    FlatPlan<kCount> flat{plan.numel, {}, {}};
    for (int k = 0; k < kCount; ++k) {
      flat.data[k] = plan.operands[k].data;
      flat.constant[k] = plan.operands[k].constant;
    }
    cuda::Launch("pointwise", ctx, &FlatKernel<F, R, TypeList<A...>, StoredR, TypeList<StoredA...>>,
                 cuda::GridFor((plan.numel + Flat::kWidth - 1) / Flat::kWidth), f, flat);
    return true;
  }

  /// The outermost axes, while there are more than a launch walks.
  template <typename F>
  static void RunOuter(const Context& ctx, const F& f, kernels::Plan& plan, int axis) {
    if (plan.ndim - axis <= kLaunchDims) {
      return Fits32(plan, axis) ? RunStrided<uint32_t>(ctx, f, plan, axis) : RunStrided<int64_t>(ctx, f, plan, axis);
    }
    for (int64_t i = 0; i < plan.shape[axis]; ++i) {
      RunOuter(ctx, f, plan, axis + 1);
      for (int k = 0; k < kCount; ++k) plan.operands[k].data += plan.operands[k].strides[axis];
    }
    for (int k = 0; k < kCount; ++k) plan.operands[k].data -= plan.operands[k].strides[axis] * plan.shape[axis];
  }

  static bool Fits32(const kernels::Plan& plan, int first) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (plan.numel > kMost) return false;
    for (int k = 0; k < kCount; ++k) {
      int64_t reach = 0;
      for (int axis = first; axis < plan.ndim; ++axis) {
        const int64_t stride = plan.operands[k].strides[axis];
        if (stride < 0 || stride > kMost) return false;
        reach += stride * (plan.shape[axis] - 1);
      }
      if (reach > kMost) return false;
    }
    return true;
  }

  template <typename Index, typename F>
  static void RunStrided(const Context& ctx, const F& f, const kernels::Plan& plan, int first) {
    LaunchPlan<kCount, Index> launch;
    launch.ndim = plan.ndim - first;
    int64_t numel = 1;
    for (int axis = 0; axis < launch.ndim; ++axis) {
      numel *= plan.shape[first + axis];
      launch.shape[axis] = cuda::Divider<Index>(plan.shape[first + axis]);
      for (int k = 0; k < kCount; ++k) {
        launch.strides[k][axis] = static_cast<Index>(plan.operands[k].strides[first + axis]);
      }
    }
    launch.numel = static_cast<Index>(numel);
    for (int k = 0; k < kCount; ++k) {
      launch.data[k] = plan.operands[k].data;
      launch.dtypes[k] = plan.operands[k].dtype;
    }
    cuda::Launch("pointwise", ctx, &EachKernel<F, Index, R, A...>, cuda::GridFor(numel), f, launch);
  }
};

template <typename Signature>
struct LaunchOf;
template <typename R, typename... A>
struct LaunchOf<R(A...)> : Launcher<R, A...> {};

template <typename F>
__global__ void ForEachKernel(const F f, int64_t n) {
  for (int64_t i = cuda::FirstOfThread(); i < n; i += cuda::StepOfThreads()) f(i);
}

template <typename F>
void LaunchForEach(const Context& ctx, int64_t n, const F& f) {
  if (n == 0) return;
  cuda::Launch("for each", ctx, &ForEachKernel<F>, cuda::GridFor(n), f, n);
}

}  // namespace dragon::DRAGON_DEVICE
