// RNN, GRU and LSTM as users call them: layers stacked, directions joined, dropout between layers; and single cells.
#include <vector>

#include "core/framework/infer.h"
#include "core/ops/recurrent/layer.h"

namespace dragon {
namespace {

using namespace recurrent;  // NOLINT: this file is about nothing else

/// Attributes that all networks share.
struct Settings {
  bool biases, train, bidirectional;
  int64_t layers;
  double dropout;

  explicit Settings(const CallReader& c)
      : biases(c.Bool("has_biases")),
        train(c.Bool("train")),
        bidirectional(c.Bool("bidirectional")),
        layers(c.Int("num_layers")),
        dropout(c.Real("dropout")) {
    if (layers < 1) throw ValueError(c.name()).Got("num_layers ", layers).Expected("at least 1");
    if (!(dropout >= 0 && dropout <= 1)) throw ValueError(c.name()).Got("dropout ", dropout).Expected("0 to 1");
  }
  int directions() const { return bidirectional ? 2 : 1; }
};

/// 16-bit floats run in float32: the states of long sequences would lose their digits otherwise.
Tensor Widened(const Tensor& x) {
  const bool half = IsHalf(x.dtype());
  return half ? Op<"cast">(x, DType::kFloat32) : x;
}

/// Parameters of one layer and direction, in PyTorch's order: w_ih, w_hh, b_ih, b_hh, w_hr.
struct Parameters {
  Tensor w_ih, w_hh, b_ih, b_hh, w_hr;
};

std::vector<Parameters> Sorted(const CallReader& c, std::span<const Tensor> params, const Settings& s, bool lstm) {
  const int64_t places = s.layers * s.directions(), least = s.biases ? 4 : 2;
  const int64_t each = static_cast<int64_t>(params.size()) / places;
  const bool projected = lstm && each == least + 1;
  if (static_cast<int64_t>(params.size()) != places * each || (each != least && !projected)) {
    throw ValueError(c.name())
        .Got(params.size(), " parameters")
        .Expected(least, lstm ? " (one more with a projection)" : "", " for each of ", places,
                  " layers and directions");
  }
  std::vector<Parameters> sorted(places);
  size_t next = 0;
  for (Parameters& p : sorted) {
    p.w_ih = Widened(params[next++]);
    p.w_hh = Widened(params[next++]);
    if (s.biases) p.b_ih = Widened(params[next++]), p.b_hh = Widened(params[next++]);
    if (projected) p.w_hr = Widened(params[next++]);
  }
  return sorted;
}

Tensors RunLayer(const Tensor& x, const Parameters& p, const Tensor& h0, const Tensor& c0, const char* mode,
                 bool reverse, const Dims& batch_sizes) {
  const Tensor gates_x = Op<"linear">(x, p.w_ih, p.b_ih);
  return OpN<"recurrent_layer">(gates_x, h0, c0, p.w_hh, p.b_hh, p.w_hr, mode, reverse, batch_sizes);
}

/// All layers over packed rows; returns out, hn and, for LSTMs, cn.
Tensors Stacked(const CallReader& c, Tensor x, const Dims& batch_sizes, const Tensor& h0, const Tensor& c0,
                std::span<const Tensor> params, const char* mode) {
  const Settings s(c);
  const std::vector<Parameters> parameters = Sorted(c, params, s, c0.defined());
  const int64_t places = static_cast<int64_t>(parameters.size());
  for (const Tensor* state : {&h0, &c0}) {
    if (!state->defined() || (state->ndim() == 3 && state->size(0) == places)) continue;
    throw ValueError(c.name()).Got("first state ", state->shape()).Expected("(", places, ", batch, size)");
  }
  const DType dtype = x.dtype();
  x = Widened(x);
  std::vector<Tensor> hn, cn;
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    std::vector<Tensor> outs;
    for (int direction = 0; direction < s.directions(); ++direction) {
      const int64_t place = layer * s.directions() + direction;
      const Tensor first_c = c0.defined() ? Widened(Op<"select">(c0, 0, place)) : Tensor();
      const Tensors results = RunLayer(x, parameters[place], Widened(Op<"select">(h0, 0, place)), first_c, mode,
                                       /*reverse=*/direction == 1, batch_sizes);
      outs.push_back(results[0]);
      hn.push_back(results[1]);
      cn.push_back(results[2]);
    }
    x = outs.size() == 1 ? outs[0] : Op<"cat">(outs, 1);
    if (s.train && s.dropout > 0 && layer + 1 < s.layers) x = Op<"dropout">(x, s.dropout, true);
  }
  const auto narrowed = [&](const Tensor& y) { return y.dtype() == dtype ? y : Op<"cast">(y, dtype); };
  Tensors results;
  results.push_back(narrowed(x));
  results.push_back(narrowed(Op<"stack">(hn, 0)));
  if (c0.defined()) results.push_back(narrowed(Op<"stack">(cn, 0)));
  return results;
}

/// A longer sequence is nobody's: the list of its batches' sizes would only eat memory.
constexpr int64_t kMostSteps = 1 << 24;

/// Zeros for one sequence where a tensor, with the batch on axis 1, has none.
Tensor ForOne(const Tensor& x) {
  if (!x.defined() || x.ndim() != 3 || x.size(1) != 0) return x;
  return Op<"zeros">(Dims{x.size(0), 1, x.size(2)}, x.dtype(), x.device());
}

/// Sequences of one length, (T, B, size) or with the batch first.
Tensors Padded(const CallReader& c, const Tensor& h0, const Tensor& c0, std::span<const Tensor> params,
               const char* mode) {
  if (c.x("x").ndim() != 3) throw ValueError(c.name()).Got("shape ", c.x("x").shape()).Expected("three axes");
  const bool batch_first = c.Bool("batch_first");
  const Tensor x = batch_first ? Op<"transpose">(c.x("x"), 0, 1) : c.x("x");
  const int64_t steps = x.size(0), batch = x.size(1), size = x.size(2);
  if (steps < 1 || steps > kMostSteps) {
    throw ValueError(c.name()).Got("shape ", c.x("x").shape()).Expected("1 to ", kMostSteps, " steps");
  }
  Tensors results;
  if (batch == 0) {  // what one sequence gives, without that one: so parameters have gradients, which are zeros
    results = Stacked(c, Op<"select">(ForOne(x), 1, 0), Dims::Filled(steps, 1), ForOne(h0), ForOne(c0), params, mode);
    results[0] = Op<"unsqueeze">(results[0], 1);
    for (Tensor& result : results) result = Op<"narrow">(result, 1, 0, 0);
  } else {
    const Tensor rows = Op<"reshape">(x, Dims{steps * batch, size});
    results = Stacked(c, rows, Dims::Filled(steps, batch), h0, c0, params, mode);
    results[0] = Op<"reshape">(results[0], Dims{steps, batch, results[0].size(1)});
  }
  if (batch_first) results[0] = Op<"transpose">(results[0], 0, 1);
  return results;
}

/// The numbers of packed sequences' batch sizes.
Dims BatchSizes(const CallReader& c) {
  const Tensor& sizes = c.x("batch_sizes");
  if (sizes.ndim() != 1 || sizes.dtype() != DType::kInt64 || !sizes.device().is_cpu()) {
    throw ValueError(c.name())
        .Got("batch_sizes ", sizes.shape(), " of ", sizes.dtype(), " on ", sizes.device())
        .Expected("a vector of int64 on the cpu");
  }
  Dims list;
  const View view = sizes.view();
  for (int64_t i = 0; i < sizes.numel(); ++i) list.push_back(view.as<int64_t>()[i * view.strides[0]]);
  return list;
}

Tensors LstmStates(const CallReader& c) {
  const auto hx = c.list("hx");
  if (hx.size() != 2) throw ValueError(c.name()).Got(hx.size(), " first states").Expected("h0 and c0");
  Tensors states;
  states.push_back(hx[0]), states.push_back(hx[1]);
  return states;
}

constexpr const char* kSettings = "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool ";

bool DefineNetworks() {
  const std::string settings = std::string(kSettings) + "bidirectional", padded = settings + ", bool batch_first=False";
  DefineOp("lstm(Tensor x, Tensor[] hx, " + padded + ") -> (Tensor out, Tensor hn, Tensor cn)")
      .Doc("Long short-term memory over (T, B, size); parameters in PyTorch's order.")
      .Autocast(Precision::kLower)
      .As([](const CallReader& c) {
        const Tensors states = LstmStates(c);
        return Padded(c, states[0], states[1], c.list("params"), "lstm");
      });
  DefineOp("lstm_packed(Tensor data, Tensor batch_sizes, Tensor[] hx, " + settings +
           ") -> (Tensor out, Tensor hn, Tensor cn)")
      .Doc("Long short-term memory over packed sequences.")
      .Batches(Batching::kApart)
      .Autocast(Precision::kLower)
      .As([](const CallReader& c) {
        const Tensors states = LstmStates(c);
        return Stacked(c, c.x("data"), BatchSizes(c), states[0], states[1], c.list("params"), "lstm");
      });
  const struct {
    const char *name, *mode, *doc, *packed_doc;
    Precision autocast;
  } networks[] = {{"gru", "gru", "Gated recurrent units over (T, B, size).",
                   "Gated recurrent units over packed sequences.", Precision::kPlain},
                  {"rnn_tanh", "tanh", "A plain recurrent network with tanh over (T, B, size).",
                   "A plain recurrent network with tanh over packed sequences.", Precision::kLower},
                  {"rnn_relu", "relu", "A plain recurrent network with relu over (T, B, size).",
                   "A plain recurrent network with relu over packed sequences.", Precision::kLower}};
  for (const auto& network : networks) {
    const char* mode = network.mode;
    DefineOp(std::string(network.name) + "(Tensor x, Tensor hx, " + padded + ") -> (Tensor out, Tensor hn)")
        .Doc(network.doc)
        .Autocast(network.autocast)
        .As([mode](const CallReader& c) { return Padded(c, c.x("hx"), Tensor(), c.list("params"), mode); });
    DefineOp(std::string(network.name) + "_packed(Tensor data, Tensor batch_sizes, Tensor hx, " + settings +
             ") -> (Tensor out, Tensor hn)")
        .Doc(network.packed_doc)
        .Batches(Batching::kApart)
        .Autocast(network.autocast)
        .As([mode](const CallReader& c) {
          return Stacked(c, c.x("data"), BatchSizes(c), c.x("hx"), Tensor(), c.list("params"), mode);
        });
  }
  return true;
}

/// One step of one layer.
Tensors Cell(const CallReader& c, const Tensor& h, const Tensor& state, const char* mode) {
  const Tensor& x = c.x("x");
  if (x.ndim() != 2) throw ValueError(c.name()).Got("shape ", x.shape()).Expected("(batch, size)");
  const auto optional = [&](ArgumentName bias) { return c.has(bias) ? Widened(c.x(bias)) : Tensor(); };
  const Parameters p{Widened(c.x("w_ih")), Widened(c.x("w_hh")), optional("b_ih"), optional("b_hh"), Tensor()};
  const Dims batch_sizes = x.size(0) ? Dims{x.size(0)} : Dims();
  Tensors results =
      RunLayer(Widened(x), p, Widened(h), state.defined() ? Widened(state) : state, mode, false, batch_sizes);
  Tensors states;
  for (int i = 1; i < (state.defined() ? 3 : 2); ++i) {
    states.push_back(results[i].dtype() == x.dtype() ? results[i] : Op<"cast">(results[i], x.dtype()));
  }
  return states;
}

bool DefineCells() {
  const std::string weights = "Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)";
  DefineOp("lstm_cell(Tensor x, Tensor[] hx, " + weights + " -> (Tensor h, Tensor c)")
      .Doc("One step of an LSTM over (batch, size).")
      .Autocast(Precision::kPlain)
      .As([](const CallReader& c) {
        const Tensors states = LstmStates(c);
        return Cell(c, states[0], states[1], "lstm");
      });
  const struct {
    const char *name, *mode;
  } cells[] = {{"gru_cell", "gru"}, {"rnn_tanh_cell", "tanh"}, {"rnn_relu_cell", "relu"}};
  for (const auto& cell : cells) {
    const char* mode = cell.mode;
    DefineOp(std::string(cell.name) + "(Tensor x, Tensor hx, " + weights + " -> Tensor")
        .Doc("One step of a recurrent layer over (batch, size).")
        .Autocast(Precision::kPlain)
        .As([mode](const CallReader& c) { return Cell(c, c.x("hx"), Tensor(), mode); });
  }
  return true;
}

[[maybe_unused]] const bool networks_defined = DefineNetworks() && DefineCells();

}  // namespace
}  // namespace dragon
