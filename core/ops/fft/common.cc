// Reading the arguments of Fourier transforms.
#include "core/ops/fft/common.h"

#include <cmath>

namespace dragon::fft {

double Scale(const CallReader& c, const Value& norm, bool forward, double n) {
  const std::string name = norm.is_none() ? "backward" : norm.string();
  if (name == "ortho") return 1 / std::sqrt(n);
  if (name == "backward") return forward ? 1 : 1 / n;
  if (name == "forward") return forward ? 1 / n : 1;
  throw ValueError(c.name()).Got("norm '", name, "'").Expected("backward, ortho or forward");
}

Tensor AsFloat(const CallReader& c, const Tensor& x) {
  if (!IsInexact(x.dtype())) return Op<"cast">(x, DefaultDType());
  if (!IsSingleOrMore(x.dtype())) {
    throw TypeError(c.name()).Got("x of dtype ", x.dtype()).Expected("float32, float64, complex64 or complex128");
  }
  return x;
}

Tensor AsComplex(const CallReader& c, const Tensor& x) {
  const Tensor y = AsFloat(c, x);
  return y.is_complex() ? y : Op<"cast">(y, ComplexDType(y.dtype()));
}

Tensor Resized(const CallReader& c, const Tensor& x, int64_t axis, int64_t n) {
  if (n < 1) throw ValueError(c.name()).Got("a length of ", n).Expected("at least 1");
  const int64_t size = x.size(axis);
  if (size == n) return x;
  if (size > n) return Op<"slice">(x, axis, 0, n, 1);
  Dims pad = Dims::Filled(2 * (x.ndim() - axis), 0);
  pad[pad.size() - 1] = n - size;  // pairs run from the last axis backward
  return Op<"pad">(x, pad);
}

double Plan::numel() const {
  double product = 1;
  for (int64_t size : sizes) product *= static_cast<double>(size);
  return product;
}

Plan PlanOf(const CallReader& c, const Tensor& x, const Value& s, const Value& axes, bool last_doubles) {
  Plan plan;
  if (!axes.is_none()) {
    for (int64_t axis : axes.ints()) {
      if (x.ndim() == 0) throw IndexError(c.name()).Got("axis ", axis, " for a 0-d tensor").Expected("no axes");
      plan.axes.push_back(NormalizeAxis(c.name(), axis, x.ndim()));
    }
    NormalizeAxes(c.name(), plan.axes, x.ndim(), /*empty_is_all=*/false);  // refuses an axis given twice
  } else {
    const int count = s.is_none() ? x.ndim() : s.ints().size();
    if (count > x.ndim()) throw ValueError(c.name()).Got("s ", s.ints()).Expected("at most ", x.ndim(), " sizes");
    for (int i = x.ndim() - count; i < x.ndim(); ++i) plan.axes.push_back(i);
  }
  if (!s.is_none() && s.ints().size() != plan.axes.size()) {
    throw ValueError(c.name()).Got("s ", s.ints(), " and axes ", plan.axes).Expected("as many of each");
  }
  for (int i = 0; i < plan.axes.size(); ++i) {
    const bool last = last_doubles && i + 1 == plan.axes.size();
    const int64_t kept = last ? 2 * (x.size(plan.axes[i]) - 1) : x.size(plan.axes[i]);
    plan.sizes.push_back(s.is_none() || s.ints()[i] == -1 ? kept : s.ints()[i]);
    if (plan.sizes[i] < 1) throw ValueError(c.name()).Got("a length of ", plan.sizes[i]).Expected("at least 1");
  }
  return plan;
}

}  // namespace dragon::fft
