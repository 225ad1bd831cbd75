"""Sums, products, extremes and the like along axes."""
from dragon.vm.keras.ops.common import (along, as_axis, canonical_axis, cast_to, dtype_of, floatx, named, operation,
                                        ops, publish, result_type, standardize_dtype, tensor, total, whole)


def _reduction(name, sentence, compute):
    def function(x, axis=None, keepdims=False):
        return compute(*along(tensor(x), axis, keepdims))
    return publish(function, name, sentence)


def _averaged(x):
    dtype = dtype_of(x)
    return x if "float" in dtype or "complex" in dtype else cast_to(x, result_type(dtype, "float32"))


def _least(x, axis, keepdims):
    return ops.all(x, axis, keepdims) if dtype_of(x) == "bool" else ops.amin(x, axis, keepdims)


def _most(x, axis, keepdims):
    return ops.any(x, axis, keepdims) if dtype_of(x) == "bool" else ops.amax(x, axis, keepdims)


def _variance(x, axis, keepdims):
    dtype = dtype_of(x)
    x = cast_to(x, result_type(dtype, "float32"))
    return cast_to(ops.var(x, axis, correction=0, keepdims=keepdims), result_type(dtype, float))


def _deviation(x, axis, keepdims):
    x = x if "float" in dtype_of(x) or "complex" in dtype_of(x) else cast_to(x, floatx())
    return ops.std(x, axis, correction=0, keepdims=keepdims)


def _product(x, axis, keepdims):
    return total(ops.prod, x, axis, keepdims)


all = _reduction("all", "Return whether all elements hold.", lambda x, *how: ops.all(cast_to(x, "bool"), *how))
any = _reduction("any", "Return whether one element holds.", lambda x, *how: ops.any(cast_to(x, "bool"), *how))
sum = _reduction("sum", "Return the sum; small integers are summed as int32.",
                 lambda x, *how: total(ops.sum, x, *how))
mean = _reduction("mean", "Return the mean, a floating number.", lambda x, *how: ops.mean(_averaged(x), *how))
var = _reduction("var", "Return the variance: the mean of squared differences from the mean.", _variance)
std = _reduction("std", "Return the standard deviation: the root of the variance.", _deviation)
amax = _reduction("amax", "Return the largest element.", _most)
amin = _reduction("amin", "Return the smallest element.", _least)
ptp = _reduction("ptp", "Return the difference of the largest and the smallest element.",
                 lambda x, *how: ops.sub(ops.amax(x, *how), ops.amin(x, *how)))


def _check_not_empty(x, what):
    if 0 in x.shape:
        raise ValueError(f"Cannot compute the {what} of an empty tensor. Received: x.shape={tuple(x.shape)}")


def _with_initial(extreme, x, how, initial, combine):
    """Return the extreme of elements and a number; of no elements, the number."""
    how = along(x, *how)
    if 0 in x.shape:
        found = ops.sum(cast_to(how[0], "float32"), *how[1:])
        return ops.full(tuple(found.shape), whole(initial, "initial", dtype_of(x)), dtype=dtype_of(x))
    found = extreme(*how)
    if dtype_of(found) == "bool":
        return cast_to(combine(cast_to(found, "int32"), int(initial)), "bool")
    return combine(found, whole(initial, "initial", dtype_of(found)))


@operation
def max(x, axis=None, keepdims=False, initial=None):
    """Return the largest element.

    Parameters
    ----------
    initial : number, optional
        A number that takes part.

    Examples
    --------
    >>> np.asarray(keras.ops.max(np.array([[1, 5], [7, 3]]), axis=1))
    array([5, 7])

    """
    x = tensor(x)
    if initial is None:
        _check_not_empty(x, "max")
        return _most(*along(x, axis, keepdims))
    return _with_initial(_most, x, (axis, keepdims), initial, ops.maximum)


@operation
def min(x, axis=None, keepdims=False, initial=None):
    """Return the smallest element; the arguments are those of `max`."""
    x = tensor(x)
    if initial is None:
        _check_not_empty(x, "min")
        return _least(*along(x, axis, keepdims))
    return _with_initial(_least, x, (axis, keepdims), initial, ops.minimum)


@operation
def prod(x, axis=None, keepdims=False, dtype=None):
    """Return the product.

    Parameters
    ----------
    dtype : str, optional
        The dtype of the product.

    """
    x = tensor(x)
    if dtype is not None:
        return ops.prod(*along(x, axis, keepdims), dtype=standardize_dtype(dtype))
    return _product(*along(x, axis, keepdims))


