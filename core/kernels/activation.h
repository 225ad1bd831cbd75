// Activations: pointwise functions of neural networks, their slopes, and those slopes times an incoming gradient.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// y = f(x; a, b). relu relu6 silu mish softsign logsigmoid tanhshrink hardsigmoid hardswish read no parameter;
/// leaky_relu (slope), elu (alpha, scale of the input below 0), celu (alpha), hardshrink and softshrink (lambda),
/// softplus (beta, threshold), hardtanh (low, high), gelu_tanh, gelu.
using Activation = Kernel<void(View y, View x, double a, double b)>;
/// dx = dy f'(x; a, b), under the name of the function and "_backward".
using ActivationBackward = Kernel<void(View dx, View dy, View x, double a, double b)>;
// broadcast_prelu(y; x, weight) and broadcast_prelu_backward(dx; dy, x, weight) are a Binary and a Ternary of math.h.

}  // namespace dragon::kernels
