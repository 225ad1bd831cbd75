// Resampling one axis is a sparse matrix: each result is a few weighted elements. All modes differ in that matrix only.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/kernels/vision.h"

namespace dragon::DRAGON_DEVICE {

/// A sparse matrix by rows: result i is the sum of weight[k] * x[index[k]] for k in [begin[i], begin[i + 1]).
template <typename T>
struct Taps {
  std::vector<int64_t> begin{0};
  std::vector<int64_t> index;
  std::vector<T> weight;

  int64_t rows() const { return static_cast<int64_t>(begin.size()) - 1; }
  void Add(int64_t i, T w) { index.push_back(i), weight.push_back(w); }
  void EndRow() { begin.push_back(static_cast<int64_t>(index.size())); }
  /// The matrix with rows and columns exchanged: how gradients travel back.
  Taps Transposed(int64_t columns) const;
};

/// The matrix that takes `in` elements to `out`. Positions are computed in T, as the reference implementations do:
/// a nearest neighbour may hang on the last bit.
template <typename T>
Taps<T> MakeTaps(const ResampleSpec& spec, double scale, int64_t in, int64_t out);
/// The same in TensorFlow's modes.
template <typename T>
Taps<T> MakeCenteredTaps(ResampleMode mode, bool antialias, int64_t in, int64_t out);
/// The same for an image that is scaled and moved; results outside of it are of no elements.
template <typename T>
Taps<T> MakePlacedTaps(ResampleMode mode, bool antialias, double scale, double move, int64_t in, int64_t out);

/// What is summed in. Bytes that are weighed by whole numbers have a pass of their own.
template <typename T>
using Summed = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The end of a sum.
template <typename Out, typename W>
DRAGON_FN Out EndSum(W sum) {
  if constexpr (std::is_same_v<Out, uint8_t>) {
    return static_cast<Out>(std::clamp(std::nearbyint(sum), W(0), W(255)));
  } else {
    return static_cast<Out>(sum);
  }
}

/// The weights of bytes as whole numbers, one for each element, and how many bits of them stand behind the point: as
/// many as the largest weight has room for in 16 bits.
inline std::pair<Taps<int32_t>, int> WholeOf(const Taps<double>& taps) {
  constexpr int kMostBits = 22, kLimit = 1 << 15;
  Taps<double> merged;  // at the borders an element is met several times
  for (int64_t i = 0; i < taps.rows(); ++i, merged.EndRow()) {
    for (int64_t k = taps.begin[i]; k < taps.begin[i + 1]; ++k) {
      if (k > taps.begin[i] && taps.index[k] == taps.index[k - 1]) {
        merged.weight.back() += taps.weight[k];
      } else {
        merged.Add(taps.index[k], taps.weight[k]);
      }
    }
  }
  double largest = 0;
  for (double weight : merged.weight) largest = std::max(largest, weight);
  int bits = 0;
  while (bits < kMostBits && std::floor(0.5 + largest * (int64_t{1} << (bits + 1))) < kLimit) ++bits;
  Taps<int32_t> whole;
  whole.begin = std::move(merged.begin), whole.index = std::move(merged.index);
  for (double weight : merged.weight) {
    const double scaled = weight * (int64_t{1} << bits);
    whole.weight.push_back(static_cast<int32_t>(scaled + (scaled < 0 ? -0.5 : 0.5)));
  }
  return {std::move(whole), bits};
}

}  // namespace dragon::DRAGON_DEVICE
