// Signs, magnitudes, roundings, and tests of what kind of number a number is.
#include "core/kernels/math.h"
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

/// Integers are whole already: they are copied.
void RunRounding(Run& r) {
  if (!IsFloating(r.dtype()) && !IsComplex(r.dtype())) return OpInto<"copy">(r.y(), r.x(0));
  RunPointwise<1>(r);
}
Operator& Rounding(const char* name, const char* doc) {
  return Unary(name, doc, Promotion::kNone).Runs(RunRounding).Gradient("", ZeroGrad);
}
Operator& Test(const char* name, const char* doc) {
  return Unary(name, doc, Promotion::kNone).Infers(InferCompare).NotDifferentiable();
}
void InferReal(Infer& i) { InferPointwiseAs(i, RealDType(i.x(0).dtype())); }

/// Of a complex number only the part of dy across x turns its sign: (dy - y Re(conj(y) dy)) / |x|.
void SgnGrad(Grad& g) {
  if (!IsComplex(g.x_dtype(0))) return ZeroGrad(g);
  const Tensor along = Op<"real">(Conjugate(g.y()) * g.dy()), length = Op<"abs">(g.x(0));
  g.dx(0, Masked(Op<"ne">(length, Number(0)), (g.dy() - g.y() * along) / length));
}
/// The angle of x + iy changes by i x / |x|^2; real numbers' angles do not change.
void AngleGrad(Grad& g) {
  if (!IsComplex(g.x_dtype(0))) return ZeroGrad(g);
  const Tensor& x = g.x(0);
  const Tensor square = Op<"square">(Op<"abs">(x));
  g.dx(0, Masked(Op<"ne">(square, Number(0)), g.dy() / square * x * Number(complex128(0, 1))));
}

/// PyTorch's defaults: NaN becomes 0, infinities the dtype's extremes.
void RunNanToNum(Run& r) {
  const DType dtype = r.dtype();
  if (!IsFloating(dtype)) return OpInto<"copy">(r.y(), r.x(0));
  double most = std::numeric_limits<double>::max();
  if (dtype == DType::kFloat32) most = std::numeric_limits<float>::max();
  if (dtype == DType::kFloat16) most = 65504;
  if (dtype == DType::kBFloat16) most = 0x1.FEp127;
  kernels::kNanToNum(r.ctx(), dtype, r.out(), r.in(0), r.Given("nan") ? r.Real("nan") : 0.0,
                     r.Given("posinf") ? r.Real("posinf") : most, r.Given("neginf") ? r.Real("neginf") : -most);
}

void DefineSigns() {
  Unary("neg", "-x.", Promotion::kNone)
      .Infers([](Infer& i) {
        if (i.x(0).dtype() == DType::kBool) {
          throw TypeError(i.name()).Got("bool").Expected("a number (logical_not inverts booleans)");
        }
        InferPointwise(i);
      })
      .Gradient("", [](Grad& g) { g.dx(0, -g.dy()); });
  Unary("positive", "x itself.", Promotion::kNone).As([](const CallReader& c) -> Tensors {
    if (c.x(0).dtype() == DType::kBool) throw TypeError(c.name()).Got("bool").Expected("a number");
    return {c.x(0)};
  });
  Unary("abs", "The magnitude; of a complex number a real one.", Promotion::kNone)
      .Infers(InferReal)
      .Gradient("x", [](Grad& g) { g.dx(0, g.dy() * Op<"sgn">(g.x(0))); });
  Unary("sign", "-1, 0 or 1; 0 for NaN.", Promotion::kNone).Gradient("", ZeroGrad);
  Unary("sgn", "The sign; of a complex number x / |x|.", Promotion::kNone).Gradient("x, out", SgnGrad);
  Unary("conj_physical", "The complex conjugate, in fresh memory.", Promotion::kNone).Gradient("", [](Grad& g) {
    g.dx(0, Conjugate(g.dy()));
  });
  Unary("conj", "The complex conjugate; a real tensor itself.", Promotion::kNone)
      .As([](const CallReader& c) -> Tensors { return {c.x(0).is_complex() ? Op<"conj_physical">(c.x(0)) : c.x(0)}; });
  Unary("angle", "The argument of a number: 0 or pi of a real one.").Infers(InferReal).Gradient("x", AngleGrad);
}

void DefineRoundings() {
  Rounding("ceil", "The least integer not below x.");
  Rounding("floor", "The greatest integer not above x.");
  Rounding("trunc", "x without its fraction.");
  Unary("frac", "The fraction of x, with its sign.", Promotion::kNone).Gradient("", [](Grad& g) { g.dx(0, g.dy()); });
  DefineOp("round(Tensor x, *, int decimals=0) -> Tensor")
      .Doc("Round to a number of decimals, ties to even; negative decimals round to tens, hundreds, ...")
      .Pointwise()
      .Infers([](Infer& i) {
        if (!IsInexact(i.x(0).dtype()) && i.Int("decimals") != 0) {
          throw NotImplementedError(i.name()).Got(i.x(0).dtype(), " with decimals").Expected("a floating dtype");
        }
        InferPointwise(i);
      })
      .Runs([](Run& r) {
        if (!IsInexact(r.dtype())) return OpInto<"copy">(r.y(), r.x(0));
        RunOwnKernel<1>(r, r.dtype(), r.Int("decimals"));
      })
      .Gradient("", ZeroGrad);
  DefineOp("nan_to_num(Tensor x, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor")
      .Doc("Replace NaN by 0 and infinities by the dtype's extremes, or by the numbers given.")
      .Pointwise()
      .Infers(InferPointwise)
      .Runs(RunNanToNum)
      .Gradient("x", [](Grad& g) { g.dx(0, Masked(Op<"isfinite">(g.x(0)), g.dy())); });
  DefineOp("frexp(Tensor x) -> (Tensor mantissa, Tensor exponent)")
      .Doc("Mantissas of magnitude [0.5, 1) and integer exponents with x = mantissa * 2^exponent.")
      .Batches(Batching::kRows)
      .Infers([](Infer& i) {
        i.y(0, i.x(0).shape(), i.x(0).dtype());
        i.y(1, i.x(0).shape(), DType::kInt32);
      })
      .Runs([](Run& r) {
        static const kernels::Unary mantissa{"frexp_mantissa"}, exponent{"frexp_exponent"};
        mantissa(r.ctx(), r.dtype(), r.out(0), r.in(0));
        exponent(r.ctx(), r.dtype(), r.out(1), r.in(0));
      })
      .Gradient("exponent", [](Grad& g) { g.dx(0, g.dy() / Op<"exp2">(Op<"cast">(g.y(1), g.x_dtype(0)))); });
}

void DefineTests() {
  Test("isnan", "Whether x is not a number.");
  Test("isinf", "Whether x is infinite.");
  Test("isfinite", "Whether x is neither infinite nor NaN.");
  Test("isposinf", "Whether x is +infinity.");
  Test("isneginf", "Whether x is -infinity.");
  Test("signbit", "Whether the sign bit is set; true for -0.");
  Test("logical_not", "Whether x is 0.");
  Unary("isreal", "Whether the imaginary part is 0.", Promotion::kNone).As([](const CallReader& c) -> Tensors {
    const Tensor& x = c.x(0);
    if (x.is_complex()) return {Op<"eq">(Op<"imag">(x), Number(0))};
    return {Op<"ones">(x.shape(), DType::kBool, x.device())};
  });
}

[[maybe_unused]] const bool rounding_defined = (DefineSigns(), DefineRoundings(), DefineTests(), true);

}  // namespace
}  // namespace dragon
