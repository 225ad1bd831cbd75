// Linear algebra on tensors seen as matrices, and matrices built from vectors.
#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

int64_t ProductOf(const int64_t* begin, const int64_t* end) {
  int64_t product = 1;
  for (; begin != end; ++begin) product *= *begin;
  return product;
}

[[maybe_unused]] const auto& tensorinv =
    DefineOp("linalg_tensorinv(Tensor x, int ind=2) -> Tensor")
        .Doc("The inverse of x as a map from its axes from `ind` on to those before.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          const int64_t ind = c.Int("ind");
          if (ind <= 0 || ind > x.ndim()) throw ValueError(c.name()).Got("ind ", ind).Expected("1 to ", x.ndim());
          const int64_t* middle = x.shape().begin() + ind;
          const int64_t rows = ProductOf(x.shape().begin(), middle), columns = ProductOf(middle, x.shape().end());
          if (rows != columns) {
            throw ValueError(c.name()).Got(x.shape(), " with ind ", ind).Expected("equal products before and from ind");
          }
          Dims shape(middle, x.shape().end() - middle);
          for (const int64_t* size = x.shape().begin(); size != middle; ++size) shape.push_back(*size);
          return {Op<"reshape">(Op<"linalg_inv">(Op<"reshape">(x, Dims{rows, columns})), shape)};
        });

[[maybe_unused]] const auto& tensorsolve =
    DefineOp("linalg_tensorsolve(Tensor x, Tensor y, int[]? axis=None) -> Tensor")
        .Doc("Z with tensordot(x, Z) = y; the axes given go to the end of x first.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          Tensor x = c.x("x");
          const Tensor& y = c.x("y");
          if (c.Given("axis")) {
            Dims to;
            for (int i = 0; i < c.Ints("axis").size(); ++i) to.push_back(x.ndim() - c.Ints("axis").size() + i);
            x = Op<"movedim">(x, c.attr("axis"), to);
          }
          if (x.ndim() < y.ndim()) {
            throw ValueError(c.name())
                .Got(x.shape(), " and ", y.shape())
                .Expected("at least as many axes in the first");
          }
          const Dims shape(x.shape().data() + y.ndim(), x.ndim() - y.ndim());
          const int64_t size = ProductOf(shape.begin(), shape.end());
          if (size != y.numel()) {
            throw ValueError(c.name()).Got(x.shape(), " and ", y.shape()).Expected("as many unknowns as equations");
          }
          const Tensor flat = Op<"reshape">(y, Dims{y.numel()});
          return {Op<"reshape">(Op<"linalg_solve">(Op<"reshape">(x, Dims{y.numel(), size}), flat), shape)};
        });

/// Powers 0 .. n - 1 of every number, along a new last axis.
/// Powers of integers are int64, as products of them are.
Tensor Powers(const CallReader& c, const Tensor& given, int64_t n) {
  const Tensor x = IsInexact(given.dtype()) ? given : Op<"cast">(given, DType::kInt64);
  if (n < 0) throw ValueError(c.name()).Got("N ", n).Expected("at least 0");
  if (n == 0) return Op<"full">(With(x.shape(), 0), 0.0, x.dtype(), x.device());
  const Tensor one = Op<"full">(With(x.shape(), 1), 1.0, x.dtype(), x.device());
  if (n == 1) return one;
  const Tensor repeated = Op<"broadcast_to">(AsColumn(x), With(x.shape(), n - 1));
  return Op<"cat">(std::vector<Tensor>{one, Op<"cumprod">(repeated, -1, x.dtype())}, -1);
}

[[maybe_unused]] const auto& linalg_vander =
    DefineOp("linalg_vander(Tensor x, *, int? N=None) -> Tensor")
        .Doc("Matrices whose columns are rising powers of x.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          if (x.ndim() < 1) throw ValueError(c.name()).Got("a 0-d tensor").Expected("at least one axis");
          return {Powers(c, x.dtype() == DType::kBool ? Op<"cast">(x, DType::kInt64) : x,
                         c.Given("N") ? c.Int("N") : x.size(-1))};
        });

[[maybe_unused]] const auto& vander =
    DefineOp("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor")
        .Doc("A matrix whose columns are falling (or rising) powers of x.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          if (x.ndim() != 1) throw ValueError(c.name()).Got("a tensor of shape ", x.shape()).Expected("one axis");
          const Tensor rising = Powers(c, x, c.Given("N") ? c.Int("N") : x.size(0));
          return {c.Bool("increasing") ? rising : Op<"flip">(rising, Dims{-1})};
        });

[[maybe_unused]] const auto& linalg_cross =
    DefineOp("linalg_cross(Tensor x, Tensor y, *, int axis=-1) -> Tensor")
        .Doc("The cross products of vectors of three numbers along an axis.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor &x = c.x("x"), &y = c.x("y");
          if (x.ndim() != y.ndim()) {
            throw ValueError(c.name()).Got(x.shape(), " and ", y.shape()).Expected("as many axes on both sides");
          }
          return {Op<"cross">(x, y, NormalizeAxis(c.name(), c.Int("axis"), x.ndim()))};
        });

[[maybe_unused]] const auto& linalg_vecdot =
    DefineOp("linalg_vecdot(Tensor x, Tensor y, *, int axis=-1) -> Tensor")
        .Doc("The inner products of vectors along an axis, the first conjugated.")
        .Autocast(Precision::kLower)
        .As([](const CallReader& c) -> Tensors {
          return {Op<"sum">(Conj(c.x("x")) * c.x("y"), Dims{c.Int("axis")}, false)};
        });

[[maybe_unused]] const auto& linalg_diagonal =
    DefineAlias<"diagonal">("linalg_diagonal(Tensor x, *, int offset=0, int axis1=-2, int axis2=-1) -> Tensor",
                            "A view of the matrices' diagonals.");

[[maybe_unused]] const auto& linalg_matmul =
    DefineAlias<"matmul">("linalg_matmul(Tensor x, Tensor y) -> Tensor", "matmul under its other name.");

}  // namespace
}  // namespace dragon
