"""Elements by their places, and places of elements."""
import math

from dragon import _C
from dragon.core.capture.shape_inference import count_by_numbers
from dragon.vm.keras.ops.common import (as_axis, as_told, canonical_axis, cast_to, concrete, counted_places, dtype_of,
                                        join, named, operation, ops, places_of, result_type, tensor)


@operation(moves=(0,))
def take(x, indices, axis=None):
    """Return the places of an axis that indices name.

    Parameters
    ----------
    indices : Tensor
        Places; negative ones count from the end.

    Returns
    -------
    Tensor
        With the axes of `indices` in place of the axis.

    Examples
    --------
    >>> np.asarray(keras.ops.take(np.array([10, 20, 30]), np.array([2, 0])))
    array([30, 10])

    """
    x = tensor(x)
    x, axis = (ops.reshape(x, (-1,)), 0) if axis is None else (x, canonical_axis(axis, x.ndim))
    if isinstance(indices, int):
        return ops.select(x, axis, indices)
    indices = counted_places(places_of(indices), x.shape[axis])
    if axis == 0 and x.ndim == 2:
        return ops.embedding(x, indices)
    found = ops.index_select(x, axis, ops.reshape(indices, (-1,)))
    return found if indices.ndim == 1 else ops.reshape(
        found, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]))


@operation(moves=(0,))
def take_along_axis(x, indices, axis=None):
    """Return for each index the element at that place of the axis.

    Parameters
    ----------
    indices : Tensor
        Places; the other axes are broadcast.

    Returns
    -------
    Tensor
        In the shape of `indices`.

    """
    x, indices = tensor(x), cast_to(tensor(indices), "int64")
    if axis is None:
        if indices.ndim != 1:
            raise ValueError(f"`indices` must be 1D if axis=None. Received: indices.shape={tuple(indices.shape)}")
        x, axis = ops.reshape(x, (-1,)), 0
    axis = canonical_axis(axis, x.ndim)
    if x.ndim != indices.ndim:
        raise ValueError("`x` and `indices` must have the same number of dimensions. "
                         f"Received: x.shape={tuple(x.shape)}, indices.shape={tuple(indices.shape)}")
    indices = counted_places(indices, x.shape[axis])
    sizes = [max(pair) if 0 not in pair else 0 for pair in zip(x.shape, indices.shape)]
    x = ops.broadcast_to(x, [x.shape[item] if item == axis else size for item, size in enumerate(sizes)])
    indices = ops.broadcast_to(indices, [indices.shape[item] if item == axis else size
                                         for item, size in enumerate(sizes)])
    return ops.gather(x, axis, indices)


@operation(moves=(1, 2))
def where(condition, x1=None, x2=None):
    """Return elements of `x1` where a condition holds, of `x2` elsewhere.

    Parameters
    ----------
    condition : Tensor
        Truths.
    x1, x2 : Union[Tensor, number], optional
        The shapes are broadcast; without both, the places where the condition holds.

    Returns
    -------
    Union[Tensor, List[Tensor]]
        The elements, or a row of places for each axis.

    Examples
    --------
    >>> x = np.array([-1.0, 2.0], "float32")
    >>> np.asarray(keras.ops.where(x > 0, x, 0.0))
    array([0., 2.], dtype=float32)

    """
    condition = cast_to(tensor(condition), "bool")
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("`x1` and `x2` either both should be `None` or both should have non-None value. "
                         f"Received: x1={x1}, x2={x2}")
    return ops.where(condition, *join(x1, x2))


