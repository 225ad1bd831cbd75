// Frequencies, and zero frequency in the middle.
#include "core/ops/fft/common.h"

namespace dragon {
namespace {

/// Start, start + 1, ... stop - 1 over n d.
Tensor Frequencies(const CallReader& c, int64_t start, int64_t stop) {
  const DType dtype = c.DTypeOr("dtype", DefaultDType());
  const Tensor counted = Op<"arange">(start, stop, 1, DType::kInt64, c.attr("device"));
  return Op<"cast">(counted, dtype) / (static_cast<double>(c.Int("n")) * c.Real("d"));
}

void CheckCount(const CallReader& c) {
  if (c.Int("n") < 1) throw ValueError(c.name()).Got("n ", c.Int("n")).Expected("at least 1");
}

[[maybe_unused]] const auto& fftfreq =
    DefineOp("fft_fftfreq(int n, float d=1.0, *, dtype? dtype=None, device? device=None) -> Tensor")
        .Doc("The frequencies of a transform of n samples, d apart: zero, the positive ones, the negative ones.")
        .As([](const CallReader& c) -> Tensors {
          CheckCount(c);
          const int64_t n = c.Int("n");
          return {Op<"cat">(std::vector<Tensor>{Frequencies(c, 0, (n + 1) / 2), Frequencies(c, -(n / 2), 0)}, 0)};
        });

[[maybe_unused]] const auto& rfftfreq =
    DefineOp("fft_rfftfreq(int n, float d=1.0, *, dtype? dtype=None, device? device=None) -> Tensor")
        .Doc("The frequencies of a transform of n real samples, d apart.")
        .As([](const CallReader& c) -> Tensors {
          CheckCount(c);
          return {Frequencies(c, 0, c.Int("n") / 2 + 1)};
        });

template <bool back>
Tensors Shift(const CallReader& c) {
  const Tensor& x = c.x(0);
  Dims axes, shifts;
  if (c.Given("axis")) {
    for (int64_t axis : c.Ints("axis")) axes.push_back(NormalizeAxis(c.name(), axis, x.ndim()));
  } else {
    for (int i = 0; i < x.ndim(); ++i) axes.push_back(i);
  }
  for (int64_t axis : axes) shifts.push_back(back ? (x.size(axis) + 1) / 2 : x.size(axis) / 2);
  return {axes.empty() ? Op<"clone">(x) : Op<"roll">(x, shifts, axes)};
}

[[maybe_unused]] const auto& fftshift = DefineOp("fft_fftshift(Tensor x, int[1]? axis=None) -> Tensor")
                                            .Doc("Zero frequency to the middle.")
                                            .As(Shift<false>);
[[maybe_unused]] const auto& ifftshift =
    DefineOp("fft_ifftshift(Tensor x, int[1]? axis=None) -> Tensor").Doc("The inverse of fftshift.").As(Shift<true>);

}  // namespace
}  // namespace dragon
