// Kernels of scaled dot product attention that never hold more than a tile of the score matrix.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon {

struct AttentionOptions {
  double scale = 1;
  bool causal = false;  ///< query i sees keys 0 ... i
};

}  // namespace dragon

namespace dragon::kernels {

/// y (B, H, L, Ev) = softmax(q (B, H, L, E) @ k (B, Hk, S, E)^T * scale + mask) @ v (B, Hk, S, Ev), any strides.
/// Hk divides H: neighbouring query heads share a key head. `mask` (B, H, L, S), optional, is bool (false: not seen) or
/// of the inputs' dtype (added). A query that sees nothing gives zeros. `lse` (B, H, L), optional, of the dtype that
/// sums are kept in, is row-major: log(sum(exp(scores))).
inline const Kernel<void(View y, View lse, View q, View k, View v, View mask, const AttentionOptions& options)>
    Attention{"scaled_dot_product_attention"};
/// All three gradients, given the results of the forward pass.
inline const Kernel<void(View dq, View dk, View dv, View dy, View y, View lse, View q, View k, View v, View mask,
                         const AttentionOptions& options)>
    AttentionBackward{"scaled_dot_product_attention_backward"};

}  // namespace dragon::kernels
