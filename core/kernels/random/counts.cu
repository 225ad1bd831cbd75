// Poisson, binomial and gamma numbers and categories on CUDA. Categories are PyTorch's on a GPU; of the others every
// number has a stream of our own to reject from, and the offset is raised as PyTorch raises it. What the CPU's kernels
// refuse (a negative rate, a probability outside of [0, 1]) becomes NaN: the host does not wait here.
#include <limits>

#include "core/device/cuda/block.h"
#include "core/kernels/random.h"
#include "core/kernels/random/draw_cuda.h"
#include "core/kernels/random/rejection.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Uniform and normal numbers of the stream of one element, pairs at a time.
class ElementSource {
 public:
  __device__ ElementSource(uint64_t seed, int64_t element)
      : stream_(static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                {0, 0, static_cast<uint32_t>(element), static_cast<uint32_t>(static_cast<uint64_t>(element) >> 32)}) {}

  /// In [0, 1).
  __device__ double Double() {
    if (!has_uniform_) {
      const Philox::Words words = stream_.Block(block_++);
      uniform_ = UnitOf(words[2], words[3]), has_uniform_ = true;
      return UnitOf(words[0], words[1]);
    }
    has_uniform_ = false;
    return uniform_;
  }
  __device__ double Normal() {
    if (!has_normal_) {
      double pair[2];
      Normals(stream_.Block(block_++), pair);
      normal_ = pair[1], has_normal_ = true;
      return pair[0];
    }
    has_normal_ = false;
    return normal_;
  }

 private:
  Philox stream_;
  uint64_t block_ = 0;
  double uniform_ = 0, normal_ = 0;
  bool has_uniform_ = false, has_normal_ = false;
};

template <typename T>
__device__ double Load(const T* x, int64_t i) {
  return static_cast<double>(static_cast<Wide<T>>(x[i]));
}
template <typename T>
__device__ T Stored(double value) {
  return static_cast<T>(static_cast<Wide<T>>(value));
}
template <typename T>
__device__ T NotANumber() {
  return Stored<T>(std::numeric_limits<double>::quiet_NaN());
}

template <typename T>
struct WritePoisson {
  T* y;
  const T* rate;
  Seed seed;
  __device__ void operator()(int64_t i) const {
    const double at = Load(rate, i);
    if (!(at >= 0 && at <= std::numeric_limits<double>::max())) {
      y[i] = NotANumber<T>();
      return;
    }
    ElementSource source(seed.Word(), i);
    y[i] = Stored<T>(PoissonOf(at, &source));
  }
};

template <typename T>
struct WriteBinomial {
  T* y;
  const T *count, *p;
  Seed seed;
  __device__ void operator()(int64_t i) const {
    const double trials = Load(count, i), at = Load(p, i);
    if (!(trials >= 0 && trials <= std::numeric_limits<double>::max()) || !(at >= 0 && at <= 1)) {
      y[i] = NotANumber<T>();
      return;
    }
    ElementSource source(seed.Word(), i);
    y[i] = Stored<T>(BinomialOf(trials, at, &source));
  }
};

template <typename T>
struct WriteGamma {
  T* y;
  const T* shape;
  Seed seed;
  __device__ void operator()(int64_t i) const {
    using W = Wide<T>;
    const W at = static_cast<W>(shape[i]);
    if (!(at >= 0 && at <= std::numeric_limits<W>::max())) {
      y[i] = NotANumber<T>();
      return;
    }
    ElementSource source(seed.Word(), i);
    const W made = static_cast<W>(GammaOf(at, &source));
    // A sample too small for the dtype stays positive, so that its logarithm exists.
    y[i] = static_cast<T>(made < std::numeric_limits<W>::min() ? std::numeric_limits<W>::min() : made);
  }
};

/// Running sums of a row of weights, a block for each row; every thread adds up neighbours. Weights below 0, infinite
/// or NaN count as 0: the CPU's kernel refuses them.
template <typename T>
__device__ double WeightAt(const T* weights, int64_t i) {
  const double weight = Load(weights, i);
  return weight > 0 && weight <= std::numeric_limits<double>::max() ? weight : 0;
}
template <typename T>
__global__ void RunningWeightsKernel(double* sums, const T* weights, int64_t rows, int64_t categories) {
  alignas(16) __shared__ double parts[cuda::kThreads];
  cuda::FillShared(parts);
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const int64_t share = (categories + blockDim.x - 1) / blockDim.x;
    const int64_t begin = min(categories, share * threadIdx.x), end = min(categories, begin + share);
    const T* const own = weights + row * categories;
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += WeightAt(own, i);
    __syncthreads();
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      double before = 0;
      for (int i = 0; i < static_cast<int>(blockDim.x); ++i) {
        const double part = parts[i];
        parts[i] = before;
        before += part;
      }
    }
    __syncthreads();
    sum = parts[threadIdx.x];
    for (int64_t i = begin; i < end; ++i) sums[row * categories + i] = sum += WeightAt(own, i);
  }
}

