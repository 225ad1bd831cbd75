// Normal numbers of Philox streams: Box and Muller's formula with the C library's logarithm and sine, in vector loops.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/device/parallel.h"
#include "core/kernels/random/box_muller.h"
#include "core/kernels/random/philox.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kBlocks = 128;     // of the stream at a time
constexpr int64_t kGroups = 16;  // times kBlocks, worth a thread

/// Scale and move numbers, rounding each time.
template <typename T>
void Place(T* numbers, int64_t count, double mean, double std) {
  using W = Wide<T>;
  const W factor = static_cast<W>(static_cast<T>(static_cast<W>(std)));
  const W shift = static_cast<W>(static_cast<T>(static_cast<W>(mean)));
  if (factor != 1) {
    for (int64_t i = 0; i < count; ++i) numbers[i] = static_cast<T>(static_cast<W>(numbers[i]) * factor);
    asm volatile("" : : "r"(numbers) : "memory");
  }
  if (shift != 0) {
    for (int64_t i = 0; i < count; ++i) numbers[i] = static_cast<T>(static_cast<W>(numbers[i]) + shift);
  }
}

/// Normal numbers of kBlocks blocks, whose words lie word by word: number w of block i at numbers[w * kBlocks + i].
void NormalsOf(const uint32_t* words, float* numbers) {
#pragma omp simd
  for (int i = 0; i < kBlocks; ++i) {
    BoxMuller(words[i], words[kBlocks + i], numbers[i], numbers[kBlocks + i]);
    BoxMuller(words[2 * kBlocks + i], words[3 * kBlocks + i], numbers[2 * kBlocks + i], numbers[3 * kBlocks + i]);
  }
}

/// Call `body(group)` for all groups of blocks, in parallel.
template <typename F>
void EachGroup(int64_t numel, int per_block, F body) {
  const int64_t piece = static_cast<int64_t>(kBlocks) * per_block;
  ParallelFor((numel + piece - 1) / piece, kGroups, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) body(i * piece, std::min(piece, numel - i * piece));
  });
}

}  // namespace

template <typename T>
void StatelessNormal(Context& ctx, View y, const Philox& stream, double mean, double std) {
  T* const out = y.as<T>();
  if constexpr (std::is_same_v<T, double>) {
    EachGroup(y.numel, 2, [=, &stream](int64_t begin, int64_t count) {
      for (int64_t i = 0; i < count; i += 2) {
        const Philox::Words words = stream.Block(static_cast<uint64_t>(begin + i) / 2);
        double second;
        NormalPair(words.data(), out[begin + i], second);
        if (i + 1 < count) out[begin + i + 1] = second;
      }
      Place(out + begin, count, mean, std);
    });
  } else {
    EachGroup(y.numel, 4, [=, &stream](int64_t begin, int64_t count) {
      uint32_t words[4 * kBlocks];
      float numbers[4 * kBlocks];
      stream.Blocks(static_cast<uint64_t>(begin) / 4, kBlocks, words);
      NormalsOf(words, numbers);
      for (int64_t i = 0; i < count; ++i) out[begin + i] = static_cast<T>(numbers[i % 4 * kBlocks + i / 4]);
      Place(out + begin, count, mean, std);
    });
  }
}
DRAGON_KERNEL(StatelessNormal, Floating);

namespace {

/// The first blocks of kBlocks groups at once: most groups need no other.
void TruncatedGroups(const Philox& stream, uint64_t first, int64_t groups, float* numbers) {
  uint32_t words[4 * kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    const Philox::Words block = stream.Block((first + static_cast<uint64_t>(i)) * kReserved);
    for (int w = 0; w < 4; ++w) words[w * kBlocks + i] = block[w];
  }
  float normals[4 * kBlocks];
  NormalsOf(words, normals);
  for (int i = 0; i < groups; ++i) {
    bool within = true;
    for (int w = 0; w < 4; ++w) {
      numbers[4 * i + w] = normals[w * kBlocks + i];
      within &= std::abs(normals[w * kBlocks + i]) < 2.0f;
    }
    if (!within) Truncated(stream, first + static_cast<uint64_t>(i), numbers + 4 * i);
  }
}

}  // namespace

template <typename T>
void StatelessTruncatedNormal(Context& ctx, View y, const Philox& stream, double mean, double std) {
  T* const out = y.as<T>();
  if constexpr (std::is_same_v<T, double>) {
    EachGroup(y.numel, 2, [=, &stream](int64_t begin, int64_t count) {
      for (int64_t i = 0; i < count; i += 2) {
        double pair[2];
        Truncated(stream, static_cast<uint64_t>(begin + i) / 2, pair);
        std::copy_n(pair, std::min<int64_t>(2, count - i), out + begin + i);
      }
      Place(out + begin, count, mean, std);
    });
  } else {
    EachGroup(y.numel, 4, [=, &stream](int64_t begin, int64_t count) {
      float numbers[4 * kBlocks];
      TruncatedGroups(stream, static_cast<uint64_t>(begin) / 4, (count + 3) / 4, numbers);
      for (int64_t i = 0; i < count; ++i) out[begin + i] = static_cast<T>(numbers[i]);
      Place(out + begin, count, mean, std);
    });
  }
}
DRAGON_KERNEL(StatelessTruncatedNormal, Floating);

}  // namespace dragon::DRAGON_DEVICE
