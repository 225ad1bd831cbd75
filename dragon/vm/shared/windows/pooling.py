"""Pools in Keras's layouts on the engine's: views of permuted axes, and "same" that pads more at the end."""
from dragon.core import modes
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.windows.convolution import channels_first, in_format
from dragon.vm.shared.windows.geometry import each_axis, same_padding, sliding_shape, spatial_of

_max_pool, _max_pool_only, _average_pool = ops.max_pool_with_indices, ops.max_pool, ops.average_pool


def _arrange(x, window, strides, padding, data_format):
    """Return the sizes, windows, strides and paddings that the engine's pools take."""
    count = x.ndim - 2
    window = each_axis(window, count)
    strides = window if strides is None else each_axis(strides, count)
    sizes = spatial_of(x.shape, data_format)
    result = spatial_of(sliding_shape(x.shape, 1, window, strides, padding, data_format), data_format)
    before = (0,) * count
    if padding == "same":
        before = tuple(same_padding(*numbers, 1)[0] for numbers in zip(sizes, window, strides))
    return result, window, strides, before, (1,) * count, False


def max_pool(x, window, strides, padding, data_format):
    """Return the largest element of each window; see `convolution.convolve` for the layouts."""
    arranged = _arrange(x, window, strides, padding, data_format)
    image = channels_first(x, data_format)
    # Gradients alone ask where the largest elements are.
    recorded = x.requires_grad and modes.records(x)
    return in_format(_max_pool(image, *arranged)[0] if recorded else _max_pool_only(image, *arranged), data_format)


def average_pool(x, window, strides, padding, data_format):
    """Return the mean of each window, over its elements that exist; see `convolution.convolve` for the layouts."""
    arranged = _arrange(x, window, strides, padding, data_format)
    return in_format(_average_pool(channels_first(x, data_format), *arranged, False, 0), data_format)


def adaptive_pool(kind, x, size, data_format):
    """Return the "max" or "avg" of as many nearly equal parts of each axis as `size` says."""
    count = x.ndim - 2
    if count not in (1, 2, 3):
        raise ValueError(f"Expected inputs of rank 3, 4 or 5 to pool. Received: shape={tuple(x.shape)}")
    pool = getattr(ops, f"adaptive_{kind}_pool{count}d")
    return in_format(pool(channels_first(x, data_format), list(each_axis(size, count))), data_format)


def pooled_shape(shape, window, strides, padding, data_format):
    """Return the shape that a pool gives."""
    channels = shape[-1] if data_format == "channels_last" else shape[1]
    return sliding_shape(shape, channels, window, window if strides is None else strides, padding, data_format)
