"""Images and volumes cut into patches, which may overlap."""
from dragon.vm.keras.ops.common import as_list, operation, ops, standard_format, tensor
from dragon.vm.shared.images.patches import cut_patches


def _cut(x, sizes, strides, dilation, padding, data_format):
    """Return the patches of a batch: their elements are the channels of the result."""
    if padding not in ("valid", "same"):
        raise ValueError(f"`padding` must be 'valid' or 'same'. Received: padding={padding}")
    axes = len(sizes)
    strides = as_list(sizes if not strides else strides, axes, "strides")
    dilation = as_list(dilation, axes, "dilation_rate")
    first = standard_format(data_format) == "channels_first"
    x = ops.moveaxis(x, 1, -1) if first else x
    spans = [(size - 1) * step + 1 for size, step in zip(sizes, dilation)]
    if padding == "valid" and any(size < span for size, span in zip(x.shape[1:-1], spans)):
        raise ValueError("Patches are larger than what they are cut from. "
                         f"Received: size={tuple(sizes)}, images.shape={tuple(x.shape)}")
    x = cut_patches(x, sizes, strides, dilation, padding)
    return ops.moveaxis(x, -1, 1) if first else x


def _extract(images, sizes, strides, dilation_rate, padding, data_format):
    images, rank = tensor(images), len(sizes) + 2
    if images.ndim not in (rank - 1, rank):
        raise ValueError(f"Expected rank {rank - 1} (single) or rank {rank} (batch). "
                         f"Received: shape={tuple(images.shape)}")
    single = images.ndim == rank - 1
    made = _cut(ops.unsqueeze(images, 0) if single else images, sizes, strides, dilation_rate, padding, data_format)
    return ops.squeeze(made, 0) if single else made


def _sizes(size, *counts):
    """Return the sizes of patches: as many as one of some counts, the first where a single one is told."""
    if isinstance(size, int):
        return [size] * counts[0]
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"Invalid `size` argument. Expected an int or a tuple. Received: size={size!r} of type "
                        f"{type(size).__name__}")
    if len(size) not in counts:
        if len(counts) == 1:
            raise TypeError(f"Invalid `size` argument. Expected an int or a tuple of length {counts[0]}. Received: "
                            f"size={size}")
        raise ValueError("Invalid `size` argument. Expected a tuple of length 2 or 3. Received: "
                         f"size={size} with length {len(size)}")
    return list(size)


@operation
def extract_patches(images, size, strides=None, dilation_rate=1, padding="valid", data_format=None):
    """Cut images into patches.

    Parameters
    ----------
    images : Tensor
        One image or a batch; volumes if `size` has three numbers.
    size : Union[int, Sequence[int]]
        The patches' sizes.
    strides : Union[int, Sequence[int]], optional
        How far apart they begin, by default as far as they are large.
    dilation_rate : Union[int, Sequence[int]], optional, default=1
        Distance of the elements of a patch.

    Returns
    -------
    Tensor
        Images whose channels are the elements of patches.

    """
    return _extract(images, _sizes(size, 2, 3), strides, dilation_rate, padding, data_format)


@operation
def extract_patches_3d(volumes, size, strides=None, dilation_rate=1, padding="valid", data_format=None):
    """Cut volumes into patches; the arguments are those of `extract_patches`."""
    return _extract(volumes, _sizes(size, 3), strides, dilation_rate, padding, data_format)
