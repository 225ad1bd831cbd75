"""Sums, means, extremes and spreads along axes."""
import numpy as np

from dragon.vm.dali.core.kinds import to_numpy_type
from dragon.vm.dali.core.operators.values import axes_of, convert
from dragon.vm.dali.core.schema import Laid, operator


def _reduce(function, data, axes, axis_names, keep_dims, layout):
    chosen = tuple(axes_of(layout, data.ndim, axes, axis_names))
    made = function(data, chosen, keep_dims)
    left = layout if keep_dims else "".join(letter for axis, letter in enumerate(layout) if axis not in chosen)
    return Laid(made, left if len(layout) == data.ndim else "")


def _sum_type(kind):
    return {"u": np.dtype(np.uint64), "i": np.dtype(np.int64), "b": np.dtype(np.uint64)}.get(kind.kind, kind)


def _real(data, dtype):
    return np.dtype(to_numpy_type(dtype)) if dtype is not None else np.dtype(
        data.dtype if data.dtype.kind == "f" else np.float32)


@operator("reductions.sum")
def total(data, *, axes=None, axis_names=None, keep_dims=False, dtype=None, context):
    """Return the sum."""
    kind = _sum_type(data.dtype) if dtype is None else np.dtype(to_numpy_type(dtype))
    wide = np.float64 if kind.kind == "f" else kind
    return _reduce(lambda x, axis, keep: x.sum(axis, wide, keepdims=keep).astype(kind), data, axes, axis_names,
                   keep_dims, context.layout)


@operator("reductions.mean")
def mean(data, *, axes=None, axis_names=None, keep_dims=False, dtype=None, context):
    """Return the mean."""
    return _reduce(lambda x, axis, keep: convert(x.mean(axis, np.float64, keepdims=keep), _real(data, dtype)), data,
                   axes, axis_names, keep_dims, context.layout)


@operator("reductions.mean_square")
def mean_square(data, *, axes=None, axis_names=None, keep_dims=False, dtype=None, context):
    """Return the mean of squares."""
    return _reduce(lambda x, axis, keep: convert((x.astype(np.float64) ** 2).mean(axis, keepdims=keep),
                                                 _real(data, dtype)), data, axes, axis_names, keep_dims, context.layout)


@operator("reductions.rms")
def rms(data, *, axes=None, axis_names=None, keep_dims=False, dtype=None, context):
    """Return the root of the mean of squares."""
    return _reduce(lambda x, axis, keep: convert(np.sqrt((x.astype(np.float64) ** 2).mean(axis, keepdims=keep)),
                                                 _real(data, dtype)), data, axes, axis_names, keep_dims, context.layout)


def _extreme(function, of_none):
    """Return how an extreme is found: NaN counts for nothing, and of nothing it is the other end of the type."""
    def reduce(x, axis, keep):
        if x.size or x.dtype == np.bool_:
            return function.reduce(x, axis, keepdims=keep)
        info = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
        return function.reduce(x, axis, keepdims=keep, initial=getattr(info, of_none))
    return reduce


@operator("reductions.min")
def least(data, *, axes=None, axis_names=None, keep_dims=False, context):
    """Return the least value."""
    return _reduce(_extreme(np.fmin, "max"), data, axes, axis_names, keep_dims, context.layout)


@operator("reductions.max")
def most(data, *, axes=None, axis_names=None, keep_dims=False, context):
    """Return the greatest value."""
    return _reduce(_extreme(np.fmax, "min"), data, axes, axis_names, keep_dims, context.layout)


def _spread(data, middle, axes, axis_names, ddof, keep_dims, layout, root):
    chosen = tuple(axes_of(layout, data.ndim, axes, axis_names))
    center = middle.astype(np.float64)
    if center.ndim < data.ndim and center.ndim:
        center = np.expand_dims(center, chosen)

    def spread(x, axis, keep):
        count = int(np.prod([x.shape[one] for one in axis]))
        square = ((x - center) ** 2).sum(axis, keepdims=keep) / max(count - ddof, 1)
        return convert(np.sqrt(square) if root else square, _real(data, None))
    return _reduce(spread, data, list(chosen), None, keep_dims, layout)


@operator("reductions.std_dev")
def std_dev(data, mean, *, axes=None, axis_names=None, ddof=0, keep_dims=False, context):
    """Return the standard deviation from a given mean."""
    return _spread(data, mean, axes, axis_names, ddof, keep_dims, context.layout, root=True)


@operator("reductions.variance")
def variance(data, mean, *, axes=None, axis_names=None, ddof=0, keep_dims=False, context):
    """Return the variance about a given mean."""
    return _spread(data, mean, axes, axis_names, ddof, keep_dims, context.layout, root=False)
