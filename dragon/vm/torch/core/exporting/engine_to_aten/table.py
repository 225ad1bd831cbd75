"""The table of what the engine's operators are in PyTorch's, which the families' files fill."""
import functools

from dragon import _C
from dragon.vm.torch.core.dtypes import dtype

LOWERINGS = {}


def lowering(*names):
    """Enter a function as what operators of the engine are.

    Parameters
    ----------
    *names : str
        The engine's names. The function gets the translator, then the operator's arguments by the schema's names:
        tensors, or numbers where the graph has constants of no axes, and plain Python. It returns the results.

    """
    def enter(function):
        LOWERINGS.update(dict.fromkeys(names, function))
        return function
    return enter


def torch_dtype(name):
    """Return PyTorch's dtype of the engine's name."""
    return dtype(name)


@functools.lru_cache(maxsize=None)
def arguments_of(name):
    """Return the arguments of an operator of the engine, as its schema has them."""
    return _C.schema(name)["arguments"]


def named_arguments(call, values):
    """Return {name: value} of a call in a graph.

    Parameters
    ----------
    call : GraphCall
        The call.
    values : Dict[int, Any]
        What the graph's values are.

    Returns
    -------
    Dict[str, Any]
        Tensors, lists of them, None, and plain Python.

    """
    given, sizes, found = iter(call.inputs), iter(call.list_sizes), {}

    def following():
        value = next(given)
        return None if value is None else values[value]
    for argument in arguments_of(call.op):
        name, kind = argument["name"], argument["type"]
        if not kind.startswith("Tensor"):
            found[name] = call.attrs[name]
        elif "[]" in kind:
            found[name] = [following() for _ in range(next(sizes))]
        else:
            found[name] = following()
    return found
