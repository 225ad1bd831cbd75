"""Shapes of tensors, the order of their axes and elements, diagonals and triangles."""
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.ops.common import (as_axes, canonical_axis, concrete, dtype_of, fitted, named, operation, ops,
                                        standardize_dtype, tensor)


@operation(moves=(0,))
def reshape(x, newshape):
    """Return the elements in another shape.

    Parameters
    ----------
    newshape : Sequence[int]
        The shape; one size may be -1.

    Returns
    -------
    Tensor
        A view where the memory allows it.

    Examples
    --------
    >>> tuple(keras.ops.reshape(np.arange(6), (2, -1)).shape)
    (2, 3)

    """
    shape = concrete(newshape)
    sizes = shape if isinstance(shape, tuple) else (shape,)
    if any(size is not None and size < -1 for size in sizes) or sizes.count(-1) > 1:
        raise ValueError("`newshape` must be made of non-negative integers, and have at most one unknown dimension, "
                         f"which is -1. Received: newshape={newshape}")
    return ops.reshape(tensor(x), shape)


def _reshaped(self, x, newshape=None):
    """Return the symbolic result, whose sizes are not known where they are symbolic themselves."""
    newshape = self.get_config().get("newshape", newshape)
    if isinstance(newshape, KerasTensor):
        return KerasTensor((None,) * newshape.shape[0], dtype=dtype_of(x))
    if isinstance(newshape, (tuple, list)) and any(isinstance(size, KerasTensor) for size in newshape):
        sizes = (None if isinstance(size, KerasTensor) or size == -1 else size for size in newshape)
        return KerasTensor(tuple(sizes), dtype=dtype_of(x))
    return super(reshape.operation, self).compute_output_spec(x)


reshape.operation.compute_output_spec = _reshaped


@operation(moves=(0,))
def expand_dims(x, axis):
    """Insert axes of size 1.

    Parameters
    ----------
    axis : Union[int, Sequence[int]]
        Where they stand in the result.

    Returns
    -------
    Tensor
        A view.

    Examples
    --------
    >>> tuple(keras.ops.expand_dims(np.zeros((2, 3)), 0).shape)
    (1, 2, 3)

    """
    x = tensor(x)
    axes = axis if isinstance(axis, (tuple, list)) else [axis]
    for item in sorted(canonical_axis(item, x.ndim + len(axes)) for item in axes):
        x = ops.unsqueeze(x, item)
    return x


@operation(moves=(0,))
def squeeze(x, axis=None):
    """Remove axes of size 1: all, or those that are named.

    Parameters
    ----------
    axis : Union[int, Sequence[int]], optional
        Which axes.

    Returns
    -------
    Tensor
        A view.

    Examples
    --------
    >>> tuple(keras.ops.squeeze(np.zeros((1, 3, 1))).shape)
    (3,)

    """
    x = tensor(x)
    for item in () if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,):
        if x.shape[canonical_axis(item, x.ndim)] != 1:
            raise ValueError(f"Cannot squeeze axis={item}, because the dimension is not 1. "
                             f"Received: x.shape={tuple(x.shape)}")
    return ops.squeeze(x, as_axes(axis))


@operation(moves=(0,))
def transpose(x, axes=None):
    """Return the elements with their axes in another order: reversed, or as named.

    Parameters
    ----------
    axes : Sequence[int], optional
        A permutation of the axes.

    Returns
    -------
    Tensor
        A view.

    Examples
    --------
    >>> tuple(keras.ops.transpose(np.zeros((2, 3, 4)), (0, 2, 1)).shape)
    (2, 4, 3)

    """
    x = tensor(x)
    if not axes:
        return ops.permute(x, list(range(x.ndim))[::-1])
    axes = as_axes(axes, "axes")
    if len(axes) != x.ndim:
        for axis in axes:
            canonical_axis(axis, x.ndim)
        raise ValueError("`axes` must be a list of the same length as the input shape. "
                         f"Received: axes={axes}, x.shape={tuple(x.shape)}")
    if not all(-x.ndim <= axis < x.ndim for axis in axes):
        raise ValueError(f"Each axis in `axes` must be an integer in [-{x.ndim}, {x.ndim}). Received: axes={axes}")
    order = [canonical_axis(axis, x.ndim) for axis in axes]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError("`axes` must be a valid permutation of the input dimensions (no duplicates). "
                         f"Received: axes={list(axes)} for input of rank {x.ndim}.")
    return ops.permute(x, order)


