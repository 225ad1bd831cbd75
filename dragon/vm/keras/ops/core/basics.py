"""Tensors from and to other things, and pieces of tensors by their places."""
import math

from dragon import _C
from dragon.vm.keras.core import convert
from dragon.vm.keras.core.keras_tensor import KerasTensor
from dragon.vm.keras.ops.common import (as_axis, canonical_axis, cast_to, concrete, dtype_of, operation, ops, places_of,
                                        standardize_dtype, tensor)


def _symbolic(x):
    return convert.is_keras_tensor(x)


def convert_to_tensor(x, dtype=None, sparse=None, ragged=None):
    """Return something as a tensor.

    Parameters
    ----------
    x : Any
        A tensor, a variable, an array, a number, or lists of them.
    dtype : str, optional
        The dtype to have; without it, arrays keep theirs.
    sparse, ragged : bool, optional
        False makes a dense tensor of a sparse or ragged one.

    Returns
    -------
    Tensor
        The tensor.

    Examples
    --------
    >>> x = keras.ops.convert_to_tensor([1.0, 2.0], dtype="float32")
    >>> keras.ops.is_tensor(x), tuple(x.shape)
    (True, (2,))

    """
    if _symbolic(x):
        return x if dtype is None else cast(x, dtype)
    return convert.convert_to_tensor(x, dtype, sparse, ragged)


def convert_to_numpy(x):
    """Return a tensor's numbers as a NumPy array.

    Parameters
    ----------
    x : Tensor
        The tensor.

    Returns
    -------
    numpy.ndarray
        Of the same shape and dtype.

    Examples
    --------
    >>> keras.ops.convert_to_numpy(keras.ops.ones((2,)))
    array([1., 1.], dtype=float32)

    """
    return convert.convert_to_numpy(x)


def is_tensor(x):
    """Return whether something is a tensor with numbers."""
    return convert.is_tensor(x)


def shape(x):
    """Return the sizes of a tensor; None for those that are not known.

    Parameters
    ----------
    x : Tensor
        Whose shape is asked for.

    Returns
    -------
    Tuple[Optional[int], ...]
        A size for each axis.

    Examples
    --------
    >>> keras.ops.shape(np.zeros((2, 3)))
    (2, 3)

    """
    return tuple(x.shape) if hasattr(x, "shape") else tuple(tensor(x).shape)


def dtype(x):
    """Return the name of a tensor's dtype."""
    return standardize_dtype(x.dtype)


@operation(keeps_zeros=True)
def cast(x, dtype):
    """Return a tensor in another dtype.

    Parameters
    ----------
    x : Tensor
        The elements.
    dtype : str
        Such as "float32".

    Returns
    -------
    Tensor
        Of the same shape.

    Examples
    --------
    >>> np.asarray(keras.ops.cast(np.array([1.7, -1.7]), "int32"))
    array([ 1, -1], dtype=int32)

    """
    x, dtype = tensor(x), standardize_dtype(dtype)
    if "complex" in dtype_of(x) and "complex" not in dtype:
        x = ops.real(x)
    return cast_to(x, dtype)


# The bounds of integer dtypes, for casts that keep to them.
_BOUNDS = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-2 ** 15, 2 ** 15 - 1), "int32": (-2 ** 31, 2 ** 31 - 1)}


@operation
def saturate_cast(x, dtype):
    """Return a tensor in another dtype, numbers beyond its bounds as the bound."""
    x, dtype = tensor(x), standardize_dtype(dtype)
    bounds = _BOUNDS.get(dtype)
    if dtype in ("float16", "bfloat16") and "float" in dtype_of(x):
        most = 65504.0 if dtype == "float16" else 3.3895313892515355e38
        x = ops.clamp(x, -most, most)
    elif bounds is not None and dtype_of(x) != "bool":
        own = _BOUNDS.get(dtype_of(x), (-2 ** 63, 2 ** 63 - 1))
        low, high = max(bounds[0], own[0]), min(bounds[1], own[1])
        if "float" in dtype_of(x):
            # 2^31 - 1 is no float32: what rounds up to it is put right afterwards.
            over = ops.ge(x, float(high))
            made = ops.cast(ops.where(over, 0.0, ops.clamp(x, float(low), float(high))), dtype)
            return ops.where(over, high, made)
        x = ops.clamp(x, low, high)
    elif dtype == "bool":
        x = ops.clamp(x, 0, 1)
    return cast_to(x, dtype)


@operation
def stop_gradient(variable):
    """Return a tensor through which no gradient flows."""
    return tensor(variable).detach()


@operation(moves=(0,))
def unstack(x, num=None, axis=0):
    """Return the slices along an axis.

    Parameters
    ----------
    x : Tensor
        The elements.
    num : int, optional
        How many there are.
    axis : int, optional, default=0
        The axis.

    Returns
    -------
    List[Tensor]
        Views.

    """
    x = tensor(x)
    axis = canonical_axis(axis, x.ndim)
    if num is not None and num != x.shape[axis]:
        raise ValueError(f"unstack: `num` must be the size of the axis. Received: num={num}, x.shape={tuple(x.shape)}, "
                         f"axis={axis}")
    return list(ops.unbind(x, axis))


def _unstacked(self, x):
    """Return the symbolic slices: as many as are told where the axis has no known size."""
    config = self.get_config()
    axis, count = canonical_axis(config.get("axis", 0), x.ndim), config.get("num")
    if x.shape[axis] is not None:
        return super(unstack.operation, self).compute_output_spec(x)
    if count is None:
        raise ValueError(f"Cannot infer argument `num` from shape {x.shape}. Either provide a tensor whose size along "
                         f"axis {axis} is known, or pass `num`.")
    return [KerasTensor(x.shape[:axis] + x.shape[axis + 1:], dtype=x.dtype) for _ in range(count)]


