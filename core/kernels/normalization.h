// Softmax and normalization. Large operands must be row-major unless a line says otherwise; outputs are allocated by
// the operator. Statistics and sums are kept in the accumulator type of x's dtype (float32 for 16-bit floats).
#pragma once

#include "core/kernels/kernel.h"

namespace dragon::kernels {

/// exp(x) / sum(exp(x)) along an axis.
inline const Kernel<void(View y, View x, int axis)> Softmax{"softmax"};
/// x - log(sum(exp(x))) along an axis.
inline const Kernel<void(View y, View x, int axis)> LogSoftmax{"log_softmax"};
/// dx = y (dy - sum(dy y)).
inline const Kernel<void(View dx, View dy, View y, int axis)> SoftmaxBackward{"softmax_backward"};
/// dx = dy - exp(y) sum(dy).
inline const Kernel<void(View dx, View dy, View y, int axis)> LogSoftmaxBackward{"log_softmax_backward"};

/// Normalise rows of x.numel / rstd.numel elements: (x - mean) * rstd * weight + bias. Without a `mean` view nothing is
/// subtracted (root-mean-square norm). mean and rstd hold the accumulator type.
inline const Kernel<void(View y, View mean, View rstd, View x, View weight, View bias, double eps)> LayerNorm{
    "layer_norm"};
/// Any of dx, dweight, dbias may be absent, and so may mean, as in LayerNorm.
inline const Kernel<void(View dx, View dweight, View dbias, View dy, View x, View mean, View rstd, View weight)>
    LayerNormBackward{"layer_norm_backward"};

/// x is (N, C, ...); mean and rstd have N * groups elements of the accumulator type, weight and bias C.
inline const Kernel<void(View y, View mean, View rstd, View x, View weight, View bias, double eps)> GroupNorm{
    "group_norm"};
inline const Kernel<void(View dx, View dweight, View dbias, View dy, View x, View mean, View rstd, View weight)>
    GroupNormBackward{"group_norm_backward"};

/// Mean and biased variance of every channel (axis 1) of x, at any strides; outputs are (C,) of the accumulator type.
inline const Kernel<void(View mean, View var, View x)> ChannelMoments{"channel_moments"};
/// (x - mean) * rstd * weight + bias by channel; y and x share strides, row-major or channels-last.
inline const Kernel<void(View y, View x, View mean, View rstd, View weight, View bias)> ChannelAffine{"channel_affine"};
/// The gradient of that, through the batch's own statistics if `training`. dx, dy and x share strides as above.
inline const Kernel<void(View dx, View dweight, View dbias, View dy, View x, View mean, View rstd, View weight,
                         bool training)>
    BatchNormBackward{"batch_norm_backward"};

}  // namespace dragon::kernels
