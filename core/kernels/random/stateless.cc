// Uniform numbers and integers of Philox streams, as TensorFlow makes them: blocks of the stream in parallel.
#include <algorithm>

#include "core/device/parallel.h"
#include "core/kernels/random/draws.h"
#include "core/kernels/random/philox.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kBlocks = 256;     // of the stream at a time
constexpr int64_t kGroups = 16;  // times kBlocks, worth a thread

/// Call `body(begin, count, words)` for pieces of `y`, in parallel; `per_block` numbers are made of a block.
template <typename F>
void EachPiece(int64_t numel, int per_block, const Philox& stream, F body) {
  const int64_t piece = static_cast<int64_t>(kBlocks) * per_block;
  ParallelFor((numel + piece - 1) / piece, kGroups, [&](int64_t first, int64_t last) {
    uint32_t words[4 * kBlocks];
    for (int64_t i = first; i < last; ++i) {
      stream.Blocks(static_cast<uint64_t>(i) * kBlocks, kBlocks, words);
      body(i * piece, std::min(piece, numel - i * piece), words);
    }
  });
}

/// Write up to 4 * kBlocks numbers that lie word by word, in the order of the stream.
template <typename T, typename S>
void Interleave4(const S* numbers, T* out, int64_t count) {
  const int64_t whole = count / 4;
#pragma omp simd
  for (int64_t i = 0; i < whole; ++i) {
    out[4 * i] = static_cast<T>(numbers[i]), out[4 * i + 1] = static_cast<T>(numbers[kBlocks + i]);
    out[4 * i + 2] = static_cast<T>(numbers[2 * kBlocks + i]),
                out[4 * i + 3] = static_cast<T>(numbers[3 * kBlocks + i]);
  }
  for (int64_t i = 4 * whole; i < count; ++i) out[i] = static_cast<T>(numbers[(i % 4) * kBlocks + whole]);
}

/// Halves have 10 or 7 bits, of the lower 16 of a word.
template <typename T>
inline float HalfUnitOf(uint32_t word) {
  constexpr uint32_t kMask = std::is_same_v<T, float16> ? 0x3FFu : 0x7Fu;
  constexpr float kStep = std::is_same_v<T, float16> ? 0x1p-10f : 0x1p-7f;
  return static_cast<float>(static_cast<int32_t>(word & kMask)) * kStep;
}

}  // namespace

template <typename T>
void StatelessUniform(Context& ctx, View y, const Philox& stream, double low, double high) {
  T* const out = y.as<T>();
  using W = Wide<T>;
  const W from = static_cast<W>(static_cast<T>(static_cast<W>(low)));
  const W range = static_cast<W>(static_cast<T>(static_cast<W>(static_cast<T>(static_cast<W>(high))) - from));
  const bool plain = from == 0 && range == 1;
  if constexpr (std::is_same_v<T, double>) {
    EachPiece(y.numel, 2, stream, [=](int64_t begin, int64_t count, const uint32_t* words) {
      double numbers[2 * kBlocks];
#pragma omp simd
      for (int i = 0; i < kBlocks; ++i) {
        numbers[2 * i] = UnitOf(words[i], words[kBlocks + i]);
        numbers[2 * i + 1] = UnitOf(words[2 * kBlocks + i], words[3 * kBlocks + i]);
      }
      // Product and sum are rounded one after the other: in loops of their own they are not fused.
      if (!plain) {
        for (double& number : numbers) number *= range;
        asm volatile("" : : "r"(numbers) : "memory");
        for (double& number : numbers) number += from;
      }
      std::copy_n(numbers, count, out + begin);
    });
  } else {
    EachPiece(y.numel, 4, stream, [=](int64_t begin, int64_t count, const uint32_t* words) {
      W numbers[4 * kBlocks];
#pragma omp simd
      for (int i = 0; i < 4 * kBlocks; ++i) {
        if constexpr (std::is_same_v<T, float>) {
          numbers[i] = UnitOf(words[i]);
        } else {
          numbers[i] = HalfUnitOf<T>(words[i]);
        }
      }
      if (!plain) {
        for (W& number : numbers) number = static_cast<W>(static_cast<T>(number * range));
        asm volatile("" : : "r"(numbers) : "memory");
        for (W& number : numbers) number += from;
      }
      Interleave4(numbers, out + begin, count);
    });
  }
}
DRAGON_KERNEL(StatelessUniform, Floating);

template <typename T>
void StatelessIntegers(Context& ctx, View y, const Philox& stream, int64_t low, uint64_t range) {
  T* const out = y.as<T>();
  if constexpr (std::is_same_v<T, int32_t>) {
    const auto size = static_cast<uint32_t>(range);
    EachPiece(y.numel, 4, stream, [=](int64_t begin, int64_t count, uint32_t* words) {
      if (size != 0) {
        const double inverse = 1.0 / size;
#pragma omp simd
        for (int i = 0; i < 4 * kBlocks; ++i) {
          // The remainder by way of a quotient that is off by one at most: vectors have no integer division.
          const int64_t word = words[i];
          int64_t rest = word - static_cast<int64_t>(static_cast<double>(word) * inverse) * size;
          rest += rest < 0 ? size : 0;
          rest -= rest >= size ? size : 0;
          words[i] = static_cast<uint32_t>(rest) + static_cast<uint32_t>(low);
        }
      }
      Interleave4(words, out + begin, count);
    });
  } else {
    EachPiece(y.numel, 2, stream, [=](int64_t begin, int64_t count, const uint32_t* words) {
      for (int64_t i = 0; i < count; ++i) {
        const uint32_t* const pair = words + i % 2 * 2 * kBlocks + i / 2;
        const uint64_t number = static_cast<uint64_t>(pair[kBlocks]) << 32 | pair[0];
        out[begin + i] = static_cast<T>(range ? number % range + static_cast<uint64_t>(low) : number);
      }
    });
  }
}
using WholeNumbers = TypeList<int32_t, int64_t>;
DRAGON_KERNEL(StatelessIntegers, DRAGON_DEVICE::WholeNumbers);

}  // namespace dragon::DRAGON_DEVICE
