"""Quantiles, percentiles and medians, with NaN and without."""
from dragon.vm.keras.ops.common import (canonical_axis, cast_to, dtype_of, in_floats, operation, ops, publish,
                                        result_type, tensor)

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
    q : Union[float, Tensor]
        Shares between 0 and 1.
    method : str, optional, default="linear"
        What is taken between two elements: "linear", "lower", "higher", "midpoint" or "nearest".

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
    """Return the number below which half of the elements lie. ...

    Returns
    -------
    Tensor
        Floating numbers.

    """
    return _quantiles(_quantile_last, x, 0.5, axis, "linear", keepdims)


def _nan_quantiles(x, q, axis, method, keepdims):
    """Return quantiles of the elements that are no NaN."""
    def compute(rows, q, method):
        def found(method):
            return ops.nanquantile(rows, cast_to(q, dtype_of(rows)), -1, interpolation=method)
        if method not in ("linear", "midpoint"):
            return found(method)
        # Between infinity and itself lies infinity.
        below, above = found("lower"), found("higher")
        return ops.where(ops.eq(below, above), below, found(method))
    compute = in_floats(compute)
    return _quantiles(compute, x, q, axis, method, keepdims)


nanmedian = publish(
    lambda x, axis=None, keepdims=False: _nan_quantiles(x, 0.5, axis, "linear", keepdims),
    "nanmedian", "Return the median of elements that are no NaN.")


@operation
def nanquantile(x, q, axis=None, method="linear", keepdims=False):
    """Return quantiles of elements that are no NaN; the arguments are those of `quantile`."""
    return _nan_quantiles(x, q, axis, method, keepdims)


@operation
def nanpercentile(x, q, axis=None, method="linear", keepdims=False):
    """Return percentiles of elements that are no NaN; the arguments are those of `percentile`."""
    return _nan_quantiles(x, ops.div(tensor(q, "float32"), 100.0), axis, method, keepdims)