/// How PyTorch spreads samples over streams: 128 at a time of a row, and rows one after the other beyond so many.
struct CategoryPlan {
  static constexpr int64_t kBlock = 128, kMostRows = 65535;
  int64_t across, rows;

  CategoryPlan(int64_t samples, int64_t all_rows)
      : across((samples + kBlock - 1) / kBlock * kBlock), rows(std::min(all_rows, kMostRows)) {}
};

/// The first category whose share of the running sum reaches a uniform number.
template <typename T>
struct WriteCategory {
  int64_t* y;
  const T* weights;
  const double* sums;
  int64_t categories, samples;
  CategoryPlan plan;
  Seed seed;
  __device__ void operator()(int64_t i) const {
    const int64_t line = i / samples, row = line * categories;
    const double* const own = sums + row;
    const auto stream = static_cast<uint64_t>(line % plan.rows * plan.across + i % samples);
    const Philox::Words words = seed.Stream(stream).Block(static_cast<uint64_t>(line / plan.rows));
    // In the dtype of the weights, as PyTorch compares them.
    const Wide<T> place = static_cast<Wide<T>>(static_cast<T>(static_cast<Wide<T>>(Units<float>::From(words, 0))));
    const double total = own[categories - 1];
    int64_t low = 0, high = categories;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (static_cast<Wide<T>>(Stored<T>(own[middle] / total)) < place) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    low = min(low, categories - 1);
    // Rounding where two threads' sums meet may let a category without weight through.
    int64_t chosen = low;
    while (chosen > 0 && !(WeightAt(weights + row, chosen) > 0)) --chosen;
    if (!(WeightAt(weights + row, chosen) > 0)) {
      while (low < categories - 1 && !(WeightAt(weights + row, low) > 0)) ++low;
      chosen = low;
    }
    y[i] = chosen;
  }
};

}  // namespace

template <typename T>
void Poisson(Context& ctx, View y, View x, RandomState* state) {
  LaunchForEach(ctx, y.numel, WritePoisson<T>{y.as<T>(), x.as<const T>(), NextSeedOf(ctx, state, 20)});
}
DRAGON_KERNEL(Poisson, Floating);

template <typename T>
void Binomial(Context& ctx, View y, View count, View p, RandomState* state) {
  LaunchForEach(ctx, y.numel,
                WriteBinomial<T>{y.as<T>(), count.as<const T>(), p.as<const T>(), NextSeedOf(ctx, state, 42)});
}
DRAGON_KERNEL(Binomial, Floating);

template <typename T>
void StandardGamma(Context& ctx, View y, View x, RandomState* state) {
  LaunchForEach(ctx, y.numel, WriteGamma<T>{y.as<T>(), x.as<const T>(), NextSeedOf(ctx, state, 10)});
}
DRAGON_KERNEL(StandardGamma, Floating);

template <typename T>
void Multinomial(Context& ctx, View y, View p, RandomState* state) {
  const int64_t rows = p.dim(0), categories = p.dim(1);
  if (y.numel == 0) return;
  const CategoryPlan plan(y.dim(1), rows);
  const Seed seed = NextSeedOf(ctx, state, static_cast<uint64_t>((rows - 1) / plan.rows + 1) * 4);
  const Scratch room = ctx.Allocate<double>(rows * categories);
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(rows, cuda::kMostBlocks));
  cuda::Launch("multinomial", ctx, &RunningWeightsKernel<T>, {dim3(blocks), dim3(cuda::kThreads)}, room.as<double>(),
               p.as<const T>(), rows, categories);
  LaunchForEach(
      ctx, y.numel,
      WriteCategory<T>{y.as<int64_t>(), p.as<const T>(), room.as<double>(), categories, y.dim(1), plan, seed});
}
DRAGON_KERNEL(Multinomial, Floating);

}  // namespace dragon::DRAGON_DEVICE
