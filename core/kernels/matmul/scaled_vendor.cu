// Products of scaled 8-bit floats by cuBLASLt, on devices whose tensor cores multiply them. Such products have one
// form, read by columns: y^T = b^T a^T where neighbours along k lie side by side in both operands, at multiples of 16
// bytes. Operands that lie otherwise are copied.
#include <algorithm>
#include <optional>

#include "core/device/cuda/capability.h"
#include "core/kernels/array.h"
#include "core/kernels/math.h"
#include "core/kernels/matmul/batch_cuda.h"
#include "core/kernels/matmul/lt_plan.h"

namespace dragon::DRAGON_DEVICE {

namespace {

/// What sizes and places in memory are multiples of: of sizes along which 8-bit numbers lie, and bytes.
constexpr int64_t kUnit = 16;

bool AtUnit(const void* data) { return reinterpret_cast<uintptr_t>(data) % kUnit == 0; }

/// Whether units for 8-bit floats take a product at all, if its operands are copied as need be.
bool Multiplies(const Context& ctx, const View& y, const ScaledOperands& x) {
  const DType most = std::max(x.a.dtype, x.b.dtype), least = std::min(x.a.dtype, x.b.dtype);
  const bool dtypes = least == DType::kFloat8E4M3FN && most <= DType::kFloat8E5M2;  // not e5m2 twice
  const int64_t k = x.a.dim(1), n = y.dim(1);
  return dtypes && k > 0 && k % kUnit == 0 && n % kUnit == 0 && AtUnit(y.data) && y.is_contiguous() &&
         cuda::CapabilityOf(ctx.device.index) >= cuda::kWithFloat8;
}

/// An operand (lines, k) whose lines lie without gaps; a copy if it does not lie so itself.
class Lines {
 public:
  Lines(Context& ctx, const View& x, bool transposed) {
    const int64_t lines = x.dim(transposed ? 1 : 0), k = x.dim(transposed ? 0 : 1);
    const int64_t line_step = x.stride(transposed ? 1 : 0), step = x.stride(transposed ? 0 : 1);
    if (step == 1 && AtUnit(x.data) && (lines == 1 || (line_step >= k && line_step % kUnit == 0))) {
      data = x.data, leading = lines == 1 ? k : line_step;
      return;
    }
    memory_.emplace(ctx.device, static_cast<size_t>(lines * k));
    data = memory_->data(), leading = k;
    const OwnedView to(data, x.dtype, {lines, k}, {k, 1}), from(x.data, x.dtype, {lines, k}, {line_step, step});
    kernels::Copy(ctx, x.dtype, to.view, from.view);
  }
  void* data;
  int64_t leading;

 private:
  std::optional<Scratch> memory_;
};

/// One call of the library, which scales and adds as told; false if it has no way.
bool RunLt(const Context& ctx, const View& y, const ScaledOperands& x, const Lines& a, const Lines& b, bool fast) {
  LtProblem problem{};
  problem.device = ctx.device.index, problem.dtype = static_cast<int64_t>(y.dtype);
  problem.a_dtype = static_cast<int64_t>(x.b.dtype), problem.b_dtype = static_cast<int64_t>(x.a.dtype);
  problem.m = y.dim(1), problem.n = y.dim(0), problem.k = x.a.dim(1), problem.batch = 1;
  problem.a_leading = b.leading, problem.b_leading = a.leading, problem.d_leading = problem.m;
  problem.a_transposed = 1, problem.bias = static_cast<bool>(x.bias);
  problem.a_alignment = problem.b_alignment = problem.d_alignment = kUnit;
  problem.scales = static_cast<int64_t>(!x.b_scale            ? LtScales::kNone
                                        : x.b_scale.ndim == 0 ? LtScales::kNumbers
                                                              : LtScales::kVectors);
  problem.fast = fast;
  const LtBeside beside{x.bias.data, x.b_scale.data, x.a_scale.data};
  LtPlan& plan = LtPlanOf(ctx, problem, beside);
  if (!plan.usable) return false;
  plan.Set(beside);
  const float one = 1, none = 0;
  cuda::CheckBlas(cuda::Lt().matmul(cuda::LtHandleOf(ctx), plan.desc, &one, b.data, plan.a, a.data, plan.b, &none,
                                    y.data, plan.d, y.data, plan.d, &plan.algorithm, cuda::WorkspaceOf(ctx),
                                    plan.workspace_bytes, static_cast<cudaStream_t>(ctx.stream)),
                  "scaled_mm");
  return true;
}

/// The library's sums alone, in float32, scaled and added to afterwards: where it does not scale by rows (that is for
/// some cards), or does not add a bias of that dtype.
bool RunSums(Context& ctx, const View& y, const ScaledOperands& x, const Lines& a, const Lines& b, bool fast) {
  static const kernels::Binary mul{"mul"}, add{"add"};
  const bool here = y.dtype == DType::kFloat32;
  std::optional<Scratch> memory;
  if (!here) memory.emplace(ctx.device, static_cast<size_t>(y.numel) * sizeof(float));
  const OwnedView sums(here ? y.data : memory->data(), DType::kFloat32, Dims{y.dim(0), y.dim(1)}, Dims{y.dim(1), 1});
  if (!RunLt(ctx, sums.view, {x.a, x.b, View{}, View{}, View{}}, a, b, fast)) return false;
  mul(ctx, DType::kFloat32, sums.view, sums.view, x.a_scale);
  mul(ctx, DType::kFloat32, x.bias ? sums.view : y, sums.view, x.b_scale);
  if (x.bias) add(ctx, DType::kFloat32, y, sums.view, x.bias);
  return true;
}

}  // namespace

void MatmulScaled(Context& ctx, View y, const ScaledOperands& x, bool fast, bool* done) {
  *done = false;
  if (!AsksVendor() || !Multiplies(ctx, y, x)) return;
  const Lines a(ctx, x.a, false), b(ctx, x.b, true);
  const bool adds = !x.bias || (x.bias.dtype == y.dtype && y.dtype != DType::kFloat32 && AtUnit(x.bias.data));
  const auto scales = [](const View& scale) {
    return scale.ndim == 0 || (scale.is_contiguous() && AtUnit(scale.data));
  };
  *done = (adds && scales(x.a_scale) && scales(x.b_scale) && RunLt(ctx, y, x, a, b, fast)) ||
          RunSums(ctx, y, x, a, b, fast);
}

using ScaledTypes = TypeList<float8_e4m3fn, float8_e5m2>;
[[maybe_unused]] const bool g_entered =
    kernels::Enter(kernels::MatmulScaled, ScaledTypes{}, []<typename Tag>(Tag) { return &MatmulScaled; });

}  // namespace dragon::DRAGON_DEVICE
