// Dropout on CUDA, in one pass: draw, mask and scale. Which word decides an element is a matter of where the input
// lies, as for PyTorch's dropout on a GPU.
#include "core/kernels/random.h"
#include "core/kernels/random/draw_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// Elements of a thread: whole blocks of words, and sixteen bytes where T is short.
template <typename T>
inline constexpr int kTaken = sizeof(T) == 2 ? 8 : 4;

/// Neighbours that one stream decides, `kCount` of them: a block of words has four, of two neighbours half is left
/// over.
template <typename T, int kCount>
__global__ void DropoutKernel(T* y, bool* mask, const T* x, int64_t n, Wide<T> keep, Wide<T> scale, bool aligned,
                              int64_t streams, const Seed seed) {
  using W = Wide<T>;
  using Values = Pack<T, kCount>;
  using Marks = Pack<bool, kCount>;
  constexpr int kWords = kCount < 4 ? kCount : 4, kBlocks = kCount / kWords;
  for (int64_t round = blockIdx.y; round * streams * kCount < n; round += gridDim.y) {
    for (int64_t stream = cuda::FirstOfThread(); stream < streams; stream += cuda::StepOfThreads()) {
      const int64_t group = round * streams + stream, begin = group * kCount;
      if (begin >= n) break;
      Values values = reinterpret_cast<const Values*>(x)[group];
      Marks marks;
      const Philox source = seed.Stream(static_cast<uint64_t>(stream));
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
        const Philox::Words words = source.Block(static_cast<uint64_t>(round * kBlocks + block));
#pragma unroll
        for (int word = 0; word < kWords; ++word) {
          const int i = block * kWords + word;
          const bool kept = static_cast<W>(Units<float>::From(words, word)) < keep;
          marks.at[i] = kept;
          // A product, not a choice: what is dropped leaves 0, -0 or NaN behind, as the product does.
          values.at[i] = static_cast<T>(static_cast<W>(values.at[i]) * (kept ? scale : W(0)));
        }
      }
      if (aligned) {
        reinterpret_cast<Values*>(y)[group] = values;
        reinterpret_cast<Marks*>(mask)[group] = marks;
        continue;
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i) y[begin + i] = values.at[i], mask[begin + i] = marks.at[i];
    }
  }
}

/// Elements that lie or are counted otherwise: those of a stream are as far from each other as there are streams.
template <typename T>
__global__ void DropoutSparselyKernel(T* y, bool* mask, const T* x, int64_t n, Wide<T> keep, Wide<T> scale,
                                      const DrawPlan plan, const Seed seed) {
  using W = Wide<T>;
  for (uint64_t round = blockIdx.y; round < plan.rounds; round += gridDim.y) {
    for (int64_t stream = cuda::FirstOfThread(); stream < plan.streams; stream += cuda::StepOfThreads()) {
      const Philox::Words words = seed.Stream(static_cast<uint64_t>(stream)).Block(round);
#pragma unroll
      for (int word = 0; word < 4; ++word) {
        const int64_t i = (static_cast<int64_t>(round) * 4 + word) * plan.streams + stream;
        if (i >= n) break;
        const bool kept = static_cast<W>(Units<float>::From(words, word)) < keep;
        y[i] = static_cast<T>(static_cast<W>(x[i]) * (kept ? scale : W(0)));
        mask[i] = kept;
      }
    }
  }
}

template <typename T>
__global__ void DropoutBackwardKernel(T* dx, const T* dy, const bool* mask, int64_t n, Wide<T> scale, bool aligned) {
  constexpr int kCount = kTaken<T>;
  using W = Wide<T>;
  using Values = Pack<T, kCount>;
  using Marks = Pack<bool, kCount>;
  const auto take = [scale](T value, bool kept) {
    return static_cast<T>(static_cast<W>(value) * (kept ? scale : W(0)));
  };
  for (int64_t group = cuda::FirstOfThread(); group * kCount < n; group += cuda::StepOfThreads()) {
    const int64_t begin = group * kCount;
    if (aligned && begin + kCount <= n) {
      Values values = reinterpret_cast<const Values*>(dy)[group];
      const Marks marks = reinterpret_cast<const Marks*>(mask)[group];
#pragma unroll
      for (int i = 0; i < kCount; ++i) values.at[i] = take(values.at[i], marks.at[i]);
      reinterpret_cast<Values*>(dx)[group] = values;
      continue;
    }
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (begin + i < n) dx[begin + i] = take(dy[begin + i], mask[begin + i]);
    }
  }
}

