// Layers stacked into a network, and the two ways to compute one: layer by layer, or in one call of a vendor's library.
#pragma once

#include <optional>

#include "core/framework/op.h"

namespace dragon::recurrent {

/// What networks of all kinds are told. It borrows its names and parameters.
struct Network {
  const char* who;
  const char* mode;                ///< "tanh", "relu", "lstm" or "gru"
  std::span<const Tensor> params;  ///< of each layer and direction, in PyTorch's order: w_ih, w_hh, b_ih, b_hh, w_hr
  bool biases = true;
  int64_t layers = 1, directions = 1;
  double dropout = 0;  ///< between layers
  Dims batch_sizes;

  int64_t places() const { return layers * directions; }
  bool lstm() const { return mode[0] == 'l'; }
};

/// The parameters of one layer and direction.
struct Parameters {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

/// 16-bit floats run in float32: the states of long sequences would lose their digits otherwise.
Tensor Widened(const Tensor& x);
/// One layer and direction over packed rows: out, hn and, for LSTMs, cn.
Tensors RunLayer(const Tensor& x, const Parameters& p, const Tensor& h0, const Tensor& c0, const char* mode,
                 bool reverse, const Dims& batch_sizes);

/// A network over packed rows, one layer and direction after another: out, hn and, for LSTMs, cn.
Tensors ByLayers(const Network& network, Tensor x, const Tensor& h0, const Tensor& c0);
/// The same in one call, or, with dropout, one for each layer; nothing where no library takes it, or while calls are
/// written into a graph, which is to run anywhere.
std::optional<Tensors> InOneCall(const Network& network, Tensor x, const Tensor& h0, const Tensor& c0);

}  // namespace dragon::recurrent
