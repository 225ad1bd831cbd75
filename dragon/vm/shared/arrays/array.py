"""Tensors in other shapes and orders: what only moves elements."""
import operator

from dragon import _C
from dragon.vm.shared.arrays.moving import is_ragged, moving, take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, int32, wrapped
from dragon.vm.shared.tensors.shape import TensorShape, as_shape
from dragon.vm.shared.tensors.tensor import ops


def as_ints(value):
    """Return a tensor, an array or nested lists of integers as Python's."""
    if isinstance(value, int):
        return value
    if isinstance(value, _C.Tensor):
        sizes = getattr(value, "_sizes", None)  # beside what `tf.shape` gives while a function is captured
        if sizes is not None:
            return sizes if isinstance(sizes, int) else list(sizes)
        if not value.size:
            return []
        value = value.tolist()
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [as_ints(item) for item in value]
    if value.__class__ is int:  # also a size that varies
        return value
    if not hasattr(value, "__index__"):
        raise TypeError(f"Expected integers. Received: {value!r}")
    return operator.index(value)


def at_least(x, rank, who):
    """Return a tensor if it has so many axes, or raise TensorFlow's error."""
    if x.ndim < rank:
        raise invalid_argument(f"{who}: expected a tensor of rank {rank} at least. Received shape {x.shape}")
    return x


def indices_of(x, node):
    """Return indices as int64; numbers with digits after the point are those of no entry."""
    index = take(x)
    if not index.dtype.is_integer and index.shape.num_elements():
        raise invalid_argument(f"Value for attr 'Tindices' of {index.dtype.name} is not in the list of allowed values: "
                               f"int32, int64 [Op:{node}]")
    return ops.cast(index, "int64")


def check_axis(axis, rank, who):
    """Return an axis from 0, or raise TensorFlow's error."""
    if not hasattr(axis, "__index__"):
        raise TypeError(f"{who}: expected an integer as axis. Received: {axis!r}")
    axis = int(axis)
    if not -rank <= axis < rank:
        raise invalid_argument(f"{who}: Expected dimension in the range [{-rank}, {rank}), but got {axis}")
    return axis % rank if rank else 0


def axes_of(axis, rank):
    """Return axes as a list of numbers from 0; None where all are meant."""
    if axis is None:
        return None
    axis = as_ints(axis)
    axes = [check_axis(place, rank, "Invalid reduction dimension") for place in (
        axis if isinstance(axis, list) else [axis])]
    if len(set(axes)) != len(axes):
        raise invalid_argument(f"Invalid reduction arguments: Axes contains duplicate dimension. Received: {axis}")
    return axes


def along(x, axis, keepdims=False):
    """Return (tensor, axes, keepdims) for a reducing operator; with no axes named, a first one of size 1 is reduced.

    The engine reduces all axes where none are named, as PyTorch does, but TensorFlow none.
    """
    axes = axes_of(axis, x.ndim)
    if axes == [] or not x.ndim:
        return (ops.unsqueeze(x, 0), [0], False) if x.ndim else (x, None, False)
    return x, axes, bool(keepdims)


@moving(0)
def reshape(tensor, shape, name=None):
    """Return the elements in another shape; one size may be -1.

    Parameters
    ----------
    tensor : Tensor
        The elements.
    shape : Union[Sequence[int], Tensor]
        The sizes of the axes.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Of that shape.

    Examples
    --------
    >>> tf.reshape(tf.range(6), (2, -1))
    <tf.Tensor: shape=(2, 3), dtype=int32, numpy=
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)>

    """
    x, wanted = take(tensor), as_shape(shape)
    try:
        return ops.reshape(x, wanted)
    except _C.InvalidValue:
        raise invalid_argument(f"Input to reshape is a tensor with {x.shape.num_elements()} values, but the requested "
                               f"shape has {list(wanted)} [Op:Reshape]") from None


@moving(0)
def expand_dims(input, axis, name=None):
    """Return the tensor with an axis of size 1 more.

    Parameters
    ----------
    input : Tensor
        The tensor.
    axis : int
        Where the new axis stands.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        `(N,)` becomes `(1, N)` with axis 0.

    Examples
    --------
    >>> tf.expand_dims([1, 2], 0)
    <tf.Tensor: shape=(1, 2), dtype=int32, numpy=array([[1, 2]], dtype=int32)>

    """
    if is_ragged(input):
        from dragon.vm.shared.ragged import axes
        return axes.expand_dims(input, int(axis))
    x = take(input)
    rank = x.ndim + 1
    if not -rank <= int(axis) < rank:
        raise invalid_argument(f"Tried to expand dim index {int(axis)} for tensor with {x.ndim} dimensions. "
                               "[Op:ExpandDims]")
    return ops.unsqueeze(x, int(axis))


