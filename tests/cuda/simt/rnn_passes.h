// A recurrent network in plain loops, one sequence after another, as cuDNN's reference has it: for its stand-in.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/types.h"
#include "core/device/cuda/cudnn_rnn.h"

namespace dragon::cudnn {

struct RnnOfCudnn {
  RnnMode mode;
  RnnBiases biases;
  DataType type;
  int directions, inputs, units, layers;

  int Gates() const { return mode == kRnnLstm ? 4 : mode == kRnnGru ? 3 : 1; }
  int Places() const { return layers * directions; }
  int InputsOf(int place) const { return place < directions ? inputs : directions * units; }
};
struct RnnDataOfCudnn {
  DataType type;
  int width = 0;
  std::vector<int> lengths;

  int64_t Rows() const {
    int64_t rows = 0;
    for (const int length : lengths) rows += length;
    return rows;
  }
};
struct TensorOfCudnn {
  DataType type;
  std::vector<int> sizes, strides;
};
struct DropoutOfCudnn {
  float share = -1;
};

/// Numbers of a type that is known when the program runs.
struct Numbers {
  char* data = nullptr;
  DataType type = kFloat;

  Numbers() = default;
  Numbers(const void* the_data, DataType the_type)
      : data(static_cast<char*>(const_cast<void*>(the_data))), type(the_type) {}
  float Get(int64_t i) const {
    if (type == kHalf) return static_cast<float>(reinterpret_cast<const float16*>(data)[i]);
    if (type == kBFloat16) return static_cast<float>(reinterpret_cast<const bfloat16*>(data)[i]);
    return reinterpret_cast<const float*>(data)[i];
  }
  void Put(int64_t i, double value) const {
    const auto number = static_cast<float>(value);
    if (type == kHalf) {
      reinterpret_cast<float16*>(data)[i] = static_cast<float16>(number);
    } else if (type == kBFloat16) {
      reinterpret_cast<bfloat16*>(data)[i] = static_cast<bfloat16>(number);
    } else {
      reinterpret_cast<float*>(data)[i] = number;
    }
  }
};

/// Where the matrix and the bias of a product lie in the space of weights, in bytes; -1 where there is none.
struct Spot {
  int64_t matrix, bias, end;
};

Spot SpotOf(const RnnOfCudnn& n, int place, int product);

/// One call: its descriptors, which may be gone when a graph runs, and addresses.
struct Pass {
  RnnOfCudnn n;
  RnnDataOfCudnn x_data, y_data;
  Numbers x, y, h0, hn, c0, cn, dy, dx, dhn, dh0, dcn, dc0, weights, dweights;
  float* kept = nullptr;
  std::vector<float> own;  // instead of what is kept, where nothing is

  Pass(RnnDescriptor rnn, RnnDataDescriptor x_rows, RnnDataDescriptor y_rows)
      : n(*rnn), x_data(*x_rows), y_data(*y_rows) {}
  int64_t rows() const { return x_data.Rows(); }
  int64_t units() const { return n.units; }
  int64_t batch() const { return static_cast<int64_t>(x_data.lengths.size()); }
  /// Per place: four numbers of a unit, and its cell; then what each layer gave.
  static int64_t KeptNumbers(const RnnOfCudnn& n, int64_t rows) {
    return rows * n.units * (5 * n.Places() + n.layers * n.directions);
  }
  float* Kept(int place, int64_t row, int part) const { return kept + ((place * rows() + row) * 5 + part) * units(); }
  float* Given(int layer, int64_t row) const {
    return kept + rows() * units() * 5 * n.Places() + (layer * rows() + row) * n.directions * units();
  }
  /// Rows lie by steps; within one, by sequences that are still going on.
  int64_t RowOf(int64_t sequence, int step) const {
    int64_t row = sequence;
    for (const int length : x_data.lengths) row += std::min(length, step);
    return row;
  }
  float Weight(int place, int product, int64_t i) const {
    return Numbers(weights.data + SpotOf(n, place, product).matrix, n.type).Get(i);
  }
  float Bias(int place, int product, int64_t i) const {
    return n.biases == kNoBiases ? 0 : Numbers(weights.data + SpotOf(n, place, product).bias, n.type).Get(i);
  }
  float InputOf(int layer, int64_t row, int64_t i) const {
    return layer == 0 ? x.Get(row * n.inputs + i) : Given(layer - 1, row)[i];
  }
  int64_t State(int place, int64_t sequence, int64_t unit) const {
    return (place * batch() + sequence) * units() + unit;
  }
  /// The step before this one in a direction; -1 for the first state.
  static int Before(int direction, int step, int length) {
    return direction == 0 ? step - 1 : step + 1 == length ? -1 : step + 1;
  }
};

/// The three passes. The second overwrites what the first has kept, with what the third reads.
void RunForward(Pass p);
void RunBackwardData(const Pass& p);
void RunBackwardWeights(const Pass& p);

}  // namespace dragon::cudnn
