// Checks of matrix arguments.
#include "core/ops/linalg/common.h"

namespace dragon::linalg {

void CheckMatrix(const CallReader& c, ArgumentName name, bool halves_too) {
  const Tensor& x = c.x(name);
  if (!IsSingleOrMore(x.dtype()) && !(halves_too && IsHalf(x.dtype()))) {
    throw TypeError(c.name())
        .Got(name.text, " of dtype ", x.dtype())
        .Expected("float32, float64, complex64 or complex128");
  }
  if (x.ndim() < 2) throw ValueError(c.name()).Got(name.text, " of shape ", x.shape()).Expected("at least two axes");
}

void CheckSquare(const CallReader& c, ArgumentName name, bool halves_too) {
  CheckMatrix(c, name, halves_too);
  const Tensor& x = c.x(name);
  if (x.size(-1) == x.size(-2)) return;
  throw ValueError(c.name()).Got(name.text, " of shape ", x.shape()).Expected("square matrices");
}

void InferSquare(Infer& i, ArgumentName name, bool halves_too) {
  CheckSquare(i, name, halves_too);
  i.y(0, i.x(name).shape(), i.x(name).dtype());
}

void CheckSameDType(const CallReader& c, ArgumentName a, ArgumentName b) {
  if (c.x(a).dtype() == c.x(b).dtype()) return;
  throw TypeError(c.name()).Got(c.x(a).dtype(), " and ", c.x(b).dtype()).Expected("one dtype");
}

Tensor Expanded(const Tensor& x, const Dims& batch) {
  const Dims shape = MatrixShape(batch, x.size(-2), x.size(-1));
  return Op<"contiguous">(x.shape() == shape ? x : Op<"broadcast_to">(x, shape));
}

InfoScratch::InfoScratch(Run& r, const Dims& batch)
    : memory_(r.ctx().Allocate<int32_t>([&] {
        int64_t count = 1;
        for (int64_t size : batch) count *= size;
        return count;
      }())),
      owned_(memory_.data(), DType::kInt32, batch, ContiguousStrides(batch)) {}

Tensor Identity(int64_t n, DType dtype, Device device) { return Op<"eye">(n, None, dtype, device); }

}  // namespace dragon::linalg