@moving(0)
def squeeze(input, axis=None, name=None):
    """Return the tensor without axes of size 1: all, or those named.

    Parameters
    ----------
    input : Tensor
        The tensor.
    axis : Union[int, Sequence[int]], optional
        Which axes; all of size 1 by default.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        With fewer axes.

    Examples
    --------
    >>> tf.squeeze([[[1], [2]]]).shape
    TensorShape([2])

    """
    if is_ragged(input):  # the first one of the process: `squeeze` was looked up before
        return squeeze(input, axis)
    x = take(input)
    axes = [place for place, size in enumerate(x.shape) if size == 1] if axis is None or axis == [] else [
        check_axis(place, x.ndim, "Squeeze") for place in (axis if isinstance(axis, (list, tuple)) else [axis])]
    for place in axes:
        if x.shape[place] != 1:
            raise invalid_argument(f"Can not squeeze dim[{place}], expected a dimension of 1, got {x.shape[place]} "
                                   "[Op:Squeeze]")
    return ops.reshape(x, [size for place, size in enumerate(x.shape) if place not in axes])


@moving(0)
def transpose(a, perm=None, conjugate=False, name="transpose"):
    """Return the tensor with its axes in another order: reversed, or as named.

    Parameters
    ----------
    a : Tensor
        The tensor.
    perm : Sequence[int], optional
        Which axis stands at each place; in reverse order by default.
    conjugate : bool, optional, default=False
        Whether complex numbers are conjugated, too.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        `(N, M)` becomes `(M, N)`.

    Examples
    --------
    >>> tf.transpose([[1, 2, 3], [4, 5, 6]])
    <tf.Tensor: shape=(3, 2), dtype=int32, numpy=
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)>

    """
    x = take(a)
    perm = list(range(x.ndim))[::-1] if perm is None else as_ints(perm)
    if len(perm) != x.ndim:
        raise invalid_argument(f"transpose expects a vector of size {x.ndim}. But input(1) is a vector of size "
                               f"{len(perm)} [Op:Transpose]")
    x = ops.permute(x, perm)
    return ops.conj_physical(x) if conjugate and x.dtype.is_complex else x


@moving(0)
def reverse(tensor, axis, name=None):
    """Return the tensor with the order along some axes reversed."""
    if is_ragged(tensor):  # the first one of the process: `reverse` was looked up before
        return reverse(tensor, axis)
    x, axes = take(tensor), as_ints(axis)
    return ops.flip(x, [check_axis(place, x.ndim, "Reverse") for place in (axes if isinstance(axes, list) else [axes])])


@moving(0)
def roll(input, shift, axis, name=None):
    """Return the tensor with its elements moved along axes; what leaves at one end enters at the other."""
    shift, axis = as_ints(shift), as_ints(axis)
    return ops.roll(take(input), shift if isinstance(shift, list) else [shift],
                    axis if isinstance(axis, list) else [axis])


@moving(0)
def broadcast_to(input, shape, name=None):
    """Return the tensor in a shape that it is repeated to fill."""
    x = take(input)
    try:
        return ops.broadcast_to(x, as_shape(shape))
    except _C.InvalidValue:
        raise invalid_argument(f"Incompatible shapes: {list(x.shape)} vs. {list(as_shape(shape))} "
                               "[Op:BroadcastTo]") from None


def broadcast_static_shape(shape_x, shape_y):
    """Return the shape of an elementwise operator's result for operands of two shapes."""
    one, other = TensorShape(shape_x), TensorShape(shape_y)
    if one.rank is None or other.rank is None:
        return TensorShape(None)
    rank = max(len(one), len(other))
    pairs = zip([1] * (rank - len(one)) + list(one), [1] * (rank - len(other)) + list(other))
    sizes = []
    for mine, theirs in pairs:
        if mine == 1 or theirs == 1 or mine == theirs:
            sizes.append(theirs if mine == 1 else mine)
        elif mine is None or theirs is None:
            sizes.append(mine or theirs)
        else:
            raise ValueError(f"Incompatible shapes for broadcasting: {one} and {other}.")
    return TensorShape(sizes)


