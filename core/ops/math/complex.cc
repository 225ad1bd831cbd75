// Complex numbers from pairs of real ones.
#include "core/ops/pointwise.h"

namespace dragon {
namespace {

void InferComplex(Infer& i) {
  const DType dtype = i.x(0).dtype();
  if (i.x(1).dtype() != dtype || (dtype != DType::kFloat32 && dtype != DType::kFloat64)) {
    throw TypeError(i.name()).Got(dtype, " and ", i.x(1).dtype()).Expected("float32 twice or float64 twice");
  }
  InferPointwiseAs(i, ComplexDType(dtype));
}

[[maybe_unused]] const bool defined = [] {
  const Value i(complex128(0, 1));
  DefineOp("complex(Tensor real, Tensor imag) -> Tensor")
      .Doc("real + i imag.")
      .Pointwise()
      .Infers(InferComplex)
      .Runs(RunPointwise<2>)
      .Gradient("", [](Grad& g) {
        if (g.needs(0)) g.dx(0, Op<"real">(g.dy()));
        if (g.needs(1)) g.dx(1, Op<"imag">(g.dy()));
      });
  DefineOp("polar(Tensor abs, Tensor angle) -> Tensor")
      .Doc("The number of a given length and angle.")
      .Autocast(Precision::kFloat32)
      .Pointwise()
      .Infers(InferComplex)
      .Runs(RunPointwise<2>)
      .Gradient("angle, out", [i](Grad& g) {
        const Tensor along = Conjugate(g.dy());
        if (g.needs(0)) {
          g.dx(0, Op<"real">(along * Op<"complex">(Op<"cos">(g.x(1)), Op<"sin">(g.x(1)))));
        }
        if (g.needs(1)) g.dx(1, Op<"real">(along * (g.y() * Number(i))));
      });
  return true;
}();

}  // namespace
}  // namespace dragon
