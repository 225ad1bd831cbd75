"""Functions of single numbers, and softmax."""
from dragon.vm.shared.arrays.array import check_axis
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops


def relu(features, name=None):
    """Return numbers, and 0 for negative ones."""
    return ops.relu(take(features))


def relu6(features, name=None):
    """Return numbers cut to [0, 6]."""
    return ops.relu6(take(features))


def crelu(features, axis=-1, name=None):
    """Return the positive parts of numbers, and behind them along an axis those of their negatives."""
    features = take(features)
    return ops.cat([ops.relu(features), ops.relu(ops.neg(features))], axis)


def elu(features, name=None):
    """Return numbers, and exp(x) - 1 for negative ones."""
    return ops.elu(take(features))


def selu(features, name=None):
    """Return scaled exponential linear units, which keep means and variances."""
    return ops.selu(take(features))


def gelu(features, approximate=False, name=None):
    """Return numbers times the normal distribution's share below them; by tanh if `approximate`."""
    return ops.gelu(take(features), "tanh" if approximate else "none")


def silu(features, beta=1.0):
    """Return numbers times the sigmoid of `beta` times them."""
    features = take(features)
    if isinstance(beta, (int, float)) and beta == 1 and not features.dtype.is_complex:
        return ops.silu(features)
    return ops.mul(features, ops.sigmoid(ops.mul(features, take(beta, features.dtype))))


swish = silu


def leaky_relu(features, alpha=0.2, name=None):
    """Return numbers, negative ones times alpha."""
    features = take(features)
    if not features.dtype.is_floating:
        features = ops.cast(features, "float32")
    return ops.leaky_relu(features, float(alpha))


def sigmoid(x, name=None):
    """Return 1 / (1 + exp(-x))."""
    return ops.sigmoid(take(x))


def tanh(x, name=None):
    """Return the hyperbolic tangent."""
    return ops.tanh(take(x))


def softplus(features, name=None):
    """Return log(exp(x) + 1)."""
    return ops.softplus(take(features), 1.0, 30.0)


def softsign(features, name=None):
    """Return x / (1 + |x|)."""
    return ops.softsign(take(features))


def softmax(logits, axis=None, name=None):
    """Return exponentials divided by their sum along an axis, the last by default."""
    logits = take(logits)
    return ops.softmax(logits, check_axis(-1 if axis is None else axis, logits.ndim, "Softmax"))


def log_softmax(logits, axis=None, name=None):
    """Return the logarithms of `softmax`."""
    logits = take(logits)
    return ops.log_softmax(logits, check_axis(-1 if axis is None else axis, logits.ndim, "LogSoftmax"))
