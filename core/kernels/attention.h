// Kernels of scaled dot product attention that never hold more than a tile of the score matrix.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon {

struct AttentionOptions {
  double scale = 1;
  bool causal = false;         ///< query i sees keys 0 ... i
  bool nan_if_unseen = false;  ///< a query that sees nothing gives NaN, as the formula does, rather than zeros
};

}  // namespace dragon

namespace dragon::kernels {

/// y (B, H, L, Ev) = softmax(q (B, H, L, E) @ k (B, Hk, S, E)^T * scale + mask) @ v (B, Hk, S, Ev), any strides.
/// Hk divides H: neighbouring query heads share a key head. `mask` (B, H, L, S), optional, is bool (false: not seen) or
/// of the inputs' dtype (added). `most` and `log_sum` (B, H, L), of the dtype that sums are kept in, are row-major: the
/// largest score of each query, and log(sum(exp(scores - most))), natural, of scores that are scaled and masked. They
/// are two numbers, since beside a bias of -1e30 the second one would be lost in their sum. Nobody reads more from
/// them than exp((score - most) - log_sum): a vendor's kernel, which has no masks, leaves the sum in `most`, and 0.
inline const Kernel<void(View y, View most, View log_sum, View q, View k, View v, View mask,
                         const AttentionOptions& options)>
    Attention{"scaled_dot_product_attention"};
/// All three gradients, given the results of the forward pass.
inline const Kernel<void(View dq, View dk, View dv, View dy, View y, View most, View log_sum, View q, View k, View v,
                         View mask, const AttentionOptions& options)>
    AttentionBackward{"scaled_dot_product_attention_backward"};

}  // namespace dragon::kernels