@operation
def select(condlist, choicelist, default=0):
    """Return for each place the first choice whose condition holds.

    Parameters
    ----------
    condlist : Sequence[Tensor]
        Truths.
    choicelist : Sequence[Tensor]
        As many choices.
    default : Union[Tensor, number], optional, default=0
        What stands where none holds.

    Returns
    -------
    Tensor
        The choices.

    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError("`condlist` and `choicelist` must be as long as each other, and not empty. "
                         f"Received: {len(condlist)} and {len(choicelist)} items")
    choices = [tensor(item) for item in choicelist]
    dtype = result_type(*map(dtype_of, choices), type(default) if isinstance(default, (int, float))
                        else dtype_of(tensor(default)))
    made = tensor(default, dtype)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        made = ops.where(cast_to(tensor(condition), "bool"), cast_to(choice, dtype), made)
    return made


@operation
def get_item(x, key):
    """Return x[key]: slices, numbers, None, an ellipsis, tensors of places or truths."""
    if isinstance(key, list) and any(isinstance(item, slice) or item in (None, Ellipsis) for item in key):
        key = tuple(key)  # as files of graphs have it
    key = tuple(map(_index, key)) if isinstance(key, tuple) else _index(key)
    return tensor(x)[key]


def _index(item):
    """Return one item of an index; lists are places, int32 places are those of int64."""
    if isinstance(item, list):
        item = tensor(item)
    if isinstance(item, _C.Tensor) and dtype_of(item) not in ("bool", "int64"):
        return ops.cast(item, "int64")
    return item


@operation
def searchsorted(sorted_sequence, values, side="left"):
    """Return where values would stand in a rising row.

    Parameters
    ----------
    sorted_sequence : Tensor
        The row.
    values : Tensor
        The values.
    side : str, optional, default="left"
        Whether before ("left") or after equal ones.

    Returns
    -------
    Tensor
        Places, as int32.

    """
    if side not in ("left", "right"):
        raise ValueError(f"`side` must be 'left' or 'right'. Received: side={side}")
    row, values = tensor(sorted_sequence), tensor(values)
    if row.ndim != 1:
        raise ValueError("`searchsorted` only supports 1-D sorted sequences. "
                         f"Received: sorted_sequence.shape={tuple(row.shape)}")
    dtype = result_type(dtype_of(row), dtype_of(values))
    return ops.searchsorted(cast_to(row, dtype), cast_to(values, dtype), out_int32=True, side=side)


@operation
def digitize(x, bins):
    """Return how many bounds of rising bins each element has reached, as int32."""
    if isinstance(bins, (list, tuple)) and any(after < before for before, after in zip(bins, bins[1:])):
        raise ValueError(f"digitize: bins must rise. Received: bins={bins}")
    x, bins = tensor(x), tensor(bins)
    if bins.ndim != 1:
        raise ValueError(f"digitize: bins must be a row. Received: bins.shape={tuple(bins.shape)}")
    whole = ["int" in dtype_of(item) for item in (x, bins)]
    # Integers have more digits than floats.
    dtype = "int64" if all(whole) else "float64" if any(whole) else result_type(dtype_of(x), dtype_of(bins), "float32")
    return ops.bucketize(cast_to(x, dtype), cast_to(bins, dtype), out_int32=True, right=True)


@operation
def bincount(x, weights=None, minlength=0, sparse=False):
    """Return how often each whole number occurs, in each row.

    Parameters
    ----------
    x : Tensor
        Numbers from 0 on: one axis, or two.
    weights : Tensor, optional
        What each of them counts.
    minlength : int, optional, default=0
        The least number of counts.

    Returns
    -------
    Tensor
        Counts.

    """
    x = cast_to(tensor(x), "int64")
    if x.ndim > 2:
        raise ValueError(f"bincount: x must have one axis or two. Received: x.shape={tuple(x.shape)}")
    x = x if x.ndim else ops.reshape(x, (1,))
    if weights is not None:
        weights = tensor(weights)
    dtype = "int32" if weights is None else result_type("int32", dtype_of(weights))
    if x.ndim == 1:
        return as_told(cast_to(ops.bincount(x, weights, as_axis(minlength or 0, "minlength")), dtype), sparse)
    # Each row counts in a range of its own.
    length = max(as_axis(minlength or 0, "minlength"), _count_of(x) if 0 not in x.shape else 0)
    places = ops.add(x, ops.mul(ops.unsqueeze(ops.arange(x.shape[0]), 1), length))
    weights = weights if weights is None else ops.reshape(weights, (-1,))
    counts = ops.bincount(ops.reshape(places, (-1,)), weights, length * x.shape[0])
    return as_told(cast_to(ops.reshape(counts, (x.shape[0], length)), dtype), sparse)


def _count_of(x):
    return count_by_numbers(lambda: int(ops.amax(x).item()) + 1)


@operation
def histogram(x, bins=10, range=None):
    """Return how many elements lie in bins of equal width.

    Parameters
    ----------
    x : Tensor
        The numbers.
    bins : int, optional, default=10
        How many bins.
    range : Tuple[number, number], optional
        The ends; the least and the largest number by default.

    Returns
    -------
    Tuple[Tensor, Tensor]
        Counts, and the bounds of the bins.

    """
    x = tensor(x)
    if not isinstance(bins, int) or bins <= 0:
        raise ValueError(f"Argument `bins` should be a positive integer. Received: bins={bins}")
    if range is not None and (len(range) != 2 or not range[0] < range[1]):
        raise ValueError(f"Argument `range` must be a tuple of two ascending elements. Received: range={range}")
    dtype = dtype_of(x)
    # The width of all bins together may be beyond 16 bits.
    work = "float32" if dtype in ("float16", "bfloat16") else dtype if "float" in dtype else "float64"
    wide = cast_to(x, work)
    low, high = (ops.amin(wide), ops.amax(wide)) if range is None else (tensor(end, dtype_of(wide)) for end in range)
    steps = ops.div(ops.sub(high, low), bins)
    edges = cast_to(ops.add(low, ops.mul(ops.arange(bins + 1, dtype=dtype_of(wide)), steps)), dtype)
    inside = ops.logical_and(ops.ge(wide, low), ops.le(wide, high))
    flat = ops.reshape(x, (-1,))
    places = ops.searchsorted(ops.narrow(edges, 0, 1, bins - 1), flat, right=True) if bins > 1 else \
        ops.zeros_like(flat, dtype="int64")
    counts = ops.scatter_add(ops.zeros((bins,), dtype="int64"), 0, places,
                             cast_to(ops.reshape(inside, (-1,)), "int64"))
    return cast_to(counts, dtype), edges


@operation
def unravel_index(indices, shape):
    """Return the place along each axis of elements whose places in one row are known.

    Parameters
    ----------
    indices : Tensor
        Places in one row.
    shape : Sequence[int]
        The sizes of the axes.

    Returns
    -------
    Tuple[Tensor, ...]
        One for each axis.

    """
    if None in shape:
        raise ValueError(f"`shape` argument cannot contain `None`. Received: shape={shape}")
    indices, places = tensor(indices), []
    for size in reversed(concrete(shape)):
        places.append(ops.remainder(indices, size))
        indices = ops.floor_divide(indices, size)
    return tuple(reversed(places))


nonzero = named(lambda x: [cast_to(row, "int32") for row in ops.nonzero_tuple(cast_to(tensor(x), "bool"))], "nonzero",
                "Return the places of elements that are not zero: a row for each axis, as int32.")
ndim = named(lambda x: tensor(x).ndim, "ndim", "Return how many axes a tensor has.")
size = named(lambda x: tensor(math.prod(tensor(x).shape), "int32"), "size",
             "Return how many elements a tensor has, as an int32 tensor.")