unstack.operation.compute_output_spec = _unstacked


def _starts(start_indices, rank):
    """Return the places where a piece begins: ints, or a tensor of them when they are no plain numbers."""
    if isinstance(start_indices, _C.Tensor):
        starts, count = places_of(start_indices, "start_indices"), math.prod(start_indices.shape)
    else:
        starts = list(start_indices)
        count = len(starts)
        if any(isinstance(place, _C.Tensor) for place in starts):
            starts = ops.stack([cast_to(places_of(place, "start_indices"), "int64") for place in starts])
        else:
            starts = [as_axis(place, "start_indices") for place in starts]
    if count != rank:
        raise ValueError("The number of dimensions in `start_indices` must match the number of dimensions in `inputs`. "
                         f"Received: {rank} and start_indices={start_indices}")
    return starts


@operation(moves=(0,))
def slice(inputs, start_indices, shape):
    """Return a piece of a tensor.

    Parameters
    ----------
    shape : Sequence[int]
        Its sizes; -1 for all that follow.

    Returns
    -------
    Tensor
        The piece.

    """
    inputs, sizes = tensor(inputs), list(concrete(shape))
    starts = _starts(start_indices, inputs.ndim)
    if len(sizes) != inputs.ndim:
        raise ValueError("The number of dimensions in `inputs` must match the number of dimensions in `shape`. "
                         f"Received: inputs.shape={tuple(inputs.shape)}, shape={tuple(sizes)}")
    if isinstance(starts, _C.Tensor):
        for axis, size in enumerate(sizes):
            start = ops.cast(ops.select(starts, 0, axis), "int64")
            places = ops.add(ops.arange(inputs.shape[axis] if size == -1 else size), start)
            inputs = ops.index_select(inputs, axis, places)
        return inputs
    for axis, (start, size) in enumerate(zip(starts, sizes)):
        size = inputs.shape[axis] - start if size == -1 else size
        if start < 0 or start + size > inputs.shape[axis]:
            raise ValueError("slice: the piece must lie in the tensor. Received: "
                             f"start_indices={starts}, shape={tuple(sizes)}, inputs.shape={tuple(inputs.shape)}")
        inputs = ops.narrow(inputs, axis, start, size)
    return inputs


@operation
def slice_update(inputs, start_indices, updates):
    """Return a tensor with a piece of it replaced.

    Parameters
    ----------
    updates : Tensor
        The piece.

    """
    inputs, updates = tensor(inputs), tensor(updates)
    updates, starts = cast_to(updates, dtype_of(inputs)), _starts(start_indices, inputs.ndim)
    if updates.ndim != inputs.ndim or any(size > room for size, room in zip(updates.shape, inputs.shape)):
        raise ValueError("slice_update: `updates` must fit into `inputs`. "
                         f"Received: updates.shape={tuple(updates.shape)}, inputs.shape={tuple(inputs.shape)}")
    places = []
    for axis, size in enumerate(updates.shape):
        room = inputs.shape[axis] - size
        if isinstance(starts, _C.Tensor):
            start = ops.clamp(ops.cast(ops.select(starts, 0, axis), "int64"), 0, room)
        else:
            start = min(max(starts[axis], 0), room)
        line = ops.add(ops.arange(size, dtype="int64"), start)
        places.append(ops.reshape(line, (-1,) + (1,) * (updates.ndim - axis - 1)))
    return ops.index_put(inputs, places, updates)


def _places(indices):
    """Return indices of rows [..., depth] as a list of one index per axis."""
    return list(ops.unbind(cast_to(places_of(indices), "int64"), -1))


@operation
def scatter(indices, values, shape):
    """Return zeros to which values are added at places.

    Parameters
    ----------
    values : Tensor
        What is added there.
    shape : Sequence[int]
        The shape of the result.

    """
    values = tensor(values)
    return ops.index_put(ops.zeros(concrete(shape), dtype=dtype_of(values)), _places(indices), values, True,
                         from_end=False)


@operation
def scatter_update(inputs, indices, updates, reduction=None):
    """Return a tensor with other elements at places.

    Parameters
    ----------
    updates : Tensor
        What is put there.
    reduction : str, optional
        How it meets what is there: "add", "max", "min" or "mul"; by default it takes its place.

    """
    if reduction not in (None, "add", "max", "min", "mul"):
        raise ValueError(f"Unsupported reduction. Received: reduction={reduction}")
    inputs, places = tensor(inputs), _places(indices)
    updates = cast_to(tensor(updates), dtype_of(inputs))
    if reduction in (None, "add"):
        return ops.index_put(inputs, places, updates, reduction == "add", from_end=False)
    # One index into the rows that the places point to, read where the rows are counted.
    depth, step = len(places), 1
    for size in inputs.shape[:depth]:
        step *= size
    row = ops.index(ops.reshape(ops.arange(step, dtype="int64"), inputs.shape[:depth]), places, from_end=False)
    flat = ops.reshape(inputs, (step, *inputs.shape[depth:]))
    updates = ops.reshape(updates, (-1, *inputs.shape[depth:]))
    how = {"max": "amax", "min": "amin", "mul": "prod"}[reduction]
    return ops.reshape(ops.index_reduce(flat, 0, ops.reshape(row, (-1,)), updates, how), inputs.shape)
