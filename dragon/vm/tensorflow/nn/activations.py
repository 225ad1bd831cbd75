"""Functions of single numbers, and softmax."""
from dragon.vm.guest import named
from dragon.vm.shared.arrays.array import check_axis
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.tensors.tensor import ops


def _unary(name, words, run):
    """Return a function of single numbers."""
    return named(lambda features, name=None: run(take(features)), name, f"Return {words}. ...")


relu = _unary("relu", "numbers, and 0 for negative ones", ops.relu)
relu6 = _unary("relu6", "numbers cut to [0, 6]", ops.relu6)
elu = _unary("elu", "numbers, and exp(x) - 1 for negative ones", ops.elu)
selu = _unary("selu", "scaled exponential linear units, which keep means and variances", ops.selu)
softplus = _unary("softplus", "log(exp(x) + 1)", lambda x: ops.softplus(x, 1.0, 30.0))
softsign = _unary("softsign", "x / (1 + |x|)", ops.softsign)
sigmoid = named(lambda x, name=None: ops.sigmoid(take(x)), "sigmoid", "Return 1 / (1 + exp(-x)).")
tanh = named(lambda x, name=None: ops.tanh(take(x)), "tanh", "Return the hyperbolic tangent.")


def crelu(features, axis=-1, name=None):
    """Return the positive parts of numbers, and behind them along an axis those of their negatives."""
    features = take(features)
    return ops.cat([ops.relu(features), ops.relu(ops.neg(features))], axis)


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


def softmax(logits, axis=None, name=None):
    """Return exponentials divided by their sum along an axis, the last by default.

    Parameters
    ----------
    logits : Tensor
        The numbers.
    axis : int, optional
        Which one.
    name : str, optional
        Accepted.

    Returns
    -------
    Tensor
        Of the same shape; it adds up to 1 along the axis.

    Examples
    --------
    >>> tf.nn.softmax([[0.0, 0.0], [5.0, 5.0]])
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)>

    """
    logits = take(logits)
    return ops.softmax(logits, check_axis(-1 if axis is None else axis, logits.ndim, "Softmax"))


def log_softmax(logits, axis=None, name=None):
    """Return the logarithms of `softmax`."""
    logits = take(logits)
    return ops.log_softmax(logits, check_axis(-1 if axis is None else axis, logits.ndim, "LogSoftmax"))
