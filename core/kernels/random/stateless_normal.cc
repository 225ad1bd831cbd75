// Normal numbers of Philox streams: Box and Muller's formula with the C library's logarithm and sine, in vector loops.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/device/parallel.h"
#include "core/kernels/random/draws.h"
#include "core/kernels/random/philox.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr int kBlocks = 128;     // of the stream at a time
constexpr int64_t kGroups = 16;  // times kBlocks, worth a thread

// The logarithm and the sine below take the steps, in double, of the C library's (those of Arm's optimized routines),
// so that numbers agree to the last bit with programs that call it one number at a time.

alignas(64) constexpr double kInverse[16] = {
    0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0, 0x1.30d190c8864a5p+0,
    0x1.25e227b0b8eap+0,  0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0, 0x1.0953f419900a7p+0, 0x1p+0,
    0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,  0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1,
    0x1.767dcf5534862p-1};
alignas(64) constexpr double kLogarithm[16] = {
    -0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2, -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3, -0x1.6574f0ac07758p-3,
    -0x1.1aa2bc79c81p-3,   -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4, -0x1.252f438e10c1ep-5, 0x0p+0,
    0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,  0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,   0x1.1058bc8a07ee1p-2,
    0x1.4043057b6ee09p-2};

/// log(x) for positive normal x.
inline float LogOf(float x) {
  const auto word = bits::Cast<uint32_t>(x);
  const uint32_t from = word - 0x3F330000u;
  const uint32_t part = from >> 19 & 15u;
  const int32_t exponent = static_cast<int32_t>(from) >> 23;
  const double z = bits::Cast<float>(word - (from & 0xFF800000u));
  const double r = z * kInverse[part] - 1.0;
  const double start = kLogarithm[part] + exponent * 0x1.62e42fefa39efp-1;
  const double square = r * r;
  double y = 0x1.5575b0be00b6ap-2 * r + -0x1.ffffef20a4123p-2;
  y = -0x1.00ea348b88334p-2 * square + y;
  y = y * square + (start + r);
  return static_cast<float>(y);
}

/// Sine and cosine of an angle in [0, 2 pi].
inline void SinCosOf(float angle, float& sine, float& cosine) {
  double x = angle;
  const int32_t quarter = (static_cast<int32_t>(x * 0x1.45F306DC9C883p+23) + 0x800000) >> 24;
  x = x - quarter * 0x1.921FB54442D18p0;
  const double square = x * x;
  // Quarters 1 and 2 turn the sine's sign, 2 and 3 the cosine's.
  x = (quarter + 1) & 2 ? -x : x;
  const double sign = quarter & 2 ? -1.0 : 1.0;
  const double fourth = square * square, cube = square * x;
  const double c2 = sign * -0x1.6c087e89a359dp-10 + square * (sign * 0x1.99343027bf8c3p-16);
  const double s1 = 0x1.1107605230bc4p-7 + square * -0x1.994eb3774cf24p-13;
  const double c1 = sign + square * (sign * -0x1.ffffffd0c621cp-2);
  const double fifth = cube * square, sixth = fourth * square;
  const double s = x + cube * -0x1.555545995a603p-3;
  const double c = c1 + fourth * (sign * 0x1.55553e1068f19p-5);
  const auto first = static_cast<float>(s + fifth * s1), second = static_cast<float>(c + sixth * c2);
  sine = quarter & 1 ? second : first;
  cosine = quarter & 1 ? first : second;
}

/// Two normal numbers of two words.
inline void BoxMuller(uint32_t word0, uint32_t word1, float& first, float& second) {
  float u = UnitOf(word0);
  u = u < 1.0e-7f ? 1.0e-7f : u;
  const auto angle = static_cast<float>(2.0 * std::numbers::pi * static_cast<double>(UnitOf(word1)));
  const float radius = std::sqrt(-2.0f * LogOf(u));
  float sine, cosine;
  SinCosOf(angle, sine, cosine);
  first = sine * radius, second = cosine * radius;
}

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

constexpr uint64_t kReserved = 256;  // blocks for every four words of results

/// The four numbers of a group, drawn until four are within two standard deviations.
void Truncated(const Philox& stream, uint64_t group, float* numbers) {
  PhiloxWords next(stream, group * kReserved);
  for (int found = 0; found < 4;) {
    const uint32_t word0 = next(), word1 = next();
    float pair[2];
    BoxMuller(word0, word1, pair[0], pair[1]);
    for (int i = 0; i < 2 && found < 4; ++i) {
      if (std::abs(pair[i]) < 2.0f) numbers[found++] = pair[i];
    }
  }
}
/// The two doubles of a group.
void Truncated(const Philox& stream, uint64_t group, double* numbers) {
  for (uint64_t block = group * kReserved / 2, found = 0; found < 2; ++block) {
    const Philox::Words words = stream.Block(block);
    double pair[2];
    NormalPair(words.data(), pair[0], pair[1]);
    for (int i = 0; i < 2 && found < 2; ++i) {
      if (std::abs(pair[i]) < 2.0) numbers[found++] = pair[i];
    }
  }
}

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
