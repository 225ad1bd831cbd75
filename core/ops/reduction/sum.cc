// Sums, means, products and counts along axes.
#include "core/kernels/reduction.h"
#include "core/ops/reduction/axes.h"

namespace dragon {
namespace {

void InferSum(Infer& i) {
  i.y(0, ReducedShape(i.x(0).shape(), AxesOf(i), i.Bool("keepdims")), i.DTypeOr("dtype", SumDType(i.x(0).dtype())));
}

/// Kernels give int64 for integers; another integer dtype that was asked for is a copy away.
template <typename K>
void RunSum(Run& r, const K& kernel) {
  const Tensor x = InputAs(r);
  const Dims axes = AxesOf(r);
  if (SumDType(x.dtype()) == r.y().dtype()) return kernel(r.ctx(), x.dtype(), Kept(r.y(), x.shape(), axes), x.view());
  const Tensor total = Tensor::Empty(r.y().shape(), SumDType(x.dtype()), x.device());
  kernel(r.ctx(), x.dtype(), Kept(total, x.shape(), axes), x.view());
  OpInto<"copy">(r.y(), total);
}

Tensor SpreadSlope(Grad& g) { return Spread(g.dy(), g.x_shape(0), AxesOf(g), g.Bool("keepdims")); }

[[maybe_unused]] const auto& sum =
    DefineOp("sum(Tensor x, int[1]? axis=None, bool keepdims=False, *, dtype? dtype=None) -> Tensor")
        .Doc("The sum of elements along axes, or of all of them.")
        .Batches(Batching::kRows, "axis")
        .Infers(InferSum)
        .Runs([](Run& r) { RunSum(r, kernels::Sum); })
        .Gradient("", [](Grad& g) { g.dx(0, SpreadSlope(g)); });

[[maybe_unused]] const auto& nansum =
    DefineOp("nansum(Tensor x, int[1]? axis=None, bool keepdims=False, *, dtype? dtype=None) -> Tensor")
        .Doc("The sum of elements that are not NaN.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          if (i.x(0).is_complex()) throw TypeError(i.name()).Got(i.x(0).dtype()).Expected("a real dtype");
          InferSum(i);
        })
        .Runs([](Run& r) {
          const bool whole = !IsFloating(r.DTypeOr("dtype", r.x(0).dtype()));
          RunSum(r, whole ? kernels::Sum : kernels::NanSum);
        })
        .Gradient("x", [](Grad& g) { g.dx(0, Op<"where">(Op<"isnan">(g.x(0)), Number(0.0), SpreadSlope(g))); });

[[maybe_unused]] const auto& mean =
    DefineOp("mean(Tensor x, int[1]? axis=None, bool keepdims=False, *, dtype? dtype=None) -> Tensor")
        .Doc("The mean of elements along axes, or of all of them.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) {
          const DType dtype = i.DTypeOr("dtype", i.x(0).dtype());
          if (!IsInexact(dtype)) {
            throw TypeError(i.name()).Got(dtype).Expected("a floating or complex dtype (give one with dtype=)");
          }
          i.y(0, ReducedShape(i.x(0).shape(), AxesOf(i), i.Bool("keepdims")), dtype);
        })
        .Runs([](Run& r) { RunSum(r, kernels::Mean); })
        .Gradient("", [](Grad& g) {
          const double count = static_cast<double>(ReducedCount(g.x_shape(0), AxesOf(g)));
          const Tensor share = g.dy() / count;
          g.dx(0, Spread(share, g.x_shape(0), AxesOf(g), g.Bool("keepdims")));
        });

[[maybe_unused]] const auto& nanmean =
    DefineOp("nanmean(Tensor x, int[1]? axis=None, bool keepdims=False, *, dtype? dtype=None) -> Tensor")
        .Doc("The mean of elements that are not NaN.")
        .As([](const CallReader& c) -> Tensors {
          if (!IsFloating(c.DTypeOr("dtype", c.x(0).dtype()))) {
            throw TypeError(c.name()).Got(c.x(0).dtype()).Expected("a floating dtype");
          }
          const Tensor there = Op<"logical_not">(Op<"isnan">(c.x(0)));
          const Value &axis = c.attr("axis"), &keepdims = c.attr("keepdims");
          return {Op<"nansum">(c.x(0), axis, keepdims, c.attr("dtype")) / Op<"sum">(there, axis, keepdims)};
        });

/// The product of all other elements along an axis, exact also where some are zero.
Tensor ProductOfOthers(const Tensor& x, int64_t axis) {
  const int64_t n = x.size(axis);
  const Tensor one = Op<"ones_like">(Op<"narrow">(x, axis, 0, 1));
  const Tensor before = Op<"narrow">(x, axis, 0, n - 1),
               after = Op<"flip">(Op<"narrow">(x, axis, 1, n - 1), Dims{axis});
  const auto exclusive = [&](const Tensor& part) {
    const Tensor parts[] = {one, part};
    return Op<"cumprod">(Op<"cat">(std::span<const Tensor>(parts), axis), axis);
  };
  return exclusive(before) * Op<"flip">(exclusive(after), Dims{axis});
}

void ProdGradient(Grad& g) {
  const Dims axes = AxesOf(g);
  const Dims& shape = g.x_shape(0);
  Tensor x = g.x(0);
  if (g.Given("dtype")) x = Op<"cast">(x, g.attr("dtype").dtype());
  if (x.numel() == 0 || axes.empty()) return g.dx(0, Spread(g.dy(), shape, axes, g.Bool("keepdims")));
  // Reduced axes go last and become one, along which the others' product is taken.
  Dims order, kept;
  for (int i = 0; i < shape.size(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), i)) order.push_back(i), kept.push_back(shape[i]);
  }
  Dims inverse = Dims::Filled(shape.size(), 0), moved = kept, rows = kept;
  for (int64_t axis : axes) order.push_back(axis), moved.push_back(shape[axis]);
  for (int i = 0; i < order.size(); ++i) inverse[order[i]] = i;
  rows.push_back(ReducedCount(shape, axes));
  const Tensor others = ProductOfOthers(Op<"reshape">(Op<"permute">(x, order), rows), rows.size() - 1);
  const Tensor back = Op<"permute">(Op<"reshape">(others, moved), inverse);
  const Tensor slope = back.is_complex() ? Op<"conj">(back) : back;
  g.dx(0, Unreduced(g.dy(), shape, axes, g.Bool("keepdims")) * slope);
}

[[maybe_unused]] const auto& prod =
    DefineOp("prod(Tensor x, int[1]? axis=None, bool keepdims=False, *, dtype? dtype=None) -> Tensor")
        .Doc("The product of elements along axes, or of all of them.")
        .Batches(Batching::kRows, "axis")
        .Autocast(Precision::kFloat32)
        .Infers(InferSum)
        .Runs([](Run& r) { RunSum(r, kernels::Prod); })
        .Gradient("x", ProdGradient);

[[maybe_unused]] const auto& count_nonzero =
    DefineOp("count_nonzero(Tensor x, int[1]? axis=None) -> Tensor")
        .Doc("How many elements are not zero.")
        .Batches(Batching::kRows, "axis")
        .Infers([](Infer& i) { i.y(0, ReducedShape(i.x(0).shape(), AxesOf(i), /*keepdims=*/false), DType::kInt64); })
        .Runs(
            [](Run& r) { kernels::CountNonzero(r.ctx(), r.dtype(), Kept(r.y(), r.x(0).shape(), AxesOf(r)), r.in(0)); })
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
