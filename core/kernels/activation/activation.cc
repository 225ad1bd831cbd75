// The activations and their slopes, side by side: each struct says a function and what its gradient is multiplied by.
#include "core/kernels/activation.h"

#include "core/kernels/pointwise.h"

namespace dragon::DRAGON_DEVICE {
namespace {

using namespace libm;  // NOLINT: the formulas are written with its functions

constexpr double kSqrtHalf = 0.70710678118654752440;
constexpr double kInverseSqrtTwoPi = 0.39894228040143267794;
constexpr double kSqrtTwoOverPi = 0.79788456080286535588;
constexpr double kGeluCubic = 0.044715;

/// Parameters of an activation in the type computed in.
template <typename T>
struct Parameters {
  T a, b;
};

// NaN passes every one of these: comparisons are written so that it takes the branch that keeps it. So does -0.

struct Relu {
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    return x < T(0) ? T(0) : x;
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    return x <= T(0) ? T(0) : T(1);
  }
};
struct Relu6 {
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    return x < T(0) ? T(0) : x > T(6) ? T(6) : x;
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    return x <= T(0) || x >= T(6) ? T(0) : T(1);
  }
};
struct LeakyRelu {
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T> p) {
    return x > T(0) ? x : x * p.a;
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T> p) {
    return x > T(0) ? T(1) : p.a;
  }
};
/// a (e^(b x) - 1) below 0
struct Elu {
  static constexpr int kCost = 6;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T> p) {
    const T below = p.a * Expm1(x * p.b);
    return Select(x > 0, x, below);
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T> p) {
    const T below = p.a * p.b * Exp(x * p.b);
    return Select(x > 0, T(1), below);
  }
};
struct Celu {
  static constexpr int kCost = 6;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T> p) {
    const T below = p.a * Expm1(x / p.a);
    return Select(x > 0, x, below);
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T> p) {
    const T below = Exp(x / p.a);
    return Select(x > 0, T(1), below);
  }
};
struct Selu {
  static constexpr int kCost = 6;
  static constexpr double kAlpha = 1.6732632423543772848, kScale = 1.0507009873554804934;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    const T below = T(kAlpha * kScale) * Expm1(x);
    return Select(x > 0, T(kScale) * x, below);
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    const T below = T(kAlpha * kScale) * Exp(x);
    return Select(x > 0, T(kScale), below);
  }
};
struct Gelu {
  static constexpr int kCost = 8;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    return x * T(0.5) * (T(1) + Erf(x * T(kSqrtHalf)));
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    const T area = T(0.5) * (T(1) + Erf(x * T(kSqrtHalf)));
    return area + x * T(kInverseSqrtTwoPi) * Exp(x * x * T(-0.5));
  }
};
struct GeluTanh {
  static constexpr int kCost = 8;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    return T(0.5) * x * (T(1) + Tanh(T(kSqrtTwoOverPi) * (x + T(kGeluCubic) * x * x * x)));
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    const T t = Tanh(T(kSqrtTwoOverPi) * (x + T(kGeluCubic) * x * x * x));
    const T inner = T(kSqrtTwoOverPi) * (T(1) + T(3 * kGeluCubic) * x * x);
    return T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * inner;
  }
};
struct Silu {
  static constexpr int kCost = 6;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    return x / (T(1) + Exp(-x));
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    const T s = T(1) / (T(1) + Exp(-x));
    return s * (T(1) + x * (T(1) - s));
  }
};
/// log(1 + e^x), whose exponential never overflows.
template <typename T>
DRAGON_FN T SoftplusOf(T x) {
  const T above = x <= T(0) ? T(0) : x;
  if constexpr (sizeof(T) == 4) return above + Log1pOfFloat(ExactExpOfFloat(-Abs(x)));
  return above + PlainLog1p(Exp(-Abs(x)));
}
struct Mish {
  static constexpr int kCost = 16;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    return x * Tanh(SoftplusOf(x));
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    const T t = Tanh(SoftplusOf(x)), s = T(1) / (T(1) + Exp(-x));
    return t + x * s * (T(1) - t * t);
  }
};
/// log(1 + e^(a x)) / a, and x itself where a x exceeds b.
struct Softplus {
  static constexpr int kCost = 10;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T> p) {
    const T scaled = x * p.a, value = SoftplusOf(scaled) / p.a;
    return Select(scaled > p.b, x, value);
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T> p) {
    const T scaled = x * p.a, value = T(1) / (T(1) + Exp(-scaled));
    return Select(scaled > p.b, T(1), value);
  }
};
struct LogSigmoid {
  static constexpr int kCost = 10;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    return (x < T(0) ? x : T(0)) - PlainLog1p(Exp(-Abs(x)));
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    return T(1) / (T(1) + Exp(x));
  }
};
struct Softsign {
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    return x / (T(1) + Abs(x));
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    const T length = T(1) + Abs(x);
    return T(1) / (length * length);
  }
};
struct Hardtanh {
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T> p) {
    return x <= p.a ? p.a : x >= p.b ? p.b : x;
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T> p) {
    return x <= p.a || x >= p.b ? T(0) : T(1);
  }
};
struct Hardsigmoid {
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    const T raised = x + T(3);
    return (raised <= T(0) ? T(0) : raised >= T(6) ? T(6) : raised) / T(6);
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    return x > T(-3) && x < T(3) ? T(1) / T(6) : T(0);
  }
};
struct Hardswish {
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T> p) {
    return x * Hardsigmoid::Value(x, p);
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    return x <= T(-3) ? T(0) : x < T(3) ? x / T(3) + T(0.5) : T(1);
  }
};
struct Hardshrink {
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T> p) {
    return x >= -p.a && x <= p.a ? T(0) : x;
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T> p) {
    return x >= -p.a && x <= p.a ? T(0) : T(1);
  }
};
struct Softshrink {
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T> p) {
    return x > p.a ? x - p.a : x < -p.a ? x + p.a : x * T(0);
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T> p) {
    return x >= -p.a && x <= p.a ? T(0) : T(1);
  }
};
struct Tanhshrink {
  static constexpr int kCost = 6;
  template <typename T>
  DRAGON_FN static T Value(T x, Parameters<T>) {
    return x - Tanh(x);
  }
  template <typename T>
  DRAGON_FN static T Slope(T x, Parameters<T>) {
    const T t = Tanh(x);
    return t * t;
  }
};

