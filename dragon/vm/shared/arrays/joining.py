"""Tensors put together, cut into pieces, and repeated."""
from dragon import _C
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared.arrays.array import as_ints, check_axis, indices_of
from dragon.vm.shared.arrays.moving import is_ragged, moving, take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.sizes import joined
from dragon.vm.shared.tensors.tensor import ops


def check_dtypes(tensors, node):
    """Return tensors if all have one dtype."""
    for place, item in enumerate(tensors):
        if item.dtype is not tensors[0].dtype:
            from dragon.vm.shared.tensors.operators import mismatch
            raise mismatch(node, tensors[0], item.dtype, place)
    return tensors


def take_all(values):
    """Return the items of a list as operands; numbers among tensors take their dtype."""
    first = next((item for item in values if isinstance(item, _C.Tensor)), None)
    return [take(item, first.dtype if first is not None and not isinstance(item, _C.Tensor) else None)
            for item in values]


@moving(0)
def concat(values, axis, name="concat"):
    """Return tensors one after the other along an axis.

    Parameters
    ----------
    values : Sequence[Tensor]
        Of one shape but for the axis.
    axis : int
        Which one.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        As long along the axis as all of them together.

    Examples
    --------
    >>> tf.concat([[[1, 2]], [[3, 4]]], axis=1)
    <tf.Tensor: shape=(1, 4), dtype=int32, numpy=array([[1, 2, 3, 4]], dtype=int32)>

    """
    if any(map(is_ragged, values if isinstance(values, (list, tuple)) else [values])):
        from dragon.vm.shared.ragged import math as ragged_math
        return ragged_math.concat(values, axis)
    tensors = check_dtypes(take_all(values if isinstance(values, (list, tuple)) else [values]), "ConcatV2")
    if not tensors or not tensors[0].ndim:
        raise invalid_argument("ConcatOp : Expected concatenating dimensions in the range [0, 0), but got "
                               f"{axis} [Op:ConcatV2]")
    if len(tensors) == 1:
        return convert_to_tensor(tensors[0])
    axis = check_axis(axis, tensors[0].ndim, "ConcatOp")
    try:
        made = ops.cat(tensors, axis)
        return joined(made, values) if is_capturing() else made
    except _C.InvalidValue:
        raise invalid_argument("ConcatOp : Dimension mismatch. Received shapes "
                               f"{[tuple(item.shape) for item in tensors]} for axis {axis} [Op:ConcatV2]") from None


@moving(0)
def stack(values, axis=0, name="stack"):
    """Return tensors of one shape along a new axis.

    Parameters
    ----------
    values : Sequence[Tensor]
        Of one shape.
    axis : int, optional, default=0
        Where the new axis stands.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        With one axis more.

    Examples
    --------
    >>> tf.stack([[1, 2], [3, 4]], axis=1)
    <tf.Tensor: shape=(2, 2), dtype=int32, numpy=
    array([[1, 3],
           [2, 4]], dtype=int32)>

    """
    if isinstance(values, _C.Tensor):
        values = list(ops.unbind(values))
    if any(map(is_ragged, values)):
        from dragon.vm.shared.ragged import math as ragged_math
        return ragged_math.stack(values, axis)
    tensors = check_dtypes(take_all(list(values)), "Pack")
    if not tensors:
        raise ValueError("tf.stack: got no tensors, expected at least one. Received: values=[]")
    rank = tensors[0].ndim + 1
    if not -rank <= axis < rank:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-rank}, {rank})")
    try:
        made = ops.stack(tensors, axis)
        return joined(made, values) if is_capturing() else made
    except _C.InvalidValue:
        shapes = [tuple(item.shape) for item in tensors]
        raise invalid_argument(f"Shapes of all inputs must match: got {shapes} [Op:Pack]") from None


def parallel_stack(values, name="parallel_stack"):
    """Return tensors of one shape along a new first axis."""
    return stack(values)


@moving(0)
def unstack(value, num=None, axis=0, name="unstack"):
    """Return the entries of an axis as a list of tensors."""
    x = take(value)
    axis = check_axis(axis, x.ndim, "Unpack")
    if num is not None and num != x.shape[axis]:
        raise invalid_argument(f"Input shape axis {axis} must equal {num}, got shape {list(x.shape)} [Op:Unpack]")
    return list(ops.unbind(x, axis))


@moving(0)
def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Return pieces of a tensor along an axis: so many equal ones, or of the sizes given.

    Parameters
    ----------
    value : Tensor
        The tensor.
    num_or_size_splits : Union[int, Sequence[int], Tensor]
        How many, or their sizes.
    axis : int, optional, default=0
        Which one.
    num : int, optional
        How many sizes there are, where that cannot be seen.
    name : str, optional
        Accepted.

    Returns
    -------
    List[Tensor]
        The pieces.

    Examples
    --------
    >>> [piece.numpy().tolist() for piece in tf.split([1, 2, 3, 4], 2)]
    [[1, 2], [3, 4]]
    >>> [piece.numpy().tolist() for piece in tf.split([1, 2, 3, 4], [1, 3])]
    [[1], [2, 3, 4]]

    """
    if is_ragged(value):  # the first one of the process: `split` was looked up before
        return split(value, num_or_size_splits, axis)
    x = take(value)
    axis = check_axis(axis, x.ndim, "Split")
    sizes, length = as_ints(num_or_size_splits), x.shape[axis]
    if isinstance(sizes, int):
        if sizes <= 0 or length % sizes:
            raise invalid_argument(f"Number of ways to split should evenly divide the split dimension, but got "
                                   f"split_dim {axis} (size = {length}) and num_split {sizes} [Op:Split]")
        sizes = [length // sizes] * sizes
    known = sum(size for size in sizes if size >= 0)
    sizes = [length - known if size < 0 else size for size in sizes]
    if sum(sizes) != length:
        raise invalid_argument(f"Determined shape must either match input shape along split_dim exactly if fully "
                               f"specified, or be less than the size of the input along split_dim. Got: {sizes} "
                               f"[Op:SplitV]")
    return list(ops.split_with_sizes(x, sizes, axis))


@moving(0)
def tile(input, multiples, name=None):
    """Return the tensor repeated along its axes.

    Parameters
    ----------
    input : Tensor
        The tensor.
    multiples : Union[Sequence[int], Tensor]
        How often, for each axis.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Larger by these numbers.

    Examples
    --------
    >>> tf.tile([[1, 2]], (2, 2))
    <tf.Tensor: shape=(2, 4), dtype=int32, numpy=
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)>

    """
    if is_ragged(input):  # the first one of the process: `tile` was looked up before
        return tile(input, multiples)
    x, counts = take(input), as_ints(multiples)
    if len(counts) != x.ndim:
        raise invalid_argument(f"Expected multiples argument to be a vector of length {x.ndim} but got length "
                               f"{len(counts)} [Op:Tile]")
    return ops.tile(x, counts)


@moving(0)
def repeat(input, repeats, axis=None, name=None):
    """Return the tensor with each entry of an axis repeated."""
    x = take(input)
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    axis = check_axis(axis, x.ndim, "repeat")
    counts = ops.broadcast_to(indices_of(repeats, "Repeat"), (x.shape[axis],))
    return ops.repeat_interleave(x, counts, axis)
