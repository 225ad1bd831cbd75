"""Activations: functions that layers put behind their sums; most are functions of `keras.ops`."""
import functools

from dragon.vm.keras import ops
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.core.operation import operation


def _activation(function, sentence):
    """Return a function of `keras.ops` as an activation: another object, as files tell the two apart."""
    @functools.wraps(function)
    def activation(*args, **kwargs):
        return function(*args, **kwargs)
    del activation.operation
    activation.__name__ = activation.__qualname__ = function.__name__
    activation.__module__, activation.__doc__ = __name__, sentence
    return activation


softmax = _activation(ops.softmax, "Return exp(x) over its sum along an axis.")
sigmoid = _activation(ops.sigmoid, "Return 1 / (1 + exp(-x)).")
leaky_relu = _activation(ops.leaky_relu, "Return x where it is positive, `negative_slope * x` elsewhere.")
relu6 = _activation(ops.relu6, "Return x between 0 and 6.")
elu = _activation(ops.elu, "Return x where it is positive, `alpha * (exp(x) - 1)` elsewhere.")
selu = _activation(ops.selu, "Return the exponential linear unit, scaled such that nets keep mean and variance.")
celu = _activation(ops.celu, "Return max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).")
softplus = _activation(ops.softplus, "Return log(exp(x) + 1).")
softsign = _activation(ops.softsign, "Return x / (1 + |x|).")
soft_shrink = _activation(ops.soft_shrink, "Return x, `threshold` nearer to zero; zero where it is nearer than that.")
sparse_plus = _activation(ops.sparse_plus, "Return 0 up to -1, x from 1 on, a parabola between.")
silu = _activation(ops.silu, "Return x * sigmoid(x).")
squareplus = _activation(ops.squareplus, "Return (x + sqrt(x ** 2 + b)) / 2.")
glu = _activation(ops.glu, "Return the first half along an axis times the sigmoid of the second.")
tanh = _activation(ops.tanh, "Return the hyperbolic tangent.")
tanh_shrink = _activation(ops.tanh_shrink, "Return x - tanh(x).")
hard_tanh = _activation(ops.hard_tanh, "Return x between -1 and 1.")
hard_shrink = _activation(ops.hard_shrink, "Return x where it is further than `threshold` from zero, zero elsewhere.")
threshold = _activation(ops.threshold, "Return x above a threshold, a default elsewhere.")
hard_sigmoid = _activation(ops.hard_sigmoid, "Return x / 6 + 1 / 2 between 0 and 1.")
log_sigmoid = _activation(ops.log_sigmoid, "Return log(sigmoid(x)).")
sparse_sigmoid = _activation(ops.sparse_sigmoid, "Return 0 up to -1, 1 from 1 on, a line between.")
hard_silu = _activation(ops.hard_silu, "Return x * hard_sigmoid(x).")
log_softmax = _activation(ops.log_softmax, "Return the logarithm of softmax along an axis.")
sparsemax = _activation(ops.sparsemax, "Return the nearest distribution along an axis: small numbers become zero.")


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
    above = ops.where(x > ops.cast(threshold, x.dtype), x, 0) if threshold else ops.relu(x)
    if max_value is not None:
        above = ops.clip(above, 0, ops.cast(max_value, x.dtype))
    return above - negative_slope * ops.relu(threshold - x) if negative_slope else above


def gelu(x, approximate=False):
    """Return x times the normal distribution's share below x, exact or by tanh."""
    return ops.gelu(x, approximate=approximate)


def exponential(x):
    """Return exp(x)."""
    return ops.exp(x)


def linear(x):
    """Return x."""
    return x


@operation
def mish(x):
    """Return x * tanh(softplus(x))."""
    x = convert_to_tensor(x)
    return x * ops.tanh(ops.softplus(x))
