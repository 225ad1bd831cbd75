// Kernels of matrix products, of any strides: transposed and broadcast operands are read where they lie.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon {

enum class Activation : int32_t { kNone, kRelu, kGelu, kGeluTanh };

/// y = activation(alpha * product + beta * y + bias). beta == 0 does not read y.
struct MatmulPost {
  double alpha = 1, beta = 0;
  double alpha_imag = 0, beta_imag = 0;
  Activation activation = Activation::kNone;
};

/// y (m, n) = (a * a_scale) (b * b_scale) + bias. Scales are float32: numbers of no axes, or (m, 1) and (1, n). `bias`
/// (n,) is optional, and of any dtype.
struct ScaledOperands {
  View a, b, a_scale, b_scale, bias;
};

/// The build's choice: DRAGON_ONEDNN. Without it, Dragon's own products and convolutions do all of the work.
#if defined(DRAGON_WITHOUT_ONEDNN)
inline constexpr bool kHasOneDnn = false;
#else
inline constexpr bool kHasOneDnn = true;
#endif

}  // namespace dragon

namespace dragon::kernels {

/// y (batch..., m, n) from a (batch..., m, k) and b (batch..., k, n): equal ranks >= 2, batch axes broadcast by stride
/// 0. `bias` (n,) is optional. No output element may alias another or an operand.
inline const Kernel<void(View y, View a, View b, View bias, const MatmulPost& post)> Matmul{"matmul"};
/// The same on oneDNN, for float32 and bfloat16 on processors where it is fast; false in `*done` if it is not.
inline const Kernel<void(View y, View a, View b, View bias, const MatmulPost& post, bool* done)> MatmulOneDnn{
    "matmul_onednn"};
/// A product of float8 matrices, a's dtype the kernel's, into float16, bfloat16 or float32, by units that multiply them
/// as they are; false in `*done`, and nothing done, where there are none for it. `fast`: sums may be less exact.
inline const Kernel<void(View y, const ScaledOperands& operands, bool fast, bool* done)> MatmulScaled{"matmul_scaled"};
/// y () = sum of conj?(a) * b over 1-D operands.
inline const Kernel<void(View y, View a, View b, bool conjugate)> Dot{"dot"};

}  // namespace dragon::kernels