template <typename F, typename T>
struct ValueOf : Cost<CostOf<F>()> {
  Parameters<T> p;
  DRAGON_FN T operator()(T x) const { return F::Value(x, p); }
};
/// A slope of 0 stops the gradient whatever it is, as PyTorch's masks do.
template <typename F, typename T>
struct SlopeOf : Cost<CostOf<F>()> {
  Parameters<T> p;
  DRAGON_FN T operator()(T dy, T x) const {
    const T slope = F::Slope(x, p);
    if constexpr (CostOf<F>() == 1) {
      return Select(slope == T(0), T(0), dy * slope);
    } else {
      return dy * slope;
    }
  }
};

template <typename F, typename T>
void Forward(Context& ctx, View y, View x, double a, double b) {
  Each<T(T)>(ctx, ValueOf<F, T>{{}, {static_cast<T>(a), static_cast<T>(b)}}, y, x);
}
template <typename F, typename T>
void Backward(Context& ctx, View dx, View dy, View x, double a, double b) {
  Each<T(T, T)>(ctx, SlopeOf<F, T>{{}, {static_cast<T>(a), static_cast<T>(b)}}, dx, dy, x);
}

template <typename F, typename List>
bool EnterActivation(const std::string& name, List types) {
  EnterWide(kernels::Activation{name.c_str()}, types, []<typename T>(TypeTag<T>) { return &Forward<F, T>; });
  return EnterWide(kernels::ActivationBackward{(name + "_backward").c_str()}, Floating{},
                   []<typename T>(TypeTag<T>) { return &Backward<F, T>; });
}

struct PreluOf {
  template <typename T>
  DRAGON_FN T operator()(T x, T weight) const {
    return Select(x > T(0), x, weight * x);
  }
};
struct PreluBackwardOf {
  template <typename T>
  DRAGON_FN T operator()(T dy, T x, T weight) const {
    return Select(x > T(0), dy, weight * dy);
  }
};

const bool entered[] = {
    EnterActivation<Relu>("relu", Real{}),
    EnterActivation<Relu6>("relu6", Real{}),
    EnterActivation<LeakyRelu>("leaky_relu", Floating{}),
    EnterActivation<Elu>("elu", Floating{}),
    EnterActivation<Celu>("celu", Floating{}),
    EnterActivation<Selu>("selu", Floating{}),
    EnterActivation<Gelu>("gelu", Floating{}),
    EnterActivation<GeluTanh>("gelu_tanh", Floating{}),
    EnterActivation<Silu>("silu", Floating{}),
    EnterActivation<Mish>("mish", Floating{}),
    EnterActivation<Softplus>("softplus", Floating{}),
    EnterActivation<LogSigmoid>("logsigmoid", Floating{}),
    EnterActivation<Softsign>("softsign", Floating{}),
    EnterActivation<Hardtanh>("hardtanh", Real{}),
    EnterActivation<Hardsigmoid>("hardsigmoid", Floating{}),
    EnterActivation<Hardswish>("hardswish", Floating{}),
    EnterActivation<Hardshrink>("hardshrink", Floating{}),
    EnterActivation<Softshrink>("softshrink", Floating{}),
    EnterActivation<Tanhshrink>("tanhshrink", Floating{}),
    EnterBinary<PreluOf>("broadcast_prelu", Floating{}),
    EnterTernary<PreluBackwardOf>("broadcast_prelu_backward", Floating{}),
};

}  // namespace
}  // namespace dragon::DRAGON_DEVICE
