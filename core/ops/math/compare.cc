// Comparisons, logic and bits, and choices made by them: where and clamp.
#include "core/framework/number.h"
#include "core/kernels/math.h"
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

Operator& Compare(const char* name, const char* doc) {
  return Binary(name, doc).Infers(InferCompare).NotDifferentiable();
}
Operator& Bitwise(const char* name, const char* doc) { return Binary(name, doc).NotDifferentiable(); }

/// The mask keeps its dtype; layout and dtype are those of what is chosen from.
void InferWhere(Infer& i) {
  const DType mask = i.x("condition").dtype();
  if (mask != DType::kBool && mask != DType::kUInt8)
    throw TypeError(i.name()).Got(mask, " as condition").Expected("bool");
  InferPointwiseAs(i, i.x("x").dtype());
}

/// A choice gives its numbers as they are, so they may not wrap.
void CheckChosen(const char* who, int /*slot*/, DType dtype, const Value& number) {
  if (!IsInexact(dtype)) RequireNumber(who, dtype, number);
}

void InferClamp(Infer& i) {
  if (!i.has("min") && !i.has("max"))
    throw ValueError(i.name()).Got("neither min nor max").Expected("at least one of them");
  if (IsComplex(i.x("x").dtype())) throw TypeError(i.name()).Got(i.x("x").dtype()).Expected("a real dtype");
  InferPointwise(i);
}
void RunClamp(Run& r) {
  static const kernels::Ternary both{"clamp"};
  static const kernels::Binary larger{"maximum"}, smaller{"minimum"};
  if (r.has("min") && r.has("max")) return both(r.ctx(), r.dtype(), r.out(), r.in("x"), r.in("min"), r.in("max"));
  if (r.has("min")) return larger(r.ctx(), r.dtype(), r.out(), r.in("x"), r.in("min"));
  smaller(r.ctx(), r.dtype(), r.out(), r.in("x"), r.in("max"));
}
/// x gets the gradient where no bound took its place (a bound that equals it did not), a bound where it did.
void ClampGrad(Grad& g) {
  const Tensor &x = g.x("x"), &low = g.x("min"), &high = g.x("max");
  if (g.needs("x")) {
    Tensor inside;
    if (low.defined()) inside = Op<"ge">(x, low);
    if (high.defined()) inside = low.defined() ? Op<"logical_and">(inside, Op<"le">(x, high)) : Op<"le">(x, high);
    g.dx("x", Masked(inside, g.dy()));
  }
  if (low.defined() && g.needs("min")) {
    Tensor below = Op<"lt">(x, low);
    if (high.defined()) below = Op<"logical_and">(below, Op<"lt">(low, high));
    g.dx("min", Masked(below, g.dy()));
  }
  if (high.defined() && g.needs("max")) {
    Tensor above = Op<"gt">(x, high);
    if (low.defined()) above = Op<"logical_or">(above, Op<"lt">(high, low));
    g.dx("max", Masked(above, g.dy()));
  }
}

/// Between two known bounds.
std::optional<Tail> ClampTail(const TailCall& c) {
  const auto low = c.Number("min"), high = c.Number("max");
  if (!low || !high || !(*low <= *high)) return std::nullopt;
  return Tail{"hardtanh", *low, *high, /*drops_nan=*/true};
}

