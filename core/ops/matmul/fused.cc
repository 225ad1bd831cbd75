// A linear layer with bias, residual and activation as one call: what passes make of the four.
#include "core/ops/fused.h"

#include "core/ops/matmul/products.h"

namespace dragon {
namespace {

void InferLinearFused(Infer& i) {
  const Tensor& x = i.x(0);
  fused::CheckTail(i, 0, 2);
  const Dims& w = fused::WeightShapeOf(i, 0);
  if (x.ndim() == 0 || x.size(-1) != w[1]) {
    throw ValueError(i.name()).Got("x ", x.shape(), " and weight ", w).Expected("x (..., in) and weight (out, in)");
  }
  if (i.has(2) && (i.x(2).ndim() > 1 || (i.x(2).numel() != 1 && i.x(2).numel() != w[0]))) {
    throw ValueError(i.name()).Got("bias ", i.x(2).shape()).Expected("one number for each row of weight");
  }
  Dims shape = x.shape();
  shape.back() = w[0];
  fused::CheckResidual(i, shape);
  i.y(0, shape, x.dtype());
}

/// Rows of the last axis, side by side; `x` is copied if it does not lie so.
OwnedView RowsOf(const Tensor& x, int64_t width) {
  const bool rows = x.ndim() == 2;
  return OwnedView(const_cast<void*>(x.data()), x.dtype(), {width ? x.numel() / width : 0, width},
                   {rows ? x.strides()[0] : width, rows ? x.strides()[1] : 1});
}

void RunLinearFused(Run& r) {
  const OwnedView weight = fused::WeightOf(r, 0);
  const int64_t out = weight.shape[0], in = weight.shape[1];
  const bool matrix = r.x(0).ndim() == 2 && r.x(0).strides()[1] == 1;
  const Tensor from = matrix ? r.x(0) : r.Contiguous(0), added = r.has(3) ? r.Contiguous(3) : Tensor();
  const OwnedView x = RowsOf(from, in), y = RowsOf(r.y(), out);
  const std::optional<OwnedView> residual =
      added.defined() ? std::optional<OwnedView>(std::in_place, const_cast<void*>(added.data()), added.dtype(), y.shape,
                                                 Dims{out, 1})
                      : std::nullopt;
  FusedTail tail = fused::TailOf(r, 0, residual ? residual->view : View{});
  if (kernels::LinearFusedOneDnn.Has(r.ctx().device.type, r.dtype())) {
    bool done = false;
    kernels::LinearFusedOneDnn(r.ctx(), r.dtype(), y.view, x.view, weight.view, r.in(2), tail, fused::LayoutOf(r, 0),
                               &done);
    if (done) return;
  }
  const fused::PlainWeight plain(r, 0, kTurnedProduct);
  const View& w = plain.view();
  const OwnedView turned(w.data, w.dtype, {in, out}, {w.strides[1], w.strides[0]});
  kernels::Matmul(r.ctx(), r.dtype(), y.view, x.view, turned.view, r.in(2), MatmulPost{});
  tail.residual = r.in(3);
  fused::RunTail(r, tail);
}

[[maybe_unused]] const auto& linear_fused =
    DefineOp(std::string("linear_fused(Tensor x, Tensor weight, Tensor? bias, Tensor? residual, ") +
             fused::kTailArguments + ") -> Tensor")
        .Doc(
            "activation(linear(x, weight, bias) + residual). With a weight_layout, weight is the memory of weights of "
            "weight_shape arranged so.")
        .Infers(InferLinearFused)
        .Runs(RunLinearFused)
        .NotDifferentiable();

void RunPackLinear(Run& r) {
  const Tensor& w = r.x(0);
  // oneDNN divides by products of sizes, which may wrap around to 0 beyond 32 bits.
  const bool describable = w.ndim() == 2 && std::max({r.Int(0), w.size(0), w.size(1)}) <= INT32_MAX;
  if (w.ndim() != 2 || r.Int(0) < 0) {
    throw ValueError(r.name()).Got("weight ", w.shape(), " for ", r.Int(0), " rows").Expected("(out, in)");
  }
  if (!describable) return fused::SetPacked(r, kTurnedProduct, WeightLayout{});
  const OwnedView x(nullptr, w.dtype(), {r.Int(0), w.size(1)}, {w.size(1), 1});
  const OwnedView y(nullptr, w.dtype(), {r.Int(0), w.size(0)}, {w.size(0), 1});
  const OwnedView bias(nullptr, w.dtype(), {w.size(0)}, {1});
  const FusedTail tail{r.Bool(2) ? y.view : View{}, fused::ActivationOf(r, 3).kind, r.Real(4), r.Real(5)};
  WeightLayout layout;
  if (kernels::LinearLayout.Has(r.ctx().device.type, w.dtype())) {
    kernels::LinearLayout(r.ctx(), w.dtype(), y.view, x.view, r.in(0), r.Bool(1) ? bias.view : View{}, tail, &layout);
  }
  fused::SetPacked(r, kTurnedProduct, layout);
}

[[maybe_unused]] const auto& pack_linear_weight =
    DefineOp(
        "pack_linear_weight(Tensor weight, int rows, bool bias, bool residual, str activation=\"none\", float "
        "alpha=0.0, float beta=0.0) -> (Tensor packed, Tensor layout)")
        .Doc("The weight arranged as linear_fused reads it fastest, and that layout's letters; both empty if as it is.")
        .Dynamic()
        .Runs(RunPackLinear)
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
