"""Run a function for shapes alone before it is sent, so that what it makes at first is made here."""
import contextlib

from dragon.core.modes import shapes_only
from dragon.vm.shared import nest
from dragon.vm.shared.recording.concrete import ConcreteFunction
from dragon.vm.shared.recording.function import Function
from dragon.vm.shared.tensors import variable
from dragon.vm.tensorflow.core.servers.values import PerWorkerValues


def is_lasting(function):
    """Return whether a function is what it was when it was first called, as those of `tf.function` are."""
    return isinstance(function, (Function, ConcreteFunction)) or getattr(function, "is_lasting", False)


def rehearse(strategy, function, args, kwargs):
    """Call a function without numbers: variables that it makes when it is first called are made.

    Parameters
    ----------
    strategy : ParameterServerStrategy
        Whose variables they are.
    function : Function
        The function.
    args, kwargs : Any
        What it will be called with.

    """
    def stand_in(value):
        return value._stand_in() if isinstance(value, PerWorkerValues) else value
    args, kwargs = nest.map_structure(stand_in, (args, kwargs))
    with contextlib.suppress(Exception):  # where it looks at numbers, the worker will tell what is wrong
        with variable.inferring.set(), strategy.scope(), shapes_only():
            function = function._function if isinstance(function, ConcreteFunction) else function
            function.python_function(*args, **kwargs)
