// Running sums, products and extremes along one axis.
#include <limits>

#include "core/kernels/reduction.h"
#include "core/ops/reduction/axes.h"

namespace dragon {
namespace {

int64_t AxisOf(const CallReader& c, int64_t ndim) { return NormalizeAxis(c.name(), c.Int("axis"), ndim); }

void InferRunning(Infer& i) {
  AxisOf(i, i.x(0).ndim());
  i.y(0, i.x(0).shape(), i.DTypeOr("dtype", SumDType(i.x(0).dtype())));
}

template <typename K>
void RunRunning(Run& r, const K& kernel) {
  const DType dtype = r.y().dtype() == DType::kBool ? DType::kInt64 : r.y().dtype();
  const Tensor x = r.x(0).dtype() == dtype ? r.x(0) : Op<"cast">(r.x(0), dtype);
  const int axis = static_cast<int>(AxisOf(r, x.ndim()));
  if (dtype == r.y().dtype()) return kernel(r.ctx(), dtype, r.out(), x.view(), axis);
  const Tensor whole = Tensor::Empty(x.shape(), dtype, x.device());
  kernel(r.ctx(), dtype, whole.mutable_view(), x.view(), axis);
  OpInto<"copy">(r.y(), whole);
}

/// A function of scans run from the end of the axis.
template <typename F>
Tensor FromTheEnd(const Tensor& x, int64_t axis, F scan) {
  if (x.ndim() == 0) return scan(x);
  return Op<"flip">(scan(Op<"flip">(x, Dims{axis})), Dims{axis});
}

/// Every element's predecessor along the axis; the first gets `first`.
Tensor Predecessors(const Tensor& x, int64_t axis, double first) {
  const Tensor head = Op<"full_like">(Op<"narrow">(x, axis, 0, 1), Value(first));
  const Tensor parts[] = {head, Op<"narrow">(x, axis, 0, x.size(axis) - 1)};
  return Op<"cat">(std::span<const Tensor>(parts), axis);
}

Tensor Conjugate(const Tensor& x) { return x.is_complex() ? Op<"conj">(x) : x; }

[[maybe_unused]] const auto& cumsum =
    DefineOp("cumsum(Tensor x, int axis, *, dtype? dtype=None) -> Tensor")
        .Doc("Running sums along an axis.")
        .Batches(Batching::kRows, "axis")
        .Infers(InferRunning)
        .Runs([](Run& r) { RunRunning(r, kernels::CumSum); })
        .Gradient("", [](Grad& g) {
          const int64_t axis = AxisOf(g, g.x_shape(0).size());
          g.dx(0, FromTheEnd(g.dy(), axis, [&](const Tensor& t) { return Op<"cumsum">(t, axis); }));
        });

/// y_k = b_k + a_k y_(k-1): the shape of every backward scan here, and its own gradient's shape as well.
[[maybe_unused]] const auto& linear_scan =
    DefineOp("linear_scan(Tensor a, Tensor b, int axis) -> Tensor")
        .Doc("Solve y[k] = b[k] + a[k] * y[k - 1] along an axis, starting from y[-1] = 0.")
        .Batches(Batching::kRows, "axis")
        .Promotes(Promotion::kCommon)
        .Infers([](Infer& i) {
          if (i.x("a").shape() != i.x("b").shape()) {
            throw ValueError(i.name()).Got(i.x("a").shape(), " and ", i.x("b").shape()).Expected("equal shapes");
          }
          AxisOf(i, i.x("a").ndim());
          i.y(0, i.x("a").shape(), i.x("a").dtype());
        })
        .Runs([](Run& r) {
          const int axis = static_cast<int>(AxisOf(r, r.x("a").ndim()));
          kernels::LinearScan(r.ctx(), r.dtype(), r.out(), r.rows("a"), r.rows("b"), axis);
        })
        .Gradient("a, out", [](Grad& g) {
          const int64_t axis = AxisOf(g, g.x_shape("a").size());
          if (g.x_shape("a").empty() || g.dy().numel() == 0) {
            g.dx("a", Op<"zeros_like">(g.dy()));
            return g.dx("b", g.dy());
          }
          const Tensor factors = Predecessors(Op<"flip">(Conjugate(g.x("a")), Dims{axis}), axis, 0);
          const Tensor db =
              FromTheEnd(g.dy(), axis, [&](const Tensor& t) { return Op<"linear_scan">(factors, t, axis); });
          g.dx("b", db);
          if (g.needs("a")) g.dx("a", db * Conjugate(Predecessors(g.y(), axis, 0)));
        });

/// dx_k = (product before k) S_k with S_k = dy_k + x_(k+1) S_(k+1): no division, so zeros need no care.
void CumProdGradient(Grad& g) {
  const int64_t axis = AxisOf(g, g.x_shape(0).size());
  Tensor x = g.x(0);
  if (g.Given("dtype")) x = Op<"cast">(x, g.attr("dtype").dtype());
  if (x.ndim() == 0 || x.numel() == 0) return g.dx(0, g.dy());
  const Tensor next = Predecessors(Op<"flip">(Conjugate(x), Dims{axis}), axis, 0);
  const Tensor sums = FromTheEnd(g.dy(), axis, [&](const Tensor& t) { return Op<"linear_scan">(next, t, axis); });
  g.dx(0, sums * Conjugate(Op<"cumprod">(Predecessors(x, axis, 1), axis)));
}

[[maybe_unused]] const auto& cumprod = DefineOp("cumprod(Tensor x, int axis, *, dtype? dtype=None) -> Tensor")
                                           .Doc("Running products along an axis.")
                                           .Batches(Batching::kRows, "axis")
                                           .Infers(InferRunning)
                                           .Runs([](Run& r) { RunRunning(r, kernels::CumProd); })
                                           .Gradient("x", CumProdGradient);

/// dx_k = exp(x_k - y_k) S_k with S_k = dy_k + exp(y_k - y_(k+1)) S_(k+1); y never falls, so nothing overflows.
void LogCumSumExpGradient(Grad& g) {
  const int64_t axis = AxisOf(g, g.x_shape(0).size());
  if (g.x_shape(0).empty() || g.dy().numel() == 0) return g.dx(0, g.dy());
  const auto ratio = [](const Tensor& a, const Tensor& b) {  // exp(a - b), 0 where both are -inf
    return Op<"where">(Op<"isneginf">(b), Number(0.0), Op<"exp">(a - b));
  };
  const Tensor back = Op<"flip">(g.y(), Dims{axis});
  // Nothing comes before the first: a factor of exp(-inf), since a large one times nothing would be NaN.
  const Tensor factors = ratio(back, Predecessors(back, axis, std::numeric_limits<double>::infinity()));
  const Tensor sums = FromTheEnd(g.dy(), axis, [&](const Tensor& t) { return Op<"linear_scan">(factors, t, axis); });
  g.dx(0, ratio(g.x(0), g.y()) * sums);
}

[[maybe_unused]] const auto& logcumsumexp = DefineOp("logcumsumexp(Tensor x, int axis) -> Tensor")
                                                .Doc("Running log(sum(exp(x))) along an axis.")
                                                .Batches(Batching::kRows, "axis")
                                                .Infers([](Infer& i) {
                                                  AxisOf(i, i.x(0).ndim());
                                                  i.y(0, i.x(0).shape(), i.x(0).dtype());
                                                })
                                                .Runs([](Run& r) {
                                                  const int axis = static_cast<int>(AxisOf(r, r.x(0).ndim()));
                                                  kernels::LogCumSumExp(r.ctx(), r.dtype(), r.out(), r.in(0), axis);
                                                })
                                                .Gradient("x, out", LogCumSumExpGradient);

void InferRunningPlaces(Infer& i) {
  if (i.x(0).is_complex()) throw TypeError(i.name()).Got(i.x(0).dtype()).Expected("a dtype with an order");
  AxisOf(i, i.x(0).ndim());
  i.y(0, i.x(0).shape(), i.x(0).dtype());
  i.y(1, i.x(0).shape(), DType::kInt64);
}

void RunningGradient(Grad& g) {
  if (g.x_shape(0).empty()) return g.dx(0, g.dy());
  const Tensor zeros = Op<"zeros">(g.x_shape(0), g.x_dtype(0), g.dy().device());
  g.dx(0, Op<"scatter_add">(zeros, AxisOf(g, g.x_shape(0).size()), g.y(1), g.dy()));
}

template <typename K>
Operator& Running(const std::string& name, const char* doc, const K& kernel) {
  return DefineOp(name + "(Tensor x, int axis) -> (Tensor values, Tensor indices)")
      .Doc(doc)
      .Batches(Batching::kRows, "axis")
      .Infers(InferRunningPlaces)
      .Runs([&kernel](Run& r) {
        kernel(r.ctx(), r.dtype(), r.out(0), r.out(1), r.in(0), static_cast<int>(AxisOf(r, r.x(0).ndim())));
      })
      .Gradient("indices", RunningGradient);
}
[[maybe_unused]] const auto& cummax =
    Running("cummax", "Running maxima along an axis and where they stand.", kernels::CumMax);
[[maybe_unused]] const auto& cummin =
    Running("cummin", "Running minima along an axis and where they stand.", kernels::CumMin);

}  // namespace
}  // namespace dragon
