// Losses that need loops of their own; the others are compositions of pointwise operators. Large operands are
// row-major.
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// Cross entropy of logits x (outer, classes, inner) with class indices (outer, inner), int64. With p = softmax(x) and
/// w = weight or 1: (1 - smoothing) w[t] (lse - x[t]) + smoothing / classes * sum_c w[c] (lse - x[c]); 0 where t is
/// `ignore`. `lse` receives log(sum(exp(x))) in the accumulator type. A target outside [0, classes) is an IndexError.
inline const Kernel<void(View loss, View lse, View x, View target, View weight, int64_t ignore, double smoothing)>
    CrossEntropy{"cross_entropy"};
/// dx = dy * d loss / d x, with dy (outer, inner) of x's dtype.
inline const Kernel<void(View dx, View dy, View lse, View x, View target, View weight, int64_t ignore,
                         double smoothing)>
    CrossEntropyBackward{"cross_entropy_backward"};

/// loss[n, s] = -weight[t] x[n, t, s], 0 where t is `ignore`; x is (outer, classes, inner).
inline const Kernel<void(View loss, View x, View target, View weight, int64_t ignore)> NllLoss{"nll_loss"};
/// The gradient of that: dx[n, t, s] = -weight[t] dy[n, s], 0 elsewhere.
inline const Kernel<void(View dx, View dy, View target, View weight, int64_t ignore)> NllLossBackward{
    "nll_loss_backward"};
/// y[n, s] = weight[t] (or 1), 0 where t is `ignore`: what a mean divides by. Looked up by y's dtype.
inline const Kernel<void(View y, View target, View weight, int64_t ignore)> TargetWeights{"target_weights"};

/// Distances of order p between rows: y (batch, n, m) of x1 (batch, n, size) and x2 (batch, m, size).
inline const Kernel<void(View y, View x1, View x2, double p)> Cdist{"cdist"};
inline const Kernel<void(View dx1, View dy, View x1, View x2, View y, double p)> CdistBackward{"cdist_backward"};

/// Connectionist temporal classification. log_probs (time, batch, classes); `starts` (batch) are where each sample's
/// labels begin in `targets`; all indices int64. `log_alpha` (batch, time, 2 * longest + 1) is kept for the backward
/// pass.
inline const Kernel<void(View loss, View log_alpha, View log_probs, View targets, View starts, View input_lengths,
                         View target_lengths, int64_t blank)>
    CtcLoss{"ctc_loss"};
inline const Kernel<void(View dx, View dy, View loss, View log_alpha, View log_probs, View targets, View starts,
                         View input_lengths, View target_lengths, int64_t blank, bool zero_infinity)>
    CtcLossBackward{"ctc_loss_backward"};

}  // namespace dragon::kernels
