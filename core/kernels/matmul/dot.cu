// The dot product of two vectors on CUDA: blocks sum parts of them, and one more block sums those, always in one order.
#include "core/device/cuda/block.h"
#include "core/device/cuda/launch.h"
#include "core/kernels/matmul/strand_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kDotThreads = 256;
/// A part's elements are a multiple of this many, so that parts of packed lines are packed; and there are so many
/// parts.
constexpr int64_t kPartUnit = 8192, kMostParts = 1024;

/// Block i sums [i * part, (i + 1) * part); the only block of a launch writes the result itself.
template <typename T>
__global__ void __launch_bounds__(kDotThreads) DotParts(Lines<T> lines, int64_t n, int64_t part, SumOf<T>* sums, T* y) {
  const int64_t begin = blockIdx.x * part, count = n - begin < part ? n - begin : part;
  lines.a += begin * lines.a_step, lines.b += begin * lines.b_step;
  const SumOf<T> sum = cuda::BlockReduce(Strand(lines, count, threadIdx.x, kDotThreads), Plus{});
  if (threadIdx.x != 0) return;
  if (y) {
    *y = Epilogue<T>::Narrow(sum);
  } else {
    sums[blockIdx.x] = sum;
  }
}

template <typename T>
__global__ void __launch_bounds__(kDotThreads) DotEnd(const SumOf<T>* sums, int parts, T* y) {
  SumOf<T> sum = SumOf<T>(0);
  for (int i = threadIdx.x; i < parts; i += kDotThreads) sum = sum + sums[i];
  sum = cuda::BlockReduce(sum, Plus{});
  if (threadIdx.x == 0) *y = Epilogue<T>::Narrow(sum);
}

}  // namespace

template <typename T>
void Dot(Context& ctx, View y, View a, View b, bool conjugate) {
  const int64_t n = a.numel;
  Lines<T> lines{a.as<const T>(),          b.as<const T>(), n > 1 ? a.stride(-1) : 1,
                 n > 1 ? b.stride(-1) : 1, false,           conjugate};
  lines.packed = IsPacked<T>(lines.a, lines.a_step) && IsPacked<T>(lines.b, lines.b_step);
  const int64_t units = (n + kPartUnit - 1) / kPartUnit, wanted = units < kMostParts ? units : kMostParts;
  const int64_t part = wanted ? (units + wanted - 1) / wanted * kPartUnit : kPartUnit;
  const int64_t parts = n ? (n + part - 1) / part : 1;
  if (parts == 1) {
    return cuda::Launch("dot", ctx, &DotParts<T>, cuda::Grid{dim3(1), dim3(kDotThreads)}, lines, n, part,
                        static_cast<SumOf<T>*>(nullptr), y.as<T>());
  }
  const Scratch sums = ctx.Allocate<SumOf<T>>(parts);
  cuda::Launch("dot", ctx, &DotParts<T>, cuda::Grid{dim3(static_cast<unsigned>(parts)), dim3(kDotThreads)}, lines, n,
               part, sums.as<SumOf<T>>(), static_cast<T*>(nullptr));
  cuda::Launch("dot", ctx, &DotEnd<T>, cuda::Grid{dim3(1), dim3(kDotThreads)}, sums.as<SumOf<T>>(),
               static_cast<int>(parts), y.as<T>());
}

DRAGON_KERNEL(Dot, AllTypes);

}  // namespace dragon::DRAGON_DEVICE
