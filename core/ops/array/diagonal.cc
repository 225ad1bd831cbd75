// Diagonals made and read, triangles listed, quarter turns, cross products, rows cut to a norm: all compositions.
#include <cmath>

#include "core/framework/infer.h"
#include "core/ops/array/geometry.h"

namespace dragon {
namespace {

/// Zeros with x on a diagonal; its last axis runs along that.
Tensor DiagEmbed(const char* who, const Tensor& x, int64_t offset, int64_t axis1, int64_t axis2) {
  if (x.ndim() == 0) throw ValueError(who).Got("a 0-d tensor").Expected("at least one axis");
  const int ndim = x.ndim() + 1;
  axis1 = NormalizeAxis(who, axis1, ndim);
  axis2 = NormalizeAxis(who, axis2, ndim);
  if (axis1 == axis2) throw ValueError(who).Got("axis ", axis1, " twice").Expected("two different axes");
  int64_t size;
  if (offset == INT64_MIN || __builtin_add_overflow(x.size(-1), std::abs(offset), &size)) {
    throw ValueError(who).Got("offset ", offset).Expected("a size that an int64 can count");
  }
  Dims shape(x.shape().data(), x.ndim() - 1);
  shape.insert(std::min(axis1, axis2), size);
  shape.insert(std::max(axis1, axis2), size);
  CheckedNumel(who, shape, x.item_size());
  return ViewBackward(x, shape, Diagonal(who, RowMajor(shape), offset, axis1, axis2));
}

[[maybe_unused]] const auto& diag_embed =
    DefineOp("diag_embed(Tensor x, int offset=0, int axis1=-2, int axis2=-1) -> Tensor")
        .Doc("Matrices of zeros with the last axis of x on a diagonal.")
        .As([](const CallReader& c) -> Tensors {
          return {DiagEmbed(c.name(), c.x(0), c.Int("offset"), c.Int("axis1"), c.Int("axis2"))};
        });

[[maybe_unused]] const auto& diag =
    DefineOp("diag(Tensor x, int diagonal=0) -> Tensor")
        .Doc("The matrix with a vector on its diagonal, or the diagonal of a matrix.")
        .As([](const CallReader& c) -> Tensors {
          if (c.x(0).ndim() == 1) return {DiagEmbed(c.name(), c.x(0), c.Int("diagonal"), 0, 1)};
          if (c.x(0).ndim() != 2)
            throw ValueError("diag").Got("a tensor of shape ", c.x(0).shape()).Expected("a vector or a matrix");
          return {Op<"clone">(Op<"diagonal">(c.x(0), c.Int("diagonal")))};
        });

[[maybe_unused]] const auto& diagflat =
    DefineOp("diagflat(Tensor x, int offset=0) -> Tensor")
        .Doc("The matrix with all elements of x on a diagonal.")
        .As([](const CallReader& c) -> Tensors {
          return {DiagEmbed(c.name(), Op<"reshape">(c.x(0), Dims{c.x(0).numel()}), c.Int("offset"), 0, 1)};
        });

[[maybe_unused]] const auto& trace =
    DefineOp("trace(Tensor x) -> Tensor")
        .Doc("The sum of a matrix' diagonal.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          if (c.x(0).ndim() != 2)
            throw ValueError("trace").Got("a tensor of shape ", c.x(0).shape()).Expected("a matrix");
          return {Op<"sum">(Op<"diagonal">(c.x(0)))};
        });

/// The places of a triangle of ones, as two rows.
template <OpName triangle>
Tensors TriangleIndices(const CallReader& c) {
  if (c.Int("rows") < 0 || c.Int("columns") < 0)
    throw ValueError(c.name()).Got(c.Int("rows"), " by ", c.Int("columns")).Expected("sizes of at least 0");
  const Device device = c.Given("device") ? c.attr("device").device() : Device{};
  const Tensor ones = Op<"ones">(Dims{c.Int("rows"), c.Int("columns")}, DType::kBool, device);
  const Tensor places = Op<"contiguous">(Op<"transpose">(Op<"nonzero">(Op<triangle>(ones, c.Int("offset"))), 0, 1));
  const DType dtype = c.DTypeOr("dtype", DType::kInt64);
  return {dtype == DType::kInt64 ? places : Op<"cast">(places, dtype)};
}
[[maybe_unused]] const auto& tril_indices =
    DefineOp("tril_indices(int rows, int columns, int offset=0, *, dtype? dtype=None, device? device=None) -> Tensor")
        .Doc("The places of the lower triangle of a matrix, as two rows.")
        .As(TriangleIndices<"tril">);
[[maybe_unused]] const auto& triu_indices =
    DefineOp("triu_indices(int rows, int columns, int offset=0, *, dtype? dtype=None, device? device=None) -> Tensor")
        .Doc("The places of the upper triangle of a matrix, as two rows.")
        .As(TriangleIndices<"triu">);

[[maybe_unused]] const auto& rot90 =
    DefineOp("rot90(Tensor x, int k=1, int[] axis=[0, 1]) -> Tensor")
        .Doc("x turned k times by 90 degrees, from the first axis towards the second.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          if (c.Ints("axis").size() != 2 || x.ndim() < 2) {
            throw ValueError("rot90")
                .Got("axes ", c.Ints("axis"), " of shape ", x.shape())
                .Expected("two of at least two axes");
          }
          const int64_t a = NormalizeAxis("rot90", c.Ints("axis")[0], x.ndim()),
                        b = NormalizeAxis("rot90", c.Ints("axis")[1], x.ndim());
          if (a == b) throw ValueError("rot90").Got("axis ", a, " twice").Expected("two different axes");
          const int64_t turns = ((c.Int("k") % 4) + 4) % 4;
          if (turns == 0) return {Op<"clone">(x)};
          if (turns == 2) return {Op<"flip">(x, Dims{a, b})};
          return {Op<"clone">(Op<"transpose">(Op<"flip">(x, Dims{turns == 1 ? b : a}), a, b))};
        });

