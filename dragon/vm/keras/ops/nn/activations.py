"""Activations: rows over the engine's, and a few that are told by a formula."""
from dragon.core import warnings
from dragon.vm.keras.ops.common import (canonical_axis, cast_to, dtype_of, fitted, floatx, join, named, operation,
                                        ops, publish, tensor)


def _activation(name, sentence, compute):
    return publish(lambda x: compute(tensor(x)), name, sentence)


def _remember_logits(y, x):
    """Let a cross-entropy of these probabilities see what they were made of: its numbers are better that way."""
    try:
        y._keras_logits = x
    except AttributeError:
        pass
    return y


def _silu(x):
    return ops.mul(x, ops.sigmoid(x)) if x.dtype.is_complex else ops.silu(x)


def _tanh_shrink(x):
    return ops.sub(x, ops.tanh(x)) if x.dtype.is_complex else ops.tanhshrink(x)


sigmoid = _activation("sigmoid", "Return 1 / (1 + exp(-x)).", lambda x: _remember_logits(ops.sigmoid(x), x))
relu = _activation("relu", "Return max(x, 0).", ops.relu)
relu6 = _activation("relu6", "Return min(max(x, 0), 6).", ops.relu6)
softplus = _activation("softplus", "Return log(exp(x) + 1).", ops.softplus)
softsign = _activation("softsign", "Return x / (|x| + 1).", ops.softsign)
silu = _activation("silu", "Return x sigmoid(x).", _silu)
swish = _activation("swish", "Return x sigmoid(x).", _silu)
log_sigmoid = _activation("log_sigmoid", "Return log(sigmoid(x)).", ops.logsigmoid)
hard_sigmoid = _activation("hard_sigmoid", "Return relu6(x + 3) / 6.", ops.hardsigmoid)
hard_silu = _activation("hard_silu", "Return x hard_sigmoid(x).", ops.hardswish)
hard_swish = _activation("hard_swish", "Return x hard_sigmoid(x).", ops.hardswish)
hard_tanh = _activation("hard_tanh", "Return x kept between -1 and 1.", ops.hardtanh)
tanh_shrink = _activation("tanh_shrink", "Return x - tanh(x).", _tanh_shrink)
selu = _activation("selu", "Return the scaled exponential linear unit.", ops.selu)


@operation
def softmax(x, axis=-1):
    """Return positive numbers that sum to 1 along an axis, in proportion to exp(x).

    Parameters
    ----------
    axis : Union[int, Sequence[int]], optional, default=-1
        The axis; None stands for all.

    Examples
    --------
    >>> np.asarray(keras.ops.softmax(np.array([0.0, 0.0], "float32")))
    array([0.5, 0.5], dtype=float32)

    """
    x = tensor(x)
    if not isinstance(axis, int):
        return _over_axes(ops.softmax, x, axis)
    place = canonical_axis(axis, x.ndim) if x.ndim else axis
    if x.ndim and type(x.shape[place]) is int and x.shape[place] == 1:
        warnings.warn(f"You are using a softmax over axis {axis} of a tensor of shape {tuple(x.shape)}. This axis has "
                      "size 1. The softmax operation will always return the value 1, which is likely not what you "
                      "intended. Did you mean to use a sigmoid instead?")
    return _remember_logits(ops.softmax(x, place), x)


@operation
def log_softmax(x, axis=-1):
    """Return the logarithm of `softmax`, which has the same arguments."""
    x = tensor(x)
    if not isinstance(axis, int):
        return _over_axes(ops.log_softmax, x, axis)
    return ops.log_softmax(x, canonical_axis(axis, x.ndim) if x.ndim else axis)


def _over_axes(compute, x, axis):
    """Apply a function of one axis to several as if they were one."""
    axes = list(range(x.ndim)) if axis is None else [canonical_axis(item, x.ndim) for item in axis]
    order = [item for item in range(x.ndim) if item not in axes] + axes
    moved = ops.permute(x, order)
    kept = len(order) - len(axes)
    y = ops.reshape(compute(ops.flatten(moved, kept, -1) if len(axes) > 1 else moved, -1), moved.shape)
    return ops.permute(y, [order.index(item) for item in range(x.ndim)])


