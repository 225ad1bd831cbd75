// Permutations on CUDA, as PyTorch makes them: places are sorted by random keys of as many bits as equal keys are rare
// with, and places whose keys are equal are shuffled afterwards. A key is a function of its place, so that it is made
// anew where it is needed. Keys and places share words of 64 bits, which are sorted twice where both together are
// longer.
#include <algorithm>

#include "core/kernels/random.h"
#include "core/kernels/random/draw_cuda.h"
#include "core/kernels/sort/sort_cuda.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// The key of a place: the lower bits of an integer drawn for it.
struct PlaceKeys {
  static constexpr int kNumbers = 2;  // of a block
  Seed seed;
  DrawPlan plan;
  uint64_t range, mask;

  __device__ uint64_t Of(int64_t place) const {
    const int64_t turn = place / plan.streams;
    const Philox stream = seed.Stream(static_cast<uint64_t>(place % plan.streams));
    const Philox::Words words = stream.Block(static_cast<uint64_t>(turn / kNumbers));
    return (turn % kNumbers ? LongWord(words, 1) : LongWord(words, 0)) % range & mask;
  }
};

/// The lower bits of keys, above their places.
struct WriteLowKeys {
  uint64_t* words;
  PlaceKeys keys;
  int bits;  // of a place
  __device__ void operator()(int64_t i) const { words[i] = keys.Of(i) << bits | static_cast<uint64_t>(i); }
};
/// The rest of the keys of places in order of their lower bits, above the rank in that order.
struct WriteHighKeys {
  uint64_t* words;
  const uint64_t* sorted;
  PlaceKeys keys;
  int bits, low_bits;
  uint64_t mask;
  __device__ void operator()(int64_t rank) const {
    const uint64_t key = keys.Of(static_cast<int64_t>(sorted[rank] & mask));
    words[rank] = key >> low_bits << bits | static_cast<uint64_t>(rank);
  }
};
struct TakePlaces {
  uint64_t* places;
  const uint64_t* sorted;
  const uint64_t* ranks;
  uint64_t mask;
  __device__ void operator()(int64_t i) const {
    const uint64_t at = sorted[i] & mask;
    places[i] = ranks ? ranks[at] & mask : at;
  }
};

/// Places become numbers; the first of several with one key shuffles all of them.
template <typename T>
struct WritePlaces {
  T* y;
  const uint64_t* places;
  int64_t n;
  PlaceKeys keys;
  Seed seed;

  __device__ uint64_t KeyAt(int64_t i) const { return keys.Of(static_cast<int64_t>(places[i])); }
  __device__ T NumberAt(int64_t i) const {
    return static_cast<T>(static_cast<Wide<T>>(static_cast<int64_t>(places[i])));
  }
  __device__ void operator()(int64_t i) const {
    const uint64_t key = KeyAt(i);
    if (i > 0 && KeyAt(i - 1) == key) return;  // another one's
    int64_t count = 1;
    while (i + count < n && KeyAt(i + count) == key) ++count;
    for (int64_t k = 0; k < count; ++k) y[i + k] = NumberAt(i + k);
    if (count == 1) return;
    const Philox stream = seed.Stream(static_cast<uint64_t>(i));
    for (int64_t k = count - 1; k > 0; --k) {
      const auto drawn = static_cast<uint64_t>(count - 1 - k);
      const Philox::Words words = stream.Block(drawn / 4);
      // Choices, not a place in an array: that would lie in memory.
      const uint32_t low = drawn % 2 ? words[1] : words[0], high = drawn % 2 ? words[3] : words[2];
      const auto other = static_cast<int64_t>((drawn % 4 < 2 ? low : high) % static_cast<uint32_t>(k + 1));
      const T kept = y[i + k];
      y[i + k] = y[i + other], y[i + other] = kept;
    }
  }
};

/// So many bits that with a chance of nine in ten no two of n keys are equal.
int KeyBits(int64_t n) {
  const auto count = static_cast<double>(n);
  return std::min(64, static_cast<int>(std::ceil(std::log2(count - (6 * count * count + 1) / (std::log(0.9) * 12)))));
}

/// The places below n in the order of their keys, of `bits` bits.
void SortPlaces(Context& ctx, uint64_t* places, int64_t n, const PlaceKeys& keys, int bits) {
  int place_bits = 1;
  while ((int64_t{1} << place_bits) < n) ++place_bits;
  const uint64_t mask = (uint64_t{1} << place_bits) - 1;
  const int low_bits = std::min(bits, 64 - place_bits);
  const Scratch room = ctx.Allocate<uint64_t>(n), spare = ctx.Allocate<uint64_t>(n);
  LaunchForEach(ctx, n, WriteLowKeys{room.as<uint64_t>(), keys, place_bits});
  const uint64_t* sorted =
      SortWords(ctx, room.as<uint64_t>(), spare.as<uint64_t>(), n, place_bits, place_bits + low_bits);
  if (low_bits == bits) return LaunchForEach(ctx, n, TakePlaces{places, sorted, nullptr, mask});
  const Scratch more = ctx.Allocate<uint64_t>(n), other = ctx.Allocate<uint64_t>(n);
  LaunchForEach(ctx, n, WriteHighKeys{more.as<uint64_t>(), sorted, keys, place_bits, low_bits, mask});
  const uint64_t* const again =
      SortWords(ctx, more.as<uint64_t>(), other.as<uint64_t>(), n, place_bits, place_bits + bits - low_bits);
  LaunchForEach(ctx, n, TakePlaces{places, again, sorted, mask});
}

}  // namespace

template <typename T>
void Permutation(Context& ctx, View y, RandomState* state) {
  const int64_t n = y.numel;
  if (n == 0) return;
  const int bits = KeyBits(n);
  const DrawPlan plan(ctx.device.index, n, PlaceKeys::kNumbers);
  const Seed seed = NextSeedOf(ctx, state, plan.used());
  const uint64_t range = bits <= 32 ? ~uint32_t{0} : ~uint64_t{0};
  const PlaceKeys keys{seed, plan, range, ~uint64_t{0} >> (64 - bits)};
  const Seed shuffle = NextSeedOf(ctx, state, static_cast<uint64_t>(n));
  const Scratch places = ctx.Allocate<uint64_t>(n);
  SortPlaces(ctx, places.as<uint64_t>(), n, keys, bits);
  LaunchForEach(ctx, n, WritePlaces<T>{y.as<T>(), places.as<uint64_t>(), n, keys, shuffle});
}
DRAGON_KERNEL(Permutation, Real);

}  // namespace dragon::DRAGON_DEVICE
