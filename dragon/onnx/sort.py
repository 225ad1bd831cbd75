"""Order along an axis, and searching in what is ordered."""
import numpy

from dragon.onnx.index import as_int64
from dragon.onnx.size import Size
from dragon.onnx.table import maps, row_function
from dragon.onnx.writer import FLOATING, common_dtype

NARROW = {"bool": "int32", "int8": "int32", "int16": "int32", "uint8": "int32"}


@row_function
def ordered(w, x, count, axis, largest, in_order=True):
    """Return the first places of an axis in order, and where they were."""
    if x.ndim == 0:
        return x, w.constant(0, "int64")
    y = w.cast(x, NARROW.get(x.dtype, x.dtype))
    values, places = w.TopK(y, [count], axis=axis % x.ndim, largest=int(largest), sorted=int(in_order), outputs=2)
    return values, places


def nth(w, x, number, axis, keepdims):
    """Return the number-th smallest element of an axis, counted from 0, and its place."""
    if x.ndim == 0:
        return x, w.constant(0, "int64")
    number = w.constant([number], "int64") if isinstance(number, int) else number
    values, places = ordered(w, x, w.Add(number, 1), axis, False)
    index = number if keepdims else w.Squeeze(number, [0])
    return w.Gather(values, index, axis=axis % x.ndim), w.Gather(places, index, axis=axis % x.ndim)


@maps("kthvalue")
def kthvalue(w, x, k, axis, keepdims):
    return nth(w, x, w.size(k - 1) if isinstance(k, Size) else k - 1, axis, keepdims)


@maps("median_axis")
def median_axis(w, x, axis, keepdims):
    size = x.shape[axis] if x.ndim else 1
    middle = w.Div(w.Sub(w.size(size), 1), 2) if isinstance(size, Size) else (size - 1) // 2
    return nth(w, x, middle, axis, keepdims)


@maps("nanmedian_axis")
def nanmedian_axis(w, x, axis, keepdims):
    """NaN counts as the largest; the middle is that of the other elements of each row."""
    if x.ndim == 0:
        return x, w.constant(0, "int64")
    axis %= x.ndim
    nan = w.IsNaN(x)
    numbers = w.Where(nan, w.constant(numpy.inf, x.dtype), x)
    numbers.shape = x.shape
    values, places = ordered(w, numbers, x.shape[axis], axis, False)
    count = w.ReduceSum(w.cast(w.Not(nan), "int64"), [axis], keepdims=1)
    middle = w.Div(w.Max(w.Sub(count, 1), 0), 2)
    value, place = (w.GatherElements(found, middle, axis=axis) for found in (values, places))
    value = w.Where(w.Equal(count, 0), w.constant(numpy.nan, x.dtype), value)
    return (value, place) if keepdims else (w.Squeeze(value, [axis]), w.Squeeze(place, [axis]))


@maps("mode")
def mode(w, x, axis, keepdims):
    """Count how often each element occurs by comparing all pairs of an axis."""
    if x.ndim == 0:
        return x, w.constant(0, "int64")
    axis %= x.ndim
    y = w.cast(x, NARROW.get(x.dtype, x.dtype))
    same = w.Equal(w.Unsqueeze(y, [axis + 1]), w.Unsqueeze(y, [axis]))
    often = w.ReduceSum(w.cast(same, "int64"), [axis + 1], keepdims=0)
    most = w.Equal(often, w.ReduceMax(often, [axis], keepdims=1))
    highest = w.ReduceMax(y, [axis], keepdims=1)
    value = w.ReduceMin(w.Where(most, y, highest), [axis], keepdims=1)
    place = w.ArgMax(w.cast(w.Equal(y, value), "int32"), axis=axis, keepdims=int(keepdims), select_last_index=1)
    return value if keepdims else w.Squeeze(value, [axis]), place


@maps("searchsorted")
def searchsorted(w, sorted_sequence, x, out_int32, right, side, sorter):
    """The place of a value is how many elements come before it."""
    dtype = common_dtype([sorted_sequence, x])
    edges = w.cast(sorted_sequence, dtype)
    if sorter is not None:
        edges = w.GatherElements(edges, as_int64(w, sorter), axis=-1)
    if sorted_sequence.ndim > 1:
        edges = w.Unsqueeze(edges, [sorted_sequence.ndim - 1])
    values = w.Unsqueeze(w.cast(x, dtype), [x.ndim])
    before = w.LessOrEqual(edges, values) if right or side == "right" else w.Less(edges, values)
    if dtype in FLOATING:
        before = w.Or(before, w.IsNaN(values))
    return w.ReduceSum(w.cast(before, "int64"), [-1], keepdims=0)


@maps("unique")
def unique(w, x, sorted, return_inverse, return_counts, axis):
    values, first, inverse, counts = w.Unique(w.cast(x, NARROW.get(x.dtype, x.dtype)), axis=axis, sorted=1, outputs=4)
    nothing = w.constant(numpy.zeros(0, "int64"))
    inverse = inverse if axis is not None else w.reshape(inverse, x.shape)
    return values, inverse if return_inverse else nothing, counts if return_counts else nothing


@maps("bincount")
def bincount(w, x, weights, minlength):
    if x.is_float:
        w.refuse("counting floats")
    number = as_int64(w, x)
    last = w.Max(w.Add(w.ReduceMax(w.Concat(number, w.constant([-1], "int64"), axis=0), [0], keepdims=1), 1),
                 w.constant([minlength], "int64"))
    empty = w.Expand(w.constant(0, w.out.dtype), last)
    ones = w.cast(weights, w.out.dtype) if weights is not None else w.expand(w.constant(1, w.out.dtype), x.shape)
    return w.ScatterElements(empty, number, ones, axis=0, reduction="add")
