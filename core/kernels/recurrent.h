// Kernels of one recurrent layer in one direction, and of whole networks of them, over packed sequences.
#pragma once

#include <span>

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

/// Layers of one or two directions, for libraries that take all of them at once. Nothing is projected.
struct RecurrentNetwork {
  RecurrentSteps steps;  ///< of the forward direction
  int64_t layers = 1, directions = 1, inputs = 0, units = 0, batch = 0;
  bool biases = true;
  bool tf32 = false;  ///< whether float32 products may round their operands to TensorFloat32

  int64_t rows() const {
    int64_t sum = 0;
    for (int64_t t = 0; t < steps.steps; ++t) sum += steps.batch_sizes[t];
    return sum;
  }
  /// Numbers that a row of a layer's input has.
  int64_t InputsOf(int64_t layer) const { return layer == 0 ? inputs : directions * units; }
};

/// What networks are computed in.
using NetworkTypes = TypeList<float16, bfloat16, float>;

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

/// The bytes that a network keeps for its way back; -1 where nobody takes it, as wherever this kernel is missing.
inline const Kernel<void(int64_t* bytes, const RecurrentNetwork& network)> RecurrentNetworkRoom{
    "recurrent_network_room"};

/// A network's tensors, row-major: x (N, inputs); y (N, D * H); h0, c0, hn, cn (layers * D, B, H), the cells of LSTMs
/// only; per layer and direction w_ih, w_hh and, if there are biases, b_ih, b_hh. Kept is what the way back needs,
/// bytes of that room; without it, there is none.
struct RecurrentNetworkViews {
  View x, h0, c0, y, hn, cn, kept;
  std::span<const View> params;
};
/// y, hn, cn and what is kept. A NotImplementedError, with nothing written, from who refuses only now.
inline const Kernel<void(const RecurrentNetworkViews& views, const RecurrentNetwork& network)> RecurrentNetworkForward{
    "recurrent_network"};

struct RecurrentNetworkGradients {
  View x, h0, c0;
  View params;  ///< all in a row, one after the other, or empty
};
/// Gradients from those of y, hn and cn.
inline const Kernel<void(const RecurrentNetworkGradients& d, View dy, View dhn, View dcn,
                         const RecurrentNetworkViews& views, const RecurrentNetwork& network)>
    RecurrentNetworkBackward{"recurrent_network_backward"};

}  // namespace dragon::kernels
