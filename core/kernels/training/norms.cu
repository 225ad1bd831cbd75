// What needs the size of whole tensors, on CUDA: norms for gradient clipping, and LAMB, whose steps are scaled by
// norms. Every chunk has a partial sum, and those of a tensor meet in a fixed order.
#include "core/device/cuda/block.h"
#include "core/kernels/training/sweep_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

struct Add {
  __device__ double operator()(double a, double b) const { return a + b; }
};
/// The larger one; a NaN stays.
struct Larger {
  __device__ double operator()(double a, double b) const { return a > b || a != a ? a : b; }
};

/// How norms are added up: the numbers p = 0, 1, 2 and infinity have ways of their own.
enum class Norm { kCount, kSum, kSquares, kLargest, kPowers };

Norm NormOf(double p) {
  return p == 2          ? Norm::kSquares
         : p == 1        ? Norm::kSum
         : p == 0        ? Norm::kCount
         : std::isinf(p) ? Norm::kLargest
                         : Norm::kPowers;
}

template <typename W>
__device__ __forceinline__ double TermOf(Norm norm, W x, double p) {
  switch (norm) {
    case Norm::kCount:
      return x != 0 ? 1 : 0;
    case Norm::kSum:
    case Norm::kLargest:
      return std::fabs(static_cast<double>(x));
    case Norm::kSquares:
      return static_cast<double>(x) * static_cast<double>(x);
    default:
      return std::pow(std::fabs(static_cast<double>(x)), p);
  }
}

__device__ __forceinline__ double Root(Norm norm, double total, double p) {
  if (norm == Norm::kSquares) return std::sqrt(total);
  return norm == Norm::kPowers ? std::pow(total, 1 / p) : total;
}

/// Parts meet: those of tensor i are first[i] ... first[i + 1] - 1. All threads of the block have the result.
__device__ inline double Meet(const double* parts, int64_t count, bool largest) {
  double total = 0;
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) {
    total = largest ? Larger{}(parts[i], total) : total + parts[i];
  }
  return largest ? cuda::BlockReduce(total, Larger{}) : cuda::BlockReduce(total, Add{});
}

using NormTable = SetTable<1, Nothing>;

template <typename T>
__global__ void PowerSumKernel(double* parts, Norm norm, double p, const __grid_constant__ NormTable table) {
  constexpr int kWidth = 16 / static_cast<int>(sizeof(T));
  const int tensor = table.TensorOf(static_cast<int>(blockIdx.x));
  const int64_t begin = (static_cast<int>(blockIdx.x) - table.first[tensor]) * kChunk;
  const int64_t size = min(kChunk, table.sizes[tensor] - begin);
  const T* const x = static_cast<const T*>(table.arrays[0][tensor]) + begin;
  const bool largest = norm == Norm::kLargest;
  double total = 0;
  const auto take = [&](T value) {
    const double term = TermOf(norm, static_cast<Wide<T>>(value), p);
    total = largest ? Larger{}(term, total) : total + term;
  };
  const int64_t packs = reinterpret_cast<uintptr_t>(x) % 16 == 0 ? size / kWidth : 0;
  for (int64_t i = threadIdx.x; i < packs; i += blockDim.x) {
    const auto values = reinterpret_cast<const Pack<T, kWidth>*>(x)[i];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) take(values.at[j]);
  }
  for (int64_t i = packs * kWidth + threadIdx.x; i < size; i += blockDim.x) take(x[i]);
  total = largest ? cuda::BlockReduce(total, Larger{}) : cuda::BlockReduce(total, Add{});
  if (threadIdx.x == 0) parts[blockIdx.x] = total;
}

template <typename T>
__global__ void NormMeetKernel(T* norms, const double* parts, Norm norm, double p,
                               const __grid_constant__ NormTable table) {
  const int first = table.first[blockIdx.x];
  const double total = Meet(parts + first, table.first[blockIdx.x + 1] - first, norm == Norm::kLargest);
  if (threadIdx.x == 0) norms[blockIdx.x] = static_cast<T>(static_cast<Wide<T>>(Root(norm, total, p)));
}

/// Multiplies: a step without states or a gradient.
template <typename W>
struct ScaleStep {
  static constexpr int kSlots = 0;
  using Of = Nothing;
  W by;
  Of For(const kernels::UpdateSet&, int64_t) const { return {}; }
  DRAGON_FN void operator()(const Of&, W& param, W, W*) const { param = param * by; }
};

struct LambScales {
  double first, second;
};
using LambTable = SetTable<4, LambScales>;

/// Both moments move; the update of every element waits in `updates` until its tensor's norms are known.
template <typename T>
__global__ void LambUpdateKernel(Wide<T>* updates, double* parts, Wide<T> fresh1, Wide<T> beta2, Wide<T> fresh2,
                                 Wide<T> eps, Wide<T> decay, bool maximize, const __grid_constant__ LambTable table) {
  using W = Wide<T>;
  const int tensor = table.TensorOf(static_cast<int>(blockIdx.x));
  const int64_t begin = (static_cast<int>(blockIdx.x) - table.first[tensor]) * kChunk;
  const int64_t size = min(kChunk, table.sizes[tensor] - begin);
  const auto at = [&](int k) { return static_cast<T*>(table.arrays[k][tensor]) + begin; };
  const T *const param = at(0), *const grad = at(1);
  T *const mean = at(2), *const square = at(3);
  W* const update = updates + static_cast<int64_t>(blockIdx.x) * kChunk;
  const W scale1 = static_cast<W>(table.of[tensor].first), scale2 = static_cast<W>(table.of[tensor].second);
  double of_param = 0, of_update = 0;
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    const W g = maximize ? -static_cast<W>(grad[i]) : static_cast<W>(grad[i]), p = static_cast<W>(param[i]);
    const W m = Lerp(static_cast<W>(mean[i]), g, fresh1);
    const W v = static_cast<W>(square[i]) * beta2 + fresh2 * g * g;
    mean[i] = static_cast<T>(m);
    square[i] = static_cast<T>(v);
    const W u = m * scale1 / (std::sqrt(v * scale2) + eps) + decay * p;
    update[i] = u;
    of_param += static_cast<double>(p) * static_cast<double>(p);
    of_update += static_cast<double>(u) * static_cast<double>(u);
  }
  of_param = cuda::BlockReduce(of_param, Add{});
  of_update = cuda::BlockReduce(of_update, Add{});
  if (threadIdx.x == 0) parts[blockIdx.x] = of_param, parts[gridDim.x + blockIdx.x] = of_update;
}

