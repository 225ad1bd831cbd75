// Norms of matrices, and condition numbers.
#include <cmath>
#include <limits>

#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

/// The two axes of a matrix norm, normalised.
Dims NormAxes(const CallReader& c, const Tensor& x, const Dims& axes) {
  if (x.ndim() < 2) throw ValueError(c.name()).Got("a tensor of shape ", x.shape()).Expected("at least two axes");
  if (axes.size() != 2) throw ValueError(c.name()).Got("axis ", axes).Expected("two axes");
  const Dims normal{NormalizeAxis(c.name(), axes[0], x.ndim()), NormalizeAxis(c.name(), axes[1], x.ndim())};
  if (normal[0] == normal[1]) throw ValueError(c.name()).Got("axis ", axes).Expected("two different axes");
  return normal;
}

Tensor InexactOf(const CallReader& c, const Tensor& x) {
  if (!IsInexact(x.dtype())) {
    throw TypeError(c.name()).Got("x of dtype ", x.dtype()).Expected("a float or complex dtype");
  }
  return c.Given("dtype") ? Op<"cast">(x, c.attr("dtype").dtype()) : x;
}

/// Put back, as sizes of 1, the two axes that a reduction of the last two took away.
Tensor KeepAxes(Tensor y, const Dims& axes, bool keepdims) {
  if (!keepdims) return y;
  y = Op<"unsqueeze">(y, std::min(axes[0], axes[1]));
  return Op<"unsqueeze">(y, std::max(axes[0], axes[1]));
}

Tensor Singular(const Tensor& x, const Dims& axes) {
  return Op<"linalg_svdvals">(Op<"movedim">(x, axes, Dims{-2, -1}));
}

Tensor Frobenius(const Tensor& x, const Dims& axes, bool keepdims) {
  return Op<"linalg_vector_norm">(x, Number(2.0).Item(), axes, keepdims);
}

/// The greatest of numbers that are not negative: of none 0, as a norm of nothing is.
Tensor Greatest(const Tensor& x, int64_t axis, bool keepdims) {
  return x.size(axis) ? Op<"amax">(x, Dims{axis}, keepdims) : Op<"sum">(x, Dims{axis}, keepdims);
}

/// Orders 1, -1 (columns), inf, -inf (rows) and 2, -2 (singular values).
Tensor MatrixNorm(const CallReader& c, const Tensor& x, double order, const Dims& axes, bool keepdims) {
  const double size = std::fabs(order);
  if (size == 2) {
    const Tensor s = Singular(x, axes);
    return KeepAxes(order > 0 ? Greatest(s, -1, false) : Op<"amin">(s, Dims{-1}, false), axes, keepdims);
  }
  if (size != 1 && !std::isinf(size)) {
    throw ValueError(c.name()).Got("ord ", order).Expected("1, -1, 2, -2, inf, -inf, fro or nuc");
  }
  const int64_t inner = size == 1 ? axes[0] : axes[1], outer = size == 1 ? axes[1] : axes[0];
  const Tensor sums = Op<"sum">(Op<"abs">(x), Dims{inner}, true);
  const Tensor found = order > 0 ? Greatest(sums, outer, true) : Op<"amin">(sums, Dims{outer}, true);
  return keepdims ? found : Op<"squeeze">(found, axes);
}

Tensor NamedNorm(const CallReader& c, const Tensor& x, const std::string& order, const Dims& axes, bool keepdims) {
  if (order == "fro") return Frobenius(x, axes, keepdims);
  if (order == "nuc") return KeepAxes(Op<"sum">(Singular(x, axes), Dims{-1}, false), axes, keepdims);
  throw ValueError(c.name()).Got("ord '", order, "'").Expected("fro or nuc");
}

[[maybe_unused]] const auto& matrix_norm =
    DefineOp(
        "linalg_matrix_norm(Tensor x, Scalar ord, int[] axis=[-2, -1], bool keepdims=False, *, dtype? dtype=None) -> "
        "Tensor")
        .Doc("A norm of matrices: by columns (1), rows (inf) or singular values (2); negative orders take the least.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor x = InexactOf(c, c.x(0));
          return {MatrixNorm(c, x, c.Real("ord"), NormAxes(c, x, c.Ints("axis")), c.Bool("keepdims"))};
        });

