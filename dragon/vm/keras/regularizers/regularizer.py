"""Penalties on weights, added to the loss."""
import math

from dragon.vm.keras.core.configuration import Configured, unwritten
from dragon.vm.keras.core.convert import convert_to_tensor
from dragon.vm.keras.losses.margins import normalize
from dragon.vm.shared.tensors.tensor import ops


class Regularizer(Configured):
    """Base of regularizers: called with a weight, it returns the penalty."""

    def __call__(self, x):
        """Return the penalty of a weight."""
        return 0.0

    @unwritten
    def get_config(self):
        """Return the arguments that make the same regularizer again; subclasses write it."""
        raise NotImplementedError(f"{self} does not implement get_config()")


def validate_float_arg(value, name):
    """Return a factor as a float, or refuse it."""
    if not isinstance(value, (float, int)) or math.isinf(value) or math.isnan(value) or value < 0:
        raise ValueError(f"Invalid value for argument {name}: expected a non-negative float. "
                         f"Received: {name}={value}")
    return float(value)


def _factor(value, name, default=0.0):
    """Return a factor, the default for None."""
    return validate_float_arg(default if value is None else value, name)


class L1L2(Regularizer):
    """`l1` times the sum of magnitudes plus `l2` times the sum of squares.

    Parameters
    ----------
    l1 : float, optional, default=0.0
        The factor of magnitudes.
    l2 : float, optional, default=0.0
        The factor of squares.

    """

    def __init__(self, l1=0.0, l2=0.0):
        self.l1, self.l2 = _factor(l1, "l1"), _factor(l2, "l2")

    def __call__(self, x):
        x = convert_to_tensor(x)
        terms = [factor * ops.sum(size(x)) for factor, size in ((self.l1, ops.abs), (self.l2, ops.square)) if factor]
        return sum(terms[1:], terms[0]) if terms else ops.zeros((), dtype=x.dtype)


class L1(Regularizer):
    """`l1` times the sum of magnitudes.

    Parameters
    ----------
    l1 : float, optional, default=0.01
        The factor.

    """

    def __init__(self, l1=0.01):
        self.l1 = _factor(l1, "l1", 0.01)

    def __call__(self, x):
        return self.l1 * ops.sum(ops.abs(convert_to_tensor(x)))


class L2(Regularizer):
    """`l2` times the sum of squares.

    Parameters
    ----------
    l2 : float, optional, default=0.01
        The factor.

    Examples
    --------
    >>> penalty = keras.regularizers.L2(0.5)
    >>> float(penalty(np.array([1.0, 2.0], "float32")))
    2.5

    """

    def __init__(self, l2=0.01):
        self.l2 = _factor(l2, "l2", 0.01)

    def __call__(self, x):
        return self.l2 * ops.sum(ops.square(convert_to_tensor(x)))


class OrthogonalRegularizer(Regularizer):
    """Keeps the rows or columns of a matrix at right angles.

    Parameters
    ----------
    factor : float, optional, default=0.01
        The factor of the mean cosine between them.
    mode : str, optional, default="rows"
        "rows" or "columns".

    """

    def __init__(self, factor=0.01, mode="rows"):
        self.factor = _factor(factor, "factor")
        if mode not in ("rows", "columns"):
            raise ValueError('Invalid value for argument `mode`. Expected one of {"rows", "columns"}. '
                             f"Received: mode={mode}")
        self.mode = mode

    def __call__(self, inputs):
        """Return the penalty of a matrix."""
        inputs = convert_to_tensor(inputs)
        if len(inputs.shape) != 2:
            raise ValueError("Inputs to OrthogonalRegularizer must have rank 2. "
                             f"Received: inputs.shape={tuple(inputs.shape)}")
        rows = inputs if self.mode == "rows" else ops.transpose(inputs, 0, 1)
        rows = normalize(rows, axis=1)
        size = rows.shape[0]
        cosines = ops.matmul(rows, ops.transpose(rows, 0, 1)) * (1.0 - ops.eye(size, dtype=rows.dtype))
        return self.factor * 0.5 * ops.sum(ops.abs(cosines)) / (size * (size - 1.0) / 2.0)