def _exchange(x, *axes):
    return ops.transpose(x, *(canonical_axis(axis, x.ndim) for axis in axes))


@operation(moves=(0,))
def moveaxis(x, source, destination):
    """Move axes to other places; the others keep their order.

    Parameters
    ----------
    source, destination : Union[int, Sequence[int]]
        From where, to where.

    Returns
    -------
    Tensor
        A view.

    """
    source, destination = ([axis] if isinstance(axis, int) else list(axis) for axis in (source, destination))
    if len(source) != len(destination):
        raise ValueError("Inconsistent number of `source` and `destination`. "
                         f"Received: source={source}, destination={destination}")
    x = tensor(x)
    return ops.moveaxis(x, *([canonical_axis(axis, x.ndim) for axis in axes] for axes in (source, destination)))


@operation(moves=(0,))
def flip(x, axis=None):
    """Reverse the order along axes; along all by default."""
    x = tensor(x)
    return ops.flip(x, list(range(x.ndim)) if axis is None else as_axes(axis))


@operation(moves=(0,))
def rot90(array, k=1, axes=(0, 1)):
    """Turn a plane by right angles.

    Parameters
    ----------
    array : Tensor
        The elements.
    k : int, optional, default=1
        How many right angles.
    axes : Tuple[int, int], optional, default=(0, 1)
        The plane.

    Returns
    -------
    Tensor
        The result.

    """
    array = tensor(array)
    if array.ndim < 2:
        raise ValueError(f"Input array must have at least 2 dimensions. Received: array.ndim={array.ndim}")
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"Invalid axes: {axes}. Axes must be a tuple of two different dimensions. "
                         f"Received: axes={axes}")
    return ops.rot90(array, k, list(axes))


@operation(moves=(0,))
def roll(x, shift, axis=None):
    """Move elements along axes, those that fall off to the other end.

    Parameters
    ----------
    shift : Union[int, Sequence[int]]
        How far.
    axis : Union[int, Sequence[int]], optional
        Along which axes; by default the elements count as one row.

    """
    x = tensor(x)
    if axis is None:
        return ops.reshape(ops.roll(ops.reshape(x, (-1,)), shift, 0), x.shape)
    shift, axis = as_axes(shift), as_axes(axis)
    if isinstance(axis, list) and not isinstance(shift, list):  # as far along each
        shift = [shift] * len(axis)
    return ops.roll(x, shift, axis)


@operation
def pad(x, pad_width, mode="constant", constant_values=None):
    """Put elements around a tensor.

    Parameters
    ----------
    pad_width : Union[int, Sequence[Tuple[int, int]]]
        How many before and after, for each axis.
    mode : str, optional, default="constant"
        "constant", "reflect" or "symmetric".
    constant_values : number, optional
        What is put there in mode "constant", by default 0.

    """
    x = tensor(x)
    pairs = _pad_pairs(pad_width, x.ndim)
    if mode == "constant":
        flat = [int(size) for pair in reversed(pairs) for size in pair]
        return ops.pad(x, flat, "constant", fitted(constant_values or 0, dtype_of(x)))
    if constant_values is not None:
        raise ValueError("Argument `constant_values` can only be provided when `mode == 'constant'`. "
                         f"Received: mode={mode}")
    if mode not in ("reflect", "symmetric"):
        raise ValueError(f"`mode` must be 'constant', 'reflect' or 'symmetric'. Received: mode={mode}")
    for axis, (before, after) in enumerate(pairs):
        x = _mirror(x, axis, int(before), int(after), mode == "symmetric")
    return x