[[maybe_unused]] const auto& cross =
    DefineOp("cross(Tensor x, Tensor y, int? axis=None) -> Tensor")
        .Doc("The cross product along an axis of size 3; by default the first such axis.")
        .As([](const CallReader& c) -> Tensors {
          if (c.x("x").ndim() != c.x("y").ndim()) {
            throw ValueError("cross")
                .Got(c.x("x").shape(), " and ", c.x("y").shape())
                .Expected("as many axes on both sides");
          }
          const Dims shape = BroadcastShapes("cross", c.x("x").shape(), c.x("y").shape());
          int64_t axis = c.Given("axis") ? NormalizeAxis("cross", c.Int("axis"), shape.size()) : 0;
          while (!c.Given("axis") && axis < shape.size() && c.x("x").size(axis) != 3) ++axis;
          if (axis >= shape.size() || c.x("x").size(axis) != 3 || c.x("y").size(axis) != 3) {
            throw ValueError("cross")
                .Got("shapes ", c.x("x").shape(), " and ", c.x("y").shape())
                .Expected("size 3 along the axis");
          }
          const Tensor x = Op<"expand">(c.x("x"), shape), y = Op<"expand">(c.x("y"), shape);
          const auto turned = [axis](const Tensor& v, int64_t by) { return Op<"roll_axes">(v, Dims{-by}, Dims{axis}); };
          return {turned(x, 1) * turned(y, 2) - turned(x, 2) * turned(y, 1)};
        });

/// A little beyond the norm, so that the result's own norm does not exceed maxnorm by rounding.
constexpr double kRenormEpsilon = 1e-7;

[[maybe_unused]] const auto& renorm =
    DefineOp("renorm(Tensor x, float p, int axis, float maxnorm) -> Tensor")
        .Doc("x whose parts along an axis are scaled down to a p-norm of at most maxnorm.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor& x = c.x(0);
          const double p = c.Real("p"), most = c.Real("maxnorm");
          if (!(p > 0)) throw ValueError("renorm").Got("p ", p).Expected("a positive number");
          if (!(most >= 0)) throw ValueError("renorm").Got("maxnorm ", most).Expected("at least 0");
          if (x.ndim() < 2)
            throw ValueError("renorm").Got("a tensor of shape ", x.shape()).Expected("at least two axes");
          const int64_t axis = NormalizeAxis("renorm", c.Int("axis"), x.ndim());
          Dims others;
          for (int n = 0; n < x.ndim(); ++n) {
            if (n != axis) others.push_back(n);
          }
          const Tensor norm = Op<"linalg_vector_norm">(x, p, others, true);
          const Tensor factor = Op<"where">(Op<"gt">(norm, Number(most)), Number(most) / (norm + kRenormEpsilon),
                                            Op<"ones">(norm.shape(), norm.dtype(), norm.device()));
          return {x * factor};
        });

}  // namespace
}  // namespace dragon
