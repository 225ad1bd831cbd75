"""What computes an operator of PyTorch's: its row's expression, or what has its name here."""
import builtins
import functools
import types

from dragon._C import op_names
from dragon.dialects.aten import table
from dragon.vm.guest import gather
from dragon.vm.torch.core.absent import make_function
from dragon.vm.torch.core.api import api
from dragon.vm.torch.core.aten import (array, attention, convolution, index, loss, normalization, pooling, recurrent,
                                       vision)
from dragon.vm.torch.core.register import FUNCTIONS
from dragon.vm.torch.core.tensor import Tensor, ops

# Named by libraries that dispatch on it, and never called: PyTorch has no operator of this name either.
REFUSED = ("_spmm",)


# The functions of the families' files, which rows call `python`.
PYTHON = types.SimpleNamespace()
gather(vars(PYTHON), array, attention, convolution, index, loss, normalization, pooling, recurrent, vision)


def resolve(word):
    """Return what a name stands for in a row that is no argument: a module, an operator of the engine, or Python's."""
    if word in ("torch", "F", "python"):
        return {"torch": api(), "F": api().nn.functional, "python": PYTHON}[word]
    return getattr(ops, word) if word in op_names() else getattr(builtins, word)


@functools.cache
def function_of(name, overload):
    """Return the function of an overload that has a row.

    Parameters
    ----------
    name : str
        The operator's, without its namespace.
    overload : str
        The overload's, "default" or empty for the one without a name.

    Returns
    -------
    Optional[Callable]
        A function of the overload's arguments, all of which may be given by place; None without a row.

    """
    return table.function_of(name, overload or "default", resolve)


@functools.cache
def has_row(name):
    """Return whether an operator, or one of its overloads, has a row."""
    return (table.COMPUTED, name) in table.rows()


def fitting(name, args, kwargs):
    """Return the function of the first overload with a row that takes so many arguments, and these by name, or None."""
    for overload, line in table.overloads(name).items():
        known, needed = [part.name for part in line.arguments], [part.name for part in line.arguments
                                                                 if not part.has_default]
        if len(args) <= len(known) and set(needed) <= {*known[:len(args)], *kwargs} and set(kwargs) <= set(known):
            found = function_of(name, overload)
            if found is not None:
                return found
    return None


def namesake(name):
    """Return what has an operator's name here: a function of the API, a method, or None."""
    found = FUNCTIONS.get(name) or Tensor.__dict__.get(name) or api().nn.functional.__dict__.get(name)
    room, _, rest = name.partition("_")
    if found is None and room in ("special", "linalg", "fft"):
        found = getattr(api(), room).__dict__.get(rest)
    if found is None and name in REFUSED:
        return make_function("ops.aten", name)
    return found if callable(found) else None
