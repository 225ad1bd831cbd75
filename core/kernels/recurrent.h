// Kernels of one recurrent layer in one direction, over packed sequences.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon {

enum class RecurrentMode : int32_t { kTanh, kRelu, kLstm, kGru };

/// Gates a step computes per hidden unit.
inline constexpr int64_t GateCount(RecurrentMode mode) {
  return mode == RecurrentMode::kLstm ? 4 : mode == RecurrentMode::kGru ? 3 : 1;
}
/// Numbers kept per hidden unit and step for the way back.
inline constexpr int64_t SavedCount(RecurrentMode mode) {
  return mode == RecurrentMode::kLstm || mode == RecurrentMode::kGru ? 4 : 0;
}

/// Step t has batch_sizes[t] rows, never more than step t - 1: sequences are sorted by length and packed by step.
struct RecurrentSteps {
  RecurrentMode mode = RecurrentMode::kTanh;
  bool reverse = false;
  const int64_t* batch_sizes = nullptr;
  int64_t steps = 0;

  /// Call f(first row, rows) for each step, in the direction of the layer or against it.
  template <typename F>
  void ForEach(bool forward, F&& f) const {
    if (forward != reverse) {
      int64_t first = 0;
      for (int64_t t = 0; t < steps; first += batch_sizes[t++]) f(first, batch_sizes[t]);
    } else {
      int64_t end = 0;
      for (int64_t t = 0; t < steps; ++t) end += batch_sizes[t];
      for (int64_t t = steps - 1; t >= 0; --t) {
        end -= batch_sizes[t];
        f(end, batch_sizes[t]);
      }
    }
  }
};

/// All row-major. N rows in total, B sequences, H units, P outputs (H unless projected), G gates.
struct RecurrentWeights {
  View hidden;      ///< (G * H, P)
  View bias;        ///< (G * H,), optional
  View projection;  ///< (P, H), optional, LSTM only
};

}  // namespace dragon

namespace dragon::kernels {

/// y (N, P), hn (B, P), cn (B, H) from gates_x (N, G * H), the inputs' part of the gates, and h0, c0.
/// `gates` (N, S * H) and `cells` (N, H) are what the way back needs; LSTMs have cells.
inline const Kernel<void(View y, View hn, View cn, View gates, View cells, View gates_x, View h0, View c0,
                         const RecurrentWeights& weights, const RecurrentSteps& steps)>
    Recurrent{"recurrent"};

struct RecurrentGradients {
  View gates_x, h0, c0, hidden, bias, projection;
};
/// Gradients from those of y, hn and cn; results whose View is empty are not computed, except gates_x and h0.
inline const Kernel<void(const RecurrentGradients& d, View dy, View dhn, View dcn, View y, View gates, View cells,
                         View h0, View c0, const RecurrentWeights& weights, const RecurrentSteps& steps)>
    RecurrentBackward{"recurrent_backward"};

}  // namespace dragon::kernels
