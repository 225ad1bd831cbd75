// The loops of rnn_passes.h. Matrices of all places come first among the weights, then biases, with gaps between them.
#include "tests/cuda/simt/rnn_passes.h"

#include <cmath>

namespace dragon::cudnn {

namespace {

constexpr int64_t kGap = 48;  // bytes

int64_t ItemOf(DataType type) { return type == kFloat ? 4 : 2; }

}  // namespace

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

namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

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

}  // namespace

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

namespace {

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

}  // namespace

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

namespace {

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

}  // namespace

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

}  // namespace dragon::cudnn
