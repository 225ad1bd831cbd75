"""`tf.experimental.numpy.random`: random numbers with NumPy's arguments."""
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.tensorflow import random as _random
from dragon.vm.tensorflow.core.numpy_like.promotion import default_float as _default, to_tensor as _to_tensor


def _shape(size):
    return () if size is None else (int(size),) if isinstance(size, int) else tuple(int(one) for one in size)


def seed(s):
    """Set the seed of all streams."""
    _random.set_seed(int(s))


def randn(*args):
    """Return normal numbers in a shape of these sizes."""
    return standard_normal(args)


def standard_normal(size=None):
    """Return normal numbers."""
    return _random.normal(_shape(size), dtype=_default())


def uniform(low=0.0, high=1.0, size=None):
    """Return numbers between two, which are broadcast."""
    low, high = (ops.cast(_to_tensor(end), _default()) for end in (low, high))
    drawn = _random.uniform(tuple(ops.add(low, high).shape) if size is None else _shape(size), dtype=_default())
    return ops.add(ops.mul(drawn, ops.sub(high, low)), low)


def random(size=None):
    """Return numbers between 0 and 1."""
    return uniform(0.0, 1.0, size)


def rand(*size):
    """Return numbers between 0 and 1 in a shape of these sizes."""
    return uniform(0.0, 1.0, size)


def randint(low, high=None, size=None, dtype="int64"):
    """Return integers below a number, or between two."""
    low, high = (0, low) if high is None else (low, high)
    return _random.uniform(_shape(size), int(low), int(high), dtype)


def poisson(lam=1.0, size=None):
    """Return Poisson numbers of rates."""
    rates = ops.cast(_to_tensor(lam), _default())
    if size is None:
        return _random.poisson((), rates, "int64")
    shape = _shape(size)
    outer = shape[:len(shape) - rates.ndim]
    return ops.reshape(_random.poisson(outer, ops.broadcast_to(rates, shape[len(outer):]), "int64"), shape)
