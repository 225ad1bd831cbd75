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
  if (i.x(0).dtype() != DType::kBool) return;
  throw TypeError(i.name()).Got("bool").Expected("a number (logical_xor and bitwise_xor subtract booleans)");
}
void RefuseFractionOfInteger(const Infer& i, int slot) {
  const Value& factor = i.attr(slot);
  const DType dtype = i.x(0).dtype();
  if (!IsInexact(dtype) && factor.kind() >= Value::Kind::kDouble) {
    throw TypeError(i.name())
        .Got(i.op().schema.attr(slot).name, " = ", factor.str(), " for ", dtype)
        .Expected("an integer");
  }
  if (!IsComplex(dtype) && factor.kind() == Value::Kind::kComplex) {
    throw TypeError(i.name())
        .Got(i.op().schema.attr(slot).name, " = ", factor.str(), " for ", dtype)
        .Expected("a real number");
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
  const Value& alpha = r.attr(0);
  if (DRAGON_LIKELY(IsOne(alpha))) return plain(r.ctx(), r.dtype(), r.out(), r.in(0), r.in(1));
  kernels::kAddScaled(r.ctx(), r.dtype(), r.out(), r.in(0), r.in(1),
                      FactorOf(r.dtype(), kSubtracts ? Negative(alpha) : alpha));
}
void InferAdd(Infer& i) {
  RefuseFractionOfInteger(i, 0);
  RequireNumber(i.name(), i.x(0).dtype(), i.attr(0));
  InferPointwise(i);
}
/// What is added is alpha times y, or minus that: the factor itself must be in the dtype.
void InferSum(Infer& i, bool subtracts) {
  const Value& alpha = i.attr(0);
  if (DRAGON_UNLIKELY(!IsOne(alpha))) {
    RefuseFractionOfInteger(i, 0);
    RequireNumber(i.name(), i.x(0).dtype(), subtracts ? Negative(alpha) : alpha);
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
  const Tensor& exponent = i.x(1);
  if (exponent.impl()->weak && !IsInexact(exponent.dtype())) {
    CheckExponent(i.name(), 1, exponent.dtype(), exponent.Item());
  }
  InferPointwise(i);
}

/// d(x^p)/dx = p x^(p-1), which is 0 for p = 0 even at x = 0; d(x^p)/dp = x^p log x, which is 0 at x = 0, p >= 0.
void PowGrad(Grad& g) {
  const Tensor& x = g.x(0);
  const Tensor p = Settled(g.x(1));
  if (g.needs(0)) {
    const Tensor slope = p * Op<"pow">(x, p - 1.0);
    g.dx(0, g.dy() * Conjugate(Masked(Op<"ne">(p, Number(0)), slope)));
  }
  if (g.needs(1)) {
    Tensor flat = Op<"eq">(x, Number(0));
    const Tensor growing = p.is_complex() ? Op<"real">(p) : p;
    flat = Op<"logical_and">(flat, Op<"ge">(growing, Number(0)));
    g.dx(1, g.dy() * Conjugate(Op<"where">(flat, Number(0), g.y() * Op<"log">(x))));
  }
}

/// Equal operands share the gradient of their extreme.
void ExtremeGrad(Grad& g) {
  const Tensor half = Op<"mul">(g.dy(), Number(0.5)), ties = Op<"eq">(g.x(0), g.x(1));
  for (int i = 0; i < 2; ++i) {
    if (!g.needs(i)) continue;
    // Whoever differs from the result lost; NaN never equals, so it is compared the other way round.
    const Tensor lost = g.op().name() == "maximum" ? Op<"lt">(g.x(i), g.x(1 - i)) : Op<"gt">(g.x(i), g.x(1 - i));
    g.dx(i, Op<"where">(ties, half, Op<"where">(lost, Number(0), g.dy())));
  }
}
void FmaxGrad(Grad& g) {
  const Tensor wins = g.op().name() == "fmax" ? Op<"ge">(g.x(0), g.x(1)) : Op<"le">(g.x(0), g.x(1));
  const Tensor first = Op<"logical_or">(wins, Op<"isnan">(g.x(1)));
  if (g.needs(0)) g.dx(0, Masked(first, g.dy()));
  if (g.needs(1)) g.dx(1, Masked(Op<"logical_not">(first), g.dy()));
}

void DefineSums() {
  Promoted("add(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor", "x + alpha * y.", Promotion::kCommon)
      .Commutes("alpha")
      .Infers([](Infer& i) { InferSum(i, /*subtracts=*/false); })
      .Runs(RunAdd<false>)
      .Gradient("", [](Grad& g) {
        if (g.needs(0)) g.dx(0, g.dy());
        if (g.needs(1)) g.dx(1, Times(g.dy(), ConjugateOf(g.attr(0))));
      });
  Promoted("sub(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor", "x - alpha * y.", Promotion::kCommon)
      .Infers(InferSub)
      .Runs(RunAdd<true>)
      .Gradient("", [](Grad& g) {
        if (g.needs(0)) g.dx(0, g.dy());
        if (g.needs(1)) g.dx(1, -Times(g.dy(), ConjugateOf(g.attr(0))));
      });
  DefineOp("rsub(Tensor x, Tensor y, *, Scalar alpha=1) -> Tensor")
      .Doc("y - alpha * x.")
      .As([](const CallReader& c) -> Tensors { return {Op<"sub">(c.x(1), c.x(0), c.attr(0))}; });
  Promoted("addcmul(Tensor x, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
           "x + value * tensor1 * tensor2.", Promotion::kCommon)
      .Infers(InferAdd)
      .Runs([](Run& r) { RunOwnKernel<3>(r, r.dtype(), FactorOf(r.dtype(), r.attr(0))); })
      .Gradient("tensor1 for tensor2, tensor2 for tensor1", [](Grad& g) {
        const Tensor dy = Times(g.dy(), ConjugateOf(g.attr(0)));
        if (g.needs(0)) g.dx(0, g.dy());
        if (g.needs(1)) g.dx(1, dy * Conjugate(g.x(2)));
        if (g.needs(2)) g.dx(2, dy * Conjugate(g.x(1)));
      });
  Promoted("addcdiv(Tensor x, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
           "x + value * tensor1 / tensor2.", Promotion::kCommon)
      .Infers([](Infer& i) {
        if (!IsInexact(i.x(0).dtype())) {
          throw TypeError(i.name()).Got("integers").Expected("floats (round a quotient of integers with `divide`)");
        }
        InferAdd(i);
      })
      .Runs([](Run& r) { RunOwnKernel<3>(r, r.dtype(), FactorOf(r.dtype(), r.attr(0))); })
      .Gradient("tensor1 for tensor2, tensor2 for tensor1, tensor2 for tensor2", [](Grad& g) {
        const Tensor dy = Times(g.dy(), ConjugateOf(g.attr(0)));
        if (g.needs(0)) g.dx(0, g.dy());
        if (g.needs(1)) g.dx(1, dy / Conjugate(g.x(2)));
        if (g.needs(2)) g.dx(2, -dy * Conjugate(g.x(1) / Op<"square">(g.x(2))));
      });
  Promoted("lerp(Tensor x, Tensor end, Tensor weight) -> Tensor", "x + weight * (end - x).", Promotion::kCommon)
      .Runs(RunPointwise<3>)
      .Gradient("x, end, weight", [](Grad& g) {
        const Tensor weight = Conjugate(Settled(g.x(2)));
        if (g.needs(0)) g.dx(0, g.dy() * (1.0 - weight));
        if (g.needs(1)) g.dx(1, g.dy() * weight);
        if (g.needs(2)) g.dx(2, g.dy() * Conjugate(g.x(1) - g.x(0)));
      });
}

void DefineProducts() {
  Binary("mul", "x * y.").Commutes().Gradient("x for y, y for x", [](Grad& g) {
    if (g.needs(0)) g.dx(0, g.dy() * Conjugate(g.x(1)));
    if (g.needs(1)) g.dx(1, g.dy() * Conjugate(g.x(0)));
  });
  Binary("div", "x / y; of integers a float.", Promotion::kFloat)
      .Gradient("y, x for y",  // not the result, which users may go on to change in place
                [](Grad& g) {
                  const Tensor divisor = Conjugate(g.x(1));
                  if (g.needs(0)) g.dx(0, g.dy() / divisor);
                  // The quotient comes first: of 0 over a tiny number it is 0, where dy over that is infinite.
                  if (g.needs(1)) g.dx(1, -(g.dy() * Conjugate(g.x(0) / g.x(1))) / divisor);
                });
  Binary("trunc_divide", "x / y rounded towards 0.").Gradient("", ZeroGrad);
  Binary("floor_divide", "x / y rounded down, as Python's //.").Gradient("", ZeroGrad);
  DefineOp("divide(Tensor x, Tensor y, *, str? rounding_mode=None) -> Tensor")
      .Doc("x / y, exact (None), rounded towards 0 (\"trunc\") or down (\"floor\").")
      .As([](const CallReader& c) -> Tensors {
        if (!c.Given(0)) return {Op<"div">(c.x(0), c.x(1))};
        if (c.String(0) == "trunc") return {Op<"trunc_divide">(c.x(0), c.x(1))};
        if (c.String(0) == "floor") return {Op<"floor_divide">(c.x(0), c.x(1))};
        throw ValueError(c.name()).Got("rounding_mode '", c.String(0), "'").Expected("None, 'trunc' or 'floor'");
      });
  Binary("remainder", "What flooring division leaves: it has the sign of y.").Gradient("x, y", [](Grad& g) {
    if (g.needs(0)) g.dx(0, g.dy());
    if (g.needs(1)) g.dx(1, -g.dy() * Op<"floor_divide">(g.x(0), g.x(1)));
  });
  Binary("fmod", "What truncating division leaves: it has the sign of x.").Gradient("x, y", [](Grad& g) {
    if (g.needs(0)) g.dx(0, g.dy());
    if (g.needs(1)) g.dx(1, -g.dy() * Op<"trunc_divide">(g.x(0), g.x(1)));
  });
  Binary("pow", "x to the power of y.")
      .ChecksNumbers(CheckExponent)
      .Infers(InferPower)
      .Gradient("x, y, out for y", PowGrad);
  DefineOp("float_power(Tensor x, Tensor y) -> Tensor")
      .Doc("x to the power of y, computed in double precision.")
      .As([](const CallReader& c) -> Tensors {
        const bool complex = c.x(0).is_complex() || c.x(1).is_complex();
        const DType wide = complex ? DType::kComplex128 : DType::kFloat64;
        return {Op<"pow">(Op<"cast">(c.x(0), wide), Op<"cast">(c.x(1), wide))};
      });
  DefineOp("ldexp(Tensor x, Tensor y) -> Tensor").Doc("x * 2^y.").As([](const CallReader& c) -> Tensors {
    const Tensor& y = c.x(1);
    return {c.x(0) * Op<"exp2">(y.impl()->weak && IsFloating(y.dtype()) ? Op<"cast">(y, DefaultDType()) : y)};
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
    if (g.needs(0)) g.dx(0, Masked(Op<"ne">(g.x(0), Number(0)), g.dy() * (g.y() / g.x(0))));
    if (g.needs(1)) g.dx(1, Zeros(g, 1));
  });
  Binary("nextafter", "The next number from x towards y.").NotDifferentiable();
}

[[maybe_unused]] const bool defined = (DefineSums(), DefineProducts(), DefineExtremes(), true);

}  // namespace
}  // namespace dragon
