"""What writes an operator: its row, or the function that a family's file has entered."""
import functools

from dragon import _C
from dragon.dialects.onnx import table

MAPPINGS = {}  # functions that write operators, by the engine's names
ROW_FUNCTIONS = {}  # functions that rows call


class Inexpressible(Exception):
    """Raised by a mapping for arguments that ONNX cannot express; the message says which."""


def maps(*names):
    """Return a decorator that enters a function as the mapping of operators.

    The function gets the writer and then the operator's arguments by the schema's names: values for tensors, plain
    Python for the rest. It returns the value of each result, as many as it can tell.
    """
    def enter(function):
        for name in names:
            MAPPINGS[name] = function
        function.__doc__ = function.__doc__ or f"Write {names[0]}: {_C.schema(names[0])['doc']}"
        return function
    return enter


def row_function(function):
    """Enter a function that rows call by its name, and which gets the writer before what they give it."""
    ROW_FUNCTIONS[function.__name__] = function
    return function


@functools.lru_cache(maxsize=None)
def schema(name):
    """Return the schema of an operator as a dict."""
    return _C.schema(name)


@functools.lru_cache(maxsize=None)
def _function_of_row(name):
    return table.function_of(name)


def callee_of(name):
    """Return what a row calls by a name: what writes an operator of tensors whose dtypes agree, or a row function.

    Parameters
    ----------
    name : str
        The engine's name of a primitive operator, or that of a function.

    Returns
    -------
    callable or None
        Called with the writer and the arguments, by place or by name.

    """
    return MAPPINGS.get(name) or ROW_FUNCTIONS.get(name) or _function_of_row(name)


def write_row(name, w, **arguments):
    """Write what a row says of an operator, whose tensors are brought to the dtype that it computes in."""
    together = [word for word in table.brought_together(name) if arguments[word] is not None]
    if together:
        arguments.update(zip(together, w.promoted(*(arguments[word] for word in together))))
    return _function_of_row(name)(w, **arguments)


def find_mapping(name):
    """Return the function that writes an operator, or None.

    Parameters
    ----------
    name : str
        The engine's name of a primitive operator.

    Returns
    -------
    callable or None
        Called with the writer and the operator's arguments by name.

    """
    return MAPPINGS.get(name) or (functools.partial(write_row, name) if name in table.rows() else None)