bool LiesOn(const View& view, size_t bytes) { return reinterpret_cast<uintptr_t>(view.data) % bytes == 0; }
template <typename T>
bool Aligned(const View& a, const View& b, const View& mask) {
  return LiesOn(a, sizeof(Pack<T, kTaken<T>>)) && LiesOn(b, sizeof(Pack<T, kTaken<T>>)) && LiesOn(mask, kTaken<T>);
}

/// Neighbours that PyTorch has one thread take: as many as 16 bytes have and the address and the count allow.
template <typename T>
int NeighboursOf(const View& x) {
  int count = 16 / static_cast<int>(sizeof(T));
  while (count > 1 && !(LiesOn(x, sizeof(T) * static_cast<size_t>(count)) && x.numel % count == 0)) count /= 2;
  return count;
}

template <typename T>
struct DropoutCall {
  Context& ctx;
  View y, mask, x;
  Wide<T> keep, scale;
  DrawPlan plan;
  Seed seed;

  template <int kCount>
  void Neighbours() const {
    cuda::Grid grid = cuda::GridFor(plan.streams);
    const int64_t rounds = (x.numel - 1) / (plan.streams * kCount) + 1;
    grid.blocks.y = static_cast<unsigned>(std::min<int64_t>(rounds, cuda::kMostBlocks));
    const bool aligned = LiesOn(y, sizeof(Pack<T, kCount>)) && LiesOn(mask, sizeof(Pack<bool, kCount>));
    cuda::Launch("dropout", ctx, &DropoutKernel<T, kCount>, grid, y.as<T>(), mask.as<bool>(), x.as<T>(), x.numel, keep,
                 scale, aligned, plan.streams, seed);
  }
  void Sparsely() const {
    cuda::Launch("dropout", ctx, &DropoutSparselyKernel<T>, GridOf(plan, 1), y.as<T>(), mask.as<bool>(), x.as<T>(),
                 x.numel, keep, scale, plan, seed);
  }
};

}  // namespace

template <typename T>
void Dropout(Context& ctx, View y, View mask, View x, RandomState* state, double p) {
  if (x.numel == 0) return;
  using W = Wide<T>;
  const W keep = static_cast<W>(1 - p);
  const DrawPlan plan(ctx.device.index, x.numel, 4);
  const DropoutCall<T> call{ctx,  y,
                            mask, x,
                            keep, static_cast<W>(1 / static_cast<double>(keep)),
                            plan, {NextSeedOf(ctx, state, plan.used())}};
  // What was brought into the order of the result lay with gaps, which PyTorch's threads take one by one.
  switch (x.data == y.data ? 1 : NeighboursOf<T>(x)) {
    case 8:
      if constexpr (sizeof(T) == 2) return call.template Neighbours<8>();
      [[fallthrough]];
    case 4:
      if constexpr (sizeof(T) <= 4) return call.template Neighbours<4>();
      [[fallthrough]];
    case 2:
      return call.template Neighbours<2>();
    default:
      return call.Sparsely();
  }
}
DRAGON_KERNEL(Dropout, Floating);

template <typename T>
void DropoutBackward(Context& ctx, View dx, View dy, View mask, double scale) {
  if (dx.numel == 0) return;
  using W = Wide<T>;
  const W by = static_cast<W>(static_cast<T>(static_cast<W>(scale)));
  cuda::Launch("dropout backward", ctx, &DropoutBackwardKernel<T>,
               cuda::GridFor((dx.numel + kTaken<T> - 1) / kTaken<T>), dx.as<T>(), dy.as<T>(), mask.as<bool>(), dx.numel,
               by, Aligned<T>(dx, dy, mask));
}
DRAGON_KERNEL(DropoutBackward, Floating);

}  // namespace dragon::DRAGON_DEVICE
