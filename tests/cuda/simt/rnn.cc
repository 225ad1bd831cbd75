// cuDNN's recurrent networks in plain loops, one sequence after another, for tests of what stands around them. Weights
// lie as its reference allows: matrices of all places first, then biases, with gaps that must be stepped over. What
// forward passes keep is overwritten by the backward pass, as cuDNN does. DRAGON_SIMT_DNN_REFUSES=setup, forward or
// backward has it refuse there.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/device/cuda/cudnn_rnn.h"
#include "tests/cuda/simt/machine.h"

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

namespace {

constexpr Status kWrong = 2000, kNotSupported = 3000;
constexpr int64_t kGap = 48;  // bytes
constexpr size_t kWorkspace = 256;

bool Refuses(const char* where) {
  const char* const asked = std::getenv("DRAGON_SIMT_DNN_REFUSES");
  return asked && std::strcmp(asked, where) == 0;
}

int64_t ItemOf(DataType type) { return type == kFloat ? 4 : 2; }

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

/// Where the matrix and the bias of a product lie in the space of weights, in bytes.
struct Spot {
  int64_t matrix, bias, end;
};

Spot SpotOf(const RnnOfCudnn& n, int place, int product) {
  const int64_t item = ItemOf(n.type), gates = n.Gates(), units = n.units;
  Spot spot{-1, -1, 0};
  for (int p = 0; p < n.Places(); ++p) {
    for (int i = 0; i < 2 * gates; ++i) {
      if (p == place && i == product) spot.matrix = spot.end;
      spot.end += item * units * (i < gates ? n.InputsOf(p) : units);
    }
    spot.end += kGap;
  }
  if (n.biases == kNoBiases) return spot;
  for (int p = 0; p < n.Places(); ++p) {
    for (int i = 0; i < 2 * gates; ++i) {
      if (p == place && i == product) spot.bias = spot.end;
      spot.end += item * units;
    }
    spot.end += p % 2 ? 0 : kGap;
  }
  return spot;
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

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

std::vector<double> Times(const Pass& p, int place, int product, int64_t inputs, const auto& input) {
  std::vector<double> sums(p.units());
  const Numbers matrix(p.weights.data + SpotOf(p.n, place, product).matrix, p.n.type);
  for (int64_t unit = 0; unit < p.units(); ++unit) {
    double sum = p.Bias(place, product, unit);
    for (int64_t i = 0; i < inputs; ++i) sum += static_cast<double>(matrix.Get(unit * inputs + i)) * input(i);
    sums[unit] = sum;
  }
  return sums;
}

/// One unit's step: h and c from the sums of x and h of each gate; four numbers are kept.
struct Unit {
  double h, c, kept[4];
};

Unit StepOf(RnnMode mode, const double* of_x, const double* of_h, double h, double c) {
  if (mode == kRnnLstm) {
    const double in = Sigmoid(of_x[0] + of_h[0]), forget = Sigmoid(of_x[1] + of_h[1]);
    const double fresh = std::tanh(of_x[2] + of_h[2]), out = Sigmoid(of_x[3] + of_h[3]);
    const double cell = forget * c + in * fresh;
    return {out * std::tanh(cell), cell, {in, forget, fresh, out}};
  }
  if (mode == kRnnGru) {
    const double reset = Sigmoid(of_x[0] + of_h[0]), update = Sigmoid(of_x[1] + of_h[1]);
    const double fresh = std::tanh(of_x[2] + reset * of_h[2]);
    return {(1 - update) * fresh + update * h, 0, {reset, update, fresh, of_h[2]}};
  }
  const double sum = of_x[0] + of_h[0], now = mode == kRnnTanh ? std::tanh(sum) : sum > 0 ? sum : 0;
  return {now, 0, {now, 0, 0, 0}};
}

void RunSequence(const Pass& p, int layer, int direction, int64_t sequence) {
  const int place = layer * p.n.directions + direction, gates = p.n.Gates(), length = p.x_data.lengths[sequence];
  const int64_t units = p.units();
  std::vector<float> h(units), c(units);
  for (int64_t unit = 0; unit < units; ++unit) {
    h[unit] = p.h0.Get(p.State(place, sequence, unit));
    c[unit] = p.n.mode == kRnnLstm ? p.c0.Get(p.State(place, sequence, unit)) : 0;
  }
  for (int count = 0; count < length; ++count) {
    const int64_t row = p.RowOf(sequence, direction == 0 ? count : length - 1 - count);
    std::vector<std::vector<double>> of_x, of_h;
    for (int gate = 0; gate < gates; ++gate) {
      of_x.push_back(Times(p, place, gate, p.n.InputsOf(place), [&](int64_t i) { return p.InputOf(layer, row, i); }));
      of_h.push_back(Times(p, place, gates + gate, units, [&](int64_t i) { return h[i]; }));
    }
    for (int64_t unit = 0; unit < units; ++unit) {
      double sums_x[4] = {}, sums_h[4] = {};
      for (int gate = 0; gate < gates; ++gate) sums_x[gate] = of_x[gate][unit], sums_h[gate] = of_h[gate][unit];
      const Unit now = StepOf(p.n.mode, sums_x, sums_h, h[unit], c[unit]);
      for (int part = 0; part < 4; ++part) p.Kept(place, row, part)[unit] = static_cast<float>(now.kept[part]);
      const int64_t at = direction * units + unit;
      p.Given(layer, row)[at] = h[unit] = static_cast<float>(now.h);
      p.Kept(place, row, 4)[unit] = c[unit] = static_cast<float>(now.c);
      if (layer + 1 == p.n.layers) p.y.Put(row * p.n.directions * units + at, now.h);
    }
  }
  for (int64_t unit = 0; unit < units; ++unit) {
    p.hn.Put(p.State(place, sequence, unit), h[unit]);
    if (p.n.mode == kRnnLstm) p.cn.Put(p.State(place, sequence, unit), c[unit]);
  }
}

void RunForward(Pass p) {
  if (!p.kept) {
    p.own.resize(Pass::KeptNumbers(p.n, p.rows()));
    p.kept = p.own.data();
  }
  for (int layer = 0; layer < p.n.layers; ++layer) {
    for (int direction = 0; direction < p.n.directions; ++direction) {
      for (int64_t sequence = 0; sequence < p.batch(); ++sequence) RunSequence(p, layer, direction, sequence);
    }
  }
}

/// The gradients of a unit's sums, x's then h's, of the cell before and of h past the gates.
struct Slopes {
  double sums[4], hidden, c_before, h_before;
};

Slopes SlopesOf(RnnMode mode, const double* kept, double cell, double c_before, double h_before, double dh, double dc) {
  if (mode == kRnnLstm) {
    const double shown = std::tanh(cell), dcell = dc + dh * kept[3] * (1 - shown * shown);
    return {{dcell * kept[2] * kept[0] * (1 - kept[0]), dcell * c_before * kept[1] * (1 - kept[1]),
             dcell * kept[0] * (1 - kept[2] * kept[2]), dh * shown * kept[3] * (1 - kept[3])},
            0,
            dcell * kept[1],
            0};
  }
  if (mode == kRnnGru) {
    const double dfresh = dh * (1 - kept[1]) * (1 - kept[2] * kept[2]);
    return {{dfresh * kept[3] * kept[0] * (1 - kept[0]), dh * (h_before - kept[2]) * kept[1] * (1 - kept[1]), dfresh,
             dfresh * kept[0]},
            dfresh * kept[0],
            0,
            dh * kept[1]};
  }
  const double slope = mode == kRnnTanh ? 1 - kept[0] * kept[0] : kept[0] > 0;
  return {{dh * slope, 0, 0, 0}, 0, 0, 0};
}

/// The gradient of a gate's sum of h, where the backward pass left it.
int HiddenPart(RnnMode mode, int gate) { return mode == kRnnGru && gate == 2 ? 3 : gate; }

/// Back through one sequence. `dgiven` is the gradient of what the layer gave, `dinput` that of what it was given.
void RunBack(const Pass& p, int layer, int direction, int64_t sequence, const std::vector<double>& dgiven,
             std::vector<double>* dinput) {
  const int place = layer * p.n.directions + direction, gates = p.n.Gates(), length = p.x_data.lengths[sequence];
  const int64_t units = p.units(), inputs = p.n.InputsOf(place);
  const bool lstm = p.n.mode == kRnnLstm;
  std::vector<double> dh(units), dc(units);
  for (int64_t unit = 0; unit < units; ++unit) {
    dh[unit] = p.dhn.Get(p.State(place, sequence, unit));
    dc[unit] = lstm ? p.dcn.Get(p.State(place, sequence, unit)) : 0;
  }
  for (int count = length - 1; count >= 0; --count) {
    const int step = direction == 0 ? count : length - 1 - count, before = Pass::Before(direction, step, length);
    const int64_t row = p.RowOf(sequence, step), row_before = before < 0 ? -1 : p.RowOf(sequence, before);
    std::vector<double> past(units);
    for (int64_t unit = 0; unit < units; ++unit) {
      const int64_t state = p.State(place, sequence, unit), at = direction * units + unit;
      const double h_before = before < 0 ? p.h0.Get(state) : p.Given(layer, row_before)[at];
      const double c_before = !lstm ? 0 : before < 0 ? p.c0.Get(state) : p.Kept(place, row_before, 4)[unit];
      double kept[4];
      for (int part = 0; part < 4; ++part) kept[part] = p.Kept(place, row, part)[unit];
      const Slopes d = SlopesOf(p.n.mode, kept, p.Kept(place, row, 4)[unit], c_before, h_before,
                                dh[unit] + dgiven[row * p.n.directions * units + at], dc[unit]);
      for (int part = 0; part < 4; ++part) p.Kept(place, row, part)[unit] = static_cast<float>(d.sums[part]);
      dc[unit] = d.c_before, past[unit] = d.h_before;
    }
    dh = past;
    for (int gate = 0; gate < gates; ++gate) {
      for (int64_t unit = 0; unit < units; ++unit) {
        const double of_x = p.Kept(place, row, gate)[unit];
        const double of_h = p.Kept(place, row, HiddenPart(p.n.mode, gate))[unit];
        for (int64_t i = 0; i < inputs; ++i)
          (*dinput)[row * inputs + i] += of_x * p.Weight(place, gate, unit * inputs + i);
        for (int64_t i = 0; i < units; ++i) dh[i] += of_h * p.Weight(place, gates + gate, unit * units + i);
      }
    }
  }
  for (int64_t unit = 0; unit < units; ++unit) {
    p.dh0.Put(p.State(place, sequence, unit), dh[unit]);
    if (lstm) p.dc0.Put(p.State(place, sequence, unit), dc[unit]);
  }
}

void RunBackwardData(const Pass& p) {
  const int64_t width = p.n.directions * p.units();
  std::vector<double> dgiven(p.rows() * width);
  for (size_t i = 0; i < dgiven.size(); ++i) dgiven[i] = p.dy.Get(i);
  for (int layer = p.n.layers - 1; layer >= 0; --layer) {
    std::vector<double> dinput(p.rows() * p.n.InputsOf(layer * p.n.directions));
    for (int direction = 0; direction < p.n.directions; ++direction) {
      for (int64_t sequence = 0; sequence < p.batch(); ++sequence)
        RunBack(p, layer, direction, sequence, dgiven, &dinput);
    }
    dgiven = dinput;
  }
  for (size_t i = 0; i < dgiven.size(); ++i) p.dx.Put(i, dgiven[i]);
}

/// Add the gradients of one product of one sequence's step to what is there.
void AddGradients(const Pass& p, int place, int product, const float* slopes, int64_t inputs, const auto& input) {
  const Spot spot = SpotOf(p.n, place, product);
  const Numbers matrix(p.dweights.data + spot.matrix, p.n.type), bias(p.dweights.data + spot.bias, p.n.type);
  for (int64_t unit = 0; unit < p.units(); ++unit) {
    for (int64_t i = 0; i < inputs; ++i)
      matrix.Put(unit * inputs + i, matrix.Get(unit * inputs + i) + slopes[unit] * static_cast<double>(input(i)));
    if (p.n.biases != kNoBiases) bias.Put(unit, bias.Get(unit) + slopes[unit]);
  }
}

void RunBackwardWeights(const Pass& p) {
  const int gates = p.n.Gates();
  for (int place = 0; place < p.n.Places(); ++place) {
    const int layer = place / p.n.directions, direction = place % p.n.directions;
    for (int64_t sequence = 0; sequence < p.batch(); ++sequence) {
      const int length = p.x_data.lengths[sequence];
      for (int step = 0; step < length; ++step) {
        const int before = Pass::Before(direction, step, length);
        const int64_t row = p.RowOf(sequence, step), row_before = before < 0 ? -1 : p.RowOf(sequence, before);
        for (int gate = 0; gate < gates; ++gate) {
          AddGradients(p, place, gate, p.Kept(place, row, gate), p.n.InputsOf(place),
                       [&](int64_t i) { return p.InputOf(layer, row, i); });
          AddGradients(p, place, gates + gate, p.Kept(place, row, HiddenPart(p.n.mode, gate)), p.units(),
                       [&](int64_t i) {
                         return before < 0 ? p.h0.Get(p.State(place, sequence, i))
                                           : p.Given(layer, row_before)[direction * p.units() + i];
                       });
        }
      }
    }
  }
}

// --- the interface

bool AllOnDevice(std::initializer_list<const void*> places) {
  for (const void* place : places) simt::RequireDevice("cudnn", place);
  return true;
}

size_t ReserveOf(RnnDescriptor n, RnnDataDescriptor x) { return Pass::KeptNumbers(*n, x->Rows()) * sizeof(float); }

/// Whether a call's descriptors and sizes go together.
bool Fits(RnnDescriptor n, RnnDataDescriptor x, RnnDataDescriptor y, TensorDescriptor h, size_t weights,
          size_t workspace) {
  const std::vector<int> state = {n->Places(), static_cast<int>(x->lengths.size()), n->units};
  return x->width == n->inputs && y->width == n->directions * n->units && x->lengths == y->lengths &&
         x->type == n->type && y->type == n->type && h->sizes == state && h->type == n->type &&
         weights == static_cast<size_t>(SpotOf(*n, 0, 0).end) && workspace >= kWorkspace;
}

Status Forward(Handle, RnnDescriptor n, RnnPass pass, const int32_t* lengths, RnnDataDescriptor x_data, const void* x,
               RnnDataDescriptor y_data, void* y, TensorDescriptor h, const void* h0, void* hn, TensorDescriptor,
               const void* c0, void* cn, size_t weight_bytes, const void* weights, size_t workspace_bytes,
               void* workspace, size_t reserve_bytes, void* reserve) {
  if (Refuses("forward")) return kNotSupported;
  const bool trains = pass == kTraining;
  if (lengths || !Fits(n, x_data, y_data, h, weight_bytes, workspace_bytes)) return kWrong;
  if (reserve_bytes != (trains ? ReserveOf(n, x_data) : 0) || trains != (reserve != nullptr)) return kWrong;
  AllOnDevice({x, y, h0, hn, weights, workspace});
  if (n->mode == kRnnLstm) AllOnDevice({c0, cn});
  Pass p(n, x_data, y_data);
  p.x = {x, n->type}, p.y = {y, n->type}, p.h0 = {h0, n->type}, p.hn = {hn, n->type}, p.c0 = {c0, n->type};
  p.cn = {cn, n->type}, p.weights = {weights, n->type}, p.kept = static_cast<float*>(reserve);
  simt::Queue([p] { RunForward(p); });
  return kSuccess;
}

Status BackwardData(Handle, RnnDescriptor n, const int32_t* lengths, RnnDataDescriptor y_data, const void* y,
                    const void* dy, RnnDataDescriptor x_data, void* dx, TensorDescriptor h, const void* h0,
                    const void* dhn, void* dh0, TensorDescriptor, const void* c0, const void* dcn, void* dc0,
                    size_t weight_bytes, const void* weights, size_t workspace_bytes, void* workspace,
                    size_t reserve_bytes, void* reserve) {
  if (Refuses("backward")) return kNotSupported;
  if (lengths || !Fits(n, x_data, y_data, h, weight_bytes, workspace_bytes)) return kWrong;
  if (reserve_bytes != ReserveOf(n, x_data)) return kWrong;
  AllOnDevice({y, dy, dx, h0, dhn, dh0, weights, workspace, reserve});
  if (n->mode == kRnnLstm) AllOnDevice({c0, dcn, dc0});
  Pass p(n, x_data, y_data);
  p.y = {y, n->type}, p.dy = {dy, n->type}, p.dx = {dx, n->type}, p.h0 = {h0, n->type}, p.dhn = {dhn, n->type};
  p.dh0 = {dh0, n->type}, p.c0 = {c0, n->type}, p.dcn = {dcn, n->type}, p.dc0 = {dc0, n->type};
  p.weights = {weights, n->type}, p.kept = static_cast<float*>(reserve);
  simt::Queue([p] { RunBackwardData(p); });
  return kSuccess;
}

Status BackwardWeights(Handle, RnnDescriptor n, RnnGradients, const int32_t* lengths, RnnDataDescriptor x_data,
                       const void* x, TensorDescriptor h, const void* h0, RnnDataDescriptor y_data, const void* y,
                       size_t weight_bytes, void* dweights, size_t workspace_bytes, void* workspace,
                       size_t reserve_bytes, void* reserve) {
  if (lengths || !Fits(n, x_data, y_data, h, weight_bytes, workspace_bytes)) return kWrong;
  if (reserve_bytes != ReserveOf(n, x_data)) return kWrong;
  AllOnDevice({x, h0, y, dweights, workspace, reserve});
  Pass p(n, x_data, y_data);
  p.x = {x, n->type}, p.h0 = {h0, n->type}, p.dweights = {dweights, n->type}, p.kept = static_cast<float*>(reserve);
  simt::Queue([p] { RunBackwardWeights(p); });
  return kSuccess;
}

template <typename T>
Status Create(T** made) {
  *made = new T{};
  return kSuccess;
}
template <typename T>
Status Destroy(T* made) {
  delete made;
  return kSuccess;
}

void TakeDescriptors(RnnApi* api) {
  api->GetErrorString = [](Status status) -> const char* {
    return status == kNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
  };
  api->CreateTensorDescriptor = &Create<TensorOfCudnn>, api->DestroyTensorDescriptor = &Destroy<TensorOfCudnn>;
  api->CreateDropoutDescriptor = &Create<DropoutOfCudnn>, api->DestroyDropoutDescriptor = &Destroy<DropoutOfCudnn>;
  api->CreateRNNDescriptor = &Create<RnnOfCudnn>, api->DestroyRNNDescriptor = &Destroy<RnnOfCudnn>;
  api->CreateRNNDataDescriptor = &Create<RnnDataOfCudnn>, api->DestroyRNNDataDescriptor = &Destroy<RnnDataOfCudnn>;
  api->SetTensorNdDescriptor = [](TensorDescriptor to, DataType type, int ndim, const int* sizes, const int* strides) {
    *to = {type, {sizes, sizes + ndim}, {strides, strides + ndim}};
    return kSuccess;
  };
  api->GetTensorNdDescriptor = [](TensorDescriptor from, int asked, DataType* type, int* ndim, int* sizes,
                                  int* strides) {
    *type = from->type, *ndim = static_cast<int>(from->sizes.size());
    for (int i = 0; i < std::min(asked, *ndim); ++i) sizes[i] = from->sizes[i], strides[i] = from->strides[i];
    return kSuccess;
  };
  api->SetDropoutDescriptor = [](DropoutDescriptor to, Handle, float share, void* states, size_t,
                                 unsigned long long) {  // NOLINT: cuDNN's own type
    to->share = share;
    return share == 0 && !states ? kSuccess : kWrong;
  };
  api->SetRNNDescriptor = [](RnnDescriptor to, RnnAlgorithm, RnnMode mode, RnnBiases biases, RnnDirections directions,
                             RnnInput, DataType stored, DataType computed, MathType math, int32_t inputs, int32_t units,
                             int32_t outputs, int32_t layers, DropoutDescriptor dropout, uint32_t flags) {
    if (Refuses("setup")) return kNotSupported;
    const bool rounds = math == kTensorMath;
    if (computed != kFloat || outputs != units || flags || dropout->share != 0 || rounds != (stored != kFloat))
      return kWrong;
    *to = {mode, biases, stored, directions == kTwoDirections ? 2 : 1, inputs, units, layers};
    return kSuccess;
  };
  api->SetRNNDataDescriptor = [](RnnDataDescriptor to, DataType type, RnnLayout layout, int steps, int batch, int width,
                                 const int* lengths, void*) {
    for (int i = 0; i < batch; ++i) {  // the longest first, and none empty
      if (lengths[i] < 1 || lengths[i] > (i ? lengths[i - 1] : steps)) return kWrong;
    }
    *to = {type, width, {lengths, lengths + batch}};
    return layout == kPackedBySteps ? kSuccess : kWrong;
  };
}

RnnApi Make() {
  RnnApi api;
  TakeDescriptors(&api);
  api.GetRNNTempSpaceSizes = [](Handle, RnnDescriptor n, RnnPass pass, RnnDataDescriptor x, size_t* workspace,
                                size_t* reserve) {
    *workspace = kWorkspace, *reserve = pass == kTraining ? ReserveOf(n, x) : 0;
    return kSuccess;
  };
  api.GetRNNWeightSpaceSize = [](Handle, RnnDescriptor n, size_t* bytes) {
    *bytes = SpotOf(*n, 0, 0).end;
    return kSuccess;
  };
  api.GetRNNWeightParams = [](Handle, RnnDescriptor n, int32_t place, size_t, const void* weights, int32_t product,
                              TensorDescriptor matrix, void** matrix_at, TensorDescriptor bias, void** bias_at) {
    const Spot spot = SpotOf(*n, place, product);
    if (spot.matrix < 0) return kWrong;
    char* const space = static_cast<char*>(const_cast<void*>(weights));
    const int width = product < n->Gates() ? n->InputsOf(place) : n->units;
    *matrix = {n->type, {1, n->units, width}, {n->units * width, width, 1}};
    *bias = {n->type, {1, n->units, 1}, {n->units, 1, 1}};
    *matrix_at = space + spot.matrix, *bias_at = spot.bias < 0 ? nullptr : space + spot.bias;
    return kSuccess;
  };
  api.RNNForward = &Forward;
  api.RNNBackwardData = &BackwardData;
  api.RNNBackwardWeights = &BackwardWeights;
  return api;
}

}  // namespace

const RnnApi& RnnFunctions() {
  static const auto* api = new RnnApi(Make());
  return *api;
}

}  // namespace dragon::cudnn
