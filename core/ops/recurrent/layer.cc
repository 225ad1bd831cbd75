// The recurrent layer as an operator: fused kernels both ways, ordinary operators for gradients of gradients.
#include "core/ops/recurrent/layer.h"

#include <vector>

#include "core/framework/autograd/backward.h"
#include "core/framework/infer.h"

namespace dragon {

namespace recurrent {

RecurrentMode ModeNamed(const char* who, const std::string& name) {
  if (name == "tanh") return RecurrentMode::kTanh;
  if (name == "relu") return RecurrentMode::kRelu;
  if (name == "lstm") return RecurrentMode::kLstm;
  if (name == "gru") return RecurrentMode::kGru;
  throw ValueError(who).Got("mode \"", name, "\"").Expected("tanh, relu, lstm or gru");
}

namespace {

Tensor Rows(const Tensor& x, int64_t begin, int64_t end) {
  return begin == 0 && end == x.size(0) ? x : Op<"slice">(x, 0, begin, end);
}

Tensor Gate(const Tensor& x, int64_t i, int64_t units) { return Op<"slice">(x, 1, i * units, (i + 1) * units); }

Tensor Relu(const Tensor& x) { return Op<"where">(Op<"le">(x, Number(0.0)), Number(0.0), x); }

/// The state of a step's sequences replaced in the state of all.
Tensor Replaced(const Tensor& all, const Tensor& rows) {
  if (rows.size(0) == all.size(0)) return rows;
  return Op<"cat">(std::vector<Tensor>{rows, Rows(all, rows.size(0), all.size(0))}, 0);
}

}  // namespace

Tensors LayerByOperators(const Operands& x, RecurrentMode mode, bool reverse, const Dims& batch_sizes) {
  const int steps = batch_sizes.size();
  const int64_t units = x.weight.size(0) / GateCount(mode);
  std::vector<int64_t> starts(steps + 1, 0);
  for (int t = 0; t < steps; ++t) starts[t + 1] = starts[t] + batch_sizes[t];
  std::vector<Tensor> outs(steps);
  Tensor h = x.h0, c = x.c0;
  for (int step = 0; step < steps; ++step) {
    const int t = reverse ? steps - 1 - step : step;
    const Tensor gx = Rows(x.gates_x, starts[t], starts[t + 1]), h_old = Rows(h, 0, batch_sizes[t]);
    const Tensor gh = Op<"linear">(h_old, x.weight, x.bias);
    Tensor out;
    if (mode == RecurrentMode::kLstm) {
      const Tensor sums = gx + gh, c_old = Rows(c, 0, batch_sizes[t]);
      const Tensor i = Op<"sigmoid">(Gate(sums, 0, units)), f = Op<"sigmoid">(Gate(sums, 1, units));
      const Tensor g = Op<"tanh">(Gate(sums, 2, units)), o = Op<"sigmoid">(Gate(sums, 3, units));
      const Tensor c_new = f * c_old + i * g;
      c = Replaced(c, c_new);
      out = o * Op<"tanh">(c_new);
      if (x.projection.defined()) out = Op<"linear">(out, x.projection);
    } else if (mode == RecurrentMode::kGru) {
      const Tensor r = Op<"sigmoid">(Gate(gx, 0, units) + Gate(gh, 0, units));
      const Tensor z = Op<"sigmoid">(Gate(gx, 1, units) + Gate(gh, 1, units));
      const Tensor n = Op<"tanh">(Gate(gx, 2, units) + r * Gate(gh, 2, units));
      out = n + z * (h_old - n);
    } else {
      out = mode == RecurrentMode::kRelu ? Relu(gx + gh) : Op<"tanh">(gx + gh);
    }
    h = Replaced(h, out);
    outs[t] = out;
  }
  const Tensor y = steps ? Op<"cat">(outs, 0) : Op<"zeros">(Dims{0, x.weight.size(1)}, h.dtype(), h.device());
  Tensors results;
  results.push_back(y), results.push_back(h), results.push_back(c);
  return results;
}

}  // namespace recurrent

namespace {

using namespace recurrent;  // NOLINT: the two halves of one thing

void Expect(const CallReader& c, ArgumentName name, const Dims& shape) {
  if (!c.has(name)) throw ValueError(c.name()).Got("no ", name.text).Expected("shape ", shape);
  const Tensor& x = c.x(name);
  if (x.shape() != shape) throw ValueError(c.name()).Got(name.text, " ", x.shape()).Expected("shape ", shape);
  if (x.dtype() != c.x(0).dtype()) {
    throw TypeError(c.name()).Got(c.x(0).dtype(), " and ", x.dtype()).Expected("equal dtypes");
  }
}

/// Check everything but what both operators begin with; returns (rows, batch, units, outputs).
Dims CheckLayer(const CallReader& c) {
  const RecurrentMode mode = ModeNamed(c.name(), c.String("mode"));
  const DType dtype = c.x(0).dtype();
  if (dtype != DType::kFloat32 && dtype != DType::kFloat64) {
    throw TypeError(c.name()).Got(dtype).Expected("float32 or float64");
  }
  const Tensor &weight = c.x("weight"), &h0 = c.x("h0");
  if (weight.ndim() != 2 || weight.size(0) % GateCount(mode) != 0 || h0.ndim() != 2) {
    throw ValueError(c.name())
        .Got("weight ", weight.shape(), " and h0 ", h0.shape())
        .Expected("weight (", GateCount(mode), " * units, outputs) and h0 (batch, outputs)");
  }
  const int64_t units = weight.size(0) / GateCount(mode), outputs = weight.size(1), batch = h0.size(0);
  int64_t rows = 0, before = batch;
  for (int64_t size : c.Ints("batch_sizes")) {
    if (size < 1 || size > before) {
      throw ValueError(c.name())
          .Got("batch sizes ", c.Ints("batch_sizes"))
          .Expected("at least 1 each, none larger than the one before");
    }
    rows += size;
    before = size;
  }
  if (c.Ints("batch_sizes").size() > 0 && c.Ints("batch_sizes")[0] != batch) {
    throw ValueError(c.name())
        .Got(batch, " first states for ", c.Ints("batch_sizes")[0], " sequences")
        .Expected("one for each");
  }
  Expect(c, "h0", {batch, outputs});
  Expect(c, "weight", {weight.size(0), outputs});
  if (mode == RecurrentMode::kLstm) {
    Expect(c, "c0", {batch, units});
  } else if (c.has("c0")) {
    throw ValueError(c.name()).Got("c0").Expected("one for LSTMs only");
  }
  if (c.has("bias")) Expect(c, "bias", {weight.size(0)});
  if (c.has("projection")) {
    if (mode != RecurrentMode::kLstm) throw ValueError(c.name()).Got("a projection").Expected("one for LSTMs only");
    Expect(c, "projection", {outputs, units});
  } else if (units != outputs) {
    throw ValueError(c.name())
        .Got("weight ", weight.shape())
        .Expected("(", GateCount(mode) * outputs, ", ", outputs, ")");
  }
  return {rows, batch, units, outputs};
}

RecurrentSteps StepsOf(const CallReader& c) {
  return {ModeNamed(c.name(), c.String("mode")), c.Bool("reverse"), c.Ints("batch_sizes").data(),
          c.Ints("batch_sizes").size()};
}

void InferLayer(Infer& i) {
  const Dims size = CheckLayer(i);
  const RecurrentMode mode = ModeNamed(i.name(), i.String("mode"));
  Expect(i, "gates_x", {size[0], GateCount(mode) * size[2]});
  const DType dtype = i.x("gates_x").dtype();
  const bool lstm = mode == RecurrentMode::kLstm;
  i.y(0, {size[0], size[3]}, dtype);
  i.y(1, {size[1], size[3]}, dtype);
  i.y(2, lstm ? Dims{size[1], size[2]} : Dims{0}, dtype);
  i.y(3, {size[0], SavedCount(mode) * size[2]}, dtype);
  i.y(4, lstm ? Dims{size[0], size[2]} : Dims{0}, dtype);
}

void RunLayer(Run& r) {
  kernels::Recurrent(r.ctx(), r.dtype(), r.out(0), r.out(1), r.out(2), r.out(3), r.out(4), r.rows("gates_x"),
                     r.rows("h0"), r.rows("c0"), {r.rows("weight"), r.rows("bias"), r.rows("projection")}, StepsOf(r));
}

/// Gradients that can be differentiated: the layer again in ordinary operators, and the tape through it. Inputs are
/// looked at through views, so that paths between them outside this layer do not count.
void GradByOperators(Grad& g) {
  std::vector<Tensor> inputs(6), wanted, roots, grads;
  std::vector<int> slots;
  for (int i = 0; i < 6; ++i) {
    if (!g.call().inputs[i].defined()) continue;
    inputs[i] = Op<"expand">(g.x(i), g.x(i).shape());
    if (g.needs(i)) wanted.push_back(inputs[i]), slots.push_back(i);
  }
  const Operands operands{inputs[0], inputs[1], inputs[2], inputs[3], inputs[4], inputs[5]};
  const Tensors results =
      LayerByOperators(operands, ModeNamed(g.name(), g.String("mode")), g.Bool("reverse"), g.Ints("batch_sizes"));
  for (int i = 0; i < 3; ++i) {
    if (!g.dy(i).defined() || !results[i].defined() || !results[i].requires_grad()) continue;
    roots.push_back(results[i]), grads.push_back(g.dy(i));
  }
  BackwardOptions options;
  options.retain_graph = options.create_graph = options.allow_unused = true;
  const std::vector<Tensor> found = Gradients(roots, grads, wanted, options);
  for (size_t i = 0; i < slots.size(); ++i) {
    if (found[i].defined()) g.dx(slots[i], found[i]);
  }
}

void GradLayer(Grad& g) {
  if (Door().grad_enabled) return GradByOperators(g);
  const auto given = [&](int i) {
    return g.dy(i).defined() ? g.dy(i) : Op<"zeros">(g.y_shape(i), g.y_dtype(i), g.device());
  };
  const Tensors d = OpN<"recurrent_layer_backward">(given(0), given(1), given(2), g.y(0), g.y(3), g.y(4), g.x("h0"),
                                                    g.x("c0"), g.x("weight"), g.x("bias"), g.x("projection"),
                                                    g.attr("mode"), g.Bool("reverse"), g.attr("batch_sizes"));
  for (int i = 0; i < 6; ++i) {
    if (g.needs(i)) g.dx(i, d[i]);
  }
}

[[maybe_unused]] const auto& layer =
    DefineOp(
        "recurrent_layer(Tensor gates_x, Tensor h0, Tensor? c0, Tensor weight, Tensor? bias, Tensor? projection, str "
        "mode, bool reverse, int[] batch_sizes) -> (Tensor out, Tensor hn, Tensor cn, Tensor gates, Tensor cells)")
        .Doc("One recurrent layer in one direction over packed sequences, given the inputs' part of its gates.")
        .Infers(InferLayer)
        .Runs(RunLayer)
        .NoGradientFor(0b11000)
        .Gradient("gates_x, h0, c0, weight, bias, projection, out, gates, cells", GradLayer);

[[maybe_unused]] const auto& layer_backward =
    DefineOp(
        "recurrent_layer_backward(Tensor dy, Tensor dhn, Tensor dcn, Tensor y, Tensor gates, Tensor cells, Tensor h0, "
        "Tensor? c0, Tensor weight, Tensor? bias, Tensor? projection, str mode, bool reverse, int[] batch_sizes) -> "
        "(Tensor dgates_x, Tensor dh0, Tensor dc0, Tensor dweight, Tensor dbias, Tensor dprojection)")
        .Doc("The gradients of recurrent_layer.")
        .Infers([](Infer& i) {
          const Dims size = CheckLayer(i);
          const RecurrentMode mode = ModeNamed(i.name(), i.String("mode"));
          const bool lstm = mode == RecurrentMode::kLstm;
          Expect(i, "dy", {size[0], size[3]});
          Expect(i, "dhn", {size[1], size[3]});
          Expect(i, "dcn", lstm ? Dims{size[1], size[2]} : Dims{0});
          Expect(i, "y", {size[0], size[3]});
          Expect(i, "gates", {size[0], SavedCount(mode) * size[2]});
          Expect(i, "cells", lstm ? Dims{size[0], size[2]} : Dims{0});
          const DType dtype = i.x("dy").dtype();
          i.y(0, {size[0], GateCount(mode) * size[2]}, dtype);
          i.y(1, i.x("h0").shape(), dtype);
          i.y(2, lstm ? Dims{size[1], size[2]} : Dims{0}, dtype);
          i.y(3, i.x("weight").shape(), dtype);
          i.y(4, i.has("bias") ? i.x("bias").shape() : Dims{0}, dtype);
          i.y(5, i.has("projection") ? i.x("projection").shape() : Dims{0}, dtype);
        })
        .Runs([](Run& r) {
          kernels::RecurrentGradients d{r.out(0), r.out(1), r.out(2), r.out(3), View{}, View{}};
          if (r.has("bias")) d.bias = r.out(4);
          if (r.has("projection")) d.projection = r.out(5);
          kernels::RecurrentBackward(r.ctx(), r.dtype(), d, r.rows("dy"), r.rows("dhn"), r.rows("dcn"), r.rows("y"),
                                     r.rows("gates"), r.rows("cells"), r.rows("h0"), r.rows("c0"),
                                     {r.rows("weight"), r.rows("bias"), r.rows("projection")}, StepsOf(r));
        })
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
