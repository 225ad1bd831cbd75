"""The functions that layers compute."""
from dragon.ops import shelf

ACTIVATIONS = """
    relu relu6 leaky_relu elu selu celu gelu silu mish softplus softsign hardtanh hardsigmoid hardswish hardshrink
    softshrink tanhshrink threshold logsigmoid prelu glu softmax log_softmax sigmoid tanh
"""
LAYERS = """
    linear bilinear conv conv_transpose embedding embedding_bag batch_norm layer_norm group_norm instance_norm
    rms_norm local_response_norm dropout scaled_dot_product_attention interpolate grid_sample affine_grid pad
    pixel_shuffle pixel_unshuffle max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
    adaptive_max_pool3d lp_pool1d lp_pool2d lp_pool3d normalize one_hot cosine_similarity pairwise_distance
"""
NAMES = (ACTIVATIONS + LAYERS).split()
__getattr__, __dir__ = shelf(__name__, NAMES)
