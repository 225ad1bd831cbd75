"""The largest element, or the mean, of windows that slide over images."""
from dragon.vm.guest import named
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.windows.convolution import channels_first, in_format
from dragon.vm.shared.windows.pooling import average_pool, max_pool as largest
from dragon.vm.tensorflow.core.windows import by_axis, explicit_padding, layout

AXES = (1, "NWC", "along one axis"), (2, "NHWC", "over two axes"), (3, "NDHWC", "over three axes")


def _pool(run, x, window, strides, padding, data_format, count, fill=0.0):
    x = take(x)
    count = count or x.ndim - 2
    if x.ndim != count + 2:
        raise ValueError(f"A pool over {count} axes takes a tensor of rank {count + 2}. Received: input of shape "
                         f"{tuple(x.shape)}")
    kind = layout(data_format, count)
    window = by_axis(window, count, kind, "ksize")
    strides = window if strides is None else by_axis(strides, count, kind, "strides")
    pads = explicit_padding(padding, count, kind)
    if pads is None:
        return run(x, window, strides, padding.lower(), kind)
    widths = [number for before, after in reversed(list(zip(*pads))) for number in (before, after)]
    x = in_format(ops.pad(channels_first(x, kind), widths, value=fill), kind)
    return run(x, window, strides, "valid", kind)


def max_pool(input, ksize, strides, padding, data_format=None, name=None):
    """Return the largest element of each window.

    Parameters
    ----------
    input : Tensor
        (batch, spatial axes..., channels), or as the layout says.
    ksize, strides : Union[int, Sequence[int]]
        Sizes and steps of windows.
    data_format : str, optional
        "NHWC" and its like by default, or "NCHW" and its like.

    """
    return _pool(largest, input, ksize, strides, padding, data_format, None, fill=float("-inf"))


def _over(run, count, kind, name, words, fill=0.0):
    """Return the pool over a number of axes, in a layout unless another one is named."""
    def function(input, ksize, strides, padding, data_format=kind, name=None):
        return _pool(run, input, ksize, strides, padding, data_format, count, fill=fill)
    return named(function, name, f"Return the {words}; see `max_pool`.")


max_pool1d, max_pool2d, max_pool3d = (
    _over(largest, count, kind, f"max_pool{count}d", f"largest element of each window {along}", float("-inf"))
    for count, kind, along in AXES)
avg_pool = _over(average_pool, None, None, "avg_pool", "mean of each window")
avg_pool1d, avg_pool2d, avg_pool3d = (
    _over(average_pool, count, kind, f"avg_pool{count}d", f"mean of each window {along}")
    for count, kind, along in AXES)


def pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None,
         name=None):
    """Return the largest elements ("MAX") or means ("AVG") of windows; see `max_pool`."""
    if dilations is not None and any(number != 1 for number in dilations):
        raise NotImplementedError(f"tf.nn.pool: windows have no gaps. Received: dilations={dilations}")
    run = {"MAX": largest, "AVG": average_pool}.get(pooling_type)
    if run is None:
        raise ValueError(f"`pooling_type` must be 'MAX' or 'AVG'. Received: pooling_type={pooling_type}")
    return _pool(run, input, window_shape, 1 if strides is None else strides, padding, data_format, len(window_shape))
