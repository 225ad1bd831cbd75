"""Variables made, read and written, and constants."""
from dragon.vm.keras import ops as _ops
from dragon.vm.keras.core.config import floatx as _floatx
from dragon.vm.keras.core.convert import convert_to_numpy as _numpy
from dragon.vm.keras.core.scopes import name_scope  # noqa: F401
from dragon.vm.keras.legacy.backend.numbers import _seed


def variable(value, dtype=None, name=None, constraint=None):
    """Return a variable that starts from a value.

    Parameters
    ----------
    value : Any
        The value.
    dtype : str, optional
        Its dtype; the configured one by default.
    name : str, optional
        Its name.
    constraint : Callable, optional
        What it is brought back to after each step of an optimizer.

    """
    from dragon.vm.shared.tensors.variable import Variable
    return Variable(value, dtype=dtype or _floatx(), name=name, constraint=constraint)


def constant(value, dtype=None, shape=None, name=None):
    """Return a tensor of a value. ..."""
    made = _ops.convert_to_tensor(value, dtype=dtype or _floatx())
    if shape is None:
        return made
    return _ops.broadcast_to(made, tuple(shape)) if made.shape in ((), (1,)) else _ops.reshape(made, tuple(shape))


def eye(size, dtype=None, name=None):
    """Return a variable with ones on its diagonal. ..."""
    return variable(_ops.eye(size, dtype=dtype or _floatx()), dtype, name)


def ones(shape, dtype=None, name=None):
    """Return a variable of ones. ..."""
    return variable(_ops.ones(tuple(shape), dtype=dtype or _floatx()), dtype, name)


def zeros(shape, dtype=None, name=None):
    """Return a variable of zeros. ..."""
    return variable(_ops.zeros(tuple(shape), dtype=dtype or _floatx()), dtype, name)


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """Return a variable of numbers of a normal distribution. ..."""
    from dragon.vm.keras import random
    return variable(random.normal(tuple(shape), mean, scale, dtype=dtype or _floatx(), seed=_seed(seed)), dtype, name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """Return a variable of numbers between two limits. ..."""
    from dragon.vm.keras import random
    return variable(random.uniform(tuple(shape), low, high, dtype=dtype or _floatx(), seed=_seed(seed)), dtype, name)


def get_value(x):
    """Return a tensor or a variable as an array."""
    return _numpy(x)


def eval(x):
    """Return a tensor or a variable as an array."""
    return _numpy(x)


def batch_get_value(tensors):
    """Return several tensors or variables as arrays."""
    return [_numpy(x) for x in tensors]


def set_value(x, value):
    """Write a variable."""
    x.assign(_ops.cast(value, x.dtype))


def batch_set_value(tuples):
    """Write several variables: pairs of one and its value."""
    for x, value in tuples:
        set_value(x, value)


def update(x, new_x):
    """Write a variable, and return it."""
    x.assign(new_x)
    return x


def update_add(x, increment):
    """Add to a variable, and return it."""
    x.assign_add(increment)
    return x


def update_sub(x, decrement):
    """Subtract from a variable, and return it."""
    x.assign_sub(decrement)
    return x


def moving_average_update(x, value, momentum):
    """Move a variable towards a value: by one less the momentum."""
    x.assign_sub((x - _ops.cast(value, x.dtype)) * (1 - _ops.cast(momentum, x.dtype)))
    return x


def stop_gradient(variables):
    """Return tensors through which no gradients go."""
    if isinstance(variables, (list, tuple)):
        return map(_ops.stop_gradient, variables)
    return _ops.stop_gradient(variables)
