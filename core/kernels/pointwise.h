// Entering functors under operators' names, so that a family of pointwise kernels reads as a table.
#pragma once

#include "core/kernels/each.h"
#include "core/kernels/libm.h"
#include "core/kernels/math.h"
#include "core/kernels/wrapping.h"

namespace dragon::DRAGON_DEVICE {

template <typename F, typename A>
void UnaryOf(Context& ctx, View y, View x) {
  Each<std::invoke_result_t<F, A>(A)>(ctx, F{}, y, x);
}
template <typename F, typename A>
void BinaryOf(Context& ctx, View y, View a, View b) {
  Each<std::invoke_result_t<F, A, A>(A, A)>(ctx, F{}, y, a, b);
}
template <typename F, typename A>
void TernaryOf(Context& ctx, View y, View a, View b, View c) {
  Each<std::invoke_result_t<F, A, A, A>(A, A, A)>(ctx, F{}, y, a, b, c);
}

/// Enter `make(TypeTag<Wide<T>>{})` for the types of the list; 16-bit floats share the loop of float.
template <typename... Args, typename Make, typename... T>
bool EnterWide(const Kernel<void(Args...)>& kernel, TypeList<T...>, Make make) {
  (kernel.Set(DRAGON_DEVICE_TYPE, kDTypeOf<T>, make(TypeTag<Wide<T>>{})), ...);
  return true;
}

/// The same for y = F{}(x...), which needs no parameters beyond its views.
template <typename F, typename Types>
bool EnterUnary(const char* name, Types types) {
  return EnterWide(kernels::Unary{name}, types, []<typename A>(TypeTag<A>) { return &UnaryOf<F, A>; });
}
template <typename F, typename Types>
bool EnterBinary(const char* name, Types types) {
  return EnterWide(kernels::Binary{name}, types, []<typename A>(TypeTag<A>) { return &BinaryOf<F, A>; });
}
template <typename F, typename Types>
bool EnterTernary(const char* name, Types types) {
  return EnterWide(kernels::Ternary{name}, types, []<typename A>(TypeTag<A>) { return &TernaryOf<F, A>; });
}

}  // namespace dragon::DRAGON_DEVICE
