// Sums, products, quotients, powers, extremes, and their fused forms.
#include "core/framework/number.h"
#include "core/kernels/math.h"
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

Operator& Promoted(const char* line, const char* doc, Promotion promotion) {
  return DefineOp(line).Doc(doc).Promotes(promotion).Pointwise().Infers(InferPointwise);
}

void RefuseBool(const Infer& i) {
  if (i.x("x").dtype() != DType::kBool) return;
  throw TypeError(i.name()).Got("bool").Expected("a number (logical_xor and bitwise_xor subtract booleans)");
}
void RefuseFractionOfInteger(const Infer& i, ArgumentName name) {
  const Value& factor = i.attr(name);
  const DType dtype = i.x("x").dtype();
  if (!IsInexact(dtype) && factor.kind() >= Value::Kind::kDouble) {
    throw TypeError(i.name()).Got(name.text, " = ", factor.str(), " for ", dtype).Expected("an integer");
  }
  if (!IsComplex(dtype) && factor.kind() == Value::Kind::kComplex) {
    throw TypeError(i.name()).Got(name.text, " = ", factor.str(), " for ", dtype).Expected("a real number");
  }
}
bool IsOne(const Value& value) { return value.kind() != Value::Kind::kComplex && value.real() == 1; }
Tensor Times(const Tensor& x, const Value& factor) { return IsOne(factor) ? x : Op<"mul">(x, Number(factor)); }
Value ConjugateOf(const Value& value) {
  if (value.kind() != Value::Kind::kComplex) return value;
  return Value(complex128(value.complex().re, -value.complex().im));
}
Value Negative(const Value& value) {
  if (value.kind() == Value::Kind::kComplex) return Value(complex128(-value.complex().re, -value.complex().im));
  if (value.kind() == Value::Kind::kDouble) return Value(-value.real());
  return Value(static_cast<int64_t>(-static_cast<uint64_t>(value.integer())));  // -2^63 is its own negative
}

/// A factor as kernels take it: for integers, the two parts add up to all 64 bits of what is no double.
complex128 FactorOf(DType dtype, const Value& factor) {
  if (IsInexact(dtype) || factor.kind() != Value::Kind::kInt) return factor.complex();
  const double nearest = static_cast<double>(factor.integer());
  return {nearest, static_cast<double>(static_cast<__int128>(factor.integer()) - static_cast<__int128>(nearest))};
}

template <bool kSubtracts>
void RunAdd(Run& r) {
  static const kernels::Binary plain{kSubtracts ? "sub" : "add"};
  const Value& alpha = r.attr("alpha");
  if (DRAGON_LIKELY(IsOne(alpha))) return plain(r.ctx(), r.dtype(), r.out(), r.in("x"), r.in("y"));
  kernels::kAddScaled(r.ctx(), r.dtype(), r.out(), r.in("x"), r.in("y"),
                      FactorOf(r.dtype(), kSubtracts ? Negative(alpha) : alpha));
}
/// For x plus a product with the factor `value`.
void InferAddProduct(Infer& i) {
  RefuseFractionOfInteger(i, "value");
  RequireNumber(i.name(), i.x(0).dtype(), i.attr("value"));
  InferPointwise(i);
}
/// What is added is alpha times y, or minus that: the factor itself must be in the dtype.
void InferSum(Infer& i, bool subtracts) {
  const Value& alpha = i.attr("alpha");
  if (DRAGON_UNLIKELY(!IsOne(alpha))) {
    RefuseFractionOfInteger(i, "alpha");
    RequireNumber(i.name(), i.x("x").dtype(), subtracts ? Negative(alpha) : alpha);
  }
  InferPointwise(i);
}
void InferSub(Infer& i) {
  RefuseBool(i);
  InferSum(i, /*subtracts=*/true);
}

/// An integer raised to a negative number is no integer. A base wraps, but an exponent that did would be another power.
void CheckExponent(const char* who, int slot, DType dtype, const Value& number) {
  if (slot != 1 || IsInexact(dtype)) return;
  if (number.real() < 0) throw ValueError(who).Got("exponent ", number.str(), " for integers").Expected("at least 0");
  RequireNumber(who, dtype, number);
}
void InferPower(Infer& i) {
  const Tensor& exponent = i.x("y");
  if (exponent.impl()->weak && !IsInexact(exponent.dtype())) {
    CheckExponent(i.name(), 1, exponent.dtype(), exponent.Item());
  }
  InferPointwise(i);
}

/// d(x^p)/dx = p x^(p-1), which is 0 for p = 0 even at x = 0; d(x^p)/dp = x^p log x, which is 0 at x = 0, p >= 0.
void PowGrad(Grad& g) {
  const Tensor& x = g.x("x");
  const Tensor p = Settled(g.x("y"));
  if (g.needs("x")) {
    const Tensor slope = p * Op<"pow">(x, p - 1.0);
    g.dx("x", g.dy() * Conjugate(Masked(Op<"ne">(p, Number(0)), slope)));
  }
  if (g.needs("y")) {
    Tensor flat = Op<"eq">(x, Number(0));
    const Tensor growing = p.is_complex() ? Op<"real">(p) : p;
    flat = Op<"logical_and">(flat, Op<"ge">(growing, Number(0)));
    g.dx("y", g.dy() * Conjugate(Op<"where">(flat, Number(0), g.y() * Op<"log">(x))));
  }
}

