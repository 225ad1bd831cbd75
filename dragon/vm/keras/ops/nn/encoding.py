"""Classes as vectors, and pixels moved between space and channels."""
from dragon.vm.keras.ops.common import (as_axes, as_axis, as_told, canonical_axis, canonical_dtype, cast_to, dtype_of,
                                        operation, ops, standard_format, tensor)


@operation
def one_hot(x, num_classes, axis=-1, dtype=None, sparse=False):
    """Return vectors with 1 at the place of each class, 0 elsewhere.

    Parameters
    ----------
    x : Tensor
        Numbers of classes; others give zeros.
    axis : int, optional, default=-1
        Where the new axis stands.

    Returns
    -------
    Tensor
        With one axis more.

    Examples
    --------
    >>> np.asarray(keras.ops.one_hot(np.array([0, 2]), 3))
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)

    """
    x = cast_to(tensor(x), "int64")
    axis = canonical_axis(axis, x.ndim + 1)
    classes = ops.arange(as_axis(num_classes, "num_classes"), dtype="int64")
    classes = ops.reshape(classes, (-1,) + (1,) * (x.ndim - axis))
    return as_told(cast_to(ops.eq(ops.unsqueeze(x, axis), classes), canonical_dtype(dtype)), sparse)


@operation
def multi_hot(inputs, num_classes=None, axis=-1, dtype=None, sparse=False, **kwargs):
    """Return for each row a vector with 1 at the places of its classes, 0 elsewhere.

    Parameters
    ----------
    inputs : Tensor
        Rows of numbers of classes.
    num_classes : int
        How many classes.
    axis : int, optional, default=-1
        Where the axis of classes stands.

    Returns
    -------
    Tensor
        The vectors.

    """
    num_classes = kwargs.pop("num_tokens", num_classes)
    if num_classes is None or kwargs:
        raise ValueError(f"Argument `num_classes` must be specified. Received: num_classes={num_classes}, {kwargs}")
    x = tensor(inputs)
    reduced = 1 if x.ndim > 1 else 0
    hot = one_hot(x, num_classes, axis, dtype)
    return as_told(ops.any(hot, reduced) if dtype_of(hot) == "bool" else ops.amax(hot, reduced), sparse)


def _blocks(x, data_format, block_size):
    if block_size < 2:
        raise ValueError(f"`block_size` must be at least 2. Received: block_size={block_size}")
    x = tensor(x)
    if x.ndim != 4:
        raise ValueError(f"Expected a 4D tensor. Received: x.shape={tuple(x.shape)}")
    last = standard_format(data_format) == "channels_last"
    return (x if last else ops.permute(x, [0, 2, 3, 1])), last


@operation
def depth_to_space(x, block_size, data_format="channels_last"):
    """Spread channels over blocks of pixels.

    Parameters
    ----------
    x : Tensor
        Images.
    block_size : int
        The blocks' size; the channels must be divisible by its square.
    data_format : str, optional, default="channels_last"
        "channels_last" or "channels_first".

    Returns
    -------
    Tensor
        Larger images of fewer channels.

    """
    x, last = _blocks(x, data_format, block_size)
    batch, height, width, channels = x.shape
    if channels % block_size ** 2:
        raise ValueError("The number of channels must be divisible by block_size ** 2. "
                         f"Received: {channels} channels, block_size={block_size}")
    x = ops.reshape(x, (batch, height, width, block_size, block_size, -1))
    x = ops.reshape(ops.permute(x, [0, 1, 3, 2, 4, 5]), (batch, height * block_size, width * block_size, -1))
    return x if last else ops.permute(x, [0, 3, 1, 2])


@operation
def space_to_depth(x, block_size, data_format="channels_last"):
    """Gather blocks of pixels in channels; the arguments are those of `depth_to_space`."""
    x, last = _blocks(x, data_format, block_size)
    batch, height, width, channels = x.shape
    if height % block_size or width % block_size:
        raise ValueError("Height and width must be divisible by block_size. "
                         f"Received: sizes {(height, width)}, block_size={block_size}")
    x = ops.reshape(x, (batch, height // block_size, block_size, width // block_size, block_size, channels))
    x = ops.reshape(ops.permute(x, [0, 1, 3, 2, 4, 5]), (batch, height // block_size, width // block_size, -1))
    return x if last else ops.permute(x, [0, 3, 1, 2])


def _two(value):
    return [value, value] if isinstance(value, int) else as_axes(value)


@operation
def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    """Return the blocks of channels-first images as columns.

    Parameters
    ----------
    x : Tensor
        Batch, channels, height, width.
    kernel_size : Union[int, Tuple[int, int]]
        The blocks' sizes.
    dilation, padding, stride : Union[int, Tuple[int, int]], optional
        As of convolutions.

    Returns
    -------
    Tensor
        Batch, elements of a block, blocks.

    """
    return ops.im2col(tensor(x), *map(_two, (kernel_size, dilation, padding, stride)))


@operation
def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Return the images whose blocks' sums are given as columns; the arguments are those of `unfold`."""
    return ops.col2im(tensor(x), *map(_two, (output_size, kernel_size, dilation, padding, stride)))