@operation
def leaky_relu(x, negative_slope=0.2):
    """Return x where it is positive, negative_slope x elsewhere."""
    x = tensor(x)
    return ops.leaky_relu(cast_to(x, floatx()) if "int" in dtype_of(x) else x, negative_slope)


@operation
def gelu(x, approximate=True):
    """Return x times the normal distribution at x.

    Parameters
    ----------
    approximate : bool, optional, default=True
        Approximate the distribution by a hyperbolic tangent.

    """
    return ops.gelu(tensor(x), "tanh" if approximate else "none")


@operation
def glu(x, axis=-1):
    """Return the first half along an axis, each times the sigmoid of its fellow in the second."""
    x = tensor(x)
    if x.shape[axis] % 2:
        raise ValueError(f"axis size must be divisible by 2. Received: x.shape={tuple(x.shape)} with axis={axis}")
    return ops.glu(x, axis)


@operation
def threshold(x, threshold, default_value):
    """Return x where it is above a threshold, another value elsewhere."""
    x = tensor(x)
    return ops.threshold(x, fitted(threshold, dtype_of(x)), fitted(default_value, dtype_of(x)))


@operation
def squareplus(x, b=4):
    """Return (x + sqrt(x ** 2 + b)) / 2."""
    x = tensor(x)
    return ops.div(ops.add(x, ops.sqrt(ops.add(ops.square(x), b))), 2)


@operation
def sparse_plus(x):
    """Return 0 up to -1, x from 1 on, a parabola between."""
    x = tensor(x)
    middle = ops.mul(ops.square(ops.add(x, 1)), 0.25)
    return ops.where(ops.le(x, -1), ops.zeros_like(x), ops.where(ops.lt(x, 1), middle, x))


elu = named(lambda x, alpha=1.0: ops.elu(tensor(x), alpha), "elu",
            "Return x where it is positive, alpha (exp(x) - 1) elsewhere.")
celu = named(lambda x, alpha=1.0: ops.celu(tensor(x), alpha), "celu",
             "Return x where it is positive, alpha (exp(x / alpha) - 1) elsewhere.")
hard_shrink = named(lambda x, threshold=0.5: ops.hardshrink(tensor(x), threshold), "hard_shrink",
                    "Return x where |x| is above a threshold, 0 elsewhere.")
soft_shrink = named(lambda x, threshold=0.5: ops.softshrink(tensor(x), threshold), "soft_shrink",
                    "Return x moved towards 0 by a threshold, 0 where it would pass it.")
sparse_sigmoid = named(lambda x: ops.clamp(ops.mul(ops.add(tensor(x), 1), 0.5), 0, 1), "sparse_sigmoid",
                       "Return 0 up to -1, 1 from 1 on, a line between.")


@operation
def sparsemax(x, axis=-1):
    """Return the point of the simplex nearest to the numbers along an axis."""
    x = tensor(x)
    falling = ops.sort(x, axis, True)[0]
    total = ops.cumsum(falling, axis)
    shape = [1] * x.ndim
    shape[axis] = -1
    rank = ops.reshape(ops.arange(1, x.shape[axis] + 1, dtype=dtype_of(x)), shape)
    inside = ops.gt(ops.sub(falling, ops.div(ops.sub(total, 1), rank)), 0)
    count = ops.sum(cast_to(inside, dtype_of(x)), axis, True)
    tau = ops.div(ops.sub(ops.sum(ops.where(inside, total, ops.zeros_like(total)), axis, True), 1), count)
    return ops.relu(ops.sub(x, tau))


@operation
def polar(abs_, angle):
    """Return complex numbers from their sizes and angles."""
    size, angle = join(abs_, angle)
    return ops.complex(ops.mul(size, ops.cos(angle)), ops.mul(size, ops.sin(angle)))
