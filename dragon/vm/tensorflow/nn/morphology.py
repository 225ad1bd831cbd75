"""Windows of images beyond sums and maxima: dilation, erosion, places of maxima, windows of uneven sizes."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.recording.tape import GradientTape as _Tape
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, int64
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.windows.geometry import same_padding, window_count
from dragon.vm.tensorflow.nn import convolutions
from dragon.vm.tensorflow.core.windows import by_axis


def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):
    """Return the largest sum of pixels and a filter over each window, channel by channel.

    Parameters
    ----------
    input : Tensor
        (batch, height, width, channels).
    filters : Tensor
        (height, width, channels).
    strides, dilations : Sequence[int]
        Four numbers, the first and last of which are 1.
    padding : str
        "SAME" or "VALID".
    data_format : str
        "NHWC".
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        (batch, height, width, channels).

    """
    if data_format != "NHWC":
        raise ValueError(f"Data formats other than NHWC are not yet supported. Received: {data_format}")
    x, kernel = take(input), take(filters)
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"Value for attr 'padding' of {padding!r} is not in the list of allowed values: 'SAME', "
                         "'VALID'")
    if x.ndim != 4 or kernel.ndim != 3 or x.shape[-1] != kernel.shape[-1]:
        raise invalid_argument(f"input must be 4-dimensional, filters 3-dimensional of the same channels. Received: "
                               f"{x.shape} and {kernel.shape} [Op:Dilation2D]")
    steps = by_axis(strides, 2, "channels_last", "strides")
    gaps = by_axis(dilations, 2, "channels_last", "dilations")
    window, kind = tuple(kernel.shape)[:2], padding.lower()
    sizes = [window_count(*numbers, kind) for numbers in zip(x.shape[1:3], window, steps, gaps)]
    if kind == "same":
        pads = [same_padding(*numbers) for numbers in zip(x.shape[1:3], window, steps, gaps)]
        lowest = float("-inf") if x.dtype.is_floating else x.dtype.min
        x = ops.pad(x, [0, 0, *pads[1], *pads[0]], value=lowest)
    found = None
    for row in range(window[0]):
        for column in range(window[1]):
            top, left = row * gaps[0], column * gaps[1]
            part = x[:, top:top + (sizes[0] - 1) * steps[0] + 1:steps[0],
                     left:left + (sizes[1] - 1) * steps[1] + 1:steps[1]]
            part = ops.add(part, kernel[row, column])
            found = part if found is None else ops.maximum(found, part)
    return found


def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """Return the smallest difference of pixels and a filter over each window; see `dilation2d`."""
    kernel = ops.flip(take(filters), [0, 1])
    return ops.neg(dilation2d(ops.neg(take(value)), kernel, strides, padding, data_format, dilations))


def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", output_dtype=int64,
                         include_batch_in_index=False, name=None):
    """Return (the largest element of each window, its place in the flattened image).

    Parameters
    ----------
    input : Tensor
        (batch, height, width, channels).
    ksize, strides : Union[int, Sequence[int]]
        Sizes and steps of windows.
    padding : str
        "SAME" or "VALID".
    data_format : str, optional
        "NHWC".
    output_dtype : DType, optional, default=int64
        Of the places; or int32.
    include_batch_in_index : bool, optional, default=False
        Whether places count through the whole batch.
    name : str, optional
        Accepted.

    """
    if data_format != "NHWC":
        raise ValueError(f"Data formats other than 'NHWC' are not yet supported. Received: {data_format}")
    x = take(input)
    window, steps = by_axis(ksize, 2, "channels_last", "ksize"), by_axis(strides, 2, "channels_last", "strides")
    batch, height, width, channels = x.shape
    pads = [(0, 0), (0, 0)]
    if padding == "SAME":
        pads = [same_padding(*numbers, 1) for numbers in zip((height, width), window, steps)]
    places = ops.broadcast_to(ops.reshape(ops.arange(0, height * width * channels, 1, dtype=int64),
                                          (1, height, width, channels)), (batch, height, width, channels))
    if include_batch_in_index:
        places = ops.add(places, ops.reshape(ops.arange(0, batch, 1, dtype=int64), (-1, 1, 1, 1)) *
                         (height * width * channels))
    widths = [0, 0, *pads[1], *pads[0]]
    wide = ops.pad(x, widths, value=float("-inf") if x.dtype.is_floating else x.dtype.min)
    numbers = ops.pad(places, widths)
    sizes = [window_count(*one, 1, padding.lower()) for one in zip((height, width), window, steps)]
    found = at = None
    for row in range(window[0]):
        for column in range(window[1]):
            cut = (slice(None), slice(row, row + (sizes[0] - 1) * steps[0] + 1, steps[0]),
                   slice(column, column + (sizes[1] - 1) * steps[1] + 1, steps[1]))
            part, own = wide[cut], numbers[cut]
            if found is None:
                found, at = part, own
            else:
                better = ops.gt(part, found)
                found, at = ops.where(better, part, found), ops.where(better, own, at)
    return found, ops.cast(at, as_dtype(output_dtype))


def _fractional(who, value, pooling_ratio, pseudo_random, overlapping, seed, reduce):
    """Return (pooled images, the ends of rows, the ends of columns) of windows of uneven sizes."""
    import numpy as np
    x = take(value)
    ratios = [float(pooling_ratio)] * 2 if isinstance(pooling_ratio, (int, float)) else [
        float(one) for one in pooling_ratio[1:3]]
    if min(ratios) < 1.0:
        raise ValueError(f"`pooling_ratio` should be larger than 1. Received: pooling_ratio={pooling_ratio}")
    random = np.random.RandomState(seed or None)
    ends = []
    for size, ratio in zip(x.shape[1:3], ratios):
        count = int(size / ratio)
        if pseudo_random:
            share = size / count
            start = random.uniform(0, 1)
            steps = np.ceil(share * (np.arange(count) + start)) - np.ceil(share * start)
            cuts = np.append(steps, size).astype("int64")
        else:
            small = size // count
            gaps = np.full(count, small)
            gaps[:size - small * count] += 1
            random.shuffle(gaps)
            cuts = np.append(0, np.cumsum(gaps)).astype("int64")
        ends.append(cuts)
    extra = 1 if overlapping else 0
    rows = [reduce(x[:, begin:min(end + extra, x.shape[1])], 1) for begin, end in zip(ends[0], ends[0][1:])]
    tall = ops.stack(rows, 1)
    columns = [reduce(tall[:, :, begin:min(end + extra, x.shape[2])], 2) for begin, end in zip(ends[1], ends[1][1:])]
    return (ops.stack(columns, 2), convert_to_tensor(ends[0]), convert_to_tensor(ends[1]))


def fractional_max_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """Return (the largest elements of windows of uneven sizes, where rows begin, where columns begin).

    Parameters
    ----------
    value : Tensor
        (batch, height, width, channels).
    pooling_ratio : Union[float, Sequence[float]]
        How much smaller images become.
    pseudo_random : bool, optional, default=False
        Whether sizes follow from one number rather than from a shuffle.
    overlapping : bool, optional, default=False
        Whether windows share their borders.
    seed : int, optional
        Of the sizes; 0 means none.
    name : str, optional
        Accepted.

    """
    return _fractional("fractional_max_pool", value, pooling_ratio, pseudo_random, overlapping, seed,
                       lambda x, axis: ops.amax(x, axis))


def fractional_avg_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """Return (means of windows of uneven sizes, where rows begin, where columns begin); see `fractional_max_pool`."""
    return _fractional("fractional_avg_pool", value, pooling_ratio, pseudo_random, overlapping, seed,
                       lambda x, axis: ops.mean(x, axis))


def depthwise_conv2d_backprop_input(input_sizes, filter, out_backprop, strides, padding, data_format="NHWC",
                                    dilations=None, name=None):
    """Return the gradient of `depthwise_conv2d` with respect to its input."""
    kernel = take(filter)
    return _backwards(lambda x: convolutions.depthwise_conv2d(x, kernel, strides, padding, data_format,
                                                              _spatial(dilations)), input_sizes, kernel, out_backprop)


def depthwise_conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format="NHWC",
                                     dilations=None, name=None):
    """Return the gradient of `depthwise_conv2d` with respect to its filters."""
    x = take(input)
    return _backwards(lambda kernel: convolutions.depthwise_conv2d(x, kernel, strides, padding, data_format,
                                                                   _spatial(dilations)), filter_sizes, x, out_backprop)


def _spatial(dilations):
    return None if dilations is None else list(dilations)[1:3] if len(dilations) == 4 else dilations


def _backwards(run, sizes, like, slope):
    """Return the gradient of a linear function with respect to its argument of these sizes."""
    sizes = sizes if isinstance(sizes, tuple) else tuple(int(one) for one in take(sizes).numpy())
    point = ops.zeros(sizes, dtype=like.dtype)
    with _Tape() as tape:
        tape.watch(point)
        found = run(point)
    slope = take(slope)
    if tuple(found.shape) != tuple(slope.shape):
        raise invalid_argument("Size of out_backprop doesn't match computed: actual = "
                               f"{tuple(slope.shape)}, computed = {tuple(found.shape)}")
    return tape.gradient(found, point, slope)


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """Return the gradient that `atrous_conv2d` has with respect to its input; see `conv_transpose`."""
    return convolutions.conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate)