/// Equal operands share the gradient of their extreme.
void ExtremeGrad(Grad& g) {
  const Tensor half = Op<"mul">(g.dy(), Number(0.5)), ties = Op<"eq">(g.x("x"), g.x("y"));
  for (int i = 0; i < 2; ++i) {
    if (!g.needs(i)) continue;
    // Whoever differs from the result lost; NaN never equals, so it is compared the other way round.
    const Tensor lost = g.op().name() == "maximum" ? Op<"lt">(g.x(i), g.x(1 - i)) : Op<"gt">(g.x(i), g.x(1 - i));
    g.dx(i, Op<"where">(ties, half, Op<"where">(lost, Number(0), g.dy())));
  }
}
void FmaxGrad(Grad& g) {
  const Tensor wins = g.op().name() == "fmax" ? Op<"ge">(g.x("x"), g.x("y")) : Op<"le">(g.x("x"), g.x("y"));
  const Tensor first = Op<"logical_or">(wins, Op<"isnan">(g.x("y")));
  if (g.needs("x")) g.dx("x", Masked(first, g.dy()));
  if (g.needs("y")) g.dx("y", Masked(Op<"logical_not">(first), g.dy()));
}

void DefineSums() {
  Promoted("add(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor", "x + alpha * y.", Promotion::kCommon)
      .Commutes("alpha")
      .Infers([](Infer& i) { InferSum(i, /*subtracts=*/false); })
      .Runs(RunAdd<false>)
      .Gradient("", [](Grad& g) {
        if (g.needs("x")) g.dx("x", g.dy());
        if (g.needs("y")) g.dx("y", Times(g.dy(), ConjugateOf(g.attr("alpha"))));
      });
  Promoted("sub(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor", "x - alpha * y.", Promotion::kCommon)
      .Infers(InferSub)
      .Runs(RunAdd<true>)
      .Gradient("", [](Grad& g) {
        if (g.needs("x")) g.dx("x", g.dy());
        if (g.needs("y")) g.dx("y", -Times(g.dy(), ConjugateOf(g.attr("alpha"))));
      });
  DefineOp("rsub(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor")
      .Doc("y - alpha * x.")
      .As([](const CallReader& c) -> Tensors { return {Op<"sub">(c.x("y"), c.x("x"), c.attr("alpha"))}; });
  Promoted("addcmul(Tensor x, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
           "x + value * tensor1 * tensor2.", Promotion::kCommon)
      .Infers(InferAddProduct)
      .Runs([](Run& r) { RunOwnKernel<3>(r, r.dtype(), FactorOf(r.dtype(), r.attr("value"))); })
      .Gradient("tensor1 for tensor2, tensor2 for tensor1", [](Grad& g) {
        const Tensor dy = Times(g.dy(), ConjugateOf(g.attr("value")));
        if (g.needs("x")) g.dx("x", g.dy());
        if (g.needs("tensor1")) g.dx("tensor1", dy * Conjugate(g.x("tensor2")));
        if (g.needs("tensor2")) g.dx("tensor2", dy * Conjugate(g.x("tensor1")));
      });
  Promoted("addcdiv(Tensor x, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
           "x + value * tensor1 / tensor2.", Promotion::kCommon)
      .Infers([](Infer& i) {
        if (!IsInexact(i.x("x").dtype())) {
          throw TypeError(i.name()).Got("integers").Expected("floats (round a quotient of integers with `divide`)");
        }
        InferAddProduct(i);
      })
      .Runs([](Run& r) { RunOwnKernel<3>(r, r.dtype(), FactorOf(r.dtype(), r.attr("value"))); })
      .Gradient("tensor1 for tensor2, tensor2 for tensor1, tensor2 for tensor2", [](Grad& g) {
        const Tensor dy = Times(g.dy(), ConjugateOf(g.attr("value")));
        if (g.needs("x")) g.dx("x", g.dy());
        if (g.needs("tensor1")) g.dx("tensor1", dy / Conjugate(g.x("tensor2")));
        if (g.needs("tensor2")) g.dx("tensor2", -dy * Conjugate(g.x("tensor1") / Op<"square">(g.x("tensor2"))));
      });
  Promoted("lerp(Tensor x, Tensor end, Tensor weight) -> Tensor", "x + weight * (end - x).", Promotion::kCommon)
      .Runs(RunPointwise<3>)
      .Gradient("x, end, weight", [](Grad& g) {
        const Tensor weight = Conjugate(Settled(g.x("weight")));
        if (g.needs("x")) g.dx("x", g.dy() * (1.0 - weight));
        if (g.needs("end")) g.dx("end", g.dy() * weight);
        if (g.needs("weight")) g.dx("weight", g.dy() * Conjugate(g.x("end") - g.x("x")));
      });
}

