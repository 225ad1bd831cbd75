// Quantiles: order once, then read between neighbouring ranks. A composition, so gradients of any order come along.
#include <limits>

#include "core/framework/infer.h"
#include "core/framework/op.h"
#include "core/ops/check.h"

namespace dragon {
namespace {

void Check(const CallReader& c) {
  const Tensor &x = c.x("x"), &q = c.x("q");
  if (x.dtype() != DType::kFloat32 && x.dtype() != DType::kFloat64) {
    throw TypeError(c.name()).Got("x of ", x.dtype()).Expected("float32 or float64");
  }
  if (q.ndim() > 1) throw ValueError(c.name()).Got("q of shape ", q.shape()).Expected("a number or a vector");
  if (x.numel() == 0) throw ValueError(c.name()).Got("an x without elements").Expected("at least one");
  if (q.numel() == 0) return;
  const Tensor plain = q.Detach();
  if (Holds(Op<"all">(Op<"logical_and">(Op<"ge">(plain, Number(0.0)), Op<"le">(plain, Number(1.0)))))) return;
  const double least = Op<"amin">(plain).Item().real(), most = Op<"amax">(plain).Item().real();
  throw ValueError(c.name()).Got("q from ", least, " to ", most).Expected("0 to 1");
}

/// Between the ranks below and above, as the mode says.
Tensor Between(const char* who, const Tensor& sorted, Tensor ranks, const std::string& how) {
  if (how == "lower") ranks = Op<"floor">(ranks);
  if (how == "higher") ranks = Op<"ceil">(ranks);
  if (how == "nearest") ranks = Op<"round">(ranks);
  const Tensor below = Op<"cast">(Op<"floor">(ranks), DType::kInt64);
  const Tensor low = Op<"gather">(sorted, -1, below);
  if (how == "lower" || how == "higher" || how == "nearest") return low;
  if (how != "linear" && how != "midpoint") {
    throw ValueError(who).Got("interpolation '", how, "'").Expected("linear, lower, higher, midpoint or nearest");
  }
  const Tensor high = Op<"gather">(sorted, -1, Op<"cast">(Op<"ceil">(ranks), DType::kInt64));
  const Tensor fraction = ranks - Op<"cast">(below, ranks.dtype());
  // A rank between two places: half way for midpoint; a rank on a place reads only that one.
  const Tensor weight =
      how == "linear" ? fraction : Op<"masked_fill">(fraction, Op<"gt">(fraction, Number(0.0)), Number(0.5));
  return Op<"lerp">(low, high, weight);
}

Tensors Quantile(const CallReader& c, bool ignore_nan) {
  Check(c);
  const bool all = !c.Given("axis"), keepdims = c.Bool("keepdims");
  Tensor x = all ? Op<"reshape">(c.x("x"), Dims{c.x("x").numel()}) : c.x("x");
  const int64_t axis = NormalizeAxis(c.name(), all ? 0 : c.Int("axis"), x.ndim());
  if (x.ndim() == 0) x = Op<"reshape">(x, Dims{1});
  const int64_t size = x.size(axis);
  const Tensor lines = Op<"movedim">(x, Dims{axis}, Dims{-1});
  const Tensor sorted = Op<"sort">(lines, -1);
  const Tensor q = Op<"cast">(c.x("q").ndim() ? c.x("q") : Op<"reshape">(c.x("q"), Dims{1}), x.dtype());
  const Tensor is_nan = Op<"isnan">(lines);
  const double last = static_cast<double>(size - 1);
  Dims wide = lines.shape();
  wide.back() = q.numel();
  Tensor ranks;
  if (ignore_nan) {
    const Tensor numbers = Op<"sum">(Op<"logical_not">(is_nan), Dims{-1}, true);
    ranks = q * Op<"clamp">(Op<"cast">(numbers, x.dtype()) - 1.0, Number(0.0));
  } else {
    // A line with a NaN reads its last place, where sorting put the NaN.
    ranks = Op<"masked_fill">(Op<"expand">(q * last, wide), Op<"any">(is_nan, Dims{-1}, true), Number(last));
  }
  Tensor y = Between(c.name(), sorted, Op<"expand">(ranks, wide), c.String("interpolation"));
  if (keepdims) {
    const Dims ones = Dims::Filled(c.x("x").ndim(), 1);
    y = all                    ? Op<"reshape">(y,
                                               [&] {
                              Dims d = ones;
                              d.push_back(q.numel());
                              return d;
                                               }())
        : c.x("x").ndim() == 0 ? y
                               : Op<"movedim">(Op<"unsqueeze">(y, -1), Dims{-2, -1}, Dims{-1, axis});
  }
  return {c.x("q").ndim() ? Op<"movedim">(y, Dims{-1}, Dims{0}) : Op<"select">(y, -1, 0)};
}

[[maybe_unused]] const auto& quantile =
    DefineOp(
        "quantile(Tensor x, Tensor q, int? axis=None, bool keepdims=False, *, str interpolation=\"linear\") -> Tensor")
        .Doc("The q-th quantiles of an axis, or of all elements, as a first axis; NaN where there is one.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) { return Quantile(c, /*ignore_nan=*/false); });

[[maybe_unused]] const auto& nanquantile =
    DefineOp(
        "nanquantile(Tensor x, Tensor q, int? axis=None, bool keepdims=False, *, str interpolation=\"linear\") -> "
        "Tensor")
        .Doc("The q-th quantiles of what is not NaN.")
        .Autocast(Precision::kFloat32)
        .As([](const CallReader& c) { return Quantile(c, /*ignore_nan=*/true); });

}  // namespace
}  // namespace dragon
