// The weights of TensorFlow's ways to resize: kernels about the centers of pixels, cut at the borders and made to sum
// to one there.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/kernels/vision/taps.h"

namespace dragon::DRAGON_DEVICE {

namespace {

constexpr float kSincEpsilon = 1e-20f;

float RoundedSinc(float x) {
  const float angle = std::numbers::pi_v<float> * (x == 0 ? kSincEpsilon : x);
  return std::sin(angle) / angle;
}

template <typename F>
F KeysHalf(F x) {
  if (x < 1) return ((F(1.5) * x - F(2.5)) * x) * x + 1;
  return x < 2 ? ((F(-0.5) * x + F(2.5)) * x - 4) * x + 2 : F(0);
}

/// D. Mitchell and A. Netravali, "Reconstruction filters in computer graphics", 1988, with B = C = 1/3.
float Mitchell(float x) {
  if (x < 1) return (7 * x - 12) * x * x / 6 + 16.0f / 18;
  return x < 2 ? (((-7.0f / 18) * x + 2) * x - 10.0f / 3) * x + 16.0f / 9 : 0.0f;
}

float Triangle(float x) { return std::max(0.0f, 1 - x); }
float Gaussian(float x) { return x < 1.5f ? std::exp(-2 * x * x) : 0.0f; }
float Box(float x) { return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f; }
template <int kReach>
float Lanczos(float x) {
  return x < kReach ? RoundedSinc(x) * RoundedSinc(x / kReach) : 0.0f;
}

struct CenteredKernel {
  float reach;
  float (*weigh)(float);
};

CenteredKernel KernelOf(ResampleMode mode) {
  switch (mode) {
    case ResampleMode::kTriangle:
      return {1, &Triangle};
    case ResampleMode::kMitchell:
      return {2, &Mitchell};
    case ResampleMode::kGaussian:
      return {1.5f, &Gaussian};
    case ResampleMode::kBox:
      return {1, &Box};
    case ResampleMode::kLanczos1:
      return {1, &Lanczos<1>};
    case ResampleMode::kLanczos3:
      return {3, &Lanczos<3>};
    case ResampleMode::kLanczos5:
      return {5, &Lanczos<5>};
    default:
      return {2, &KeysHalf<float>};
  }
}

/// Add the weights of elements from `first` on, divided by their sum; those of nothing are left out.
template <typename T>
void AddNormalized(Taps<T>* taps, int64_t first, const std::vector<double>& weights) {
  constexpr double kNothing = 1000 * std::numeric_limits<float>::min();
  double total = 0;
  for (double weight : weights) total += weight;
  if (std::fabs(total) < kNothing) return;
  for (size_t k = 0; k < weights.size(); ++k) {
    if (weights[k] != 0) taps->Add(first + static_cast<int64_t>(k), static_cast<T>(weights[k] / total));
  }
}

/// A kernel is asked in single precision, which decides what is just within its reach. Results are `step` apart, and
/// the places before the first one are `shift`ed.
template <typename T>
Taps<T> KernelTaps(ResampleMode mode, bool antialias, float step, float shift, int64_t in, int64_t out) {
  const CenteredKernel kernel = KernelOf(mode);
  const float wide = antialias ? std::max(step, 1.0f) : 1.0f, narrow = 1 / wide, size = static_cast<float>(in);
  Taps<T> taps;
  std::vector<double> weights;
  for (int64_t i = 0; i < out; ++i, taps.EndRow()) {
    const float center = (static_cast<float>(i) + 0.5f) * step + shift, reach = kernel.reach * wide + 1;
    if (!(center >= 0 && center <= size)) continue;
    const auto first = static_cast<int64_t>(std::clamp(std::floor(center - reach), 0.0f, size - 1));
    const auto last = std::min(static_cast<int64_t>(std::min(std::ceil(center + reach), size)), in);
    weights.clear();
    for (int64_t j = first; j < last; ++j) {
      weights.push_back(kernel.weigh(std::fabs(static_cast<float>(j) + 0.5f - center) * narrow));
    }
    AddNormalized(&taps, first, weights);
  }
  return taps;
}

/// Keys' kernel with a = -1/2, known at so many places between two elements.
template <typename T>
Taps<T> TabledKeysTaps(int64_t in, int64_t out) {
  constexpr double kTable = 1024;
  const double step = static_cast<double>(in) / static_cast<double>(out);
  Taps<T> taps;
  std::vector<double> weights;
  for (int64_t i = 0; i < out; ++i, taps.EndRow()) {
    const double place = (static_cast<double>(i) + 0.5) * step - 0.5, low = std::floor(place);
    const double part = std::nearbyint((place - low) * kTable) / kTable;
    const int64_t first = static_cast<int64_t>(low) - 1, begin = std::max<int64_t>(first, 0);
    weights.clear();
    for (int64_t j = begin; j < std::min<int64_t>(first + 4, in); ++j) {
      weights.push_back(KeysHalf(std::fabs(static_cast<double>(j - first - 1) - part)));
    }
    AddNormalized(&taps, begin, weights);
  }
  return taps;
}

/// Each element counts by how much of it a result covers.
template <typename T>
Taps<T> CoverageTaps(int64_t in, int64_t out) {
  const double step = static_cast<double>(in) / static_cast<double>(out);
  Taps<T> taps;
  for (int64_t i = 0; i < out; ++i, taps.EndRow()) {
    const double begin = static_cast<double>(i) * step, end = begin + step;
    for (auto j = static_cast<int64_t>(begin); j < in && static_cast<double>(j) < end; ++j) {
      const double covered = std::min(end, static_cast<double>(j + 1)) - std::max(begin, static_cast<double>(j));
      if (covered > 0) taps.Add(j, static_cast<T>(covered / step));
    }
  }
  return taps;
}

template <typename T>
Taps<T> NearestCenterTaps(int64_t in, int64_t out) {
  const auto step = static_cast<float>(static_cast<double>(in) / static_cast<double>(out));
  Taps<T> taps;
  for (int64_t i = 0; i < out; ++i, taps.EndRow()) {
    const auto at = static_cast<int64_t>(std::floor((static_cast<float>(i) + 0.5f) * step));
    taps.Add(std::min(at, in - 1), T(1));
  }
  return taps;
}

}  // namespace

template <typename T>
Taps<T> MakeCenteredTaps(ResampleMode mode, bool antialias, int64_t in, int64_t out) {
  if (mode == ResampleMode::kNearestCenter) return NearestCenterTaps<T>(in, out);
  if (mode == ResampleMode::kCoverage) return CoverageTaps<T>(in, out);
  if (mode == ResampleMode::kKeys && !antialias) return TabledKeysTaps<T>(in, out);
  const float step = 1 / (static_cast<float>(out) / static_cast<float>(in));
  return KernelTaps<T>(mode, antialias, step, 0, in, out);
}

template <typename T>
Taps<T> MakePlacedTaps(ResampleMode mode, bool antialias, double scale, double move, int64_t in, int64_t out) {
  const float step = 1 / static_cast<float>(scale), shift = -step * static_cast<float>(move);
  return KernelTaps<T>(mode, antialias, step, shift, in, out);
}

template Taps<float> MakeCenteredTaps<float>(ResampleMode, bool, int64_t, int64_t);
template Taps<double> MakeCenteredTaps<double>(ResampleMode, bool, int64_t, int64_t);
template Taps<float> MakePlacedTaps<float>(ResampleMode, bool, double, double, int64_t, int64_t);
template Taps<double> MakePlacedTaps<double>(ResampleMode, bool, double, double, int64_t, int64_t);

}  // namespace dragon::DRAGON_DEVICE
