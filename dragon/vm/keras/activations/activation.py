"""Activations: functions that layers put behind their sums."""
from dragon.vm.keras import ops
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.operation import operation


@operation
def relu(x, negative_slope=0.0, max_value=None, threshold=0.0):
    """Return what is above a threshold, and a slope of what is below.

    Parameters
    ----------
    x : Any
        The numbers.
    negative_slope : float, optional, default=0.0
        The slope below the threshold.
    max_value : Optional[float], optional
        The most it returns.
    threshold : float, optional, default=0.0
        Where the slope ends.

    """
    x = convert_to_tensor(x)
    if negative_slope and max_value is None and threshold == 0:
        return ops.leaky_relu(x, negative_slope=negative_slope)
    above = ops.where(x > threshold, x, 0) if threshold else ops.relu(x)
    if max_value is not None:
        above = ops.clip(above, 0, max_value)
    return above - negative_slope * ops.relu(threshold - x) if negative_slope else above


def softmax(x, axis=-1):
    """Return exp(x) over its sum along an axis."""
    return ops.softmax(x, axis=axis)


def sigmoid(x):
    """Return 1 / (1 + exp(-x))."""
    return ops.sigmoid(x)


def leaky_relu(x, negative_slope=0.2):
    """Return x where it is positive, `negative_slope * x` elsewhere."""
    return ops.leaky_relu(x, negative_slope=negative_slope)


def relu6(x):
    """Return x between 0 and 6."""
    return ops.relu6(x)


def elu(x, alpha=1.0):
    """Return x where it is positive, `alpha * (exp(x) - 1)` elsewhere."""
    return ops.elu(x, alpha=alpha)


def selu(x):
    """Return the exponential linear unit, scaled such that nets keep mean and variance."""
    return ops.selu(x)


def celu(x, alpha=1.0):
    """Return max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0)."""
    return ops.celu(x, alpha=alpha)


def softplus(x):
    """Return log(exp(x) + 1)."""
    return ops.softplus(x)


def softsign(x):
    """Return x / (1 + |x|)."""
    return ops.softsign(x)


def soft_shrink(x, threshold=0.5):
    """Return x, `threshold` nearer to zero; zero where it is nearer than that."""
    return ops.soft_shrink(x, threshold=threshold)


def sparse_plus(x):
    """Return 0 up to -1, x from 1 on, a parabola between."""
    return ops.sparse_plus(x)


def silu(x):
    """Return x * sigmoid(x)."""
    return ops.silu(x)


def squareplus(x, b=4):
    """Return (x + sqrt(x ** 2 + b)) / 2."""
    return ops.squareplus(x, b=b)


def gelu(x, approximate=False):
    """Return x times the normal distribution's share below x, exact or by tanh."""
    return ops.gelu(x, approximate=approximate)


def glu(x, axis=-1):
    """Return the first half along an axis times the sigmoid of the second."""
    return ops.glu(x, axis=axis)


def tanh(x):
    """Return the hyperbolic tangent."""
    return ops.tanh(x)


def tanh_shrink(x):
    """Return x - tanh(x)."""
    return ops.tanh_shrink(x)


def hard_tanh(x):
    """Return x between -1 and 1."""
    return ops.hard_tanh(x)


def hard_shrink(x, threshold=0.5):
    """Return x where it is further than `threshold` from zero, zero elsewhere."""
    return ops.hard_shrink(x, threshold=threshold)


def threshold(x, threshold, default_value):
    """Return x above a threshold, a default elsewhere."""
    return ops.threshold(x, threshold, default_value)


def exponential(x):
    """Return exp(x)."""
    return ops.exp(x)


def hard_sigmoid(x):
    """Return x / 6 + 1 / 2 between 0 and 1."""
    return ops.hard_sigmoid(x)


def log_sigmoid(x):
    """Return log(sigmoid(x))."""
    return ops.log_sigmoid(x)


def sparse_sigmoid(x):
    """Return 0 up to -1, 1 from 1 on, a line between."""
    return ops.sparse_sigmoid(x)


def hard_silu(x):
    """Return x * hard_sigmoid(x)."""
    return ops.hard_silu(x)


def linear(x):
    """Return x."""
    return x


@operation
def mish(x):
    """Return x * tanh(softplus(x))."""
    x = convert_to_tensor(x)
    return x * ops.tanh(ops.softplus(x))


def log_softmax(x, axis=-1):
    """Return the logarithm of softmax along an axis."""
    return ops.log_softmax(x, axis=axis)


def sparsemax(x, axis=-1):
    """Return the nearest distribution along an axis: small numbers become zero."""
    return ops.sparsemax(x, axis)
