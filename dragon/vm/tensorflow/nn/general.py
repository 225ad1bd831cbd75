"""Convolutions over any axes, as operators: `tf.conv`, the gradients of `tf.nn.conv2d`, and gaps by moving blocks."""
from dragon.vm.shared.arrays.array import as_ints, batch_to_space, required_space_to_batch_paddings, space_to_batch
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.nn import convolutions, morphology

LAYOUTS = {"CHANNELS_LAST": {2: "NHWC", 3: "NDHWC"}, "CHANNELS_FIRST": {2: "NCHW", 3: "NCDHW"}}


def _pads(padding, explicit, rank, who):
    """Return a padding's name, or pairs of numbers for all axes."""
    explicit = list(as_ints(explicit))
    if padding not in ("SAME", "VALID", "EXPLICIT"):
        raise invalid_argument(f"Value for attr 'padding' of \"{padding}\" is not in the list of allowed values: "
                               f"\"SAME\", \"VALID\", \"EXPLICIT\" [Op:{who}]")
    if padding != "EXPLICIT":
        if explicit:
            raise invalid_argument("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT "
                                   f"[Op:{who}]")
        return padding
    if len(explicit) != 2 * rank:
        raise invalid_argument(f"explicit_paddings attribute must contain {2 * rank} values, but got: {len(explicit)} "
                               f"[Op:{who}]")
    return list(zip(explicit[::2], explicit[1::2]))


def conv(input, filter, strides, padding, explicit_paddings=(), data_format="CHANNELS_LAST", dilations=(), batch_dims=1,
         groups=1, name=None):
    """Convolve images of two or three axes, with any number of axes of batches.

    Parameters
    ----------
    input : Tensor
        Batches, then axes of the image and channels.
    filter : Tensor
        (window..., channels, filters).
    strides : Sequence[int]
        Steps: 1, those of the image's axes, 1.
    padding : str
        "SAME", "VALID" or "EXPLICIT".
    explicit_paddings : Sequence[int], optional
        Where the padding is explicit, two numbers for each axis.
    data_format : str, optional, default="CHANNELS_LAST"
        Or "CHANNELS_FIRST".
    dilations : Sequence[int], optional
        Gaps in the filters, as strides are told.
    batch_dims : int, optional, default=1
        How many axes of batches there are.
    groups : int, optional, default=1
        Into how many groups channels are divided.

    Returns
    -------
    Tensor
        With the filters as channels.

    """
    x, kernel = take(input), take(filter)
    count = kernel.ndim - 2
    if data_format not in LAYOUTS:
        raise invalid_argument(f"Value for attr 'data_format' of \"{data_format}\" is not in the list of allowed "
                               "values: \"CHANNELS_FIRST\", \"CHANNELS_LAST\" [Op:Conv]")
    if count not in (2, 3):
        raise invalid_argument(f"The input must have 2 or 3 spatial dimensions but got {count} [Op:Conv]")
    if x.ndim != batch_dims + count + 1:
        raise invalid_argument(f"tf.conv: got an input of {x.ndim} axes, expected {batch_dims} of batches, {count} of "
                               "the image and one of channels [Op:Conv]")
    strides, dilations = list(as_ints(strides)), list(as_ints(dilations)) or None
    if len(strides) != count + 2:
        raise invalid_argument(f"Sliding window strides field must specify {count + 2} dimensions [Op:Conv]")
    kind = LAYOUTS[data_format][count]
    channels = x.shape[-1 if data_format == "CHANNELS_LAST" else batch_dims]
    if channels != kernel.shape[-2] * groups:
        raise invalid_argument(f"tf.conv: got {channels} channels and filters of {kernel.shape[-2]}, expected "
                               f"{kernel.shape[-2] * groups} in {groups} groups [Op:Conv]")
    outer, inner = tuple(x.shape)[:batch_dims], tuple(x.shape)[batch_dims:]
    run = convolutions.conv2d if count == 2 else convolutions.conv3d
    pads = _pads(padding, explicit_paddings, count + 2, "Conv")
    made = run(ops.reshape(x, (-1, *inner)), kernel, strides, pads, kind, dilations)
    return ops.reshape(made, (*outer, *tuple(made.shape)[1:]))


