"""Many elements become one: sums, extremes, places of extremes, running sums, segments."""
import collections
import math

from dragon import _C
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared.arrays.array import along, as_ints, check_axis, indices_of
from dragon.vm.shared.arrays.moving import is_ragged, is_text, take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, float32, int32, int64
from dragon.vm.shared.tensors.operators import BOOL, INTEGERS, refuse_dtype
from dragon.vm.shared.tensors.tensor import ops

# The engine's cross entropy leaves out one label, as PyTorch asks for; nobody's label is this one.
NOTHING_IGNORED = -2 ** 63


DOC = """Return {words} along axes; all by default.

Parameters
----------
input_tensor : Tensor
    {what}.
axis : Union[int, Sequence[int]], optional
    Which axes.
keepdims : bool, optional, default=False
    Whether they stay, with size 1.
name : str, optional
    Accepted.

Returns
-------
Tensor
    Without the axes, or with size 1 there.
"""
EXAMPLE = """
Examples
--------
>>> float(tf.{name}([[1.0, 2.0], [3.0, 4.0]]))
{whole}
>>> tf.{name}([[1.0, 2.0], [3.0, 4.0]], axis=0).numpy()
{rows}
"""


def _reduction(name, words, allowed, compute, whole="", rows=""):
    """Make a function that reduces axes; `whole` and `rows` are what it makes of [[1, 2], [3, 4]] and of its rows."""
    def function(input_tensor, axis=None, keepdims=False, name=None):
        if is_ragged(input_tensor):
            from dragon.vm.shared.ragged.math import reduce
            return reduce(function.__name__, input_tensor, axis, bool(keepdims))
        x = convert_to_tensor(input_tensor) if is_text(input_tensor) else take(input_tensor)
        if (x.dtype is BOOL) is not (allowed is BOOL) or not isinstance(x, _C.Tensor):
            raise refuse_dtype(function.__name__, x.dtype)
        return compute(*along(x, axis, keepdims))
    function.__name__ = function.__qualname__ = name
    example = EXAMPLE.format(name=name, whole=whole, rows=rows) if whole else ""
    function.__doc__ = DOC.format(words=words, what="Booleans" if allowed is BOOL else "Numbers") + example
    return function


def _count(x, axes):
    count = 1
    for place, size in enumerate(x.shape):
        if axes is None or place in axes:
            count *= size
    return count


def _prod(x, axes, keepdims):
    for place in sorted(range(x.ndim) if axes is None else axes, reverse=True):
        x = ops.prod(x, place, True, dtype=x.dtype)
    return x if keepdims else _drop(x, axes)


def _drop(x, axes):
    return ops.reshape(x, [size for place, size in enumerate(x.shape) if axes is not None and place not in axes])


def _mean(x, axes, keepdims):
    if x.dtype in INTEGERS:
        return ops.cast(ops.trunc_divide(ops.sum(x, axes, keepdims), max(_count(x, axes), 1)), x.dtype)
    return ops.mean(x, axes, keepdims)


def _variance(x, axes, keepdims):
    if x.dtype in INTEGERS:
        raise TypeError(f"Input must be either real or complex. Received integer type {x.dtype!r}.")
    difference = x - ops.mean(x, axes, True)
    if x.dtype.is_complex:
        return ops.mean(ops.real(ops.mul(ops.conj_physical(difference), difference)), axes, keepdims)
    return ops.mean(ops.square(difference), axes, keepdims)


def _euclidean(x, axes, keepdims):
    if x.dtype in INTEGERS:
        squares = ops.sum(ops.square(x), axes, keepdims, dtype=x.dtype)  # they wrap around, as TensorFlow's do
        return ops.cast(ops.sqrt(ops.cast(squares, "float64")), x.dtype)
    if x.dtype.is_complex:
        return ops.cast(ops.sqrt(ops.sum(ops.square(ops.abs(x)), axes, keepdims)), x.dtype)
    return ops.sqrt(ops.sum(ops.square(x), axes, keepdims))


