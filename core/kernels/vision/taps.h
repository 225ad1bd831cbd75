// Resampling one axis is a sparse matrix: each result is a few weighted elements. All modes differ in that matrix only.
#pragma once

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

}  // namespace dragon::DRAGON_DEVICE
