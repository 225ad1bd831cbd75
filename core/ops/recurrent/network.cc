// A network layer by layer: layers stacked, directions joined, dropout between layers.
#include "core/ops/recurrent/network.h"

#include <vector>

#include "core/framework/infer.h"

namespace dragon::recurrent {

Tensor Widened(const Tensor& x) {
  const bool half = IsHalf(x.dtype());
  return half ? Op<"cast">(x, DType::kFloat32) : x;
}

namespace {

std::vector<Parameters> Sorted(const Network& n) {
  const int64_t places = n.places(), least = n.biases ? 4 : 2, given = static_cast<int64_t>(n.params.size());
  const int64_t each = n.layers > given ? 0 : given / places;
  const bool projected = n.lstm() && each == least + 1;
  if (each == 0 || given != places * each || (each != least && !projected)) {
    throw ValueError(n.who)
        .Got(given, " parameters")
        .Expected(least, n.lstm() ? " (one more with a projection)" : "", " for each of ", places,
                  " layers and directions");
  }
  std::vector<Parameters> sorted(places);
  size_t next = 0;
  for (Parameters& p : sorted) {
    p.w_ih = Widened(n.params[next++]);
    p.w_hh = Widened(n.params[next++]);
    if (n.biases) p.b_ih = Widened(n.params[next++]), p.b_hh = Widened(n.params[next++]);
    if (projected) p.w_hr = Widened(n.params[next++]);
  }
  return sorted;
}

}  // namespace

Tensors RunLayer(const Tensor& x, const Parameters& p, const Tensor& h0, const Tensor& c0, const char* mode,
                 bool reverse, const Dims& batch_sizes) {
  const Tensor gates_x = Op<"linear">(x, p.w_ih, p.b_ih);
  return OpN<"recurrent_layer">(gates_x, h0, c0, p.w_hh, p.b_hh, p.w_hr, mode, reverse, batch_sizes);
}

Tensors ByLayers(const Network& n, Tensor x, const Tensor& h0, const Tensor& c0) {
  const std::vector<Parameters> parameters = Sorted(n);
  for (const Tensor* state : {&h0, &c0}) {
    if (!state->defined() || (state->ndim() == 3 && state->size(0) == n.places())) continue;
    throw ValueError(n.who).Got("first state ", state->shape()).Expected("(", n.places(), ", batch, size)");
  }
  const DType dtype = x.dtype();
  x = Widened(x);
  std::vector<Tensor> hn, cn;
  for (int64_t layer = 0; layer < n.layers; ++layer) {
    std::vector<Tensor> outs;
    for (int64_t direction = 0; direction < n.directions; ++direction) {
      const int64_t place = layer * n.directions + direction;
      const Tensor first_c = c0.defined() ? Widened(Op<"select">(c0, 0, place)) : Tensor();
      const Tensors results = RunLayer(x, parameters[place], Widened(Op<"select">(h0, 0, place)), first_c, n.mode,
                                       /*reverse=*/direction == 1, n.batch_sizes);
      outs.push_back(results[0]);
      hn.push_back(results[1]);
      cn.push_back(results[2]);
    }
    x = outs.size() == 1 ? outs[0] : Op<"cat">(outs, 1);
    if (n.dropout > 0 && layer + 1 < n.layers) x = Op<"dropout">(x, n.dropout, true);
  }
  const auto narrowed = [&](const Tensor& y) { return y.dtype() == dtype ? y : Op<"cast">(y, dtype); };
  Tensors results;
  results.push_back(narrowed(x));
  results.push_back(narrowed(Op<"stack">(hn, 0)));
  if (c0.defined()) results.push_back(narrowed(Op<"stack">(cn, 0)));
  return results;
}

}  // namespace dragon::recurrent
