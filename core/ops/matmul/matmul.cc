// Products of vectors, matrices and batches of matrices.
#include "core/framework/batching.h"
#include "core/framework/number.h"
#include "core/kernels/array.h"
#include "core/ops/matmul/products.h"

namespace dragon {
namespace {

using namespace products;  // NOLINT: this file is about nothing else

void InferMatmul(Infer& i) {
  const Tensor &x = i.x("x"), &y = i.x("y");
  CheckSameDType(i);
  const int x_ndim = x.ndim(), y_ndim = y.ndim();
  const bool ranks = x_ndim > 0 && y_ndim > 0;
  if (!ranks || x.size(-1) != y.size(y_ndim == 1 ? 0 : -2)) {
    throw ValueError(i.name()).Got("shapes ", x.shape(), " and ", y.shape()).Expected("(..., m, k) and (..., k, n)");
  }
  if (DRAGON_LIKELY(x_ndim == 2 && y_ndim == 2)) {
    i.y(0, {x.size(0), y.size(1)}, x.dtype());
    return;
  }
  Dims shape;
  if (x_ndim > 2 || y_ndim > 2) {
    shape = BroadcastShapes(i.name(), Dims(x.shape().data(), std::max(x_ndim - 2, 0)),
                            Dims(y.shape().data(), std::max(y_ndim - 2, 0)));
  }
  if (x_ndim > 1) shape.push_back(x.size(-2));
  if (y_ndim > 1) shape.push_back(y.size(-1));
  i.y(0, shape, x.dtype());
}

/// Give a vector its missing axis of size 1.
OwnedView AsMatrix(const View& x, int missing_axis) {
  Dims shape(x.shape, x.ndim), strides(x.strides, x.ndim);
  if (missing_axis >= 0) {
    shape.insert(missing_axis, 1);
    strides.insert(missing_axis, 1);
  }
  return OwnedView(x.data, x.dtype, std::move(shape), std::move(strides));
}

/// An operand stretched over the batch axes of the result.
OwnedView Stretched(const View& x, const View& y) {
  const int shift = y.ndim - x.ndim;
  Dims shape(y.shape, y.ndim), strides = Dims::Filled(y.ndim, 0);
  for (int axis = 0; axis < x.ndim; ++axis) {
    if (axis >= x.ndim - 2) shape[axis + shift] = x.shape[axis];
    if (x.shape[axis] != 1 || axis >= x.ndim - 2) strides[axis + shift] = x.strides[axis];
  }
  return OwnedView(x.data, x.dtype, std::move(shape), std::move(strides));
}

void RunMatmul(Run& r) {
  const View out = r.out(), x = r.in("x"), y = r.in("y");
  if (DRAGON_LIKELY(x.ndim == 2 && y.ndim == 2)) {
    kernels::Matmul(r.ctx(), r.dtype(), out, x, y, View{}, MatmulPost{});
    return;
  }
  if (x.ndim == 1 && y.ndim == 1) return kernels::Dot(r.ctx(), r.dtype(), out, x, y, /*conjugate=*/false);
  const OwnedView a = AsMatrix(x, x.ndim == 1 ? 0 : -1), b = AsMatrix(y, y.ndim == 1 ? 1 : -1);
  const OwnedView to = AsMatrix(out, x.ndim == 1 ? out.ndim - 1 : y.ndim == 1 ? out.ndim : -1);
  kernels::Matmul(r.ctx(), r.dtype(), to.view, Stretched(a.view, to.view).view, Stretched(b.view, to.view).view, View{},
                  MatmulPost{});
}

/// The gradients of a batched product with respect to a plain matrix: one tall product instead of a batch to sum over.
Tensor FlatRows(const Tensor& x) {
  int64_t rows = 1;  // not -1: the last axis may be empty
  for (int axis = 0; axis < x.ndim() - 1; ++axis) rows *= x.size(axis);
  return Op<"reshape">(x, Dims{rows, x.size(-1)});
}

void GradMatmul(Grad& g) {
  Tensor x = g.x("x"), y = g.x("y"), dy = g.dy();
  // Each is only kept for the other's gradient, so one may be undefined here: ranks come from the shapes.
  const bool x_vector = g.x_shape("x").size() == 1, y_vector = g.x_shape("y").size() == 1;
  if (x_vector && y_vector) {
    if (g.needs("x")) g.dx("x", dy * ConjOf(y));
    if (g.needs("y")) g.dx("y", dy * ConjOf(x));
    return;
  }
  if (x_vector && x) x = Op<"unsqueeze">(x, 0);
  if (y_vector && y) y = Op<"unsqueeze">(y, -1);
  if (x_vector) dy = Op<"unsqueeze">(dy, -2);
  if (y_vector) dy = Op<"unsqueeze">(dy, -1);
  if (g.needs("x")) g.dx("x", Op<"matmul">(dy, Adjoint(y)));
  if (g.needs("y")) {
    const bool tall = g.x_shape("y").size() <= 2 && x.ndim() > 2 && x.numel() > 0;
    const Tensor grad = tall ? Op<"matmul">(Adjoint(FlatRows(x)), FlatRows(dy)) : Op<"matmul">(Adjoint(x), dy);
    g.dx("y", y_vector ? Op<"squeeze">(grad, -1) : grad);
  }
}

/// Products of what differs between slices, with axes in which to broadcast.
Tensor ProductOfSlices(const Slices& s, ArgumentName x, ArgumentName y) {
  const int x_rank = s.x(x).ndim(), y_rank = s.x(y).ndim(), rank = std::max({x_rank, y_rank, 2});
  if (!s.Varies(y) && y_rank <= 2) return Op<"matmul">(s.batch(x), s.batch(y));
  const bool column = s.Varies(y) && y_rank == 1;
  return Op<"matmul">(s.Raised(x, rank), column ? Op<"unsqueeze">(s.Raised(y, rank - 1), -1) : s.Raised(y, rank));
}
Tensors MatmulSlices(const Slices& s) { return {ProductOfSlices(s, "x", "y")}; }

[[maybe_unused]] const auto& matmul = DefineOp("matmul(Tensor x, Tensor y) -> Tensor")
                                          .Doc(
                                              "The product of matrices, whose leading axes broadcast; a vector is a "
                                              "row on the left, a column on the right.")
                                          .Batches(MatmulSlices)
                                          .Autocast(Precision::kLower)
                                          .Infers(InferMatmul)
                                          .Runs(RunMatmul)
                                          .Gradient("x for y, y for x", GradMatmul);

/// Operators that are matmul for particular ranks.
Tensors MatmulOfRanks(const CallReader& c, int x_rank, int y_rank) {
  CheckRank(c, "x", x_rank);
  CheckRank(c, "y", y_rank);
  const Tensor &x = c.x("x"), &y = c.x("y");
  const bool inner = x.size(-1) == y.size(y_rank == 1 ? 0 : -2);
  if (!inner || (x_rank == 3 && x.size(0) != y.size(0))) {
    throw ValueError(c.name()).Got("shapes ", x.shape(), " and ", y.shape()).Expected("equal inner (and batch) sizes");
  }
  CheckSameDType(c);
  return {Op<"matmul">(x, y)};
}

[[maybe_unused]] const auto& mm = DefineOp("mm(Tensor x, Tensor y) -> Tensor")
                                      .Doc("The product of two matrices.")
                                      .Autocast(Precision::kLower)
                                      .As([](const CallReader& c) { return MatmulOfRanks(c, 2, 2); });

[[maybe_unused]] const auto& bmm = DefineOp("bmm(Tensor x, Tensor y) -> Tensor")
                                       .Doc("The products of two equally long lists of matrices.")
                                       .Autocast(Precision::kLower)
                                       .As([](const CallReader& c) { return MatmulOfRanks(c, 3, 3); });

[[maybe_unused]] const auto& mv = DefineOp("mv(Tensor x, Tensor y) -> Tensor")
                                      .Doc("The product of a matrix and a vector.")
                                      .Autocast(Precision::kPlain)
                                      .As([](const CallReader& c) { return MatmulOfRanks(c, 2, 1); });

[[maybe_unused]] const auto& dot = DefineOp("dot(Tensor x, Tensor y) -> Tensor")
                                       .Doc("The sum of products of two vectors.")
                                       .Autocast(Precision::kPlain)
                                       .As([](const CallReader& c) { return MatmulOfRanks(c, 1, 1); });

[[maybe_unused]] const auto& vdot = DefineOp("vdot(Tensor x, Tensor y) -> Tensor")
                                        .Doc("The sum of products of two vectors, the first conjugated.")
                                        .Autocast(Precision::kPlain)
                                        .As([](const CallReader& c) -> Tensors {
                                          CheckRank(c, "x", 1);
                                          CheckRank(c, "y", 1);
                                          return {Op<"dot">(ConjOf(c.x("x")), c.x("y"))};
                                        });

[[maybe_unused]] const auto& inner =
    DefineOp("inner(Tensor x, Tensor y) -> Tensor")
        .Doc("Sums of products over the last axes of both.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          if (x.ndim() == 0 || y.ndim() == 0) return {x * y};
          if (x.size(-1) != y.size(-1)) {
            throw ValueError(c.name()).Got("shapes ", x.shape(), " and ", y.shape()).Expected("equal last sizes");
          }
          return {Op<"tensordot">(x, y, Dims{-1}, Dims{-1})};
        });

Tensors Outer(const CallReader& c) {
  CheckRank(c, "x", 1);
  CheckRank(c, "y", 1);
  return {Op<"unsqueeze">(c.x("x"), -1) * c.x("y")};
}

[[maybe_unused]] const auto& outer = DefineOp("outer(Tensor x, Tensor y) -> Tensor")
                                         .Doc("Every product of an element of x and one of y.")
                                         .Autocast(Precision::kPlain)
                                         .As(Outer);
[[maybe_unused]] const auto& ger = DefineOp("ger(Tensor x, Tensor y) -> Tensor").Doc("The same as outer.").As(Outer);

// --- sums of a tensor and a product

/// Shapes of "beta * x + alpha * a @ b": x broadcasts to the product's.
void InferAddProduct(Infer& i, int rank) {
  CheckSameDType(i);
  CheckRank(i, "a", rank);
  CheckRank(i, "b", rank);
  const Tensor &a = i.x("a"), &b = i.x("b");
  if (a.size(-1) != b.size(-2) || (rank == 3 && a.size(0) != b.size(0))) {
    throw ValueError(i.name()).Got("factors of shapes ", a.shape(), " and ", b.shape()).Expected("equal inner sizes");
  }
  Dims shape = a.shape();
  shape.back() = b.size(-1);
  if (BroadcastShapes(i.name(), i.x("x").shape(), shape) != shape) {
    throw ValueError(i.name()).Got("shape ", i.x("x").shape(), " to add").Expected("one that broadcasts to ", shape);
  }
  for (const Value& factor : {i.attr("beta"), i.attr("alpha")}) {
    const bool whole = factor.kind() == Value::Kind::kInt || factor.kind() == Value::Kind::kBool;
    const bool complex = factor.kind() == Value::Kind::kComplex;
    if ((!whole && !IsInexact(a.dtype())) || (complex && !IsComplex(a.dtype()))) {
      throw TypeError(i.name()).Got("a factor ", factor.str(), " for ", a.dtype()).Expected("a number of that kind");
    }
    RequireNumber(i.name(), a.dtype(), factor);
  }
  i.y(0, shape, a.dtype());
}

/// Whether a factor is one that kernels, which take doubles, can be given.
bool InDouble(const Value& factor) {
  constexpr int64_t kMost = int64_t{1} << 53;
  return factor.kind() != Value::Kind::kInt || (factor.integer() <= kMost && factor.integer() >= -kMost);
}
void RunInWholeNumbers(Run& r) {
  const Tensor product = Op<"matmul">(r.x("a"), r.x("b")) * Number(r.attr("alpha"));
  const Tensor sum = r.attr("beta").real() == 0 ? product : r.x("x") * Number(r.attr("beta")) + product;
  kernels::Copy(r.ctx(), r.dtype(), r.out(), sum.view());
}

void RunAddProduct(Run& r) {
  const Tensor& x = r.x("x");
  const View out = r.out();
  MatmulPost post;
  if (!InDouble(r.attr("beta")) || !InDouble(r.attr("alpha"))) return RunInWholeNumbers(r);
  const complex128 beta = r.attr("beta").complex(), alpha = r.attr("alpha").complex();
  post.alpha = alpha.re, post.alpha_imag = alpha.im;
  const bool row = x.ndim() == 1 || (x.ndim() == 2 && x.size(0) == 1);
  if (row && alpha == complex128(1) && beta == complex128(1)) {
    // The sum is the bias that the product adds anyway.
    const int64_t size = x.size(-1), step = x.strides().back();
    const OwnedView bias(r.in("x").data, x.dtype(), {size}, {step});
    return kernels::Matmul(r.ctx(), r.dtype(), out, r.in("a"), r.in("b"), bias.view, post);
  }
  if (beta != complex128(0)) {
    const OwnedView stretched(r.in("x").data, x.dtype(), r.y().shape(), ExpandedStrides(x, r.y().shape()));
    kernels::Copy(r.ctx(), r.dtype(), out, stretched.view);
    post.beta = beta.re, post.beta_imag = beta.im;
  }
  kernels::Matmul(r.ctx(), r.dtype(), out, r.in("a"), r.in("b"), View{}, post);
}

void GradAddProduct(Grad& g) {
  const Value &beta = g.attr("beta"), &alpha = g.attr("alpha");
  if (g.needs("x")) g.dx("x", Scaled(g.dy(), beta, /*conjugate=*/true));
  if (!g.needs("a") && !g.needs("b")) return;
  const Tensor dy = Scaled(g.dy(), alpha, /*conjugate=*/true);
  if (g.needs("a")) g.dx("a", Op<"matmul">(dy, Adjoint(g.x("b"))));
  if (g.needs("b")) g.dx("b", Op<"matmul">(Adjoint(g.x("a")), dy));
}

Tensors AddProductSlices(const Slices& s) {
  const Tensor product = Scaled(ProductOfSlices(s, "a", "b"), s.attr("alpha"), /*conjugate=*/false);
  if (s.attr("beta").complex() == complex128(0)) return {product};
  return {Scaled(s.Raised("x", s.result(0).shape.size()), s.attr("beta"), /*conjugate=*/false) + product};
}

[[maybe_unused]] const auto& addmm =
    DefineOp("addmm(Tensor x, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
        .Doc("beta * x + alpha * (a @ b) for matrices a and b; x is not read if beta is 0.")
        .Batches(AddProductSlices)
        .Autocast(Precision::kLower)
        .Infers([](Infer& i) { InferAddProduct(i, 2); })
        .Runs(RunAddProduct)
        .Gradient("a for b, b for a", GradAddProduct);

[[maybe_unused]] const auto& baddbmm =
    DefineOp("baddbmm(Tensor x, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
        .Doc("beta * x + alpha * (a @ b) for equally long lists of matrices.")
        .Batches(AddProductSlices)
        .Autocast(Precision::kLower)
        .Infers([](Infer& i) { InferAddProduct(i, 3); })
        .Runs(RunAddProduct)
        .Gradient("a for b, b for a", GradAddProduct);

[[maybe_unused]] const auto& addbmm =
    DefineOp("addbmm(Tensor x, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
        .Doc("beta * x + alpha * sum(a @ b) over lists of matrices.")
        .Autocast(Precision::kLower)
        .As([](const CallReader& c) -> Tensors {
          CheckRank(c, "a", 3);
          CheckRank(c, "b", 3);
          const Tensor &a = c.x("a"), &b = c.x("b");
          if (a.size(0) != b.size(0) || a.size(2) != b.size(1)) {
            throw ValueError(c.name())
                .Got("shapes ", a.shape(), " and ", b.shape())
                .Expected("(b, m, k) and (b, k, n)");
          }
          // Side by side, the matrices make one product whose sum is the one asked for.
          const Tensor wide = Op<"reshape">(Op<"permute">(a, Dims{1, 0, 2}), Dims{a.size(1), a.size(0) * a.size(2)});
          const Tensor tall = Op<"reshape">(b, Dims{b.size(0) * b.size(1), b.size(2)});
          return {Op<"addmm">(c.x("x"), wide, tall, c.attr("beta"), c.attr("alpha"))};
        });

[[maybe_unused]] const auto& addmv =
    DefineOp("addmv(Tensor x, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
        .Doc("beta * x + alpha * (a @ b) for a matrix a and a vector b.")
        .Autocast(Precision::kPlain)
        .As([](const CallReader& c) -> Tensors {
          CheckRank(c, "a", 2);
          CheckRank(c, "b", 1);
          if (c.x("x").ndim() > 1) CheckRank(c, "x", 1);
          const Tensor x = c.x("x").ndim() == 1 ? Op<"unsqueeze">(c.x("x"), -1) : c.x("x");
          return {Op<"squeeze">(
              Op<"addmm">(x, c.x("a"), Op<"unsqueeze">(c.x("b"), -1), c.attr("beta"), c.attr("alpha")), -1)};
        });

/// Of truths: (beta and x) or (alpha and outer).
Tensor AddrOfTruths(const CallReader& c, const Tensor& outer) {
  const auto where = [&](ArgumentName factor, const Tensor& x) {
    const Value& value = c.attr(factor);
    if (value.kind() == Value::Kind::kDouble || value.kind() == Value::Kind::kComplex) {
      throw TypeError(c.name()).Got("a factor ", value.str(), " for bool").Expected("an integer or a bool");
    }
    return value.complex() == complex128(0) ? Op<"zeros_like">(x) : x;
  };
  const Tensor x = where("beta", c.x("x"));
  if (BroadcastShapes(c.name(), x.shape(), outer.shape()) != outer.shape()) {
    throw ValueError(c.name()).Got("shape ", x.shape()).Expected("one that broadcasts to ", outer.shape());
  }
  return Op<"logical_or">(x, where("alpha", outer));
}

[[maybe_unused]] const auto& addr =
    DefineOp("addr(Tensor x, Tensor a, Tensor b, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
        .Doc("beta * x + alpha * outer(a, b).")
        .Autocast(Precision::kPlain)
        .As([](const CallReader& c) -> Tensors {
          const Tensor outer = Op<"outer">(c.x("a"), c.x("b"));
          if (outer.dtype() == DType::kBool && c.x("x").dtype() == DType::kBool) return {AddrOfTruths(c, outer)};
          if (!IsInexact(outer.dtype())) {
            for (const Value& factor : {c.attr("beta"), c.attr("alpha")}) {
              if (!IsInexact(c.x("x").dtype()) && factor.kind() != Value::Kind::kInt) {
                throw TypeError(c.name()).Got("a factor ", factor.str(), " for ", outer.dtype()).Expected("an integer");
              }
              RequireNumber(c.name(), outer.dtype(), factor);
            }
          }
          const Tensor product = Scaled(outer, c.attr("alpha"));
          if (BroadcastShapes(c.name(), c.x("x").shape(), product.shape()) != product.shape()) {
            throw ValueError(c.name())
                .Got("shape ", c.x("x").shape())
                .Expected("one that broadcasts to ", product.shape());
          }
          if (c.attr("beta").complex() == complex128(0)) return {product};
          return {Scaled(c.x("x"), c.attr("beta")) + product};
        });

}  // namespace
}  // namespace dragon