def conv2d_backprop_filter_v2(input, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True,
                              explicit_paddings=(), data_format="NHWC", dilations=(1, 1, 1, 1), name=None):
    """Return the gradient of `tf.nn.conv2d` with respect to its filters.

    Parameters
    ----------
    input : Tensor
        The images.
    filter : Tensor
        The filters; their shape alone matters.
    out_backprop : Tensor
        The gradient with respect to the result.
    strides, padding, data_format, dilations : optional
        As of `tf.nn.conv2d`; the padding by name, or "EXPLICIT".
    use_cudnn_on_gpu : bool, optional, default=True
        Changes nothing: one library computes it.
    explicit_paddings : Sequence[int], optional
        Where the padding is explicit, two numbers for each axis.

    Returns
    -------
    Tensor
        Of the filters' shape.

    """
    x, pads = take(input), _pads(padding, explicit_paddings, 4, "Conv2DBackpropFilterV2")
    return morphology._backwards(lambda kernel: convolutions.conv2d(x, kernel, strides, pads, data_format, dilations),
                                 tuple(take(filter).shape), x, out_backprop)


def conv2d_backprop_input_v2(input, filter, out_backprop, strides, padding, use_cudnn_on_gpu=True, explicit_paddings=(),
                             data_format="NHWC", dilations=(1, 1, 1, 1), name=None):
    """Return the gradient of `tf.nn.conv2d` with respect to its input; see `conv2d_backprop_filter_v2`."""
    kernel, pads = take(filter), _pads(padding, explicit_paddings, 4, "Conv2DBackpropInputV2")
    return morphology._backwards(lambda x: convolutions.conv2d(x, kernel, strides, pads, data_format, dilations),
                                 tuple(take(input).shape), kernel, out_backprop)


def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """Return what a function of images makes of every few places of an image, so that its windows have gaps.

    Parameters
    ----------
    input : Tensor
        The images.
    dilation_rate : Sequence[int]
        How far apart the places are, for each axis of the image.
    padding : str
        "SAME" or "VALID".
    op : Callable
        Called with images, how many axes they have, and "VALID".
    filter_shape : Sequence[int], optional
        The sizes of the window; needed for "SAME".
    spatial_dims : Sequence[int], optional
        The axes of the image; by default those behind the batch.
    data_format : str, optional
        Whether channels come first ("NC...").

    Returns
    -------
    Tensor
        What the function gives for such a window.

    """
    x, rates = take(input), take(dilation_rate)
    if rates.ndim != 1:
        raise ValueError(f"`dilation_rate.shape.rank` must be 1. Received: dilation_rate={dilation_rate} of rank "
                         f"{rates.ndim}")
    rates = list(as_ints(dilation_rate))
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = sorted(as_ints(spatial_dims)) if spatial_dims is not None else list(range(first, first + len(rates)))
    if spatial_dims is not None and (axes != list(as_ints(spatial_dims)) or axes[:1] < [1]
                                     or len(set(axes)) < len(axes)):
        raise ValueError("`spatial_dims` must be a monotonically increasing sequence of positive integers. Received: "
                         f"spatial_dims={spatial_dims}")
    if any(rate < 1 for rate in rates):
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={dilation_rate}")
    if all(rate == 1 for rate in rates):
        return op(x, len(rates), padding)
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    if padding == "SAME" and filter_shape is None:
        raise ValueError("`filter_shape` must be specified for `padding='SAME'`. Received: filter_shape=None and "
                         "padding=SAME")
    base = [(0, 0)] * len(rates)
    if padding == "SAME":  # as many places before and behind as the window with its gaps wants
        wide = [rate * (size - 1) for rate, size in zip(rates, as_ints(filter_shape))]
        base = [(total // 2, total - total // 2) for total in wide]
    pads, crops = required_space_to_batch_paddings([x.shape[axis] for axis in axes], rates, base)
    # Axes between the batch and the image's are blocks of one.
    last = axes[-1]
    spread = {axis: (rate, pad, crop) for axis, rate, pad, crop in
              zip(axes, rates, as_ints(pads.numpy()), as_ints(crops.numpy()))}
    blocks, pads, crops = zip(*[spread.get(axis, (1, (0, 0), (0, 0))) for axis in range(1, last + 1)])
    made = op(space_to_batch(x, blocks, pads), len(rates), "VALID")
    return batch_to_space(made, blocks, crops)
