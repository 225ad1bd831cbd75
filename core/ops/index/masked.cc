// Operators driven by a mask, and the places that are not zero.
#include "core/framework/infer.h"
#include "core/framework/known.h"
#include "core/framework/number.h"
#include "core/framework/op.h"
#include "core/kernels/index.h"
#include "core/ops/index/indices.h"

namespace dragon {
namespace {

void CheckMask(const char* who, const Tensor& mask) {
  if (mask.dtype() != DType::kBool) throw TypeError(who).Got("a mask of ", mask.dtype()).Expected("bool");
}

/// A tensor's view, repeated to look like `shape`, which outlives it together with `strides`.
View Spread(const Run& r, const Tensor& x, const Dims& shape, Dims* strides) {
  *strides = ExpandedStrides(x, shape);
  int64_t numel = 1;
  for (int64_t size : shape) numel *= size;
  return {r.ViewHere(x).data, shape.data(), strides->data(), numel, shape.size(), x.dtype()};
}

[[maybe_unused]] const auto& masked_fill =
    DefineOp("masked_fill(Tensor x, Tensor mask, Tensor value) -> Tensor")
        .Doc("x with one number wherever the mask is true.")
        .Pointwise()
        .Infers([](Infer& i) {
          CheckMask("masked_fill", i.x("mask"));
          const Tensor &x = i.x("x"), &value = i.x("value");
          if (value.ndim() != 0)
            throw ValueError("masked_fill").Got("a value of shape ", value.shape()).Expected("one number");
          if (IsComplex(value.dtype()) > IsComplex(x.dtype())) {
            throw TypeError("masked_fill")
                .Got("a value of ", value.dtype())
                .Expected("one that ", x.dtype(), " can hold");
          }
          i.y(0, BroadcastShapes("masked_fill", x.shape(), i.x("mask").shape()), x.dtype());
        })
        .Runs([](Run& r) {
          const Tensor value = CastOrRefuse(r.name(), r.x("value"), r.dtype());
          Dims x_strides, mask_strides;
          const Dims& shape = r.y().shape();
          kernels::MaskedFill(r.ctx(), r.dtype(), r.out(), Spread(r, r.x("x"), shape, &x_strides),
                              Spread(r, r.x("mask"), shape, &mask_strides), r.ViewHere(value));
        })
        .Gradient("mask", [](Grad& g) {
          if (g.needs("x")) g.dx("x", Op<"masked_fill">(g.dy(), g.x("mask"), Number(0.0)));
          if (g.needs("value")) g.dx("value", Op<"masked_fill">(g.dy(), Op<"logical_not">(g.x("mask")), Number(0.0)));
        });

[[maybe_unused]] const auto& masked_select =
    DefineOp("masked_select(Tensor x, Tensor mask) -> Tensor")
        .Doc("The elements where the mask is true, as a vector.")
        .Dynamic()
        .Infers([](Infer& i) {
          CheckMask("masked_select", i.x("mask"));
          BroadcastShapes("masked_select", i.x("x").shape(), i.x("mask").shape());
          i.y(0, Dims{AskSizeByNumbers()}, i.x("x").dtype());
        })
        .Runs([](Run& r) {
          CheckMask("masked_select", r.x("mask"));
          const Dims shape = BroadcastShapes("masked_select", r.x("x").shape(), r.x("mask").shape());
          Dims x_strides, mask_strides;
          const View x = Spread(r, r.x("x"), shape, &x_strides), mask = Spread(r, r.x("mask"), shape, &mask_strides);
          int64_t count = 0;
          kernels::CountMarked(r.ctx(), DType::kBool, &count, mask);
          r.set_y(0, Tensor::Empty({count}, r.dtype(), r.x("x").device()));
          kernels::MaskedSelect(r.ctx(), r.dtype(), r.out(), x, mask);
        })
        .Gradient("mask", [](Grad& g) {
          const Dims shape = BroadcastShapes("masked_select", g.x_shape("x"), g.x("mask").shape());
          g.dx("x", Op<"masked_scatter">(Zeros(shape, g.dy()), Op<"expand">(g.x("mask"), shape), g.dy()));
        });

[[maybe_unused]] const auto& masked_scatter =
    DefineOp("masked_scatter(Tensor x, Tensor mask, Tensor src) -> Tensor")
        .Doc("x with the next element of src wherever the mask is true.")
        .Infers([](Infer& i) {
          CheckMask("masked_scatter", i.x("mask"));
          if (i.x("src").dtype() != i.x("x").dtype()) {
            throw TypeError("masked_scatter")
                .Got("src of ", i.x("src").dtype())
                .Expected("the dtype of x, ", i.x("x").dtype());
          }
          i.y(0, BroadcastShapes("masked_scatter", i.x("x").shape(), i.x("mask").shape()), i.x("x").dtype());
        })
        .Runs([](Run& r) {
          Dims x_strides, mask_strides;
          const Dims& shape = r.y().shape();
          kernels::MaskedScatter(r.ctx(), r.dtype(), r.out(), Spread(r, r.x("x"), shape, &x_strides),
                                 Spread(r, r.x("mask"), shape, &mask_strides), r.rows("src"));
        })
        .Gradient("mask", [](Grad& g) {
          if (g.needs("x")) g.dx("x", Op<"masked_fill">(g.dy(), g.x("mask"), Number(0.0)));
          if (!g.needs("src")) return;
          const Tensor used = Op<"masked_select">(g.dy(), g.x("mask"));
          int64_t numel = 1;
          for (int64_t size : g.x_shape("src")) numel *= size;
          const Tensor all = Op<"pad">(used, Dims{0, numel - used.numel()});
          g.dx("src", Op<"reshape">(all, g.x_shape("src")));
        });

[[maybe_unused]] const auto& nonzero =
    DefineOp("nonzero(Tensor x) -> Tensor")
        .Doc("The places of the elements that are not zero, one row each.")
        .Dynamic()
        .Infers([](Infer& i) { i.y(0, Dims{AskSizeByNumbers(), i.x(0).ndim()}, DType::kInt64); })
        .NotDifferentiable()
        .Runs([](Run& r) {
          int64_t count = 0;
          kernels::CountMarked(r.ctx(), r.dtype(), &count, r.in(0));
          r.set_y(0, Tensor::Empty({count, r.x(0).ndim()}, DType::kInt64, r.x(0).device()));
          if (count > 0 && r.x(0).ndim() > 0) kernels::Nonzero(r.ctx(), r.dtype(), r.out(), r.in(0));
        });

[[maybe_unused]] const auto& argwhere = DefineOp("argwhere(Tensor x) -> Tensor")
                                            .Doc("The positions of the elements that are not zero, one row each.")
                                            .NotDifferentiable()
                                            .As([](const CallReader& c) -> Tensors { return {Op<"nonzero">(c.x(0))}; });

[[maybe_unused]] const auto& nonzero_tuple =
    DefineOp("nonzero_tuple(Tensor x) -> Tensor[]")
        .Doc("The places of the elements that are not zero, one vector per axis; what where(x) means.")
        .As([](const CallReader& c) -> Tensors {
          return OpN<"unbind">(Op<"nonzero">(c.x(0).ndim() ? c.x(0) : Op<"unsqueeze">(c.x(0), 0)), 1);
        });

[[maybe_unused]] const auto& flatnonzero =
    DefineOp("flatnonzero(Tensor x) -> Tensor")
        .Doc("The positions, in row-major order, of the elements that are not zero.")
        .As([](const CallReader& c) -> Tensors {
          return {Op<"select">(Op<"nonzero">(Op<"reshape">(c.x(0), Dims{c.x(0).numel()})), 1, 0)};
        });

}  // namespace
}  // namespace dragon