void DefineProducts() {
  Binary("mul", "x * y.").Commutes().Gradient("x for y, y for x", [](Grad& g) {
    if (g.needs("x")) g.dx("x", g.dy() * Conjugate(g.x("y")));
    if (g.needs("y")) g.dx("y", g.dy() * Conjugate(g.x("x")));
  });
  Binary("div", "x / y; of integers a float.", Promotion::kFloat)
      .Gradient("y, x for y",  // not the result, which users may go on to change in place
                [](Grad& g) {
                  const Tensor divisor = Conjugate(g.x("y"));
                  if (g.needs("x")) g.dx("x", g.dy() / divisor);
                  // The quotient comes first: of 0 over a tiny number it is 0, where dy over that is infinite.
                  if (g.needs("y")) g.dx("y", -(g.dy() * Conjugate(g.x("x") / g.x("y"))) / divisor);
                });
  Binary("trunc_divide", "x / y rounded towards 0.").Gradient("", ZeroGrad);
  Binary("floor_divide", "x / y rounded down, as Python's //.").Gradient("", ZeroGrad);
  DefineOp("divide(Tensor x, Tensor y, *, str? rounding_mode=None) -> Tensor")
      .Doc("x / y, exact (None), rounded towards 0 (\"trunc\") or down (\"floor\").")
      .As([](const CallReader& c) -> Tensors {
        if (!c.Given("rounding_mode")) return {Op<"div">(c.x("x"), c.x("y"))};
        if (c.String("rounding_mode") == "trunc") return {Op<"trunc_divide">(c.x("x"), c.x("y"))};
        if (c.String("rounding_mode") == "floor") return {Op<"floor_divide">(c.x("x"), c.x("y"))};
        throw ValueError(c.name())
            .Got("rounding_mode '", c.String("rounding_mode"), "'")
            .Expected("None, 'trunc' or 'floor'");
      });
  Binary("remainder", "What flooring division leaves: it has the sign of y.").Gradient("x, y", [](Grad& g) {
    if (g.needs("x")) g.dx("x", g.dy());
    if (g.needs("y")) g.dx("y", -g.dy() * Op<"floor_divide">(g.x("x"), g.x("y")));
  });
  Binary("fmod", "What truncating division leaves: it has the sign of x.").Gradient("x, y", [](Grad& g) {
    if (g.needs("x")) g.dx("x", g.dy());
    if (g.needs("y")) g.dx("y", -g.dy() * Op<"trunc_divide">(g.x("x"), g.x("y")));
  });
  Binary("pow", "x to the power of y.")
      .ChecksNumbers(CheckExponent)
      .Infers(InferPower)
      .Gradient("x, y, out for y", PowGrad);
  DefineOp("float_power(Tensor x, Tensor y) -> Tensor")
      .Doc("x to the power of y, computed in double precision.")
      .As([](const CallReader& c) -> Tensors {
        const bool complex = c.x("x").is_complex() || c.x("y").is_complex();
        const DType wide = complex ? DType::kComplex128 : DType::kFloat64;
        return {Op<"pow">(Op<"cast">(c.x("x"), wide), Op<"cast">(c.x("y"), wide))};
      });
  DefineOp("ldexp(Tensor x, Tensor y) -> Tensor").Doc("x * 2^y.").As([](const CallReader& c) -> Tensors {
    const Tensor& y = c.x("y");
    return {c.x("x") * Op<"exp2">(y.impl()->weak && IsFloating(y.dtype()) ? Op<"cast">(y, DefaultDType()) : y)};
  });
  Binary("gcd", "Greatest common divisor of integers.").Commutes().NotDifferentiable();
  Binary("lcm", "Least common multiple of integers.").Commutes().NotDifferentiable();
}

void DefineExtremes() {
  Binary("maximum", "The larger of x and y; NaN if either is.").Commutes().Gradient("x, y", ExtremeGrad);
  Binary("minimum", "The smaller of x and y; NaN if either is.").Commutes().Gradient("x, y", ExtremeGrad);
  Binary("fmax", "The larger of x and y; a number wins over NaN.").Gradient("x, y", FmaxGrad);
  Binary("fmin", "The smaller of x and y; a number wins over NaN.").Gradient("x, y", FmaxGrad);
  Binary("heaviside", "0 below 0, 1 above, y at 0.", Promotion::kCommon);
  Binary("copysign", "The magnitude of x with the sign of y.", Promotion::kFloat).Gradient("x, out", [](Grad& g) {
    if (g.needs("x")) g.dx("x", Masked(Op<"ne">(g.x("x"), Number(0)), g.dy() * (g.y() / g.x("x"))));
    if (g.needs("y")) g.dx("y", Zeros(g, "y"));
  });
  Binary("nextafter", "The next number from x towards y.").Gradient("x, y", [](Grad& g) {
    if (g.needs("x")) g.dx("x", Masked(Op<"ne">(g.x("x"), g.x("y")), g.dy()));
    if (g.needs("y")) g.dx("y", Zeros(g, "y"));
  });
}

[[maybe_unused]] const bool arithmetic_defined = (DefineSums(), DefineProducts(), DefineExtremes(), true);

}  // namespace
}  // namespace dragon
