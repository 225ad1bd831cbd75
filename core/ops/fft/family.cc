// The fft functions as NumPy and PyTorch have them: one axis, two, or any.
#include "core/ops/fft/common.h"

namespace dragon {
namespace {

using fft::AsComplex;
using fft::AsFloat;
using fft::PlanOf;
using fft::Resized;
using fft::Scale;

/// Which transform a name stands for, and in which direction.
enum class Kind { kComplex, kFromReal, kToReal };

Tensor RealInput(const CallReader& c, const Tensor& x) {
  if (x.is_complex()) throw TypeError(c.name()).Got("x of dtype ", x.dtype()).Expected("real numbers");
  return AsFloat(c, x);
}

/// Half a spectrum to n reals along an axis.
Tensor ToReal(const CallReader& c, const Tensor& x, int64_t axis, int64_t n, bool forward, double scale) {
  return Op<"fft_c2r">(Resized(c, x, axis, n / 2 + 1), axis, n, forward, scale);
}

/// fft(x, n, axis, norm)
template <Kind kind, bool forward>
Tensors OneAxis(const CallReader& c) {
  const Tensor& x = c.x(0);
  if (x.ndim() == 0) throw ValueError(c.name()).Got("a 0-d tensor").Expected("at least one axis");
  const int64_t axis = NormalizeAxis(c.name(), c.Int("axis"), x.ndim());
  const int64_t n = c.Given("n") ? c.Int("n") : kind == Kind::kToReal ? 2 * (x.size(axis) - 1) : x.size(axis);
  if (n < 1) throw ValueError(c.name()).Got("a length of ", n).Expected("at least 1");
  const double scale = Scale(c, c.attr("norm"), forward, static_cast<double>(n));
  if (kind == Kind::kToReal) return {ToReal(c, AsComplex(c, x), axis, n, forward, scale)};
  if (kind == Kind::kFromReal) return {Op<"fft_r2c">(Resized(c, RealInput(c, x), axis, n), axis, forward, scale)};
  return {Op<"fft_c2c">(Resized(c, AsComplex(c, x), axis, n), Dims{axis}, forward, scale)};
}

/// fftn(x, s, axis, norm): a real axis is the last of the list, transformed first from reals and last to them.
template <Kind kind, bool forward>
Tensors ManyAxes(const CallReader& c) {
  const bool to_real = kind == Kind::kToReal;
  Tensor x = kind == Kind::kFromReal ? RealInput(c, c.x(0)) : AsComplex(c, c.x(0));
  const fft::Plan plan = PlanOf(c, x, c.attr("s"), c.attr("axis"), to_real);
  const double scale = Scale(c, c.attr("norm"), forward, plan.numel());
  if (plan.axes.empty()) {
    if (kind == Kind::kComplex) return {Op<"clone">(x)};
    throw ValueError(c.name()).Got("no axes").Expected("at least one");
  }
  const int last = plan.axes.size() - 1;
  for (int i = 0; i < last; ++i) x = Resized(c, x, plan.axes[i], plan.sizes[i]);
  if (kind == Kind::kComplex) {
    return {Op<"fft_c2c">(Resized(c, x, plan.axes[last], plan.sizes[last]), plan.axes, forward, scale)};
  }
  Dims others = plan.axes;
  others.pop_back();
  if (to_real) {
    if (!others.empty()) x = Op<"fft_c2c">(x, others, forward);
    return {ToReal(c, x, plan.axes[last], plan.sizes[last], forward, scale)};
  }
  x = Op<"fft_r2c">(Resized(c, x, plan.axes[last], plan.sizes[last]), plan.axes[last], forward, scale);
  return {others.empty() ? x : Op<"fft_c2c">(x, others, forward)};
}

/// Declares a transform's three forms; `many`: what autocast makes of those over several axes.
template <Kind kind, bool forward>
bool Define(const std::string& name, const char* doc, Precision many = Precision::kFloat32) {
  DefineOp("fft_" + name + "(Tensor x, int? n=None, int axis=-1, str? norm=None) -> Tensor")
      .Doc(doc)
      .Autocast(Precision::kFloat32)
      .As(OneAxis<kind, forward>);
  DefineOp("fft_" + name + "2(Tensor x, int[1]? s=None, int[1] axis=[-2, -1], str? norm=None) -> Tensor")
      .Doc(doc)
      .Autocast(many)
      .As(ManyAxes<kind, forward>);
  DefineOp("fft_" + name + "n(Tensor x, int[1]? s=None, int[1]? axis=None, str? norm=None) -> Tensor")
      .Doc(doc)
      .Autocast(many)
      .As(ManyAxes<kind, forward>);
  return true;
}

[[maybe_unused]] const bool family_defined[] = {
    Define<Kind::kComplex, true>("fft", "The Fourier transform."),
    Define<Kind::kComplex, false>("ifft", "The inverse Fourier transform."),
    Define<Kind::kFromReal, true>("rfft", "The Fourier transform of reals: half of it determines the rest."),
    Define<Kind::kToReal, false>("irfft", "The reals whose Fourier transform's half is given."),
    Define<Kind::kToReal, true>("hfft", "The real Fourier transform of numbers whose second half mirrors the first.",
                                Precision::kAsGiven),
    Define<Kind::kFromReal, false>("ihfft", "The inverse of hfft.", Precision::kAsGiven),
};

}  // namespace
}  // namespace dragon
