"""Pooling of channels-last and channels-first images by way of views."""
from dragon.vm.keras.ops.common import as_list, operation, ops, tensor
from dragon.vm.keras.ops.nn.convolution import channels_to_back, channels_to_front, same_padding, standard_format


def _windows(x, pool_size, strides, padding):
    """Return sizes of the result, windows, steps and what stands before, for channels-first images."""
    axes = x.ndim - 2
    if axes not in (1, 2, 3):
        raise ValueError("Pooling inputs's shape must be 3, 4 or 5, corresponding to 1D, 2D and 3D inputs. "
                         f"Received: inputs.shape={tuple(x.shape)}")
    if padding not in ("valid", "same"):
        raise ValueError(f"`padding` must be 'valid' or 'same'. Received: padding={padding}")
    window = as_list(pool_size, axes, "pool_size")
    step = window if strides is None else as_list(strides, axes, "strides")
    sizes = x.shape[2:]
    if padding == "same":
        return [-(-size // by) for size, by in zip(sizes, step)], window, step, [
            same_padding(*how)[0] for how in zip(sizes, window, step)]
    result = [(size - span) // by + 1 for size, span, by in zip(sizes, window, step)]
    if min(result) < 1:
        raise ValueError("Pooling gives an empty result: the windows are larger than the inputs. Received: "
                         f"inputs of sizes {tuple(sizes)}, pool_size={pool_size}, padding={padding}")
    return result, window, step, [0] * axes


@operation
def max_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """Return the largest number of each window.

    Parameters
    ----------
    inputs : Tensor
        Sequences, images or volumes.
    pool_size : Union[int, Sequence[int]]
        The windows' sizes.
    strides : Union[int, Sequence[int]], optional
        Steps, by default the windows' sizes.
    padding : str, optional, default="valid"
        "valid" drops what is no whole window, "same" keeps it.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.

    Returns
    -------
    Tensor
        Images of the same format.

    """
    data_format = standard_format(data_format)
    x = channels_to_front(tensor(inputs), data_format)
    size, window, step, before = _windows(x, pool_size, strides, padding)
    return channels_to_back(ops.max_pool(x, size, window, step, before, [1] * len(size), False), data_format)


@operation
def average_pool(inputs, pool_size, strides=None, padding="valid", data_format=None):
    """Return the mean of each window, of what lies in the image; the arguments are those of `max_pool`."""
    data_format = standard_format(data_format)
    x = channels_to_front(tensor(inputs), data_format)
    size, window, step, before = _windows(x, pool_size, strides, padding)
    return channels_to_back(
        ops.average_pool(x, size, window, step, before, [1] * len(size), False, False, 0), data_format)


def _adaptive(kind, inputs, output_size, data_format):
    data_format = standard_format(data_format)
    x = channels_to_front(tensor(inputs), data_format)
    axes = x.ndim - 2
    if axes not in (1, 2, 3):
        raise ValueError(f"adaptive_{kind}_pool supports 1D, 2D, or 3D inputs only. "
                         f"Received: inputs.shape={tuple(x.shape)}")
    short = {"average": "avg", "max": "max"}[kind]
    pool = getattr(ops, f"adaptive_{short}_pool{axes}d")
    return channels_to_back(pool(x, as_list(output_size, axes, "output_size")), data_format)


@operation
def adaptive_average_pool(inputs, output_size, data_format=None):
    """Return means of windows whose sizes follow from how many are wanted.

    Parameters
    ----------
    inputs : Tensor
        Sequences, images or volumes.
    output_size : Union[int, Sequence[int]]
        How many windows along each axis.
    data_format : str, optional
        "channels_last" or "channels_first"; the configured one by default.

    Returns
    -------
    Tensor
        Images of the same format.

    """
    return _adaptive("average", inputs, output_size, data_format)


@operation
def adaptive_max_pool(inputs, output_size, data_format=None):
    """Return largest numbers of windows; the arguments are those of `adaptive_average_pool`."""
    return _adaptive("max", inputs, output_size, data_format)