def _ends(dtype):
    """Return the least and the greatest number of a dtype."""
    return (-math.inf, math.inf) if dtype.is_floating else (dtype.min, dtype.max)


def _greatest(x, axes, keepdims):
    if not _count(x, axes):  # of nothing: the number that no maximum changes
        return ops.full(list(ops.sum(x, axes, keepdims).shape), _ends(x.dtype)[0], dtype=x.dtype)
    return ops.amax(x, axes, keepdims)


def _least(x, axes, keepdims):
    if not _count(x, axes):
        return ops.full(list(ops.sum(x, axes, keepdims).shape), _ends(x.dtype)[1], dtype=x.dtype)
    return ops.amin(x, axes, keepdims)


def _logsumexp(x, axes, keepdims):
    return ops.logsumexp(x, list(range(x.ndim)) if axes is None else axes, keepdims) if x.ndim else ops.clone(x)


reduce_sum = _reduction("reduce_sum", "sums", None, lambda x, axes, keep: ops.sum(x, axes, keep, dtype=x.dtype),
                        "10.0", "array([4., 6.], dtype=float32)")
reduce_mean = _reduction("reduce_mean", "means", None, _mean, "2.5", "array([2., 3.], dtype=float32)")
reduce_max = _reduction("reduce_max", "the greatest elements", None, _greatest, "4.0", "array([3., 4.], dtype=float32)")
reduce_min = _reduction("reduce_min", "the least elements", None, _least, "1.0", "array([1., 2.], dtype=float32)")
reduce_prod = _reduction("reduce_prod", "products", None, _prod, "24.0", "array([3., 8.], dtype=float32)")
reduce_all = _reduction("reduce_all", "whether all hold", BOOL, lambda x, axes, keep: ops.all(x, axes, keep))
reduce_any = _reduction("reduce_any", "whether some holds", BOOL, lambda x, axes, keep: ops.any(x, axes, keep))
reduce_variance = _reduction("reduce_variance", "variances", None, _variance)
reduce_std = _reduction("reduce_std", "standard deviations", None, lambda *given: ops.sqrt(_variance(*given)))
reduce_logsumexp = _reduction("reduce_logsumexp", "logarithms of sums of powers of e", None, _logsumexp)
reduce_euclidean_norm = _reduction("reduce_euclidean_norm", "lengths", None, _euclidean)


def count_nonzero(input, axis=None, keepdims=None, dtype=int64, name=None):
    """Return how many elements are not zero along axes; all by default."""
    if is_text(input):
        import numpy as np
        x = convert_to_tensor(np.asarray(np.frompyfunc(bool, 1, 1)(convert_to_tensor(input)._array), bool))
    else:
        x = ops.ne(take(input), 0)
    return ops.cast(ops.sum(*along(x, axis, keepdims)), as_dtype(dtype))


def argmax(input, axis=None, output_type=int64, name=None):
    """Return the places of the greatest elements along an axis; the first by default.

    Parameters
    ----------
    input : Tensor
        The numbers.
    axis : int, optional
        Which axis.
    output_type : DType, optional, default=tf.int64
        Of the places.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Without the axis.

    Examples
    --------
    >>> tf.argmax([[0.1, 0.9], [0.8, 0.2]], axis=1)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 0])>

    """
    return _place(ops.argmax, input, axis, output_type, -math.inf)


def argmin(input, axis=None, output_type=int64, name=None):
    """Return the places of the least elements along an axis; the first by default."""
    return _place(ops.argmin, input, axis, output_type, math.inf)


def _place(run, x, axis, output_type, never):
    x = take(x)
    if not x.ndim:
        raise invalid_argument(f"Reduction axis 0 is out of range for a tensor without axes: {x!r} [Op:ArgMax]")
    axis = check_axis(0 if axis is None else as_ints(axis), x.ndim, "ArgMax")
    if x.dtype is BOOL:
        x = ops.cast(x, "uint8")
    if x.dtype.is_floating:  # NaN is never chosen
        x = ops.nan_to_num(x, never, math.inf, -math.inf)
    return ops.cast(run(x, axis), as_dtype(output_type))


