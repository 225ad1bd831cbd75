"""The functions that layers compute: the families of `core.functions` under PyTorch's names."""
from typing import TYPE_CHECKING

from dragon.vm.guest import lookup as _lookup
from dragon.vm.torch._api import functions_at as _functions_at
from dragon.vm.torch.core.functions.activation import (
    celu, elu, glu, gumbel_softmax, hardsigmoid, hardswish, hardtanh, leaky_relu, log_softmax, mish, relu, relu6, rrelu,
    selu, silu, softmax, softmin, softsign, tanhshrink, threshold)
from dragon.vm.torch.core.functions.attention import (
    _canonical_mask, _in_projection, _in_projection_packed, _mha_shape_check, _none_or_dtype,
    multi_head_attention_forward, scaled_dot_product_attention)
from dragon.vm.torch.core.functions.convolution import conv1d, conv2d, conv3d, conv_tbc, grouped_mm
from dragon.vm.torch.core.functions.embedding import embedding, embedding_bag
from dragon.vm.torch.core.functions.loss import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss, cross_entropy, ctc_loss,
    gaussian_nll_loss, hinge_embedding_loss, huber_loss, kl_div, l1_loss, linear_cross_entropy, margin_ranking_loss,
    mse_loss, multi_margin_loss, multilabel_margin_loss, multilabel_soft_margin_loss, nll_loss, poisson_nll_loss,
    smooth_l1_loss, soft_margin_loss, triplet_margin_loss, triplet_margin_with_distance_loss)
from dragon.vm.torch.core.functions.normalization import (
    alpha_dropout, batch_norm, cosine_similarity, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout,
    group_norm, instance_norm, local_response_norm, normalize, rms_norm)
from dragon.vm.torch.core.functions.notes import (
    GRID_SAMPLE_INTERPOLATION_MODES, GRID_SAMPLE_PADDING_MODES, BroadcastingList1, BroadcastingList2,
    BroadcastingList3, assert_int_or_pair, boolean_dispatch, reproducibility_notes, sparse_support_notes, tf32_notes)
from dragon.vm.torch.core.functions.pooling import (
    adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d, adaptive_max_pool2d_with_indices, adaptive_max_pool3d, adaptive_max_pool3d_with_indices,
    fractional_max_pool2d, fractional_max_pool2d_with_indices, fractional_max_pool3d,
    fractional_max_pool3d_with_indices, lp_pool1d, lp_pool2d, lp_pool3d, max_pool1d, max_pool1d_with_indices,
    max_pool2d, max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices, max_unpool1d, max_unpool2d,
    max_unpool3d)
from dragon.vm.torch.core.functions.vision import (
    affine_grid, fold, grid_sample, interpolate, pad, unfold, upsample, upsample_bilinear, upsample_nearest)
from dragon.vm.torch.core.overrides import (handle_torch_function, has_torch_function, has_torch_function_unary,
                                            has_torch_function_variadic)
from dragon.vm.torch.core.tensor import Tensor, ops as _ops
from dragon.vm.torch.nn import _reduction as _Reduction

globals().update((*_functions_at("functional", _ops), *_functions_at("functional_", _ops)))
# They say that they are of this module, as in PyTorch: pickles of models name them so.
for _function in list(globals().values()):
    _function = getattr(_function, "__wrapped__", _function)
    if getattr(_function, "__module__", None) and ".core.functions." in _function.__module__:
        _function.__module__ = __name__
__getattr__, __dir__ = _lookup(globals(), {"core.scaled": "ScalingType SwizzleType scaled_mm scaled_grouped_mm"})