/// |x - y| <= atol + rtol |y|; equal infinities are close, and NaN to NaN if asked for.
Tensors IsClose(const CallReader& c) {
  const Tensor &x = c.x("x"), &y = c.x("y");
  if (x.dtype() != y.dtype()) throw TypeError(c.name()).Got(x.dtype(), " and ", y.dtype()).Expected("one dtype");
  const double rtol = c.Real("rtol"), atol = c.Real("atol");
  if (!(rtol >= 0) || !(atol >= 0)) {
    throw ValueError(c.name()).Got("rtol ", rtol, " and atol ", atol).Expected("tolerances of at least 0");
  }
  Tensor close = Op<"eq">(x, y);
  if (c.Bool("equal_nan") && IsInexact(x.dtype())) {
    close = Op<"logical_or">(close, Op<"logical_and">(Op<"isnan">(x), Op<"isnan">(y)));
  }
  if (rtol == 0 && atol == 0) return {close};
  const bool whole = !IsInexact(x.dtype());  // also keeps unsigned differences from wrapping
  const Tensor a = whole ? Op<"cast">(x, DType::kFloat64) : x, b = whole ? Op<"cast">(y, DType::kFloat64) : y;
  const Tensor allowed = Op<"abs">(b) * rtol + atol, difference = Op<"abs">(a - b);
  const Tensor within = Op<"logical_and">(Op<"le">(difference, allowed), Op<"isfinite">(difference));
  return {Op<"logical_or">(close, within)};
}

void DefineComparisons() {
  Compare("eq", "Whether x equals y.").Commutes();
  Compare("ne", "Whether x differs from y; true for NaN.").Commutes();
  Compare("lt", "Whether x is less than y.");
  Compare("le", "Whether x is at most y.");
  Compare("gt", "Whether x is greater than y.");
  Compare("ge", "Whether x is at least y.");
  Compare("logical_and", "Whether x and y both differ from 0.").Commutes();
  Compare("logical_or", "Whether x or y differs from 0.").Commutes();
  Compare("logical_xor", "Whether exactly one of x and y differs from 0.").Commutes();
  DefineOp("isclose(Tensor x, Tensor y, float rtol=1e-5, float atol=1e-8, bool equal_nan=False) -> Tensor")
      .Doc("Whether |x - y| <= atol + rtol * |y|.")
      .As(IsClose);
  DefineOp("allclose(Tensor x, Tensor y, float rtol=1e-5, float atol=1e-8, bool equal_nan=False) -> Tensor")
      .Doc("Whether all elements are close: a 0-d bool.")
      .As([](const CallReader& c) -> Tensors { return {Op<"all">(IsClose(c)[0])}; });
}

void DefineBits() {
  Unary("bitwise_not", "Every bit inverted.", Promotion::kNone).NotDifferentiable();
  Bitwise("bitwise_and", "Bits set in both x and y.").Commutes();
  Bitwise("bitwise_or", "Bits set in x or y.").Commutes();
  Bitwise("bitwise_xor", "Bits set in one of x and y.").Commutes();
  Bitwise("bitwise_left_shift", "x with its bits moved y places up.");
  Bitwise("bitwise_right_shift", "x with its bits moved y places down, keeping the sign.");
}

void DefineChoices() {
  DefineOp("where(Tensor condition, Tensor x, Tensor y) -> Tensor")
      .Doc("x where the condition holds, y elsewhere.")
      .Promotes(Promotion::kCommon)
      .PromotesOnly(0b110)
      .ChecksNumbers(CheckChosen)
      .Pointwise()
      .Infers(InferWhere)
      .Runs([](Run& r) { RunOwnKernel<3>(r, r.x("x").dtype()); })
      .Gradient("condition", [](Grad& g) {
        if (g.needs("x")) g.dx("x", Masked(g.x("condition"), g.dy()));
        if (g.needs("y")) g.dx("y", Op<"where">(g.x("condition"), Number(0), g.dy()));
      });
  DefineOp("clamp(Tensor x, Tensor? min=None, Tensor? max=None) -> Tensor")
      .Doc("x, but at least min and at most max; max wins where they cross.")
      .Promotes(Promotion::kCommon)
      .ChecksNumbers(CheckChosen)
      .Pointwise()
      .Infers(InferClamp)
      .Runs(RunClamp)
      .Tails(ClampTail)
      .Gradient("x, min, max", ClampGrad);
}

[[maybe_unused]] const bool compare_defined = (DefineComparisons(), DefineBits(), DefineChoices(), true);

}  // namespace
}  // namespace dragon
