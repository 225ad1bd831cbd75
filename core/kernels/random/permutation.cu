// Permutations on CUDA: places are sorted by random keys. A key and its place share 64 bits, so that equal keys, whose
// places keep their order, are too rare to be seen: 24 bits and more are left for keys of 2^40 places, 44 for 2^20.
#include "core/kernels/random.h"
#include "core/kernels/random/draw_cuda.h"
#include "core/kernels/sort/sort_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

struct WriteRandomKey {
  uint64_t* keys;
  int bits;
  Seed seed;
  __device__ void operator()(int64_t i) const {
    const Philox::Words words = seed.Stream().Block(static_cast<uint64_t>(i));
    keys[i] = (static_cast<uint64_t>(words[0]) << 32 | words[1]) >> bits << bits | static_cast<uint64_t>(i);
  }
};
template <typename T>
struct WritePlaces {
  T* y;
  const uint64_t* sorted;
  uint64_t mask;
  __device__ void operator()(int64_t i) const {
    y[i] = static_cast<T>(static_cast<Wide<T>>(static_cast<int64_t>(sorted[i] & mask)));
  }
};

}  // namespace

template <typename T>
void Permutation(Context& ctx, View y, RandomState* state) {
  const int64_t n = y.numel;
  const Seed seed = NextSeedOf(ctx, state);
  if (n == 0) return;
  int bits = 1;
  while ((int64_t{1} << bits) < n) ++bits;
  const Scratch room = ctx.Allocate<uint64_t>(n), spare = ctx.Allocate<uint64_t>(n);
  LaunchForEach(ctx, n, WriteRandomKey{room.as<uint64_t>(), bits, seed});
  const uint64_t* const sorted = SortWords(ctx, room.as<uint64_t>(), spare.as<uint64_t>(), n, bits, 64);
  LaunchForEach(ctx, n, WritePlaces<T>{y.as<T>(), sorted, (uint64_t{1} << bits) - 1});
}
DRAGON_KERNEL(Permutation, Real);

}  // namespace dragon::DRAGON_DEVICE
