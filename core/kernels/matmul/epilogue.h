// What happens to a sum of products before it is stored: scaled, added to what was there, biased, activated.
#pragma once

#include <cmath>

#include "core/kernels/kernel.h"
#include "core/kernels/matmul.h"

namespace dragon::DRAGON_DEVICE {

inline constexpr double kSqrtHalf = 0.70710678118654752440, kSqrt2OverPi = 0.79788456080286535588;

template <typename T>
DRAGON_FN T Activate(Activation activation, T x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < T(0) ? T(0) : x;  // a NaN stays
    case Activation::kGelu:
      return T(0.5) * x * (T(1) + std::erf(x * T(kSqrtHalf)));
    case Activation::kGeluTanh:
      return T(0.5) * x * (T(1) + std::tanh(T(kSqrt2OverPi) * (x + T(0.044715) * x * x * x)));
  }
  return x;
}

/// activation(alpha * sum + beta * y + bias[column]).
template <typename T>
struct Epilogue {
  using Sum = std::conditional_t<
      kIsHalf<T>, float,
      std::conditional_t<std::is_integral_v<T>, std::conditional_t<(sizeof(T) > 4), uint64_t, uint32_t>, T>>;
  Sum alpha = Sum(1), beta = Sum(0);
  const T* bias = nullptr;
  int64_t bias_step = 0;
  Activation activation = Activation::kNone;
  bool plain = true;

  Epilogue() = default;
  Epilogue(View the_bias, const MatmulPost& post)
      : alpha(FromScalar(post.alpha, post.alpha_imag)),
        beta(FromScalar(post.beta, post.beta_imag)),
        bias(the_bias ? the_bias.as<T>() : nullptr),
        bias_step(the_bias && the_bias.numel > 1 ? the_bias.strides[the_bias.ndim - 1] : 0),
        activation(post.activation),
        plain(!bias && alpha == Sum(1) && beta == Sum(0) && activation == Activation::kNone) {}

  static Sum FromScalar(double re, double im) {
    if constexpr (kIsComplex<T>) {
      return Sum(static_cast<RealOf<T>>(re), static_cast<RealOf<T>>(im));
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<Sum>(static_cast<int64_t>(re));
    } else {
      return static_cast<Sum>(re);
    }
  }
  static T Narrow(Sum x) {
    if constexpr (std::is_same_v<T, bool>) {
      return x != 0;
    } else {
      return static_cast<T>(x);
    }
  }

  Sum Scale(Sum sum) const { return plain ? sum : alpha * sum; }
  Sum Begin(Sum sum, T y) const {
    if (plain) return sum;
    sum = alpha * sum;
    // beta == 0 ignores y altogether: it may be uninitialised.
    return beta == Sum(0) ? sum : sum + beta * static_cast<Sum>(y);
  }
  T Finish(Sum sum, int64_t column) const {
    if (plain) return Narrow(sum);
    if (bias) sum = sum + static_cast<Sum>(bias[column * bias_step]);
    if constexpr (kIsFloating<T>) sum = Activate(activation, sum);
    return Narrow(sum);
  }
  T operator()(Sum sum, const T& y, int64_t column) const {
    return plain ? Narrow(sum) : Finish(Begin(sum, y), column);
  }
};

}  // namespace dragon::DRAGON_DEVICE
