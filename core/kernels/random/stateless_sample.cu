// Gamma and binomial numbers and categories of Philox streams on CUDA, in double: the CPU's draws, in its order.
// (CUDA's logarithm and powers may differ from the host's in the last place.)
#include <limits>

#include "core/device/cuda/block.h"
#include "core/kernels/random/draw_cuda.h"
#include "core/kernels/random/stateless_draws.h"

namespace dragon::DRAGON_DEVICE {

namespace {

template <typename T>
struct WriteStatelessGamma {
  T* y;
  const T* shapes;
  int64_t count, samples;
  Philox stream;
  __device__ void operator()(int64_t i) const {
    const int64_t which = i / samples, sample = i % samples;
    const auto shape = static_cast<double>(static_cast<Wide<T>>(shapes[which]));
    const double made = Gamma(Doubles(stream, kReservedForNumber * static_cast<uint64_t>(i)), shape);
    y[sample * count + which] = static_cast<T>(static_cast<Wide<T>>(made));
  }
};

template <typename T>
struct WriteStatelessBinomial {
  T* y;
  const T *counts, *chances;
  Philox stream;
  __device__ void operator()(int64_t i) const {
    const auto trials = static_cast<double>(static_cast<Wide<T>>(counts[i]));
    const auto chance = static_cast<double>(static_cast<Wide<T>>(chances[i]));
    y[i] = static_cast<T>(static_cast<Wide<T>>(Binomial(trials, chance, stream, static_cast<uint64_t>(i))));
  }
};

struct LargerOf {
  __device__ double operator()(double a, double b) const { return a > b ? a : b; }
};

/// Running sums of the exponentials of a row, a block for each row. One thread adds, from shared memory, so that sums
/// are those of the CPU's kernel.
template <typename T>
__global__ void RunningExponentialsKernel(double* sums, const T* logits, int64_t batch, int64_t classes) {
  alignas(16) __shared__ double shared[4 * cuda::kThreads];
  cuda::FillShared(shared);
  constexpr int kPiece = 4 * cuda::kThreads;
  for (int64_t row = blockIdx.x; row < batch; row += gridDim.x) {
    const T* const own = logits + row * classes;
    const auto at = [own](int64_t i) { return static_cast<double>(static_cast<Wide<T>>(own[i])); };
    const auto finite = [](double x) { return std::fabs(x) <= std::numeric_limits<double>::max(); };
    double most = -std::numeric_limits<double>::max(), total = 0;
    for (int64_t i = threadIdx.x; i < classes; i += blockDim.x) {
      if (finite(at(i))) most = LargerOf{}(most, at(i));
    }
    most = cuda::BlockReduce(most, LargerOf{});
    for (int64_t begin = 0; begin < classes; begin += kPiece) {
      const int count = static_cast<int>(min(static_cast<int64_t>(kPiece), classes - begin));
      __syncthreads();
      for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const double logit = at(begin + i);
        shared[i] = finite(logit) ? std::exp(logit - most) : 0;
      }
      __syncthreads();
      if (threadIdx.x == 0) {
        for (int i = 0; i < count; ++i) shared[i] = total += shared[i];
      }
      __syncthreads();
      for (int i = threadIdx.x; i < count; i += blockDim.x) sums[row * classes + begin + i] = shared[i];
    }
    __syncthreads();
  }
}

/// Number i has two words of the stream.
struct WriteStatelessCategory {
  int64_t* y;
  const double* sums;
  int64_t classes, samples;
  Philox stream;
  __device__ void operator()(int64_t i) const {
    const double* const own = sums + i / samples * classes;
    const Philox::Words words = stream.Block(static_cast<uint64_t>(i) / 2);
    const bool second = i % 2 != 0;
    const double place = UnitOf(second ? words[2] : words[0], second ? words[3] : words[1]) * own[classes - 1];
    int64_t low = 0, high = classes;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (place < own[middle]) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    y[i] = low;
  }
};

}  // namespace

template <typename T>
void StatelessGamma(Context& ctx, View y, View alpha, const Philox& stream) {
  if (y.numel == 0) return;
  LaunchForEach(ctx, y.numel,
                WriteStatelessGamma<T>{y.as<T>(), alpha.as<const T>(), alpha.numel, y.numel / alpha.numel, stream});
}
DRAGON_KERNEL(StatelessGamma, Floating);

template <typename T>
void StatelessCategorical(Context& ctx, View y, View logits, const Philox& stream) {
  if (y.numel == 0) return;
  const int64_t batch = logits.shape[0], classes = logits.shape[1];
  const Scratch room = ctx.Allocate<double>(batch * classes);
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(batch, cuda::kMostBlocks));
  cuda::Launch("stateless categorical", ctx, &RunningExponentialsKernel<T>, {dim3(blocks), dim3(cuda::kThreads)},
               room.as<double>(), logits.as<const T>(), batch, classes);
  LaunchForEach(ctx, y.numel, WriteStatelessCategory{y.as<int64_t>(), room.as<double>(), classes, y.shape[1], stream});
}
DRAGON_KERNEL(StatelessCategorical, Floating);

template <typename T>
void StatelessBinomial(Context& ctx, View y, View count, View p, const Philox& stream) {
  LaunchForEach(ctx, y.numel, WriteStatelessBinomial<T>{y.as<T>(), count.as<const T>(), p.as<const T>(), stream});
}
DRAGON_KERNEL(StatelessBinomial, Floating);

}  // namespace dragon::DRAGON_DEVICE
