"""Functions of `tf` and Keras, and what they hold, as bytes for workers; variables go by their numbers."""
import copyreg

from dragon import _C
from dragon.distributed.serving.shipping import ship, unship
from dragon.vm.keras.core.variable import Variable as KerasVariable
from dragon.vm.keras.layers.layer import Layer
from dragon.vm.keras.optimizers.optimizer import Optimizer
from dragon.vm.shared.recording.concrete import ConcreteFunction
from dragon.vm.shared.recording.function import Function
from dragon.vm.shared.tensors.tensor import Base, ops
from dragon.vm.shared.tensors.variable import Variable, living, no_creators, open_scope
from dragon.vm.tensorflow.core.flow.strategies import Strategy
from dragon.vm.tensorflow.core.servers.values import PerWorkerValues

VARIABLE, STRATEGY, RESOURCE, COORDINATOR = "variable", "strategy", "resource", "coordinator"  # what has names
FUNCTION = "function"


def _of_function(function):
    body = function._body
    return _function, (), (function._python_function, function._signature, function._reduce, function._name,
                           body.autograph, body.features), None, None, _complete


def _of_concrete(function):
    return ConcreteFunction, (function._function, function._args, function._kwargs)


def _function():
    return object.__new__(Function)


def _complete(function, state):
    function.__init__(*state)


def _by_parts(value):
    """Return how an object is made of its attributes, whatever its class says of copies."""
    return copyreg.__newobj__, (type(value),), value.__dict__, None, None, _fill


def _fill(value, facts):
    if hasattr(value, "__setstate__"):
        value.__setstate__(facts)
    else:
        value.__dict__.update(facts)


def reducers():
    """Return, for classes, what makes their objects again at the other side."""
    return {Function: _of_function, ConcreteFunction: _of_concrete, Layer: _by_parts, Optimizer: _by_parts}


def pack(value, copies, strategy, prepare):
    """Return an object as bytes.

    Parameters
    ----------
    value : Any
        The object.
    copies : Copies
        The variables that have numbers.
    strategy : ParameterServerStrategy
        What the other side has one of its own in place of.
    prepare : Callable[[Any], int]
        Called with values that each worker has its own of; returns their number.

    """
    def name_of(item):
        if isinstance(item, Base):
            number = copies.number_of(item)
            if number is not None:
                return VARIABLE, number, _recipe(item), copies.all[number].shards
        elif isinstance(item, PerWorkerValues):
            return RESOURCE, prepare(item)
        elif item is strategy:
            return (STRATEGY,)
        elif getattr(type(item), "is_coordinator", False):
            return (COORDINATOR,)
        elif isinstance(item, Strategy):
            raise TypeError(f"ClusterCoordinator: got a function that uses {item!r}, expected the strategy that it was "
                            "made with")
        return None
    return ship(value, name_of, reducers())


def unpack(data, find):
    """Return the object that `pack` made bytes of."""
    return unship(data, find)


def _recipe(variable):
    """Return what makes a variable of the same kind."""
    shape, dtype = tuple(map(int, variable.shape)), getattr(variable, "_dtype", None) or variable.dtype.name
    if isinstance(variable, KerasVariable):
        facts = {name: value for name, value in variable.__dict__.items() if name != "_keras_mask"}
        return "keras", type(variable), shape, dtype, facts
    facts = {"trainable": variable.trainable, "name": variable._name, "constraint": variable._constraint,
             "shape": variable._declared, "aggregation": variable.aggregation,
             "synchronization": variable.synchronization}
    return "tf", type(variable), shape, dtype, facts


def make_variable(kind, cls, shape, dtype, facts):
    """Return a variable as a recipe tells; its numbers come later."""
    zeros = ops.zeros(shape, dtype=dtype)
    with open_scope(None), no_creators():
        if kind == "tf":
            made = Variable.__new__(cls, zeros, dtype=dtype, **facts)
            made.__init__()
            return made
        made = _C.Tensor.__new__(cls, zeros)
        made.__dict__.update(facts)
        made._note_trainable()
        living.set(made, None)
        return made
