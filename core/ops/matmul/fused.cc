// A linear layer with bias, residual and activation as one call: what passes make of the four.
#include "core/ops/fused.h"

#include "core/ops/matmul/products.h"

namespace dragon {
namespace {

void InferLinearFused(Infer& i) {
  const Tensor& x = i.x("x");
  fused::CheckTail(i, 2);
  const Dims& w = fused::WeightShapeOf(i);
  if (x.ndim() == 0 || x.size(-1) != w[1]) {
    throw ValueError(i.name()).Got("x ", x.shape(), " and weight ", w).Expected("x (..., in) and weight (out, in)");
  }
  if (i.has("bias") && (i.x("bias").ndim() > 1 || (i.x("bias").numel() != 1 && i.x("bias").numel() != w[0]))) {
    throw ValueError(i.name()).Got("bias ", i.x("bias").shape()).Expected("one number for each row of weight");
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
  const OwnedView weight = fused::WeightOf(r);
  const int64_t out = weight.shape[0], in = weight.shape[1];
  const bool matrix = r.x("x").ndim() == 2 && r.x("x").strides()[1] == 1;
  const Tensor from = matrix ? r.x("x") : r.Contiguous("x"), added = r.Contiguous("residual");
  const OwnedView x = RowsOf(from, in), y = RowsOf(r.y(), out);
  const std::optional<OwnedView> residual =
      added.defined() ? std::optional<OwnedView>(std::in_place, const_cast<void*>(added.data()), added.dtype(), y.shape,
                                                 Dims{out, 1})
                      : std::nullopt;
  FusedTail tail = fused::TailOf(r, residual ? residual->view : View{});
  if (kernels::LinearFusedOneDnn.Has(r.ctx().device.type, r.dtype())) {
    bool done = false;
    kernels::LinearFusedOneDnn(r.ctx(), r.dtype(), y.view, x.view, weight.view, r.in("bias"), tail, fused::LayoutOf(r),
                               &done);
    if (done) return;
  }
  const fused::PlainWeight plain(r, kTurnedProduct);
  const View& w = plain.view();
  const OwnedView turned(w.data, w.dtype, {in, out}, {w.strides[1], w.strides[0]});
  kernels::Matmul(r.ctx(), r.dtype(), y.view, x.view, turned.view, r.in("bias"), MatmulPost{});
  tail.residual = r.in("residual");
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
  const bool describable = w.ndim() == 2 && std::max({r.Int("rows"), w.size(0), w.size(1)}) <= INT32_MAX;
  if (w.ndim() != 2 || r.Int("rows") < 0) {
    throw ValueError(r.name()).Got("weight ", w.shape(), " for ", r.Int("rows"), " rows").Expected("(out, in)");
  }
  if (!describable) return fused::SetPacked(r, kTurnedProduct, WeightLayout{});
  const OwnedView x(nullptr, w.dtype(), {r.Int("rows"), w.size(1)}, {w.size(1), 1});
  const OwnedView y(nullptr, w.dtype(), {r.Int("rows"), w.size(0)}, {w.size(0), 1});
  const OwnedView bias(nullptr, w.dtype(), {w.size(0)}, {1});
  const FusedTail tail{r.Bool("residual") ? y.view : View{}, fused::ActivationOf(r).kind, r.Real("alpha"),
                       r.Real("beta")};
  WeightLayout layout;
  if (kernels::LinearLayout.Has(r.ctx().device.type, w.dtype())) {
    kernels::LinearLayout(r.ctx(), w.dtype(), y.view, x.view, r.in(0), r.Bool("bias") ? bias.view : View{}, tail,
                          &layout);
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
