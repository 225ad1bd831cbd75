"""Elements in order, and what is found by it: quantiles, medians, unique elements."""
from dragon.vm.keras.ops.common import canonical_axis, cast_to, dtype_of, in_floats, operation, ops, result_type, tensor


def _row(x, axis):
    return (ops.reshape(x, (-1,)), 0) if axis is None else (x, axis)


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


_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile_last(x, q, method):
    """Return quantiles along the last axis, those of each of `q` in front."""
    size = x.shape[-1]
    rising = ops.sort(x, -1)[0]
    place = ops.mul(cast_to(q, "float64"), size - 1)

    def at(place):
        found = ops.index_select(rising, -1, ops.clamp(cast_to(ops.reshape(place, (-1,)), "int64"), 0, size - 1))
        return ops.squeeze(found, -1) if not q.ndim else ops.moveaxis(found, -1, 0)
    if method == "nearest":
        y = at(ops.round(place))
    elif method in ("lower", "higher"):
        y = at(ops.floor(place) if method == "lower" else ops.ceil(place))
    elif method == "midpoint":
        y = ops.mul(ops.add(at(ops.floor(place)), at(ops.ceil(place))), 0.5)
    else:
        above = ops.clamp(ops.ceil(place), 0, size - 1)
        below = ops.clamp(ops.sub(above, 1), 0, None)
        above = ops.clamp(ops.add(below, 1), None, size - 1)
        share = cast_to(ops.sub(above, place), dtype_of(x))
        share = ops.reshape(share, (*share.shape, *[1] * (x.ndim - 1))) if q.ndim else share
        y = ops.add(ops.mul(at(above), ops.sub(1, share)), ops.mul(at(below), share))
    return ops.where(ops.any(ops.isnan(x), -1), float("nan"), y)


def _reduce_last(x, axis):
    """Return a tensor with the axes to reduce as its last one, and the shape that keeps them."""
    axes = list(range(x.ndim)) if axis is None else sorted(
        canonical_axis(item, x.ndim) for item in (axis if isinstance(axis, (list, tuple)) else [axis]))
    others = [item for item in range(x.ndim) if item not in axes]
    kept = [1 if item in axes else size for item, size in enumerate(x.shape)]
    moved = ops.permute(x, others + axes)
    return ops.reshape(moved, (*[x.shape[item] for item in others], -1)), kept


def _quantiles(compute, x, q, axis, method, keepdims):
    if method not in _METHODS:
        raise ValueError(f"Invalid method. Expected one of {_METHODS}. Received: method={method}")
    x, q = tensor(x), tensor(q)
    if q.ndim > 1:
        raise ValueError(f"`q` must be a number or a row. Received: q.shape={tuple(q.shape)}")
    x = cast_to(x, result_type(dtype_of(x), float))
    rows, kept = _reduce_last(x, axis)
    y = compute(rows, q, method)
    return ops.reshape(y, (*q.shape, *kept)) if keepdims else y


@operation
def quantile(x, q, axis=None, method="linear", keepdims=False):
    """Return the numbers below which given shares of the elements lie.

    Parameters
    ----------
    x : Tensor
        The elements.
    q : Union[float, Tensor]
        Shares between 0 and 1.
    axis : Union[int, Sequence[int]], optional
        The axes to reduce; all by default.
    method : str, optional, default="linear"
        What is taken between two elements: "linear", "lower", "higher", "midpoint" or "nearest".
    keepdims : bool, optional, default=False
        Whether reduced axes stay, with size 1.

    Returns
    -------
    Tensor
        With the axis of `q` in front, if it has one.

    """
    return _quantiles(_quantile_last, x, q, axis, method, keepdims)


@operation
def percentile(x, q, axis=None, method="linear", keepdims=False):
    """Return quantiles of shares between 0 and 100; the arguments are those of `quantile`."""
    return _quantiles(_quantile_last, x, ops.div(tensor(q, "float32"), 100.0), axis, method, keepdims)


@operation
def median(x, axis=None, keepdims=False):
    """Return the number below which half of the elements lie.

    Parameters
    ----------
    x : Tensor
        The elements.
    axis : Union[int, Sequence[int]], optional
        The axes to reduce; all by default.
    keepdims : bool, optional, default=False
        Whether reduced axes stay, with size 1.

    Returns
    -------
    Tensor
        Floating numbers.

    """
    return _quantiles(_quantile_last, x, 0.5, axis, "linear", keepdims)


def nan_quantiles(x, q, axis, method, keepdims):
    """Return quantiles of the elements that are no NaN."""
    def compute(rows, q, method):
        return ops.nanquantile(rows, cast_to(q, dtype_of(rows)), -1, interpolation=method)
    compute = in_floats(compute)
    return _quantiles(compute, x, q, axis, method, keepdims)


@operation
def unique(x, sorted=True, return_index=False, return_inverse=False, return_counts=False, axis=None, size=None,
           fill_value=None):
    """Return each element, or each slice along an axis, once.

    Parameters
    ----------
    x : Tensor
        The elements.
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
