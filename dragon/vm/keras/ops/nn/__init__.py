"""keras.ops.nn: activations, convolutions, pooling, normalization, cross-entropies and attention."""
from dragon.vm.keras.ops.nn.activations import (
    celu, elu, gelu, glu, hard_shrink, hard_sigmoid, hard_silu, hard_swish, hard_tanh, leaky_relu, log_sigmoid,
    log_softmax, polar, relu, relu6, selu, sigmoid, silu, soft_shrink, softmax, softplus, softsign, sparse_plus,
    sparse_sigmoid, sparsemax, squareplus, swish, tanh_shrink, threshold)
from dragon.vm.keras.ops.nn.attention import dot_product_attention, psnr
from dragon.vm.keras.ops.nn.convolution import conv, conv_transpose, depthwise_conv, separable_conv
from dragon.vm.keras.ops.nn.ctc import ctc_decode, ctc_loss
from dragon.vm.keras.ops.nn.encoding import depth_to_space, fold, multi_hot, one_hot, space_to_depth, unfold
from dragon.vm.keras.ops.nn.losses import binary_crossentropy, categorical_crossentropy, sparse_categorical_crossentropy
from dragon.vm.keras.ops.nn.normalization import (
    batch_normalization, layer_normalization, moments, normalize, rms_normalization)
from dragon.vm.keras.ops.nn.pooling import adaptive_average_pool, adaptive_max_pool, average_pool, max_pool