@operation
def count_nonzero(x, axis=None):
    """Return how many elements are not zero, as int32."""
    return ops.sum(*along(cast_to(ops.ne(tensor(x), 0), "int32"), axis), dtype="int32")


def _best(compute, x, axis, keepdims):
    x = tensor(x)
    x = cast_to(x, "int32") if dtype_of(x) == "bool" else x
    if axis is None:
        found = compute(ops.reshape(x, (-1,)), 0, False)
        return cast_to(ops.reshape(found, (1,) * x.ndim) if keepdims else found, "int32")
    return cast_to(compute(x, as_axis(axis), bool(keepdims)), "int32")


@operation
def argmax(x, axis=None, keepdims=False):
    """Return the place of the largest element, the first of several, as int32.

    Parameters
    ----------
    axis : int, optional
        Along which axis; by default the numbers count as one row.
    keepdims : bool, optional, default=False
        Whether the axis stays, with size 1.

    Returns
    -------
    Tensor
        Places.

    Examples
    --------
    >>> np.asarray(keras.ops.argmax(np.array([[0.1, 0.9], [0.8, 0.2]]), axis=1))
    array([1, 0], dtype=int32)

    """
    return _best(ops.argmax, x, axis, keepdims)


def _cumulate(compute, x, axis, dtype):
    x = tensor(x)
    dtype = result_type(dtype_of(x) if dtype is None else standardize_dtype(dtype))
    x = cast_to(x, "int32" if dtype == "bool" else dtype)
    if axis is None:
        return compute(ops.reshape(x, (-1,)), 0, dtype=dtype_of(x))
    return compute(x, canonical_axis(axis, x.ndim or 1), dtype=dtype_of(x))


@operation
def cumsum(x, axis=None, dtype=None):
    """Return the running sum along an axis; by default of the numbers as one row.

    Parameters
    ----------
    axis : int, optional
        The axis.
    dtype : str, optional
        The dtype of the sums, by default that of the numbers.

    """
    return _cumulate(ops.cumsum, x, axis, dtype)


argmin = named(lambda x, axis=None, keepdims=False: _best(ops.argmin, x, axis, keepdims), "argmin",
               "Return the place of the smallest element; the arguments are those of `argmax`.")
cumprod = named(lambda x, axis=None, dtype=None: _cumulate(ops.cumprod, x, axis, dtype), "cumprod",
                "Return the running product; the arguments are those of `cumsum`.")


@operation
def average(x, axis=None, weights=None):
    """Return the weighted mean.

    Parameters
    ----------
    axis : int, optional
        Along which axis; all by default.
    weights : Tensor, optional
        One for each number, or one for each place along the axis; equal ones by default.

    Returns
    -------
    Tensor
        A floating mean.

    """
    x = tensor(x)
    if weights is None:
        return ops.mean(*along(cast_to(x, result_type(dtype_of(x), float)), axis))
    weights = tensor(weights)
    dtype = result_type(dtype_of(x), dtype_of(weights), float)
    x, weights = cast_to(x, dtype), cast_to(weights, dtype)
    if axis is not None and x.ndim != weights.ndim:
        axis = canonical_axis(axis, x.ndim)
        weights = ops.reshape(weights, (-1,) + (1,) * (x.ndim - axis - 1))
        return ops.div(ops.sum(ops.mul(x, weights), axis), ops.sum(weights))
    return ops.div(ops.sum(*along(ops.mul(x, weights), axis)), ops.sum(*along(weights, axis)))


@operation
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """Return the area under a line through points.

    Parameters
    ----------
    y : Tensor
        The heights.
    x : Tensor, optional
        Where they stand; by default `dx` apart.
    dx : float, optional, default=1.0
        The distance of neighbours.
    axis : int, optional, default=-1
        Along which axis.

    Returns
    -------
    Tensor
        Floating areas.

    """
    y = tensor(y)
    dtype = result_type(dtype_of(y), float)
    y = ops.moveaxis(cast_to(y, dtype), axis, -1)
    if x is not None:
        x = tensor(x, dtype)
        x = x if x.ndim == 1 else ops.moveaxis(x, axis, -1)
        dx = ops.sub(ops.slice(x, -1, 1), ops.slice(x, -1, 0, -1))
    heights = ops.mul(ops.add(ops.slice(y, -1, 1), ops.slice(y, -1, 0, -1)), 0.5)
    return ops.sum(ops.mul(heights, dx), -1)
