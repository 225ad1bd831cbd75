"""What every function of keras.ops is called with: names, then arrays and plain values. One table for all checks."""
import numpy as np

_random = np.random.RandomState(3)


def f(*shape, low=-2.0, high=2.0, dtype="float32"):
    """Return floating numbers."""
    return _random.uniform(low, high, shape).astype(dtype)


def i(*shape, low=0, high=5, dtype="int32"):
    """Return integers."""
    return _random.randint(low, high, shape).astype(dtype)


def b(*shape):
    """Return truths."""
    return _random.rand(*shape) > 0.5


class Row:
    """A call of a function, and what is checked of it.

    Parameters
    ----------
    name : str
        The function; "image.resize" for those of a module within.
    *args
        Arrays and plain values.
    gradient : bool, optional, default=True
        Compare gradients of floating arrays.
    symbolic : bool, optional, default=True
        Compare what is inferred of symbolic tensors.
    within : float, optional, default=2e-5
        Tolerance.
    **kwargs
        Named arguments.

    """

    def __init__(self, name, *args, gradient=True, symbolic=True, within=2e-5, **kwargs):
        self.name, self.args, self.kwargs = name, args, kwargs
        self.gradient, self.symbolic, self.within = gradient, symbolic, within

    def __repr__(self):
        shown = [f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray) else str(x)[:24] for x in self.args]
        shown += [f"{name}={x.dtype if isinstance(x, np.ndarray) else str(x)[:24]}" for name, x in self.kwargs.items()]
        return f"{self.name}({','.join(shown)})".replace(" ", "")


def find(module, name):
    """Return a function of a module by a name with dots."""
    for part in name.split("."):
        module = getattr(module, part)
    return module


def each(names, *args, **options):
    """Return a row for each of several functions."""
    return [Row(name, *args, **options) for name in names.split()]
