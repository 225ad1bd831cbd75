"""Arithmetic of sliding windows: what shape convolutions and pools give, and how much "same" pads on each side."""


def spatial_of(shape, data_format):
    """Return the sizes of the spatial axes."""
    return tuple(shape[1:-1] if data_format == "channels_last" else shape[2:])


def with_spatial(shape, channels, spatial, data_format):
    """Return a batch's shape with other channels and spatial sizes."""
    if data_format == "channels_last":
        return (shape[0], *spatial, channels)
    return (shape[0], channels, *spatial)


def each_axis(value, count):
    """Return one number per axis."""
    return (value,) * count if isinstance(value, int) else tuple(value)


def spread(window, dilation):
    """Return how many places a window with gaps covers."""
    return (window - 1) * dilation + 1


def window_count(size, window, stride, dilation, padding):
    """Return how many windows fit along an axis; None for a size that is not known."""
    if size is None:
        return None
    if padding == "valid":
        return (size - spread(window, dilation)) // stride + 1
    return (size - 1) // stride + 1


def same_padding(size, window, stride, dilation):
    """Return the places that "same" adds before and after an axis, the odd one after."""
    total = max((window_count(size, window, stride, dilation, "same") - 1) * stride
                + spread(window, dilation) - size, 0)
    return total // 2, total - total // 2


def sliding_shape(shape, channels, window, strides, padding, data_format, dilation=1):
    """Return the shape that a convolution or a pool gives.

    Parameters
    ----------
    shape : Sequence[Optional[int]]
        Of the batch, None where it is not known.
    channels : int
        Of the result.
    window, strides, dilation : Union[int, Sequence[int]]
        One number for all spatial axes, or one for each.
    padding : str
        "valid", "same" or "causal".
    data_format : str
        "channels_last" or "channels_first".

    Returns
    -------
    Tuple[Optional[int], ...]
        The shape of the result.

    """
    spatial = spatial_of(shape, data_format)
    count = len(spatial)
    window, strides, dilation = (each_axis(value, count) for value in (window, strides, dilation))
    if len(window) != count:
        raise ValueError(f"A window over {len(window)} axes cannot slide over an input of {count} spatial axes. "
                         f"Received: window={window}, input shape={tuple(shape)}")
    if padding not in ("valid", "same", "causal"):
        raise ValueError(f"`padding` must be either 'valid' or 'same'. Received: padding={padding}")
    sizes = tuple(window_count(*numbers, padding) for numbers in zip(spatial, window, strides, dilation))
    if any(size is not None and size <= 0 for size in sizes):
        raise ValueError(f"Computed output size would be zero or negative. Received: input shape={tuple(shape)}, "
                         f"window={window}, dilation={dilation}, strides={strides}, padding={padding}")
    return with_spatial(shape, channels, sizes, data_format)


def transposed_size(size, window, stride, dilation, padding, output_padding=None):
    """Return the size of which a convolution makes `size`, as TensorFlow chooses it; None for None."""
    if size is None:
        return None
    window = spread(window, dilation)
    if padding == "valid":
        more = max(window, stride) - window if output_padding is None else output_padding
        return (size - 1) * stride + window + more
    if padding != "same":
        raise ValueError(f"The `padding` argument must be one of 'valid', 'same'. Received: padding={padding}")
    return size * stride if output_padding is None else (size - 1) * stride + window % 2 + output_padding


def transposed_shape(shape, channels, window, strides, padding, output_padding, data_format, dilation=1):
    """Return the shape that a transposed convolution gives; the arguments are those of `sliding_shape`."""
    spatial = spatial_of(shape, data_format)
    count = len(spatial)
    window, strides, dilation = (each_axis(value, count) for value in (window, strides, dilation))
    more = (None,) * count if output_padding is None else each_axis(output_padding, count)
    sizes = [transposed_size(size, *numbers, padding, extra)
             for size, *numbers, extra in zip(spatial, window, strides, dilation, more)]
    return with_spatial(shape, channels, sizes, data_format)
