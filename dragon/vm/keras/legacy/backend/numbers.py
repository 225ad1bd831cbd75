"""Functions of elements and reductions, most of them rows: a name, and the function of `keras.ops` that it is."""
from dragon.vm.guest import named as _named
from dragon.vm.keras import ops as _ops
from dragon.vm.keras.core.config import floatx as _floatx
from dragon.vm.keras.core.convert import convert_to_tensor as _tensor

# Of one tensor, of two, and of a tensor and axes.
_OF_ONE = "abs cos exp log round sigmoid sign sin softplus softsign square tanh"
_OF_TWO = "equal greater greater_equal less less_equal maximum minimum not_equal pow=power"
_OVER_AXES = "all any max min prod sum"


def _one(name, function):
    return _named(lambda x: function(x), name, f"Return `keras.ops.{function.__name__}` of each element.")


def _two(name, function):
    if name == "pow":
        return _named(lambda x, a: function(x, a), name, "Return each element to a power.")
    return _named(lambda x, y: function(x, y), name, f"Return `keras.ops.{function.__name__}` of two tensors.")


def _over(name, function):
    def reduce(x, axis=None, keepdims=False):
        return function(x, axis=axis, keepdims=keepdims)
    return _named(reduce, name, f"Return `keras.ops.{name}` over axes; all without them. ...")


for _make, _names in ((_one, _OF_ONE), (_two, _OF_TWO), (_over, _OVER_AXES)):
    for _name in _names.split():
        _name, _, _other = _name.partition("=")
        globals()[_name] = _make(_name, getattr(_ops, _other or _name))


def _inexact(x):
    x = _tensor(x)
    return _ops.cast(x, _floatx()) if x.dtype == "bool" else x


def mean(x, axis=None, keepdims=False):
    """Return the mean over axes; of truth values, the part that is true. ..."""
    return _ops.mean(_inexact(x), axis=axis, keepdims=keepdims)


def std(x, axis=None, keepdims=False):
    """Return the standard deviation over axes. ..."""
    return _ops.std(_inexact(x), axis=axis, keepdims=keepdims)


def var(x, axis=None, keepdims=False):
    """Return the variance over axes. ..."""
    return _ops.var(_inexact(x), axis=axis, keepdims=keepdims)


def argmax(x, axis=-1):
    """Return where the largest element is. ..."""
    return _ops.cast(_ops.argmax(x, axis=axis), "int64")


def argmin(x, axis=-1):
    """Return where the least element is. ..."""
    return _ops.cast(_ops.argmin(x, axis=axis), "int64")


def cumsum(x, axis=0):
    """Return running sums. ..."""
    return _ops.cumsum(x, axis=axis)


def cumprod(x, axis=0):
    """Return running products. ..."""
    return _ops.cumprod(x, axis=axis)


def clip(x, min_value, max_value):
    """Return elements within two limits; the upper one gives way where they cross."""
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)) and max_value < min_value:
        max_value = min_value
    low = float("-inf") if min_value is None else min_value
    return _ops.clip(x, low, float("inf") if max_value is None else max_value)


def sqrt(x):
    """Return the square root, 0 of negative numbers."""
    x = _tensor(x)
    return _ops.sqrt(_ops.maximum(x, _ops.zeros((), dtype=x.dtype)))


def hard_sigmoid(x):
    """Return 0.2 x + 0.5, within 0 and 1."""
    return _ops.clip(_tensor(x) * 0.2 + 0.5, 0.0, 1.0)


def elu(x, alpha=1.0):
    """Return x, and alpha (exp(x) - 1) of negative numbers."""
    return _ops.elu(x, alpha)


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """Return x from a threshold to a largest value, and `alpha * (x - threshold)` below."""
    x = _tensor(x)
    if x.dtype.name not in ("float16", "bfloat16", "float32", "float64") and alpha == 0 and threshold == 0:
        made = _ops.maximum(x, 0)
        return made if max_value is None else _ops.minimum(made, max_value)
    above = _ops.where(x > threshold, x, _ops.zeros_like(x)) if threshold else _ops.maximum(x, 0)
    above = above if max_value is None else _ops.clip(above, 0, max_value)
    return above if alpha == 0 else above - alpha * _ops.relu(threshold - x)


def softmax(x, axis=-1):
    """Return exponentials that sum to 1 along axes. ..."""
    x = _tensor(x)
    if len(x.shape) <= 1:
        raise ValueError(f"Cannot apply softmax to a tensor that is 1D. Received input: {x}")
    return _ops.softmax(x, axis=axis)


def l2_normalize(x, axis=None):
    """Return a tensor divided by its length along axes. ..."""
    x = _tensor(x)
    return x * _ops.rsqrt(_ops.maximum(_ops.sum(_ops.square(x), axis=axis, keepdims=True), 1e-12))


def in_top_k(predictions, targets, k):
    """Return whether targets are among the k largest predictions."""
    return _ops.in_top_k(targets, predictions, k)


def dropout(x, level, noise_shape=None, seed=None):
    """Return a tensor with a part of its elements zero, and the others larger by as much."""
    from dragon.vm.keras import random
    return random.dropout(x, level, noise_shape=noise_shape, seed=_seed(seed))


def _seed(seed):
    """Return a seed: one from NumPy's generator, as in genuine Keras, where none was given."""
    import numpy
    return int(numpy.random.randint(10e6)) if seed is None else seed


def random_bernoulli(shape, p=0.0, dtype=None, seed=None):
    """Return ones with a probability, and zeros. ..."""
    return _ops.cast(random_uniform(shape, seed=seed) <= p, dtype or _floatx())


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Return numbers of a normal distribution. ..."""
    from dragon.vm.keras import random
    return random.normal(tuple(shape), mean, stddev, dtype=dtype or _floatx(), seed=_seed(seed))


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Return numbers between two limits. ..."""
    from dragon.vm.keras import random
    return random.uniform(tuple(shape), minval, maxval, dtype=dtype or _floatx(), seed=_seed(seed))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Return numbers of a normal distribution, none further than two deviations from its mean. ..."""
    from dragon.vm.keras import random
    return random.truncated_normal(tuple(shape), mean, stddev, dtype=dtype or _floatx(), seed=_seed(seed))