[[maybe_unused]] const auto& matrix_norm_name =
    DefineOp(
        "linalg_matrix_norm_name(Tensor x, str ord=\"fro\", int[] axis=[-2, -1], bool keepdims=False, *, dtype? "
        "dtype=None) -> Tensor")
        .Doc("The Frobenius (fro) or nuclear (nuc) norm of matrices.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor x = InexactOf(c, c.x(0));
          return {NamedNorm(c, x, c.String("ord"), NormAxes(c, x, c.Ints("axis")), c.Bool("keepdims"))};
        });

[[maybe_unused]] const auto& linalg_norm =
    DefineOp(
        "linalg_norm(Tensor x, Scalar? ord=None, int[1]? axis=None, bool keepdims=False, *, dtype? dtype=None) -> "
        "Tensor")
        .Doc("A norm of vectors or of matrices, as the number of axes says.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor x = InexactOf(c, c.x(0));
          if (c.Given("ord") &&
              ((c.Given("axis") && c.Ints("axis").size() == 2) || (!c.Given("axis") && x.ndim() == 2))) {
            const Dims axes = NormAxes(c, x, c.Given("axis") ? c.Ints("axis") : Dims{0, 1});
            return {MatrixNorm(c, x, c.Real("ord"), axes, c.Bool("keepdims"))};
          }
          if (c.Given("ord") && !c.Given("axis") && x.ndim() > 2) {
            throw ValueError(c.name()).Got("ord without axis for ", x.ndim(), " axes").Expected("one or two axes");
          }
          const Value order = c.Given("ord") ? c.attr("ord") : Value(2.0);
          return {Op<"linalg_vector_norm">(x, order, c.attr("axis"), c.Bool("keepdims"))};
        });

[[maybe_unused]] const auto& linalg_norm_name =
    DefineOp(
        "linalg_norm_name(Tensor x, str ord, int[]? axis=None, bool keepdims=False, *, dtype? dtype=None) -> Tensor")
        .Doc("The Frobenius (fro) or nuclear (nuc) norm; without axes, of one matrix.")
        .As([](const CallReader& c) -> Tensors {
          const Tensor x = InexactOf(c, c.x(0));
          if (!c.Given("axis") && x.ndim() != 2) {
            throw ValueError(c.name()).Got("a tensor of shape ", x.shape(), " without axis").Expected("one matrix");
          }
          return {NamedNorm(c, x, c.String("ord"), NormAxes(c, x, c.Given("axis") ? c.Ints("axis") : Dims{0, 1}),
                            c.Bool("keepdims"))};
        });

/// The product of a norm of matrices and that of their inverses; infinite where there are none.
template <typename Norm>
Tensor Condition(const CallReader& c, Norm norm) {
  CheckSquare(c, "x");
  const Tensors inverse = OpN<"linalg_inv_ex">(c.x(0));
  const Tensor product = norm(c.x(0)) * norm(inverse[0]), inf = Number(std::numeric_limits<double>::infinity());
  return Op<"where">(Op<"ne">(inverse[1], Number(Value(int64_t{0}))), inf, product);
}

[[maybe_unused]] const auto& linalg_cond =
    DefineOp("linalg_cond(Tensor x, Scalar? p=None) -> Tensor")
        .Doc("The condition number: the ratio of the extreme singular values, or the product of two norms.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) -> Tensors {
          const double order = c.Given("p") ? c.Real("p") : 2;
          const Dims axes{-2, -1};
          if (std::fabs(order) == 2) {
            CheckMatrix(c, "x");
            const Tensor s = Op<"linalg_svdvals">(c.x(0)), first = Op<"select">(s, -1, 0),
                         last = Op<"select">(s, -1, -1);
            return {order > 0 ? first / last : last / first};
          }
          return {Condition(c, [&](const Tensor& x) { return Op<"linalg_matrix_norm">(x, c.attr("p"), axes); })};
        });

[[maybe_unused]] const auto& linalg_cond_name =
    DefineOp("linalg_cond_name(Tensor x, str p) -> Tensor")
        .Doc("The condition number in the Frobenius (fro) or nuclear (nuc) norm.")
        .As([](const CallReader& c) -> Tensors {
          return {Condition(
              c, [&](const Tensor& x) { return NamedNorm(c, x, c.String("p"), NormAxes(c, x, Dims{-2, -1}), false); })};
        });

}  // namespace
}  // namespace dragon
