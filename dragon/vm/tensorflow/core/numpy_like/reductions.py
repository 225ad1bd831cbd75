"""NumPy's functions that make fewer numbers of many."""
from dragon.vm.guest import named
from dragon.vm.keras import ops as kops
from dragon.vm.shared.tensors.dtypes import OBJECTS, as_dtype
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow.core.numpy_like.promotion import counting, inexact, to_tensor, together

BOOL = OBJECTS["bool"]


def _axes(axis):
    """Return axes as Python's numbers."""
    if axis is None or isinstance(axis, int):
        return axis
    axis = axis.numpy().tolist() if hasattr(axis, "numpy") else axis
    return tuple(int(one) for one in axis) if isinstance(axis, (list, tuple)) else int(axis)


def _refuse_out(out):
    if out is not None:
        raise ValueError("Setting out is not supported.")


def _counted(name):
    run = getattr(kops, name)

    def function(a, axis=None, dtype=None, keepdims=None):
        a = to_tensor(a)
        wide = ops.cast(a, counting(a.dtype) if dtype is None else as_dtype(dtype))
        return ops.cast(run(wide, axis=_axes(axis), keepdims=bool(keepdims)), wide.dtype)
    return named(function, name, f"Return NumPy's `{name}` along axes, of integers as int64.")


sum, prod = _counted("sum"), _counted("prod")
nansum, nanprod = _counted("nansum"), _counted("nanprod")


def _extreme(name):
    run = getattr(kops, name)

    def function(a, axis=None, keepdims=None):
        return run(to_tensor(a), axis=_axes(axis), keepdims=bool(keepdims))
    return named(function, name, f"Return NumPy's `{name}` along axes.")


max, min, ptp = _extreme("max"), _extreme("min"), _extreme("ptp")


def amax(a, axis=None, out=None, keepdims=None):
    """Return the largest numbers along axes."""
    _refuse_out(out)
    return max(a, axis, keepdims)


def amin(a, axis=None, out=None, keepdims=None):
    """Return the smallest numbers along axes."""
    _refuse_out(out)
    return min(a, axis, keepdims)


def all(a, axis=None, keepdims=None):
    """Return whether all numbers along axes are other than zero."""
    return kops.all(ops.cast(to_tensor(a), BOOL), axis=_axes(axis), keepdims=bool(keepdims))


def any(a, axis=None, keepdims=None):
    """Return whether a number along axes is other than zero."""
    return kops.any(ops.cast(to_tensor(a), BOOL), axis=_axes(axis), keepdims=bool(keepdims))


def mean(a, axis=None, dtype=None, out=None, keepdims=None):
    """Return the means along axes."""
    _refuse_out(out)
    a = to_tensor(a)
    a = ops.cast(a, inexact(a.dtype) if dtype is None else as_dtype(dtype))
    return kops.mean(a, axis=_axes(axis), keepdims=bool(keepdims))


def nanmean(a, axis=None, dtype=None, keepdims=None):
    """Return the means along axes of the numbers that are numbers."""
    a = to_tensor(a)
    return kops.nanmean(ops.cast(a, inexact(a.dtype) if dtype is None else as_dtype(dtype)), axis=_axes(axis),
                        keepdims=bool(keepdims))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None):
    """Return the variances along axes, over as many numbers as there are but `ddof`."""
    _refuse_out(out)
    a = to_tensor(a)
    wide = ops.cast(a, inexact(a.dtype) if dtype is None else inexact(as_dtype(dtype)))
    found = kops.var(wide, axis=_axes(axis), keepdims=bool(keepdims))
    if ddof:
        total = 1
        for size in a.shape:
            total *= size
        kept = 1
        for size in found.shape:
            kept *= size
        count = total // (kept or 1)
        found = ops.mul(found, count / (count - ddof) if count != ddof else float("nan"))
    return found if dtype is None else ops.cast(found, as_dtype(dtype))


def std(a, axis=None, keepdims=None):
    """Return the roots of the variances along axes."""
    return ops.sqrt(var(a, axis, keepdims=keepdims))


def average(a, axis=None, weights=None, returned=False):
    """Return the means along an axis with weights; also the sums of weights, where `returned` says so."""
    axis = _axes(axis)
    if isinstance(axis, tuple):
        raise ValueError(f"`axis` must be an integer. Received: axis={axis}")
    if weights is None:
        a = to_tensor(a)
        found = mean(a, axis)
        count = 1
        for size in (a.shape if axis is None else [a.shape[axis]]):
            count *= size
        return (found, ops.full_like(found, count)) if returned else found
    a, weights = together(a, weights, change=inexact)
    if tuple(a.shape) != tuple(weights.shape):
        if axis is None or weights.ndim != 1 or weights.shape[0] != a.shape[axis]:
            raise ValueError(f"average: weights must have the shape of `a`, or that of its axis. Received: "
                             f"{weights.shape} for {a.shape}, axis={axis}")
        shape = [1] * a.ndim
        shape[axis] = weights.shape[0]
        weights = ops.broadcast_to(ops.reshape(weights, shape), tuple(a.shape))
    total = kops.sum(weights, axis)
    found = ops.div(kops.sum(ops.mul(a, weights), axis), total)
    return (found, total) if returned else found


def _placed(name):
    run = getattr(kops, name)

    def function(a, axis=None):
        return ops.cast(run(to_tensor(a), axis=_axes(axis)), "int64")
    return named(function, name, f"Return NumPy's `{name}` along an axis, or of all numbers.")


argmax, argmin, count_nonzero = _placed("argmax"), _placed("argmin"), _placed("count_nonzero")


def _running(name):
    run = getattr(kops, name)

    def function(a, axis=None, dtype=None):
        a = to_tensor(a)
        a = ops.cast(a, counting(a.dtype) if dtype is None else as_dtype(dtype))
        return run(ops.reshape(a, (-1,)) if axis is None else a, axis=0 if axis is None else _axes(axis))
    return named(function, name, f"Return NumPy's `{name}` along an axis, or of all numbers.")


cumsum, cumprod = _running("cumsum"), _running("cumprod")


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """Return the sums of diagonals."""
    a = to_tensor(a)
    found = kops.sum(kops.diagonal(a, offset, axis1, axis2), -1)
    return ops.cast(found, a.dtype if dtype is None else as_dtype(dtype))