def broadcast_dynamic_shape(shape_x, shape_y):
    """Return the shape of an elementwise operator's result for operands of two shapes, as a tensor."""
    shape_x = take(shape_x)
    return convert_to_tensor(list(broadcast_static_shape(as_ints(shape_x), as_ints(shape_y))), shape_x.dtype)


def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """Return the tensor with more entries before and after those of each axis.

    Parameters
    ----------
    tensor : Tensor
        The tensor.
    paddings : Tensor
        For each axis, how many before and how many after.
    mode : str, optional, default="CONSTANT"
        What they hold: "CONSTANT", or what is beside them: "REFLECT" without and "SYMMETRIC" with the border.
    constant_values : number, optional, default=0
        For "CONSTANT".

    Returns
    -------
    Tensor
        The larger tensor.

    """
    x, pairs, kind = take(tensor), as_ints(paddings), str(mode).upper()
    nested = isinstance(pairs, list) and all(isinstance(pair, list) for pair in pairs)
    if not nested or len(pairs) != x.ndim or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise invalid_argument(f"paddings must be a matrix with 2 non-negative columns and {x.ndim} rows: {pairs} "
                               "[Op:Pad]")
    if kind == "CONSTANT":
        value = constant_values
        if isinstance(value, _C.Tensor):
            value = value.item()
        elif isinstance(value, int) and x.dtype.is_integer:
            value = wrapped(value, x.dtype)
        return ops.pad(x, [count for pair in pairs[::-1] for count in pair], "constant", value)
    if kind not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"Value of argument `mode` expected to be one of CONSTANT, REFLECT, or SYMMETRIC. Received "
                         f"`mode` = {mode}")
    border = int(kind == "REFLECT")
    for axis, (before, after) in enumerate(pairs):
        size = x.shape[axis]
        if max(before, after) > size - border:
            raise invalid_argument(f"paddings must be no greater than {size - border}, the dimension size"
                                   f"{' minus 1' if border else ''}: {before}, {after} [Op:MirrorPad]")
        if before or after:
            places = [*range(before - 1 + border, border - 1, -1), *range(size),
                      *range(size - 1 - border, size - 1 - border - after, -1)]
            x = ops.index_select(x, axis, convert_to_tensor(places))
    return x


@moving(0)
def slice_(input_, begin, size, name=None):
    """Return a box of a tensor: where it begins, and its sizes (-1: all that is left)."""
    x, begin, size = take(input_), as_ints(begin), as_ints(size)
    if not len(begin) == len(size) == x.ndim:
        raise invalid_argument(f"Expected begin and size arguments to be 1-D tensors of size {x.ndim}, but got shapes "
                               f"[{len(begin)}] and [{len(size)}] instead. [Op:Slice]")
    for axis, (first, count) in enumerate(zip(begin, size)):
        count = x.shape[axis] - first if count == -1 else count
        if first < 0 or count < 0 or first + count > x.shape[axis]:
            raise invalid_argument(f"Expected begin[{axis}] in [0, {x.shape[axis]}] and begin + size within it, but "
                                   f"got begin {first} and size {count} [Op:Slice]")
        if count != x.shape[axis]:
            x = ops.narrow(x, axis, first, count)
    return x if x is not input_ else convert_to_tensor(x)


@moving(0)
def strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
                  shrink_axis_mask=0, var=None, name=None):
    """Return a part of a tensor, told by numbers and masks of bits, as `x[...]` tells it by a subscript."""
    if var is not None:
        raise NotImplementedError(f"tf.strided_slice: assign to `var[...]` itself. Received: var={var}")
    begin, end = as_ints(begin), as_ints(end)
    strides = [1] * len(begin) if strides is None else as_ints(strides)
    key = []
    for place, (first, last, step) in enumerate(zip(begin, end, strides)):
        bit = 1 << place
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(first)
        else:
            key.append(slice(None if begin_mask & bit else first, None if end_mask & bit else last, step))
    return take(input_)[tuple(key)]


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """Return the tensor with the elements along an axis in order."""
    return ops.sort(take(values), axis, _descends(direction))[0]


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """Return the places of the elements along an axis in their order."""
    return ops.cast(ops.sort(take(values), axis, _descends(direction), True)[1], int32)


