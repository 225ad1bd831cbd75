"""What weights are brought back to after each update."""
from dragon.vm.keras.core.config import epsilon
from dragon.vm.keras.core.configuration import Configured
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.shared.tensors.tensor import ops


class Constraint(Configured):
    """Base of constraints: called with a weight, it returns the nearest one that is allowed."""

    def __call__(self, w):
        """Return what a weight becomes."""
        return w

    def get_config(self):
        """Return the arguments that make an equal one: none."""
        return {}


def _norms(w, axis):
    return ops.sqrt(ops.sum(ops.square(w), axis=axis, keepdims=True))


class MaxNorm(Constraint):
    """Weights no longer than `max_value` along an axis.

    Parameters
    ----------
    axis : Union[int, Sequence[int]], optional, default=0
        What norms are taken along: 0 for the inputs of a dense layer, (0, 1, 2) for those of a convolution.

    """

    def __init__(self, max_value=2, axis=0):
        self.max_value, self.axis = max_value, axis

    def __call__(self, w):
        w = convert_to_tensor(w)
        norms = _norms(w, self.axis)
        return w * (ops.clamp(norms, 0, self.max_value) / (epsilon() + norms))


class NonNeg(Constraint):
    """Weights that are not negative."""

    def __call__(self, w):
        return ops.maximum(convert_to_tensor(w), 0)


class UnitNorm(Constraint):
    """Weights of length one along an axis. ..."""

    def __init__(self, axis=0):
        self.axis = axis

    def __call__(self, w):
        w = convert_to_tensor(w)
        return w / (epsilon() + _norms(w, self.axis))


class MinMaxNorm(Constraint):
    """Weights whose norms along an axis lie in a range.

    Parameters
    ----------
    min_value : float, optional, default=0.0
        The least a norm may be.
    rate : float, optional, default=1.0
        How much of the way into the range an update goes.

    """

    def __init__(self, min_value=0.0, max_value=1.0, rate=1.0, axis=0):
        self.min_value, self.max_value, self.rate, self.axis = min_value, max_value, rate, axis

    def __call__(self, w):
        w = convert_to_tensor(w)
        norms = _norms(w, self.axis)
        wanted = self.rate * ops.clamp(norms, self.min_value, self.max_value) + (1 - self.rate) * norms
        return w * (wanted / (epsilon() + norms))