def _running(x, axis, exclusive, reverse, run, first):
    """Return a running result along an axis: without each element itself, or from the end, if asked."""
    x = take(x)
    axis = check_axis(as_ints(axis), x.ndim, "Scan")
    if reverse:
        x = ops.flip(x, [axis])
    if exclusive:
        start = ops.full_like(ops.narrow(x.detach(), axis, 0, min(1, x.shape[axis])), first)
        x = ops.cat([start, ops.narrow(x, axis, 0, max(x.shape[axis] - 1, 0))], axis)
    made = run(x, axis)
    return ops.flip(made, [axis]) if reverse else made


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Return running sums along an axis."""
    return _running(x, axis, exclusive, reverse, lambda x, axis: ops.cumsum(x, axis, dtype=x.dtype), 0)


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Return running products along an axis."""
    return _running(x, axis, exclusive, reverse, lambda x, axis: ops.cumprod(x, axis, dtype=x.dtype), 1)


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """Return running logarithms of sums of powers of e along an axis."""
    return _running(x, axis, exclusive, reverse, ops.logcumsumexp, float("-inf") if exclusive else 0.0)


TopKV2 = collections.namedtuple("TopKV2", ["values", "indices"])
TopKV2.__doc__ = "The greatest elements and their places."


def top_k(input, k=1, sorted=True, index_type=int32, name=None):
    """Return the k greatest elements of the last axis and their places."""
    x, k = take(input), as_ints(k)
    if not x.ndim or x.shape[-1] < k:
        raise invalid_argument(f"input must have at least k({k}) columns. Had {x.shape[-1] if x.ndim else 0} "
                               "[Op:TopKV2]")
    # A stable sort gives equal elements in the order of their places.
    values, places = ops.sort(x, -1, True, True)
    return TopKV2(ops.narrow(values, -1, 0, k), ops.cast(ops.narrow(places, -1, 0, k), as_dtype(index_type)))


def in_top_k(targets, predictions, k, name=None):
    """Return for each row whether the target's element is among the k greatest."""
    rows, targets = take(predictions), take(targets)
    known = ops.logical_and(ops.ge(targets, 0), ops.lt(targets, rows.shape[-1]))
    own = ops.gather(rows, -1, ops.unsqueeze(ops.cast(ops.where(known, targets, 0), "int64"), -1))
    greater = ops.sum(ops.gt(rows, own), -1)
    sound = ops.logical_and(known, ops.squeeze(ops.isfinite(own), -1))
    return ops.logical_and(ops.lt(greater, int(k)), sound)


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=int32, name=None, axis=None,
             binary_output=False):
    """Return how often each number from 0 occurs, or the sums of its weights.

    Parameters
    ----------
    arr : Tensor
        Numbers from 0.
    weights : Tensor, optional
        What each occurrence counts.
    minlength, maxlength : int, optional
        How many counts there are at least and at most.
    dtype : DType, optional, default=int32
        Of the counts.
    axis : int, optional
        0 or None counts all elements together; -1 each row alone.
    binary_output : bool, optional, default=False
        Whether only occurring is told.

    Returns
    -------
    Tensor
        The counts.

    """
    x = ops.cast(take(arr), "int64")
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported.")
    if binary_output and weights is not None:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.")
    x = x if axis == -1 and x.ndim > 1 else ops.reshape(x, (1, -1))
    count = int(ops.max(x)) + 1 if x.shape.num_elements() else 0
    count = max(count, int(minlength or 0))
    count = count if maxlength is None else min(count, int(maxlength))
    dtype = as_dtype(dtype) if weights is None else take(weights).dtype
    amounts = ops.ones_like(x, dtype=dtype) if weights is None else ops.reshape(take(weights), tuple(x.shape))
    inside = ops.lt(x, count)
    amounts = ops.where(inside, amounts, ops.zeros_like(amounts))
    made = ops.scatter_add(ops.zeros((x.shape[0], max(count, 1)), dtype=dtype), 1,
                           ops.where(inside, x, ops.zeros_like(x)), amounts)
    made = ops.narrow(made, 1, 0, count)
    made = ops.cast(ops.gt(made, 0), dtype) if binary_output else made
    return made if axis == -1 and take(arr).ndim > 1 else made[0]


