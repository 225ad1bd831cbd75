// The linear layer's product: weights as they are kept, (out, in), and a bias added on the way.
#include "core/framework/batching.h"
#include "core/ops/matmul/products.h"

namespace dragon {
namespace {

using namespace products;  // NOLINT: this file is about nothing else

void InferLinear(Infer& i) {
  CheckSameDType(i);
  const Tensor &x = i.x("x"), &weight = i.x("weight");
  if (x.ndim() == 0 || weight.ndim() < 1 || weight.ndim() > 2 || x.size(-1) != weight.size(-1)) {
    throw ValueError(i.name())
        .Got("x ", x.shape(), " and weight ", weight.shape())
        .Expected("x (..., in) and weight (out, in) or (in,)");
  }
  Dims shape = x.shape();
  shape.pop_back();
  if (weight.ndim() == 2) shape.push_back(weight.size(0));
  if (i.has("bias")) {
    const Tensor& bias = i.x("bias");
    const bool fits = weight.ndim() == 1 ? bias.numel() == 1 && bias.ndim() <= 1
                                         : bias.ndim() <= 1 && (bias.numel() == 1 || bias.numel() == weight.size(0));
    if (!fits) throw ValueError(i.name()).Got("bias ", bias.shape()).Expected("one number for each row of weight");
  }
  i.y(0, shape, x.dtype());
}

void RunLinear(Run& r) {
  const Tensor &weight = r.x("weight"), &y = r.y();
  const Tensor x = r.x("x").ndim() > 2 ? r.Contiguous("x") : r.x("x");
  const int64_t in = x.size(-1), out = weight.ndim() == 2 ? weight.size(0) : 1;
  const int64_t rows = out ? y.numel() / out : 0;
  const View from = x.view(), w = r.in("weight");
  const OwnedView to(y.mutable_data(), y.dtype(), {rows, out}, {out, 1});
  const int64_t row_step = x.ndim() == 2 ? from.strides[0] : in;
  const OwnedView a(from.data, x.dtype(), {rows, in}, {row_step, from.strides[from.ndim - 1]});
  const OwnedView b(w.data, w.dtype, {in, out}, {w.strides[w.ndim - 1], w.ndim == 2 ? w.strides[0] : 1});
  kernels::Matmul(r.ctx(), r.dtype(), to.view, a.view, b.view, r.in("bias"), MatmulPost{});
}

Tensor Flat(const Tensor& x) { return x.ndim() == 2 ? x : Op<"reshape">(x, Dims{x.numel() / x.size(-1), x.size(-1)}); }

void GradLinear(Grad& g) {
  const Tensor& weight = g.x("weight");  // kept for the gradient of x only, as x is for that of the weight
  const bool matrix = g.x_shape("weight").size() == 2;
  const Tensor dy = matrix ? g.dy() : Op<"unsqueeze">(g.dy(), -1);
  if (g.needs("x")) g.dx("x", Op<"matmul">(dy, ConjOf(matrix ? weight : Op<"unsqueeze">(weight, 0))));
  if (g.needs("weight")) {
    const Tensor& x = g.x("x");
    const bool empty = x.numel() == 0 || dy.numel() == 0;
    const Tensor dw = empty ? Op<"zeros">(g.x_shape("weight"), g.x_dtype("weight"), g.x_device("weight"))
                            : Op<"matmul">(Op<"transpose">(Flat(dy), -1, -2), ConjOf(Flat(x)));
    g.dx("weight", matrix || empty ? dw : Op<"squeeze">(dw, 0));
  }
  if (g.needs("bias")) g.dx("bias", dy);  // summed to the bias' shape by the tape
}

/// One product where all slices share the weights; a product for each of them where they have their own.
Tensors LinearSlices(const Slices& s) {
  if (!s.Varies("weight") && !s.Varies("bias")) {
    return {Op<"linear">(s.batch("x"), s.batch("weight"), s.batch("bias"))};
  }
  if (s.x("weight").ndim() != 2) return {};
  const int rank = std::max(s.x("x").ndim(), 2);
  const Tensor weight = Op<"transpose">(s.Raised("weight", rank), int64_t{-2}, int64_t{-1});
  Tensor y = Op<"matmul">(s.Raised("x", rank), weight);
  if (s.has("bias")) y = y + s.Raised("bias", rank);
  return {y};
}

[[maybe_unused]] const auto& linear = DefineOp("linear(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor")
                                          .Doc("x @ weight.T + bias, over the last axis of x.")
                                          .Batches(LinearSlices)
                                          .Autocast(Precision::kLower)
                                          .Infers(InferLinear)
                                          .Runs(RunLinear)
                                          .Gradient("x for weight, weight for x", GradLinear);

[[maybe_unused]] const auto& bilinear =
    DefineOp("bilinear(Tensor x, Tensor y, Tensor weight, Tensor? bias=None) -> Tensor")
        .Doc("x[i] * weight[o, i, j] * y[j] summed over i and j, plus bias[o].")
        .Autocast(Precision::kPlain)
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y"), &weight = c.x("weight");
          CheckRank(c, "weight", 3);
          const bool fits = x.ndim() > 0 && x.ndim() == y.ndim() && x.size(-1) == weight.size(1) &&
                            y.size(-1) == weight.size(2) &&
                            std::equal(x.shape().begin(), x.shape().end() - 1, y.shape().begin());
          if (!fits) {
            throw ValueError(c.name())
                .Got("x ", x.shape(), ", y ", y.shape(), " and weight ", weight.shape())
                .Expected("x (..., i), y (..., j) and weight (o, i, j)");
          }
          const int64_t out = weight.size(0), in = weight.size(1), other = weight.size(2);
          const Tensor side = Op<"reshape">(Op<"permute">(weight, Dims{1, 0, 2}), Dims{in, out * other});
          Dims shape = x.shape();
          shape.back() = out;
          shape.push_back(other);
          const Tensor half = Op<"reshape">(Op<"matmul">(x, side), shape);
          const Tensor sum = Op<"squeeze">(Op<"matmul">(half, Op<"unsqueeze">(y, -1)), -1);
          return {c.has("bias") ? sum + c.x("bias") : sum};
        });

}  // namespace
}  // namespace dragon
