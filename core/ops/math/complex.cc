// Complex numbers from pairs of real ones.
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

/// From the first tensor and another.
void InferComplex(Infer& i, ArgumentName second) {
  const DType dtype = i.x(0).dtype(), other = i.x(second).dtype();
  if (other != dtype || (dtype != DType::kFloat16 && dtype != DType::kFloat32 && dtype != DType::kFloat64)) {
    throw TypeError(i.name()).Got(dtype, " and ", other).Expected("float16, float32 or float64, twice the same");
  }
  InferPointwiseAs(i, ComplexDType(dtype));
}

/// Of float16 by way of float32: nothing computes in complex numbers of halves.
template <typename Whole>
void RunComplex(Run& r, ArgumentName second, Whole whole) {
  if (r.dtype() != DType::kFloat16) return RunPointwise<2>(r);
  OpInto<"copy">(r.y(), whole(Op<"cast">(r.x(0), DType::kFloat32), Op<"cast">(r.x(second), DType::kFloat32)));
}

[[maybe_unused]] const bool complex_defined = [] {
  const Value i(complex128(0, 1));
  DefineOp("complex(Tensor real, Tensor imag) -> Tensor")
      .Doc("real + i imag.")
      .Pointwise()
      .Infers([](Infer& i) { InferComplex(i, "imag"); })
      .TakesKept()
      .Runs([](Run& r) { RunComplex(r, "imag", [](Tensor re, Tensor im) { return Op<"complex">(re, im); }); })
      .Gradient("", [](Grad& g) {
        if (g.needs("real")) g.dx("real", Op<"real">(g.dy()));
        if (g.needs("imag")) g.dx("imag", Op<"imag">(g.dy()));
      });
  DefineOp("polar(Tensor abs, Tensor angle) -> Tensor")
      .Doc("The number of a given length and angle.")
      .Autocast(Precision::kFloat32)
      .Pointwise()
      .Infers([](Infer& i) { InferComplex(i, "angle"); })
      .TakesKept()
      .Runs([](Run& r) { RunComplex(r, "angle", [](Tensor abs, Tensor angle) { return Op<"polar">(abs, angle); }); })
      .Gradient("angle, out", [i](Grad& g) {
        const Tensor along = Conjugate(g.dy());
        if (g.needs("abs")) {
          g.dx("abs", Op<"real">(along * Op<"complex">(Op<"cos">(g.x("angle")), Op<"sin">(g.x("angle")))));
        }
        if (g.needs("angle")) g.dx("angle", Op<"real">(along * (g.y() * Number(i))));
      });
  return true;
}();

}  // namespace
}  // namespace dragon