def _descends(direction):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Argument `direction` should be one of 'ASCENDING' or 'DESCENDING'. Received: {direction}")
    return direction == "DESCENDING"


def searchsorted(sorted_sequence, values, side="left", out_type=int32, name=None):
    """Return the places where values would have to be inserted to keep each row in order."""
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = {side!r}")
    rows = take(sorted_sequence)
    found = ops.searchsorted(ops.contiguous(rows), ops.contiguous(take(values, rows.dtype)), right=side == "right")
    return ops.cast(found, as_dtype(out_type))


@moving(0)
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None):
    """Return the tensor with the first entries of each row, as many as `seq_lengths` says, in reverse order."""
    x, lengths = take(input), indices_of(seq_lengths, "ReverseSequence")
    if seq_axis is None:
        raise ValueError(f"tf.reverse_sequence: seq_axis must be given. Received: seq_axis={seq_axis}")
    batch_axis = check_axis(0 if batch_axis is None else batch_axis, x.ndim, "ReverseSequence")
    seq_axis = check_axis(seq_axis, x.ndim, "ReverseSequence")
    rank, steps = x.ndim, x.shape[seq_axis]
    along = [1] * rank
    along[seq_axis] = steps
    places = ops.reshape(ops.arange(0, steps, dtype="int64"), along)
    rows = [1] * rank
    rows[batch_axis] = x.shape[batch_axis]
    # Read from the numbers of steps, a length must be one of them.
    lengths = ops.reshape(ops.index_select(ops.arange(0, steps + 1, dtype="int64"), 0, lengths), rows)
    index = ops.where(places < lengths, lengths - 1 - places, places)
    return ops.gather(x, seq_axis, ops.broadcast_to(index, tuple(x.shape)))


@moving(0)
def space_to_batch_nd(input, block_shape, paddings, name=None):
    """Return blocks of the axes after the first as entries of the first."""
    x, blocks = take(input), as_ints(block_shape)
    pairs = [[0, 0], *as_ints(paddings)] + [[0, 0]] * (x.ndim - 1 - len(blocks))
    x = pad(x, pairs)
    shape, order, count = [x.shape[0]], [], len(blocks)
    for place, block in enumerate(blocks, 1):
        if x.shape[place] % block:
            raise invalid_argument(f"padded_shape[{place - 1}]={x.shape[place]} is not divisible by "
                                   f"block_shape[{place - 1}]={block} [Op:SpaceToBatchND]")
        shape += [x.shape[place] // block, block]
    rest = list(x.shape[count + 1:])
    order = [2 * place + 2 for place in range(count)] + [0] + [2 * place + 1 for place in range(count)]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    final = [-1, *(x.shape[place + 1] // block for place, block in enumerate(blocks)), *rest]
    return ops.reshape(ops.permute(ops.reshape(x, shape + rest), order), final)


def space_to_batch(input, block_shape, paddings, name=None):
    """Return blocks of the axes after the first as entries of the first."""
    return space_to_batch_nd(input, block_shape, paddings)


@moving(0)
def batch_to_space(input, block_shape, crops, name=None):
    """Return entries of the first axis as blocks of the axes after it; the reverse of `space_to_batch`."""
    blocks, crops = as_ints(block_shape), as_ints(crops)
    count = len(blocks)
    x = at_least(take(input), count + 1, "BatchToSpace")
    batch = x.shape[0]
    for block in blocks:
        batch //= block
    rest = list(x.shape[count + 1:])
    x = ops.reshape(x, [*blocks, batch, *x.shape[1:]])
    order = [count]
    for place in range(count):
        order += [count + 1 + place, place]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    sizes = [input.shape[place + 1] * block for place, block in enumerate(blocks)]
    x = ops.reshape(ops.permute(x, order), [batch, *sizes, *rest])
    for place, (before, after) in enumerate(crops, 1):
        x = ops.narrow(x, place, before, x.shape[place] - before - after)
    return x


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """Return the paddings and crops with which blocks fill axes of given sizes."""
    sizes, blocks = as_ints(input_shape), as_ints(block_shape)
    base = as_ints(base_paddings) if base_paddings is not None else [[0, 0]] * len(sizes)
    extra = [-(size + before + after) % block for size, block, (before, after) in zip(sizes, blocks, base)]
    paddings = [[before, after + more] for (before, after), more in zip(base, extra)]
    return (convert_to_tensor(paddings), convert_to_tensor([[0, more] for more in extra]))
