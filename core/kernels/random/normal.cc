// Normal numbers by Box and Muller: 16 uniforms become 16 normals, the first eight as radii, the last eight as angles.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/device/parallel.h"
#include "core/kernels/random.h"
#include "core/kernels/random/draws.h"

namespace dragon::DRAGON_DEVICE {

namespace {

// float32 uses the rational and polynomial approximations of Moshier's Cephes library, in the order of operations of
// the vector code PyTorch runs, so that the streams agree to the last bit; they are good to 2 ulp.

/// log(x) for positive normal x.
DRAGON_FN float LogOf(float x) {
  const auto word = bits::Cast<uint32_t>(x);
  float exponent = static_cast<float>(static_cast<int32_t>(word >> 23) - 0x7F) + 1.0f;
  float m = bits::Cast<float>((word & 0x807FFFFFu) | 0x3F000000u);  // in [0.5, 1)
  const bool low = m < 0.707106781186547524f;
  const float doubled = low ? m : 0.0f;
  m -= 1.0f;
  exponent -= low ? 1.0f : 0.0f;
  m += doubled;
  const float square = m * m;
  float y = 7.0376836292E-2f;
  y = std::fma(y, m, -1.1514610310E-1f);
  y = std::fma(y, m, 1.1676998740E-1f);
  y = std::fma(y, m, -1.2420140846E-1f);
  y = std::fma(y, m, 1.4249322787E-1f);
  y = std::fma(y, m, -1.6668057665E-1f);
  y = std::fma(y, m, 2.0000714765E-1f);
  y = std::fma(y, m, -2.4999993993E-1f);
  y = std::fma(y, m, 3.3333331174E-1f);
  y = y * m;
  y = std::fma(y, square, exponent * -2.12194440E-4f);
  y = std::fma(-0.5f, square, y);
  return std::fma(exponent, 0.693359375f, m + y);
}

/// The sine and cosine of an angle in [0, 2 pi].
DRAGON_FN void SinCosOf(float x, float& sine, float& cosine) {
  const int32_t octant = (static_cast<int32_t>(x * 1.27323954473516f) + 1) & ~1;
  const float turns = static_cast<float>(octant);
  float r = std::fma(turns, -0.78515625f, x);
  r = std::fma(turns, -2.4187564849853515625e-4f, r);
  r = std::fma(turns, -3.77489497744594108e-8f, r);
  const float square = r * r;
  float c = 2.443315711809948E-5f;
  c = std::fma(c, square, -1.388731625493765E-3f);
  c = std::fma(c, square, 4.166664568298827E-2f);
  c = c * square;
  c = std::fma(c, square, -(square * 0.5f)) + 1.0f;
  float s = -1.9515295891E-4f;
  s = std::fma(s, square, 8.3321608736E-3f);
  s = std::fma(s, square, -1.6666654611E-1f);
  s = s * square;
  s = std::fma(s, r, r);
  const bool swapped = (octant & 2) != 0;
  const float sine_sign = (octant & 4) ? -1.0f : 1.0f, cosine_sign = ((octant - 2) & 4) ? 1.0f : -1.0f;
  sine = (swapped ? c : s) * sine_sign;
  cosine = (swapped ? s : c) * cosine_sign;
}

/// Turn up to kGroups groups of 16 uniforms into normals, in place.
constexpr int kGroups = 64;

void BoxMuller(float* data, int groups, float mean, float std) {
  // Radii and angles side by side, so that a vector of any width finds its operands.
  float radii[8 * kGroups], angles[8 * kGroups];
  for (int g = 0; g < groups; ++g) {
    std::copy_n(data + 16 * g, 8, radii + 8 * g);
    std::copy_n(data + 16 * g + 8, 8, angles + 8 * g);
  }
#pragma omp simd
  for (int j = 0; j < 8 * groups; ++j) {
    const float radius = std::sqrt(-2.0f * LogOf(1.0f - radii[j]));
    float sine, cosine;
    SinCosOf(static_cast<float>(2.0 * std::numbers::pi) * angles[j], sine, cosine);
    radii[j] = std::fma(radius * cosine, std, mean);
    angles[j] = std::fma(radius * sine, std, mean);
  }
  for (int g = 0; g < groups; ++g) {
    std::copy_n(radii + 8 * g, 8, data + 16 * g);
    std::copy_n(angles + 8 * g, 8, data + 16 * g + 8);
  }
}

void BoxMuller(double* data, int groups, double mean, double std) {
  for (double* group = data; group < data + 16 * groups; group += 16) {
    for (int j = 0; j < 8; ++j) {
      const double radius = std::sqrt(-2.0 * std::log(1.0 - group[j]));
      const double angle = 2.0 * std::numbers::pi * group[j + 8];
      group[j] = std::fma(radius * std::cos(angle), std, mean);
      group[j + 8] = std::fma(radius * std::sin(angle), std, mean);
    }
  }
}

void DrawUniforms(float* to, int64_t count, RandomState* state) {
  uint32_t words[1024];
  for (int64_t begin = 0; begin < count; begin += 1024) {
    const int64_t size = std::min<int64_t>(1024, count - begin);
    state->engine.Fill(words, size);
#pragma omp simd
    for (int64_t i = 0; i < size; ++i) {
      to[begin + i] = static_cast<float>(static_cast<int32_t>(words[i] & 0xFFFFFFu)) * 0x1p-24f;
    }
  }
}

void DrawUniforms(double* to, int64_t count, RandomState* state) {
  for (int64_t i = 0; i < count; ++i) to[i] = state->Double();
}

/// The first `drawn` uniforms are drawn in order by this thread, then all whole groups become normal in parallel. If 16
/// does not divide the count, the last 16 are drawn anew.
template <typename T>
void Fill(T* data, int64_t numel, int64_t drawn, RandomState* state, T mean, T std) {
  DrawUniforms(data, drawn, state);
  const int64_t groups = numel / 16;
  ParallelFor((groups + kGroups - 1) / kGroups, 32, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin * kGroups; i < std::min(end * kGroups, groups); i += kGroups) {
      BoxMuller(data + 16 * i, static_cast<int>(std::min<int64_t>(kGroups, groups - i)), mean, std);
    }
  });
  if (numel % 16 == 0) return;
  DrawUniforms(data + numel - 16, 16, state);
  BoxMuller(data + numel - 16, 1, mean, std);
}

}  // namespace

template <typename T>
void Normal(Context& ctx, View y, RandomState* state, double mean, double std, bool one_by_one) {
  T* const out = y.as<T>();
  const int64_t n = y.numel;
  using W = Wide<T>;
  if (n < 16 || one_by_one) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(static_cast<W>(std::fma(NextNormal(state), std, mean)));
  } else if constexpr (std::is_same_v<T, W>) {
    Fill<T>(out, n, n, state, static_cast<T>(mean), static_cast<T>(std));
  } else {
    // Halves are drawn group by group: what is left over is drawn once, not twice.
    const Scratch wide = ctx.Allocate<float>(n);
    float* const data = wide.as<float>();
    Fill<float>(data, n, n / 16 * 16, state, static_cast<float>(mean), static_cast<float>(std));
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(data[i]);
  }
}
DRAGON_KERNEL(Normal, Floating);

}  // namespace dragon::DRAGON_DEVICE
