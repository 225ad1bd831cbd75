"""Elements in order, and what is found by it: unique elements."""
from dragon.vm.keras.ops.common import canonical_axis, cast_to, dtype_of, operation, ops, tensor


def _row(x, axis):
    return (ops.reshape(x, (-1,)), 0) if axis is None else (x, canonical_axis(axis, x.ndim or 1))


@operation
def sort(x, axis=-1):
    """Return the elements along an axis in rising order; as one row for None."""
    x, axis = _row(tensor(x), axis)
    if dtype_of(x) == "bool":
        return cast_to(ops.sort(cast_to(x, "int8"), axis)[0], "bool")
    return ops.sort(x, axis)[0]


@operation
def argsort(x, axis=-1):
    """Return the places of elements in rising order, equal ones as they stand, as int32."""
    x, axis = _row(tensor(x), axis)
    x = cast_to(x, "uint8") if dtype_of(x) == "bool" else x
    if not x.ndim:
        return ops.zeros((1,), dtype="int32")
    return cast_to(ops.argsort(x, axis, False, True), "int32")


@operation
def argpartition(x, kth, axis=-1):
    """Return places of elements such that the one at `kth` is where sorting would put it.

    Parameters
    ----------
    x : Tensor
        The numbers.
    kth : int
        Which place is settled.
    axis : int, optional, default=-1
        Along which axis; as one row for None.

    Returns
    -------
    Tensor
        Places: those of the `kth + 1` smallest elements first, as int32.

    """
    x, axis = _row(tensor(x), axis)
    x = ops.moveaxis(cast_to(x, "uint8") if dtype_of(x) == "bool" else x, axis, -1)
    size = x.shape[-1]
    kth = canonical_axis(kth, size)
    order = cast_to(ops.argsort(x, -1, False, True), "int32")
    low, high = ops.narrow(order, -1, 0, kth + 1), ops.narrow(order, -1, kth + 1, size - kth - 1)
    # The rest falls, equal ones as they stand.
    high = ops.sort(high, -1)[0]
    falling = ops.argsort(ops.gather(x, -1, cast_to(high, "int64")), -1, True, True)
    found = ops.cat([low, ops.gather(high, -1, falling)], -1)
    return ops.moveaxis(found, -1, axis)


@operation
def unique(x, sorted=True, return_index=False, return_inverse=False, return_counts=False, axis=None, size=None,
           fill_value=None):
    """Return each element, or each slice along an axis, once.

    Parameters
    ----------
    sorted : bool, optional, default=True
        In rising order; they always are.
    return_index, return_inverse, return_counts : bool, optional, default=False
        Return where each stands first, which one each element is, and how often each occurs.
    axis : int, optional
        Compare slices along an axis; by default single elements.
    size : int, optional
        Cut or fill to so many.
    fill_value : number, optional
        What is filled in, by default 0.

    Returns
    -------
    Union[Tensor, Tuple[Tensor, ...]]
        The elements, then what was asked for, as int32.

    """
    x = tensor(x)
    wanted = ops.reshape(x, (-1,)) if axis is None else x
    along = 0 if axis is None else canonical_axis(axis, x.ndim)
    values, inverse, counts = ops.unique(wanted, True, True, True, None if axis is None else along)
    inverse, results = ops.reshape(inverse, (-1,)), []
    if return_index:
        places = ops.arange(inverse.shape[0], dtype="int64")
        start = ops.full((values.shape[along],), inverse.shape[0], dtype="int64")
        results.append(_fit(ops.scatter_reduce(start, 0, inverse, places, "amin"), 0, size, 1))
    if return_inverse:
        results.append(ops.reshape(inverse, x.shape) if axis is None else inverse)
    if return_counts:
        results.append(_fit(counts, 0, size, 0))
    values = _fit(values, along, size, 0 if fill_value is None else fill_value)
    return (values, *[cast_to(item, "int32") for item in results]) if results else values


def _fit(x, axis, size, value):
    """Return an axis cut or filled to a size."""
    if size is None or x.shape[axis] == size:
        return x
    if x.shape[axis] > size:
        return ops.narrow(x, axis, 0, size)
    return ops.pad(x, [0, 0] * (x.ndim - axis - 1) + [0, size - x.shape[axis]], "constant", value)
