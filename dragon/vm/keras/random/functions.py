"""Random numbers that follow from seeds: the same ones as genuine Keras draws with TensorFlow."""
import math

from dragon.vm.keras.ops.common import canonical_dtype, cast_to, concrete, dtype_of, is_number, ops, tensor
from dragon.vm.keras.random.seed_generator import stream_seed

_TINY = {"float16": 6.103515625e-05, "float32": 1.1754943508222875e-38, "float64": 2.2250738585072014e-308}


def _floating(dtype, what):
    dtype = canonical_dtype(dtype)
    if "float" not in dtype:
        raise ValueError(f"`keras.random.{what}` requires a floating point `dtype`. Received: dtype={dtype} ")
    return dtype


def _draw(compute, shape, first, second, names, dtype, seed):
    """Draw numbers; what they are scaled and moved by may be tensors."""
    seed, shape = stream_seed(seed), concrete(shape)
    if is_number(first) and is_number(second):
        return compute(seed, shape, dtype=dtype, **dict(zip(names, (first, second))))
    first, second = tensor(first, dtype), tensor(second, dtype)
    numbers = compute(seed, shape, dtype=dtype)
    factor = ops.sub(second, first) if names[0] == "low" else second
    return ops.add(ops.mul(numbers, factor), first)


def normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Draw normal numbers.

    Parameters
    ----------
    mean, stddev : Union[float, Tensor], optional
        Mean and standard deviation.
    seed : Union[int, SeedGenerator], optional
        An integer gives the same numbers each time; the global generator counts on if there is none.

    """
    return _draw(ops.stateless_normal, shape, mean, stddev, ("mean", "std"), _floating(dtype, "normal"), seed)


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Draw normal numbers within two standard deviations; the arguments are those of `normal`."""
    return _draw(ops.stateless_truncated_normal, shape, mean, stddev, ("mean", "std"),
                 _floating(dtype, "truncated_normal"), seed)


def uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Draw uniform numbers in [minval, maxval); the other arguments are those of `normal`."""
    return _draw(ops.stateless_uniform, shape, minval, maxval, ("low", "high"), _floating(dtype, "uniform"), seed)


def randint(shape, minval, maxval, dtype="int32", seed=None):
    """Draw integers in [minval, maxval).

    Parameters
    ----------
    minval, maxval : int
        The bounds.
    dtype : str, optional, default="int32"
        An integer dtype.

    """
    dtype = canonical_dtype(dtype)
    if "int" not in dtype:
        raise ValueError(f"`keras.random.randint` requires an integer `dtype`. Received: dtype={dtype} ")
    drawn = dtype if dtype in ("int32", "int64") else "int64"
    numbers = ops.stateless_integers(stream_seed(seed), concrete(shape), low=int(minval), high=int(maxval),
                                     dtype=drawn)
    return cast_to(numbers, dtype)


def categorical(logits, num_samples, dtype="int32", seed=None):
    """Draw categories by the exponentials of logits.

    Parameters
    ----------
    logits : Tensor
        A row for each draw.
    num_samples : int
        How many of each.
    dtype : str, optional, default="int32"
        An integer dtype.

    Returns
    -------
    Tensor
        Numbers of categories.

    """
    logits = tensor(logits)
    if logits.ndim != 2:
        raise ValueError(f"`logits` should be a 2-D tensor. Received: logits.shape={tuple(logits.shape)}")
    drawn = ops.stateless_categorical(stream_seed(seed), logits, int(num_samples))
    return cast_to(drawn, canonical_dtype(dtype))


def dropout(inputs, rate, noise_shape=None, seed=None):
    """Set a share of numbers to zero, and scale the others up.

    Parameters
    ----------
    inputs : Tensor
        The numbers.
    rate : float
        The share.
    noise_shape : Sequence[int], optional
        The shape of what decides, broadcast to that of the numbers; None stands for a size of theirs.

    Returns
    -------
    Tensor
        Of the same shape.

    """
    inputs = tensor(inputs)
    if rate == 1.0:
        return ops.zeros_like(inputs)
    if rate == 0.0:
        return inputs
    sizes = tuple(inputs.shape)
    if noise_shape is not None:
        sizes = tuple(own if size is None else int(size) for size, own in zip(noise_shape, sizes))
    chance = ops.stateless_uniform(stream_seed(seed), sizes, dtype=dtype_of(inputs))
    return ops.where(ops.ge(chance, rate), ops.mul(inputs, 1 / (1 - rate)), 0.0)


def shuffle(x, axis=0, seed=None):
    """Bring the places of an axis in random order. ...

    Returns
    -------
    Tensor
        Of the same shape.

    """
    x = tensor(x)
    chance = ops.stateless_uniform(stream_seed(seed), (x.shape[axis],))
    return ops.index_select(x, axis, ops.argsort(chance, -1, False, True))


def _gamma(shape, alpha, dtype, seed):
    """Draw gamma numbers: the last axes are those of `alpha`."""
    work = "float32" if dtype == "bfloat16" else dtype
    shape, alpha = concrete(shape), tensor(alpha, work)
    own = shape[len(shape) - alpha.ndim:] if alpha.ndim else ()
    samples = math.prod(shape[:len(shape) - alpha.ndim])
    drawn = ops.stateless_gamma(seed, ops.broadcast_to(alpha, own), samples)
    return cast_to(ops.reshape(ops.maximum(drawn, _TINY[work]), shape), dtype)


def gamma(shape, alpha, dtype=None, seed=None):
    """Draw gamma numbers of scale 1.

    Parameters
    ----------
    alpha : Union[float, Tensor]
        The shape parameter; a tensor stands for the last axes.

    """
    return _gamma(shape, alpha, _floating(dtype, "gamma"), stream_seed(seed))


def beta(shape, alpha, beta, dtype=None, seed=None):
    """Draw beta numbers.

    Parameters
    ----------
    alpha, beta : Union[float, Tensor]
        The parameters, broadcast to the shape.

    """
    dtype, shape = _floating(dtype, "beta"), concrete(shape)
    work = "float32" if dtype == "bfloat16" else dtype
    first = cast_to(stream_seed(seed), "int32")
    # Both integers are counted on by 12, as int32, which may turn over: the second draw has a seed of its own.
    a, b = (_gamma(shape, ops.broadcast_to(tensor(parameter, work), shape), dtype, own)
            for parameter, own in ((alpha, first), (beta, ops.add(first, 12))))
    return ops.div(a, ops.add(a, b))


def binomial(shape, counts, probabilities, dtype=None, seed=None):
    """Draw numbers of successes.

    Parameters
    ----------
    counts : Union[float, Tensor]
        Numbers of trials, broadcast to the shape.
    probabilities : Union[float, Tensor]
        Probabilities of a success, broadcast to the shape.

    """
    dtype, shape = _floating(dtype, "binomial"), concrete(shape)
    work = "float32" if dtype == "bfloat16" else dtype
    counts, chances = (ops.broadcast_to(tensor(item, work), shape) for item in (counts, probabilities))
    return cast_to(ops.stateless_binomial(stream_seed(seed), counts, chances), dtype)
