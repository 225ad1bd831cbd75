// The weights of nearest, linear, cubic, area and antialiased resampling.
#include "core/kernels/vision/taps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace dragon::DRAGON_DEVICE {

namespace {

/// How far apart, in input elements, two neighbouring results are.
template <typename T>
T StepOf(bool align_corners, double scale, int64_t in, int64_t out) {
  if (align_corners) return out > 1 ? static_cast<T>(in - 1) / static_cast<T>(out - 1) : T(0);
  return scale > 0 ? static_cast<T>(1.0 / scale) : static_cast<T>(in) / static_cast<T>(out);
}

/// R. Keys' cubic convolution kernel (IEEE Trans. ASSP 29, 1981) at distance x.
template <typename T>
T Keys(T x, T a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

template <typename T>
void NearestRow(Taps<T>* taps, T step, T shift, int64_t i, int64_t in) {
  const auto at = static_cast<int64_t>(std::floor((static_cast<T>(i) + shift) * step));
  taps->Add(std::clamp<int64_t>(at, 0, in - 1), T(1));
}

template <typename T>
void LinearRow(Taps<T>* taps, T position, int64_t i, int64_t in, int64_t out) {
  if (in == out) return taps->Add(i, T(1));
  position = std::max(position, T(0));
  const int64_t low = std::min(static_cast<int64_t>(position), in - 1), high = std::min(low + 1, in - 1);
  const T fraction = std::clamp(position - static_cast<T>(low), T(0), T(1));
  taps->Add(low, 1 - fraction);
  taps->Add(high, fraction);
}

template <typename T>
void CubicRow(Taps<T>* taps, T position, int64_t in) {
  constexpr T kSharpness = -0.75;
  const T floor = std::floor(position), fraction = position - floor;
  for (int k = -1; k <= 2; ++k) {
    const int64_t at = std::clamp<int64_t>(static_cast<int64_t>(floor) + k, 0, in - 1);
    taps->Add(at, Keys(fraction - static_cast<T>(k), kSharpness));
  }
}

/// A filter of antialiased resampling: how far it reaches, and its weight at distance x.
template <typename T>
struct Filter {
  T reach;
  T (*weigh)(T x);
};

template <typename T>
T Sinc(T x) {
  return x == 0 ? T(1) : std::sin(std::numbers::pi_v<T> * x) / (std::numbers::pi_v<T> * x);
}

template <typename T>
Filter<T> FilterOf(ResampleMode mode) {
  if (mode == ResampleMode::kLinearAntialias) return {1, [](T x) { return std::max(T(0), 1 - std::fabs(x)); }};
  if (mode == ResampleMode::kCubicAntialias) return {2, [](T x) { return Keys(x, T(-0.5)); }};
  return {3, [](T x) { return std::fabs(x) < 3 ? Sinc(x) * Sinc(x / 3) : T(0); }};
}

/// When shrinking, the kernel is widened so that every input element has a say.
template <typename T>
void AntialiasRow(Taps<T>* taps, const Filter<T>& filter, T step, int64_t i, int64_t in) {
  const T stretch = std::max(step, T(1)), support = filter.reach * stretch;
  const T center = step * (static_cast<T>(i) + T(0.5));
  const int64_t first = std::max<int64_t>(static_cast<int64_t>(center - support + T(0.5)), 0);
  const int64_t last = std::min<int64_t>(static_cast<int64_t>(center + support + T(0.5)), in);
  const size_t start = taps->weight.size();
  T total = 0;
  for (int64_t j = first; j < last; ++j) {
    const T distance = (static_cast<T>(j) - center + T(0.5)) / stretch;
    const T weight = filter.weigh(distance);
    taps->Add(j, weight);
    total += weight;
  }
  for (size_t k = start; total != 0 && k < taps->weight.size(); ++k) taps->weight[k] /= total;
}

}  // namespace

template <typename T>
Taps<T> Taps<T>::Transposed(int64_t columns) const {
  Taps turned;
  turned.begin.assign(columns + 1, 0);
  for (int64_t i : index) ++turned.begin[i + 1];
  for (int64_t i = 0; i < columns; ++i) turned.begin[i + 1] += turned.begin[i];
  std::vector<int64_t> next(turned.begin.begin(), turned.begin.end() - 1);
  turned.index.resize(index.size());
  turned.weight.resize(index.size());
  for (int64_t row = 0; row < rows(); ++row) {
    for (int64_t k = begin[row]; k < begin[row + 1]; ++k) {
      const int64_t to = next[index[k]]++;
      turned.index[to] = row;
      turned.weight[to] = weight[k];
    }
  }
  return turned;
}

template <typename T>
Taps<T> MakeTaps(const ResampleSpec& spec, double scale, int64_t in, int64_t out) {
  const bool align_corners = spec.align_corners;
  if (spec.mode >= ResampleMode::kNearestCenter) return MakeCenteredTaps<T>(spec.mode, spec.antialias, in, out);
  Taps<T> taps;
  const T step = StepOf<T>(align_corners, scale, in, out);
  for (int64_t i = 0; i < out; ++i, taps.EndRow()) {
    const T position = align_corners ? static_cast<T>(i) * step : step * (static_cast<T>(i) + T(0.5)) - T(0.5);
    switch (spec.mode) {
      case ResampleMode::kNearest:
        NearestRow(&taps, step, T(0), i, in);
        break;
      case ResampleMode::kNearestExact:
        NearestRow(&taps, step, T(0.5), i, in);
        break;
      case ResampleMode::kLinear:
        LinearRow(&taps, position, i, in, out);
        break;
      case ResampleMode::kCubic:
        CubicRow(&taps, position, in);
        break;
      case ResampleMode::kLinearAntialias:
      case ResampleMode::kCubicAntialias:
      case ResampleMode::kLanczosAntialias:
        AntialiasRow(&taps, FilterOf<T>(spec.mode), step, i, in);
        break;
      case ResampleMode::kArea: {
        const int64_t first = i * in / out, last = ((i + 1) * in + out - 1) / out;
        for (int64_t j = first; j < last; ++j) taps.Add(j, T(1) / static_cast<T>(last - first));
        break;
      }
      default:
        break;
    }
  }
  return taps;
}

template struct Taps<float>;
template struct Taps<double>;
template Taps<float> MakeTaps<float>(const ResampleSpec&, double, int64_t, int64_t);
template Taps<double> MakeTaps<double>(const ResampleSpec&, double, int64_t, int64_t);

}  // namespace dragon::DRAGON_DEVICE
