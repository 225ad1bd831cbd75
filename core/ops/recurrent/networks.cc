// RNN, GRU and LSTM as users call them: over padded or packed sequences; and single cells.
#include <vector>

#include "core/framework/infer.h"
#include "core/ops/recurrent/network.h"

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

/// All layers over packed rows; returns out, hn and, for LSTMs, cn.
Tensors Stacked(const CallReader& c, const Tensor& x, const Dims& batch_sizes, const Tensor& h0, const Tensor& c0,
                std::span<const Tensor> params, const char* mode) {
  const Settings s(c);
  const Network network{c.name(),   mode, params, s.biases, s.layers, s.directions(), s.train ? s.dropout : 0,
                        batch_sizes};
  if (std::optional<Tensors> results = InOneCall(network, x, h0, c0)) return std::move(*results);
  return ByLayers(network, x, h0, c0);
}

/// A longer sequence is nobody's: the list of its batches' sizes would only eat memory.
constexpr int64_t kMostSteps = 1 << 24;

/// Zeros for one sequence where a tensor, with the batch on axis 1, has none. It is a part of them, for its gradient.
Tensor ForOne(const Tensor& x) {
  if (!x.defined() || x.ndim() != 3 || x.size(1) != 0) return x;
  const Tensor one = Op<"zeros">(Dims{x.size(0), 1, x.size(2)}, x.dtype(), x.device());
  return Op<"cat">(std::vector<Tensor>{x, one}, 1);
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
