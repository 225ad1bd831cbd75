// Philox: a counter, a key and ten rounds of multiplications; every block of four words is had without those before it.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/macros.h"
#include "core/kernels/kernel.h"

namespace dragon {

/// A stream of 32-bit words, four to a block: the i-th block is a function of key, counter and i.
class Philox {
 public:
  using Words = std::array<uint32_t, 4>;

  DRAGON_FN Philox(uint32_t key0, uint32_t key1, Words counter) : counter_(counter), key0_(key0), key1_(key1) {}

  /// The stream of a seed: both words are scrambled, so that seeds may be as plain as 0 and 1.
  static Philox OfSeed(uint64_t first, uint64_t second) {
    const Words counter{static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32), static_cast<uint32_t>(second),
                        static_cast<uint32_t>(second >> 32)};
    const Words mix = Philox(0x3ec8f720u, 0x02461e29u, counter).Block(0);
    return Philox(mix[0], mix[1], {0, 0, mix[2], mix[3]});
  }

  /// Block `index`; the counter has 128 bits.
  DRAGON_FN Words Block(uint64_t index) const {
    Words words = At(index);
    Rounds(words[0], words[1], words[2], words[3]);
    return words;
  }

  /// Blocks `first` ... `first + count - 1`, word by word: words[w * count + i] is word w of block i.
  void Blocks(uint64_t first, int count, uint32_t* words) const {
    uint32_t *const w0 = words, *const w1 = words + count, *const w2 = words + 2 * count, *const w3 = words + 3 * count;
    for (int i = 0; i < count; ++i) {
      const Words start = At(first + static_cast<uint64_t>(i));
      w0[i] = start[0], w1[i] = start[1], w2[i] = start[2], w3[i] = start[3];
    }
#pragma omp simd
    for (int i = 0; i < count; ++i) {
      uint32_t a = w0[i], b = w1[i], c = w2[i], d = w3[i];
      Rounds(a, b, c, d);
      w0[i] = a, w1[i] = b, w2[i] = c, w3[i] = d;
    }
  }

 private:
  DRAGON_FN Words At(uint64_t index) const {
    const uint64_t low = (static_cast<uint64_t>(counter_[1]) << 32 | counter_[0]) + index;
    const uint64_t high = (static_cast<uint64_t>(counter_[3]) << 32 | counter_[2]) + (low < index ? 1 : 0);
    return {static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
            static_cast<uint32_t>(high >> 32)};
  }
  DRAGON_FN void Rounds(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) const {
    uint32_t key0 = key0_, key1 = key1_;
#if defined(__CUDA_ARCH__)
#pragma unroll
#else
#pragma GCC unroll 10
#endif
    for (int round = 0; round < 10; ++round) {
      const uint64_t first = static_cast<uint64_t>(a) * 0xD2511F53u, second = static_cast<uint64_t>(c) * 0xCD9E8D57u;
      a = static_cast<uint32_t>(second >> 32) ^ b ^ key0, b = static_cast<uint32_t>(second);
      c = static_cast<uint32_t>(first >> 32) ^ d ^ key1, d = static_cast<uint32_t>(first);
      key0 += 0x9E3779B9u, key1 += 0xBB67AE85u;
    }
  }

  Words counter_;
  uint32_t key0_, key1_;
};

/// Words of a Philox stream, one after the other.
class PhiloxWords {
 public:
  DRAGON_FN PhiloxWords(const Philox& stream, uint64_t block) : stream_(stream), block_(block) {}
  DRAGON_FN uint32_t operator()() {
    if (used_ == 4) words_ = stream_.Block(block_++), used_ = 0;
    return words_[used_++];
  }

 private:
  const Philox& stream_;
  Philox::Words words_{};
  uint64_t block_;
  int used_ = 4;
};

namespace kernels {

/// y = uniform in [low, high): number i is made of word i of the stream (pairs of words for 64-bit numbers).
inline const Kernel<void(View y, const Philox& stream, double low, double high)> StatelessUniform{"stateless_uniform"};
/// y = integers: low + word % range; range 0 stands for all numbers of the dtype.
inline const Kernel<void(View y, const Philox& stream, int64_t low, uint64_t range)> StatelessIntegers{
    "stateless_integers"};
/// y = normal numbers, by Box and Muller's formula of pairs of words.
inline const Kernel<void(View y, const Philox& stream, double mean, double std)> StatelessNormal{"stateless_normal"};
/// y = normal numbers of at most two standard deviations; every four numbers have 256 blocks of their own.
inline const Kernel<void(View y, const Philox& stream, double mean, double std)> StatelessTruncatedNormal{
    "stateless_truncated_normal"};
/// y[s, i] = gamma numbers of shape alpha[i]; every number has 256 blocks of its own.
inline const Kernel<void(View y, View alpha, const Philox& stream)> StatelessGamma{"stateless_gamma"};
/// y[b, s] = categories drawn by the exponentials of logits[b, :].
inline const Kernel<void(View y, View logits, const Philox& stream)> StatelessCategorical{"stateless_categorical"};
/// y[i] = successes in count[i] trials of probability p[i]; every number has blocks of its own.
inline const Kernel<void(View y, View count, View p, const Philox& stream)> StatelessBinomial{"stateless_binomial"};

}  // namespace kernels
}  // namespace dragon