def _pad_pairs(pad_width, rank):
    """Return how many elements stand before and after, for each axis."""
    if isinstance(pad_width, int):
        return [(pad_width, pad_width)] * rank
    pairs = [(item, item) if isinstance(item, int) else tuple(item) for item in pad_width]
    if isinstance(pad_width[0], int):
        pairs = [(pad_width[0], pad_width[-1])]
    pairs = pairs * rank if len(pairs) == 1 else pairs
    if len(pairs) != rank or any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"`pad_width` must have the same length as `x.shape`. "
                         f"Received: pad_width={pad_width} (of length {len(pairs)}) and x of {rank} axes")
    return pairs


def _mirror(x, axis, before, after, edge):
    """Put mirrored elements around an axis; `edge` says whether the outermost is mirrored too."""
    if not before and not after:
        return x
    size, skip = x.shape[axis], 0 if edge else 1
    if max(before, after) > size - skip:
        raise ValueError(f"`pad_width` must not be greater than {size - skip} along axis {axis}. "
                         f"Received: pad_width={(before, after)}")
    parts = [ops.flip(ops.slice(x, axis, skip, before + skip), [axis]), x,
             ops.flip(ops.slice(x, axis, size - skip - after, size - skip), [axis])]
    return ops.cat(parts, axis)


@operation
def view(x, dtype=None):
    """Return the same bytes as another dtype.

    Parameters
    ----------
    dtype : str, optional
        The dtype; the last axis shrinks or grows with its size.

    """
    x = tensor(x)
    dtype = dtype_of(x) if dtype is None else standardize_dtype(dtype)
    return ops.view_dtype(ops.contiguous(x), dtype)


@operation(moves=(0,))
def diagonal(x, offset=0, axis1=0, axis2=1):
    """Return the diagonal of a plane, as the last axis.

    Parameters
    ----------
    offset : int, optional, default=0
        Which diagonal.
    axis1, axis2 : int, optional
        The plane.

    Returns
    -------
    Tensor
        A view.

    """
    x = tensor(x)
    if x.ndim < 2:
        raise ValueError(f"`diagonal` requires an array of at least two dimensions. Received: x.shape={x.shape}")
    return ops.diagonal(x, offset, axis1, axis2)


@operation
def diag(x, k=0):
    """Return the diagonal of a matrix, or a matrix with a row on its diagonal."""
    x = tensor(x)
    if x.ndim not in (1, 2):
        raise ValueError(f"`x` must be 1d or 2d. Received: x.shape={tuple(x.shape)}")
    return ops.diag(x, k)


ravel = named(lambda x: ops.reshape(tensor(x), (-1,)), "ravel", "Return the elements as one row.", moves=(0,))
swapaxes = named(lambda x, axis1, axis2: _exchange(tensor(x), axis1, axis2), "swapaxes", "Exchange two axes.",
                 moves=(0,))
broadcast_to = named(lambda x, shape: ops.broadcast_to(tensor(x), concrete(shape)), "broadcast_to",
                     "Repeat the elements into a larger shape.", moves=(0,))
copy = named(lambda x: ops.clone(tensor(x)), "copy", "Return a copy.", moves=(0,), keeps_zeros=True)
fliplr = named(lambda x: ops.flip(tensor(x), [1]), "fliplr", "Reverse the order of columns.", moves=(0,))
flipud = named(lambda x: ops.flip(tensor(x), [0]), "flipud", "Reverse the order of rows.", moves=(0,))
diagflat = named(lambda x, k=0: ops.diagflat(tensor(x), k), "diagflat",
                 "Return a matrix with the elements on a diagonal.")
tril = named(lambda x, k=0: ops.tril(tensor(x), k), "tril", "Return matrices with zeros above a diagonal.")
triu = named(lambda x, k=0: ops.triu(tensor(x), k), "triu", "Return matrices with zeros below a diagonal.")
