// The Mersenne Twister of Matsumoto and Nishimura, 32 bits wide, drawn in the order PyTorch draws it on the CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/macros.h"

namespace dragon {

class Mt19937 {
 public:
  static constexpr int kSize = 624;
  static constexpr uint64_t kDefaultSeed = 5489;

  explicit Mt19937(uint64_t seed = kDefaultSeed) { Seed(seed); }

  /// The generator itself knows 32 bits of the seed.
  void Seed(uint64_t seed) {
    words_[0] = static_cast<uint32_t>(seed);
    for (uint32_t i = 1; i < kSize; ++i) words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
    next_ = kSize;
  }

  uint32_t operator()() {
    if (next_ == kSize) Twist();
    return Temper(words_[next_++]);
  }
  /// Two draws, the first one high.
  uint64_t Next64() {
    const uint64_t high = (*this)();
    return high << 32 | (*this)();
  }
  /// The same as `count` single draws, a vector at a time.
  void Fill(uint32_t* out, int64_t count) {
    while (count > 0) {
      if (next_ == kSize) Twist();
      const int take = static_cast<int>(std::min<int64_t>(count, kSize - next_));
      const uint32_t* const words = words_ + next_;
#pragma omp simd
      for (int i = 0; i < take; ++i) out[i] = Temper(words[i]);
      next_ += take, out += take, count -= take;
    }
  }

  /// The raw state: the words, and how many of them were drawn (624: all, the next draw makes new ones).
  const uint32_t* words() const { return words_; }
  uint32_t* words() { return words_; }
  int position() const { return next_; }
  void set_position(int position) { next_ = position; }

 private:
  static DRAGON_FN uint32_t Temper(uint32_t word) {
    word ^= word >> 11;
    word ^= word << 7 & 0x9D2C5680u;
    word ^= word << 15 & 0xEFC60000u;
    return word ^ word >> 18;
  }
  static DRAGON_FN uint32_t Mix(uint32_t high, uint32_t low, uint32_t far) {
    const uint32_t joined = (high & 0x80000000u) | (low & 0x7FFFFFFFu);
    return far ^ joined >> 1 ^ ((0u - (low & 1u)) & 0x9908B0DFu);
  }
  /// Make the next 624 words. What a step reads was either written 227 steps ago or not yet: safe for vectors.
  void Twist() {
    constexpr int kFar = 397;
#pragma omp simd
    for (int i = 0; i < kSize - kFar; ++i) words_[i] = Mix(words_[i], words_[i + 1], words_[i + kFar]);
#pragma omp simd safelen(64)
    for (int i = kSize - kFar; i < kSize - 1; ++i) {
      words_[i] = Mix(words_[i], words_[i + 1], words_[i + kFar - kSize]);
    }
    words_[kSize - 1] = Mix(words_[kSize - 1], words_[0], words_[kFar - 1]);
    next_ = 0;
  }

  uint32_t words_[kSize];
  int next_ = kSize;
};

class NotedDraws;

/// Where a device's numbers go on: they are Philox of the seed, counted from the offset, which every call raises.
struct DeviceCounter {
  uint64_t seed = 0, offset = 0;
};

/// The counters of all devices of one kind. One that was not asked for yet begins at the common seed.
class DeviceCounters {
 public:
  explicit DeviceCounters(uint64_t seed = Mt19937::kDefaultSeed) : seed_(seed) {}

  /// Start all of them anew.
  void Seed(uint64_t seed) { seed_ = seed, known_.clear(); }
  DeviceCounter& Of(int index) {
    const auto place = static_cast<size_t>(index);
    if (place >= known_.size()) known_.resize(place + 1, DeviceCounter{seed_, 0});
    return known_[place];
  }
  uint64_t seed() const { return seed_; }
  const std::vector<DeviceCounter>& known() const { return known_; }

 private:
  uint64_t seed_;
  std::vector<DeviceCounter> known_;  // by index
};

/// What a random kernel draws from: on the CPU the engine, and the second half of the last pair of normal numbers; on
/// a device its counter.
struct RandomState {
  Mt19937 engine;
  DeviceCounters devices;
  NotedDraws* noted = nullptr;  ///< the graph being noted down that draws from here whenever it runs
  double spare_normal = 0;
  bool has_spare_normal = false;

  /// Uniform in [0, 1) on a grid of 2^-53; two words.
  double Double() { return static_cast<double>(engine.Next64() & ((uint64_t{1} << 53) - 1)) * 0x1p-53; }
  /// Uniform in [0, 1) on a grid of 2^-24; one word.
  float Float() { return static_cast<float>(engine() & 0xFFFFFFu) * 0x1p-24f; }
};

}  // namespace dragon
