// Products of matrices whose numbers were scaled to fit into 8 bits: the device's own units where it has some, else the
// numbers are brought back, and multiplied as float32.
#include <optional>

#include "core/kernels/array.h"
#include "core/kernels/math.h"
#include "core/ops/matmul/products.h"

namespace dragon {
namespace {

using namespace products;  // NOLINT: this file is about nothing else

/// Whether a scale is one number, or one for each row of x and each column of y.
bool ScalesFit(const Dims& x, const Dims& y, const Tensor& x_scale, const Tensor& y_scale) {
  if (x_scale.dtype() != DType::kFloat32 || y_scale.dtype() != DType::kFloat32) return false;
  if (x_scale.numel() == 1 && y_scale.numel() == 1) return true;
  return x_scale.shape() == Dims{x[0], 1} && y_scale.shape() == Dims{1, y[1]};
}

void CheckBeside(const Infer& i, const Dims& y) {
  if (i.has("bias") && i.x("bias").numel() != y[1]) {
    throw ValueError(i.name()).Got("bias ", i.x("bias").shape()).Expected("one number for each of ", y[1], " columns");
  }
  if (i.has("result_scale") && (i.x("result_scale").dtype() != DType::kFloat32 || i.x("result_scale").numel() != 1)) {
    throw ValueError(i.name())
        .Got("result_scale ", i.x("result_scale").shape(), " of ", i.x("result_scale").dtype())
        .Expected("one number of float32");
  }
}

void InferScaled(Infer& i) {
  CheckRank(i, "x", 2);
  CheckRank(i, "y", 2);
  const Tensor &x = i.x("x"), &y = i.x("y"), &x_scale = i.x("x_scale"), &y_scale = i.x("y_scale");
  if (x.size(1) != y.size(0)) {
    throw ValueError(i.name()).Got("shapes ", x.shape(), " and ", y.shape()).Expected("(m, k) and (k, n)");
  }
  if (!IsFloat8(x.dtype()) || !IsFloat8(y.dtype()) || !ScalesFit(x.shape(), y.shape(), x_scale, y_scale)) {
    throw ValueError(i.name())
        .Got(x.dtype(), " and ", y.dtype(), ", scales ", x_scale.shape(), " of ", x_scale.dtype(), " and ",
             y_scale.shape(), " of ", y_scale.dtype())
        .Expected("float8, and scales of float32 that are one number each, or ", Dims{x.size(0), 1}, " and ",
                  Dims{1, y.size(1)});
  }
  CheckBeside(i, y.shape());
  i.y(0, {x.size(0), y.size(1)}, i.DTypeOr("dtype", x.dtype()));
}

/// A scale as a matrix, or as a number of no axes.
View ScaleOf(View scale) {
  if (scale.numel == 1) scale.ndim = 0;
  return scale;
}

/// A bias as a row without gaps, whatever axes of one element it has.
std::optional<OwnedView> RowOf(const Tensor& bias) {
  if (!bias.defined()) return std::nullopt;
  return std::optional<OwnedView>(std::in_place, const_cast<void*>(bias.data()), bias.dtype(), Dims{bias.numel()},
                                  Dims{1});
}

/// The product by the device's units for 8-bit floats; false, and nothing done, if there are none for it.
bool RunNarrow(Run& r, const View& y) {
  const DType dtype = r.x("x").dtype();
  if (y.numel == 0 || !kernels::MatmulScaled.Has(r.ctx().device.type, dtype)) return false;
  // The device reads scales and bias by itself: a number of the host is brought there first.
  const Tensor x_scale = r.Here(r.x("x_scale")), y_scale = r.Here(r.x("y_scale")), bias = r.Contiguous("bias");
  const std::optional<OwnedView> row = RowOf(bias);
  const ScaledOperands operands{r.in("x"), r.in("y"), ScaleOf(x_scale.view()), ScaleOf(y_scale.view()),
                                row ? row->view : View{}};
  bool done = false;
  kernels::MatmulScaled(r.ctx(), dtype, y, operands, r.Bool("fast"), &done);
  return done;
}

/// The same by bringing the numbers back, into float32.
void RunWide(Run& r, const View& y) {
  static const kernels::Binary mul{"mul"};
  const auto brought_back = [&](const Tensor& x, const View& scale) {
    Tensor wide = Tensor::Empty(x.shape(), DType::kFloat32, r.ctx().device);
    if (x.numel() > 0) mul(r.ctx(), DType::kFloat32, wide.mutable_view(), r.ViewHere(x), ScaleOf(scale));
    return wide;
  };
  const Tensor a = brought_back(r.x("x"), r.in("x_scale")), b = brought_back(r.x("y"), r.in("y_scale"));
  Tensor bias;
  if (r.has("bias")) {
    const Tensor given = r.Contiguous("bias");
    bias = Tensor::Empty({y.dim(-1)}, DType::kFloat32, r.ctx().device);
    kernels::Copy(r.ctx(), DType::kFloat32, bias.mutable_view(), RowOf(given)->view);
  }
  kernels::Matmul(r.ctx(), DType::kFloat32, y, a.view(), b.view(), bias.defined() ? bias.view() : View{}, MatmulPost{});
}

void RunScaled(Run& r) {
  const Tensor& y = r.y();
  const bool written = y.dtype() >= DType::kFloat16 && y.dtype() <= DType::kFloat32;  // by the device's units
  if (written && RunNarrow(r, r.out())) return;
  if (y.dtype() == DType::kFloat32) return RunWide(r, r.out());
  const Tensor wide = Tensor::Empty(y.shape(), DType::kFloat32, r.ctx().device);
  if (written || !RunNarrow(r, wide.mutable_view())) RunWide(r, wide.mutable_view());
  // As in PyTorch, where other results, and those whose dtype is not asked for, have no scale.
  const bool kept = y.dtype() == DType::kFloat8E4M3FN || y.dtype() == DType::kFloat8E5M2;
  if (r.has("result_scale") && r.Given("dtype") && kept && y.numel() > 0) {
    static const kernels::Binary div{"div"};
    div(r.ctx(), DType::kFloat32, wide.mutable_view(), wide.view(), ScaleOf(r.in("result_scale")));
  }
  kernels::Copy(r.ctx(), y.dtype(), r.out(), wide.view());
}

[[maybe_unused]] const auto& scaled_mm =
    DefineOp(
        "scaled_mm(Tensor x, Tensor y, Tensor x_scale, Tensor y_scale, Tensor? bias=None, Tensor? result_scale=None, "
        "dtype? dtype=None, bool fast=False) -> Tensor")
        .Doc(
            "(x * x_scale) @ (y * y_scale) + bias of matrices of 8-bit floats; divided by result_scale if "
            "dtype says float8_e4m3fn or float8_e5m2. A scale is one number, or one for each row of x and each column "
            "of y.")
        .TakesKept()
        .Infers(InferScaled)
        .Runs(RunScaled)
        .NotDifferentiable();

}  // namespace
}  // namespace dragon