def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=int32, name=None):
    """Return how often each pair of a label (row) and a prediction (column) occurs."""
    rows, columns = (ops.cast(take(item), "int64") for item in (labels, predictions))
    if bool(ops.any(ops.lt(rows, 0))) or bool(ops.any(ops.lt(columns, 0))):
        raise invalid_argument("`labels` and `predictions` must not contain negative values")
    if num_classes is None:
        num_classes = max(int(ops.max(rows)), int(ops.max(columns))) + 1
    num_classes, dtype = int(num_classes), as_dtype(dtype)
    if bool(ops.any(ops.ge(rows, num_classes))) or bool(ops.any(ops.ge(columns, num_classes))):
        raise invalid_argument(f"`labels` and `predictions` must be below num_classes. Received: {num_classes}")
    amounts = ops.ones_like(rows, dtype=dtype) if weights is None else ops.cast(take(weights), dtype)
    return ops.index_put(ops.zeros((num_classes, num_classes), dtype=dtype), [rows, columns], amounts, True)


def invert_permutation(x, name=None):
    """Return where each number stands."""
    x = take(x)
    if x.ndim != 1 or not x.dtype.is_integer:
        raise invalid_argument(f"invert_permutation expects a 1D vector of integers. Received: {x!r}")
    places = ops.cast(x, "int64")
    numbers = ops.arange(0, x.shape[0], dtype=x.dtype)
    if x.shape[0] and not bool(ops.all(ops.eq(ops.sort(x)[0], numbers))):
        raise invalid_argument(f"{x.tolist()} is no permutation [Op:InvertPermutation]")
    return ops.index_put(ops.zeros_like(x), [places], numbers, False)


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """Return the numbers divided by their length along axes; all by default."""
    x = take(x)
    axis = dim if axis is None else axis
    if x.dtype.is_complex:
        squares = ops.sum(*along(ops.square(ops.abs(x)), axis, True))
        return x * ops.cast(ops.rsqrt(ops.maximum(squares, epsilon)), x.dtype)
    return x * ops.rsqrt(ops.maximum(ops.sum(*along(ops.square(x), axis, True)), epsilon))


def lbeta(x, name=None):
    """Return the logarithm of the beta function of each row."""
    x = take(x)
    return ops.sum(ops.lgamma(x), -1) - ops.lgamma(ops.sum(x, -1))


def softmax(logits, axis=None, name=None):
    """Return powers of e divided by their sum along an axis; the last by default."""
    x = take(logits)
    return ops.softmax(x, check_axis(-1 if axis is None else as_ints(axis), x.ndim, "Softmax"))


def log_softmax(logits, axis=None, name=None):
    """Return the logarithms of `softmax`."""
    x = take(logits)
    return ops.log_softmax(x, check_axis(-1 if axis is None else as_ints(axis), x.ndim, "LogSoftmax"))


def cross_entropy_of(labels, logits, axis):
    """Return cross entropies of distributions; the gradient of logits takes the labels' sums for one, as TensorFlow's.

    Parameters
    ----------
    labels, logits : Tensor
        Distributions and logits of one dtype.
    axis : int
        The axis of classes.

    Returns
    -------
    Tensor
        One number for each of the others.

    """
    if not logits.requires_grad and not is_capturing():
        return ops.neg(ops.sum(ops.mul(labels, ops.log_softmax(logits, axis)), axis))
    total = ops.logsumexp(logits, axis, True)
    fixed = total.detach()
    found = ops.sum(ops.mul(labels, ops.sub(logits, fixed)), axis)
    # The first difference is 0, and has the gradient of labels that sum to one.
    return ops.sub(ops.squeeze(ops.sub(total, fixed), [axis]), found)


# --- segments

EMPTY = {"sum": 0, "mean": 0, "sqrt_n": 0, "prod": 1}


