"""Pooling of channels-last and channels-first images."""
from dragon.vm.keras.core.promotion import cast_to, dtype_of, floating
from dragon.vm.keras.ops.common import operation, ops, standard_format, tensor
from dragon.vm.shared.windows import pooling
from dragon.vm.shared.windows.geometry import each_axis, spatial_of, with_spatial


def _images(x, what):
    x = tensor(x)
    if x.ndim not in (3, 4, 5):
        raise ValueError(f"{what}: inputs must have rank 3, 4 or 5, for 1D, 2D and 3D inputs. "
                         f"Received: inputs.shape={tuple(x.shape)}")
    return x


def pooled(pool, x, window, strides, padding, data_format):
    """Pool as TensorFlow's kernels do: padding in capitals too, and no result where no window fits just so."""
    padding, sizes = padding.lower(), spatial_of(x.shape, data_format)
    if padding not in ("valid", "same"):
        raise ValueError(f"Argument `padding` must be either 'valid' or 'same'. Received: padding={padding}")
    window = each_axis(window, len(sizes))
    strides = window if strides is None else each_axis(strides, len(sizes))
    # TensorFlow rounds towards zero, and refuses what is below.
    counts = [int((size - extent + stride) / stride) for size, extent, stride in zip(sizes, window, strides)]
    if padding == "same" or 0 not in counts or min(counts) < 0:
        return pool(x, window, strides, padding, data_format)
    first = 1 if data_format == "channels_last" else 2
    nothing = ops.sum(floating(x), list(range(first, first + len(sizes))), True)
    channels = x.shape[-1 if data_format == "channels_last" else 1]
    return cast_to(ops.expand(nothing, with_spatial(x.shape, channels, counts, data_format)), dtype_of(x))


@operation
def max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """Return the largest number of each window.

    Parameters
    ----------
    pool_size : Union[int, Sequence[int]]
        The windows' sizes.
    strides : Union[int, Sequence[int]], optional
        Steps, by default the windows' sizes.
    padding : str, optional, default="valid"
        "valid" drops what is no whole window, "same" keeps it.

    """
    return pooled(pooling.max_pool, _images(inputs, "max_pool"), pool_size, strides, padding,
                  standard_format(data_format))


@operation
def average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """Return the mean of each window, of what lies in the image; the arguments are those of `max_pool`."""
    return pooled(pooling.average_pool, _images(inputs, "average_pool"), pool_size, strides, padding,
                  standard_format(data_format))


@operation
def adaptive_average_pool(inputs, output_size, data_format=None):
    """Return means of windows whose sizes follow from how many are wanted.

    Parameters
    ----------
    output_size : Union[int, Sequence[int]]
        How many windows along each axis.

    """
    return pooling.adaptive_pool("avg", _images(inputs, "adaptive_average_pool"), output_size,
                                 standard_format(data_format))


@operation
def adaptive_max_pool(inputs, output_size, data_format=None):
    """Return largest numbers of windows; the arguments are those of `adaptive_average_pool`."""
    return pooling.adaptive_pool("max", _images(inputs, "adaptive_max_pool"), output_size,
                                 standard_format(data_format))