__global__ void LambTrustKernel(double* trust, const double* parts, int blocks,
                                const __grid_constant__ LambTable table) {
  const int first = table.first[blockIdx.x], count = table.first[blockIdx.x + 1] - first;
  const double of_param = std::sqrt(Meet(parts + first, count, false));
  const double of_update = std::sqrt(Meet(parts + blocks + first, count, false));
  if (threadIdx.x == 0) trust[blockIdx.x] = of_param > 0 && of_update > 0 ? of_param / of_update : 1;
}

template <typename T>
__global__ void LambApplyKernel(const Wide<T>* updates, const double* trust, double full_rate,
                                const __grid_constant__ LambTable table) {
  using W = Wide<T>;
  const int tensor = table.TensorOf(static_cast<int>(blockIdx.x));
  const int64_t begin = (static_cast<int>(blockIdx.x) - table.first[tensor]) * kChunk;
  const int64_t size = min(kChunk, table.sizes[tensor] - begin);
  T* const param = static_cast<T*>(table.arrays[0][tensor]) + begin;
  const W* const update = updates + static_cast<int64_t>(blockIdx.x) * kChunk;
  const W rate = static_cast<W>(full_rate * trust[tensor]);
  for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
    param[i] = static_cast<T>(static_cast<W>(param[i]) - rate * update[i]);
  }
}

}  // namespace

template <typename T>
void NormEach(Context& ctx, View norms, const kernels::UpdateSet& set, double p) {
  const Norm norm = NormOf(p);
  EachTable<1, Nothing>(
      set, kChunk, [](int64_t) { return Nothing{}; }, [&](int, int64_t i) { return set.params[i]; },
      [&](const NormTable& table, int64_t begin) {
        const int blocks = table.first[table.count];
        const Scratch room = ctx.Allocate<double>(blocks + 1);
        double* const parts = room.as<double>();
        if (blocks > 0) {
          cuda::Launch("norms", ctx, &PowerSumKernel<T>, {dim3(static_cast<unsigned>(blocks)), dim3(cuda::kThreads)},
                       parts, norm, p, table);
        }
        cuda::Launch("norms", ctx, &NormMeetKernel<T>, {dim3(static_cast<unsigned>(table.count)), dim3(cuda::kThreads)},
                     norms.as<T>() + begin, parts, norm, p, table);
      });
}
DRAGON_KERNEL(NormEach, Floating);

template <typename T>
void ScaleEach(Context& ctx, const kernels::UpdateSet& set, double factor) {
  kernels::UpdateSet alone = set;
  alone.grads = set.params;  // read, and not looked at
  Steps<T>(ctx, alone, ScaleStep<Wide<T>>{static_cast<Wide<T>>(factor)});
}
DRAGON_KERNEL(ScaleEach, Floating);

template <typename T>
void Lamb(Context& ctx, const kernels::UpdateSet& set, kernels::AdamOptions o) {
  using W = Wide<T>;
  EachTable<4, LambScales>(
      set, kChunk,
      [&](int64_t i) {
        return LambScales{1 / Correction(o.beta1, set.steps[i]), 1 / Correction(o.beta2, set.steps[i])};
      },
      [&](int k, int64_t i) {
        return (k == 0 ? set.params : k == 1 ? set.grads : set.slots[k - 2])[i];
      },
      [&](const LambTable& table, int64_t) {
        const int blocks = table.first[table.count];
        if (blocks == 0) return;
        const Scratch update_room = ctx.Allocate<W>(blocks * kChunk);
        const Scratch part_room = ctx.Allocate<double>(2 * static_cast<int64_t>(blocks) + table.count);
        double* const parts = part_room.as<double>();
        double* const trust = parts + 2 * static_cast<int64_t>(blocks);
        const cuda::Grid chunks{dim3(static_cast<unsigned>(blocks)), dim3(cuda::kThreads)};
        cuda::Launch("lamb", ctx, &LambUpdateKernel<T>, chunks, update_room.as<W>(), parts, 1 - o.beta1, o.beta2,
                     1 - o.beta2, o.eps, o.weight_decay, o.maximize, table);
        cuda::Launch("lamb", ctx, &LambTrustKernel, {dim3(static_cast<unsigned>(table.count)), dim3(cuda::kThreads)},
                     trust, parts, blocks, table);
        cuda::Launch("lamb", ctx, &LambApplyKernel<T>, chunks, update_room.as<W>(), trust, o.rate, table);
      });
}
DRAGON_KERNEL(Lamb, Floating);

}  // namespace dragon::DRAGON_DEVICE
