// The exponential of square matrices.
#include "core/ops/linalg/common.h"

namespace dragon {
namespace {

using namespace linalg;  // NOLINT: the family's words

/// The derivative of exp at A in direction E is the upper right block of exp [[A, E], [0, A]]; its adjoint that at A^H.
Tensor ExpDerivative(const Tensor& a, const Tensor& direction) {
  const int64_t n = a.size(-1);
  const Tensor upper = Op<"cat">(std::vector<Tensor>{a, direction}, -1);
  const Tensor lower = Op<"cat">(std::vector<Tensor>{a * 0.0, a}, -1);
  const Tensor whole = Op<"matrix_exp">(Op<"cat">(std::vector<Tensor>{upper, lower}, -2));
  return Part(Part(whole, -2, 0, n), -1, n, 2 * n);
}

[[maybe_unused]] const auto& matrix_exp =
    DefineOp("matrix_exp(Tensor x) -> Tensor")
        .Doc("The exponentials of square matrices.")
        .Batches(Batching::kRows)
        .Autocast(Precision::kPlain)
        .Infers([](Infer& i) { InferSquare(i, "x", /*halves_too=*/true); })
        .Runs([](Run& r) {
          if (IsHalf(r.dtype())) return OpInto<"copy">(r.y(), Op<"matrix_exp">(Op<"cast">(r.x(0), DType::kFloat32)));
          kernels::MatrixExp(r.ctx(), r.dtype(), r.out(), r.rows(0));
        })
        .Gradient("x", [](Grad& g) { g.dx(0, ExpDerivative(Adjoint(g.x(0)), g.dy())); });

[[maybe_unused]] const auto& linalg_matrix_exp =
    DefineAlias<"matrix_exp">("linalg_matrix_exp(Tensor x) -> Tensor", "matrix_exp by its newer name.")
        .Autocast(Precision::kPlain);

}  // namespace
}  // namespace dragon
