"""Images and volumes cut into patches, which may overlap."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.windows.geometry import same_padding, window_count


def cut_patches(x, sizes, strides, dilation, padding):
    """Return the patches of a batch with channels last: their elements are the channels of the result.

    Parameters
    ----------
    x : Tensor
        (batch, ..., channels).
    sizes, strides, dilation : Sequence[int]
        Of windows, for each spatial axis.
    padding : str
        "valid" or "same".

    Returns
    -------
    Tensor
        (batch, ..., elements of a window times channels); of no places where windows do not fit.

    """
    axes = len(sizes)
    if padding == "same":
        pairs = [same_padding(*how) for how in zip(x.shape[1:-1], sizes, strides, dilation)]
        x = ops.pad(x, [0, 0] + [item for pair in reversed(pairs) for item in pair])
    counts = [window_count(*how, "valid") for how in zip(x.shape[1:-1], sizes, strides, dilation)]
    if min(counts) < 1:
        elements = x.shape[-1]
        for size in sizes:
            elements *= size
        return ops.reshape(ops.narrow(x, 1, 0, 0), (x.shape[0], *(max(count, 0) for count in counts), elements))
    for axis, (size, stride, step) in enumerate(zip(sizes, strides, dilation), 1):
        x = ops.slice(ops.unfold(x, axis, (size - 1) * step + 1, stride), -1, None, None, step)
    # Places, channels, elements of patches -> places, elements, channels.
    return ops.flatten(ops.moveaxis(x, axes + 1, -1), axes + 1, -1)


def as_batch(image):
    """Return pictures with a batch axis, and whether that was added."""
    x = take(image)
    if x.ndim not in (3, 4):
        raise ValueError(f"'images' must have either 3 or 4 dimensions. Received shape {x.shape}")
    return (ops.unsqueeze(x, 0), True) if x.ndim == 3 else (x, False)