def _end(dtype, kind):
    """Return the number that no maximum, or minimum, of a dtype changes, as Python's."""
    found = dtype.min if kind == "max" else dtype.max
    return int(found) if dtype.is_integer else float(found)


def _segments(data, segment_ids, count, kind, empty):
    """Return a result for each segment; elements of negative numbers belong to none."""
    x, numbers = take(data), indices_of(segment_ids, "SegmentSum")
    rest = tuple(x.shape[numbers.ndim:])
    if numbers.ndim != 1:
        x = ops.reshape(x, (math.prod(x.shape[:numbers.ndim]), *rest))
        numbers = ops.reshape(numbers, (-1,))
    if numbers.shape[0] != x.shape[0]:
        raise invalid_argument(f"segment_ids should be the same size as dimension 0 of input. Received shapes "
                               f"{take(data).shape} and {take(segment_ids).shape}")
    # One row more, the first, takes what belongs to no segment.
    places = ops.add(ops.maximum(numbers, -1), 1)
    if kind in ("sum", "mean", "sqrt_n"):
        made = ops.index_add(ops.zeros((count + 1, *rest), dtype=x.dtype), 0, places, x)
        if kind != "sum":
            many = ops.index_add(ops.zeros((count + 1,), dtype=float32), 0, places,
                                 ops.ones_like(places, dtype=float32))
            many = ops.reshape(ops.maximum(many, 1.0), (count + 1, *[1] * len(rest)))
            divisor = ops.cast(many if kind == "mean" else ops.sqrt(many), x.dtype)
            made = ops.trunc_divide(made, divisor) if x.dtype in INTEGERS else made / divisor
    else:
        how = {"max": "amax", "min": "amin", "prod": "prod"}[kind]
        made = ops.index_reduce(ops.full((count + 1, *rest), empty, dtype=x.dtype), 0, places, x, how)
    return ops.narrow(made, 0, 1, count)


def _sorted_segment(kind):
    def function(data, segment_ids, name=None):
        numbers = take(segment_ids)
        if numbers.ndim != 1:
            raise invalid_argument(f"segment_ids should be a vector. Received shape {numbers.shape}")
        if not numbers.dtype.is_integer:
            raise refuse_dtype(function.__name__, numbers.dtype, "Tindices")
        order = numbers.tolist()
        if order and order[0] < 0:
            raise invalid_argument(f"segment ids must be >= 0. Received: {order}")
        if order != sorted(order):
            raise invalid_argument(f"segment ids are not increasing. Received: {order}")
        x, count = take(data), order[-1] + 1 if order else 0
        if kind not in ("max", "min"):
            return _segments(x, numbers, count, kind, EMPTY[kind])
        made = _segments(x, numbers, count, kind, _end(x.dtype, kind))
        there = ops.index_add(ops.zeros((count,), dtype=int32), 0, ops.cast(numbers, "int64"),
                              ops.ones_like(numbers, dtype=int32))
        there = ops.reshape(ops.gt(there, 0), (count, *[1] * (made.ndim - 1)))
        return ops.where(there, made, ops.zeros_like(made))
    function.__name__ = function.__qualname__ = f"segment_{kind}"
    function.__doc__ = f"Return the {kind} of each segment of rows; segments are numbered in order."
    return function


def _unsorted_segment(kind):
    def function(data, segment_ids, num_segments, name=None):
        x = take(data)
        empty = EMPTY.get(kind)
        if empty is None:
            empty = _end(x.dtype, kind)
        return _segments(x, segment_ids, int(num_segments), kind, empty)
    function.__name__ = function.__qualname__ = f"unsorted_segment_{kind}"
    function.__doc__ = f"Return the {kind} of the rows of each number."
    return function


for _kind in ("sum", "mean", "prod", "max", "min"):
    globals()[f"segment_{_kind}"] = _sorted_segment(_kind)
for _kind in ("sum", "mean", "prod", "max", "min", "sqrt_n"):
    globals()[f"unsorted_segment_{_kind}"] = _unsorted_segment(_kind)
