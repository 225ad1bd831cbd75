"""What libraries take from PyTorch's compiled functions of layers."""
from dragon.vm.torch.core.functions.conversion import parse_to
from dragon.vm.torch.core.tensor import ops

# Functions that are the engine's operators; `function=operator` where the names differ.
DIRECT = """
adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d=adaptive_max_pool2d_with_indices
adaptive_max_pool3d=adaptive_max_pool3d_with_indices avg_pool2d avg_pool3d col2im elu elu_ gelu gelu_ glu hardsigmoid
hardsigmoid_ hardswish hardswish_ hardtanh hardtanh_ im2col leaky_relu leaky_relu_ linear log_sigmoid=logsigmoid
max_pool2d_with_indices max_pool3d_with_indices mish mish_ one_hot pad relu6 relu6_ scaled_dot_product_attention silu
silu_ softplus softshrink
"""
globals().update((name, getattr(ops, operator or name))
                 for name, _, operator in (word.partition("=") for word in DIRECT.split()))


def flatten_dense_tensors(tensors):
    """Return all elements of tensors, one after the other."""
    return ops.cat([ops.reshape(x, (-1,)) for x in tensors])


def unflatten_dense_tensors(flat, tensors):
    """Return the pieces of a flat tensor in the shapes of others."""
    parts = ops.split_with_sizes(flat, [x.numel() for x in tensors])
    return tuple(ops.view(part, x.shape) for part, x in zip(parts, tensors))


def _parse_to(*args, **kwargs):
    """Return (device, dtype, non_blocking, memory_format) from the arguments of `Module.to`."""
    kwargs = dict(kwargs)
    where, dtype, _, memory_format = parse_to(args, kwargs)
    return where, dtype, bool(kwargs.get("non_blocking", False)), memory_format
