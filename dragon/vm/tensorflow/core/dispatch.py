"""TensorFlow's functions of numbers, when a ragged or sparse tensor comes along."""
import inspect
from types import FunctionType

from dragon.vm.shared.ragged import listeners
from dragon.vm.shared.ragged.dispatch import teach
from dragon.vm.shared.ragged.math import REDUCTIONS as _REDUCTIONS
from dragon.vm.tensorflow import math, nn
from dragon.vm.tensorflow.core.numbers import clipping, elementwise
from dragon.vm.tensorflow.nn import activations, lookup

# What `elementwise` has beside functions of elements: a result of theirs stands for several of one tensor's.
ACROSS = frozenset("accumulate_n add_n is_non_decreasing is_strictly_increasing polyval zero_fraction".split())


def _functions(module, source, operands):
    """Return the names of a module's functions of so many tensors, element by element, that a file of functions has."""
    found = []
    for name, function in vars(module).items():
        if name in ACROSS or not isinstance(function, FunctionType):
            continue
        if not name.startswith("_") and inspect.unwrap(function).__module__ == source.__name__:
            parameters = inspect.signature(function).parameters
            needed = [one for one in parameters.values() if one.default is one.empty]
            if len(needed) == operands and "axis" not in parameters:
                found.append(name)
    return " ".join(found)


# Modules, and their functions of one argument that go through its values one by one; further ones are settings.
UNARY = {clipping: "clip_by_value", math: _functions(math, elementwise, 1),
         activations: _functions(activations, activations, 1), lookup: "dropout"}
# The same of two arguments.
BINARY = {math: _functions(math, elementwise, 2)}
REDUCTIONS = {math: " ".join(_REDUCTIONS)}

# Whoever imports `nn` first may be here before it has gathered the functions of its files.
listeners.namespaces.append(vars(nn))
teach(UNARY, REDUCTIONS)
teach(BINARY)
