// How rows of pointwise operators are told: the schema follows from the name and the number of operands, the kernel is
// the one of the operator's own name, and what is left to say is a sentence and a gradient.
#pragma once

#include <numbers>
#include <string>

#include "core/framework/infer.h"
#include "core/framework/op.h"

namespace dragon {

/// What gradients multiply by, over and over.
inline Tensor Square(const Tensor& x) { return Op<"square">(x); }

/// Call the kernel of the operator's own name on result 0, inputs 0 to kCount - 1 and further arguments.
template <int kCount, typename... Args>
void RunOwnKernel(Run& r, DType dtype, Args... args) {
  const auto function = r.op().kernel->Find(r.ctx().device.type, dtype);
  [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    using Pointer = void (*)(Context&, View, decltype(View(r.in(kIndex)))..., Args...);
    reinterpret_cast<Pointer>(function)(r.ctx(), r.out(), r.in(kIndex)..., args...);
  }(std::make_index_sequence<kCount>{});
}

/// The kernel's own dtype is that of the first input.
template <int kCount>
void RunPointwise(Run& r) {
  RunOwnKernel<kCount>(r, r.dtype());
}

/// Begin an operator of one input; integers become floats unless said otherwise.
inline Operator& Unary(const std::string& name, const char* doc, Promotion promotion = Promotion::kFloat) {
  return DefineOp(name + "(Tensor x) -> Tensor")
      .Doc(doc)
      .Promotes(promotion)
      .Pointwise()
      .Infers(InferPointwise)
      .Runs(RunPointwise<1>);
}

/// Begin an operator of two inputs that broadcast and meet in one dtype.
inline Operator& Binary(const std::string& name, const char* doc, Promotion promotion = Promotion::kCommon) {
  return DefineOp(name + "(Tensor x, Tensor y) -> Tensor")
      .Doc(doc)
      .Promotes(promotion)
      .Pointwise()
      .Infers(InferPointwise)
      .Runs(RunPointwise<2>);
}

/// The conjugate of what may be complex: gradients are multiplied by conjugated derivatives.
inline Tensor Conjugate(const Tensor& x) { return x.is_complex() ? Op<"conj">(x) : x; }
inline Tensor Zeros(const Grad& g, int i) { return Op<"zeros">(g.x_shape(i), g.x_dtype(i), g.x_device(i)); }
inline Tensor Zeros(const Grad& g, ArgumentName name) {
  return Op<"zeros">(g.x_shape(name), g.x_dtype(name), g.x_device(name));
}
/// A bare number as a tensor: its own dtype stays in arithmetic with other numbers, where the default dtype would take
/// half the digits of float64.
inline Tensor Settled(const Tensor& x) { return x.impl()->weak ? Op<"clone">(x) : x; }
/// `x` where the mask is true, 0 elsewhere, whatever x is there: NaN does not survive, as it would a product.
inline Tensor Masked(const Tensor& mask, const Tensor& x) { return Op<"where">(mask, x, Number(0)); }

/// The gradient of what is flat wherever it has a derivative.
inline void ZeroGrad(Grad& g) {
  for (int i = 0; i < g.x_count(); ++i) {
    if (g.needs(i)) g.dx(i, Zeros(g, i));
  }
}

/// Gradients of y = f(x) from a function (g) -> f'(x), conjugated here.
template <typename F>
Operator::GradFn Slope(F derivative) {
  return [derivative](Grad& g) { g.dx(0, g.dy() * Conjugate(derivative(g))); };
}

}  // namespace dragon
