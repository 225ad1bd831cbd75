// Filters, and how results are made of the samples below them.
#include "core/io/picture_taps.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

namespace dragon {

namespace {

constexpr size_t kMostKept = 512, kLargestKept = 65536;

double Sinc(double x) {
  if (x == 0) return 1;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

/// R. Keys' cubic convolution (IEEE Trans. ASSP 29, 1981) with a = -1/2.
double Cubic(double x) {
  constexpr double kSharpness = -0.5;
  x = std::fabs(x);
  if (x < 1) return ((kSharpness + 2) * x - (kSharpness + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * kSharpness;
  return 0;
}

double SupportOf(PictureFilter filter) {
  switch (filter) {
    case PictureFilter::kBilinear:
    case PictureFilter::kHamming:
      return 1;
    case PictureFilter::kBicubic:
      return 2;
    case PictureFilter::kLanczos:
      return 3;
    default:
      return 0.5;
  }
}

double ValueOf(PictureFilter filter, double x) {
  switch (filter) {
    case PictureFilter::kBox:
      return x > -0.5 && x <= 0.5 ? 1 : 0;
    case PictureFilter::kBilinear:
      return std::max(0.0, 1 - std::fabs(x));
    case PictureFilter::kHamming:
      return std::fabs(x) < 1 ? Sinc(x) * (0.54 + 0.46 * std::cos(std::numbers::pi * x)) : 0;
    case PictureFilter::kBicubic:
      return Cubic(x);
    case PictureFilter::kLanczos:
      return x >= -3 && x < 3 ? Sinc(x) * Sinc(x / 3) : 0;
    default:
      return 0;
  }
}

/// Sums of products with samples of 8 bits are of 30 bits then, and a little more below zero.
int32_t ToFixed(double weight) { return static_cast<int32_t>(weight * (1 << kTapBits) + (weight < 0 ? -0.5 : 0.5)); }

void AddNearest(const PictureAxis& axis, PictureWeights* made) {
  const double step = (axis.end - axis.begin) / axis.out;
  double at = axis.begin + step * 0.5;  // summed up, as Pillow does: a neighbour may hang on the last bit
  for (int i = 0; i < axis.out; ++i, at += step) {
    made->first[i] = std::clamp(static_cast<int>(std::floor(at)), 0, axis.in - 1);
    made->weights[i] = 1 << kTapBits;
  }
}

void AddFiltered(const PictureAxis& axis, PictureWeights* made) {
  const double step = (axis.end - axis.begin) / axis.out, stretch = axis.antialias ? std::max(step, 1.0) : 1.0;
  const double support = SupportOf(axis.filter) * stretch, narrow = 1 / stretch;
  std::vector<int> last(static_cast<size_t>(axis.out));
  for (int i = 0; i < axis.out; ++i) {
    const double center = axis.begin + (i + 0.5) * step;
    made->first[i] = std::clamp(static_cast<int>(center - support + 0.5), 0, axis.in - 1);
    last[i] = std::clamp(static_cast<int>(center + support + 0.5), made->first[i] + 1, axis.in);
    made->most = std::max(made->most, last[i] - made->first[i]);
  }
  made->weights.resize(static_cast<size_t>(axis.out) * made->most);
  std::vector<double> row(static_cast<size_t>(made->most));
  for (int i = 0; i < axis.out; ++i) {
    const double center = axis.begin + (i + 0.5) * step;
    const int first = made->first[i], count = last[i] - first;
    double total = 0;
    for (int k = 0; k < count; ++k) total += row[k] = ValueOf(axis.filter, (first + k - center + 0.5) * narrow);
    // Where fewer samples count, others get no weight; near the end those before.
    made->first[i] = std::min(first, axis.in - made->most);
    int32_t* weights = made->weights.data() + int64_t{i} * made->most + (first - made->first[i]);
    for (int k = 0; k < count; ++k) weights[k] = ToFixed(total == 0 ? row[k] : row[k] / total);
  }
}

void SpreadWeights(PictureWeights* made) {
  const int32_t most = made->most, even = most + most % 2;
  made->spread.resize(made->first.size() * 4 * even);
  for (size_t i = 0; i < made->first.size(); ++i) {
    for (int32_t k = 0; k < most; ++k) std::fill_n(&made->spread[(i * even + k) * 4], 4, made->weights[i * most + k]);
  }
}

std::shared_ptr<const PictureWeights> MakeWeights(const PictureAxis& axis) {
  auto made = std::make_shared<PictureWeights>();
  made->first.resize(static_cast<size_t>(axis.out));
  if (axis.filter == PictureFilter::kNearest) {
    made->most = 1;
    made->weights.resize(static_cast<size_t>(axis.out));
    AddNearest(axis, made.get());
  } else {
    AddFiltered(axis, made.get());
  }
  SpreadWeights(made.get());
  return made;
}

struct AxisHash {
  size_t operator()(const PictureAxis& axis) const {
    size_t hash = static_cast<size_t>(axis.filter) * 2 + axis.antialias;
    for (size_t part : {static_cast<size_t>(axis.in), static_cast<size_t>(axis.out), std::hash<double>()(axis.begin),
                        std::hash<double>()(axis.end)}) {
      hash = hash * 1099511628211u + part;
    }
    return hash;
  }
};

}  // namespace

std::shared_ptr<const PictureWeights> WeightsOf(const PictureAxis& axis) {
  thread_local std::unordered_map<PictureAxis, std::shared_ptr<const PictureWeights>, AxisHash> kept;
  if (const auto found = kept.find(axis); found != kept.end()) return found->second;
  auto made = MakeWeights(axis);
  if (kept.size() >= kMostKept) kept.clear();
  if (made->weights.size() <= kLargestKept) kept.emplace(axis, made);
  return made;
}

}  // namespace dragon
