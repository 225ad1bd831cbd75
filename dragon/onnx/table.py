"""The table of the functions that write operators, which the families' files fill."""
import functools

from dragon import _C

MAPPINGS = {}
# Operators that are one node without attributes, of inputs of one dtype.
DIRECT = {
    "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh", "cos": "Cos",
    "cosh": "Cosh", "div": "Div", "erf": "Erf", "exp": "Exp", "hardswish": "HardSwish", "log": "Log", "mish": "Mish",
    "pow": "Pow", "reciprocal": "Reciprocal", "relu": "Relu", "selu": "Selu", "sigmoid": "Sigmoid", "sin": "Sin",
    "sinh": "Sinh", "softsign": "Softsign", "sqrt": "Sqrt", "tan": "Tan", "tanh": "Tanh"}


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


@functools.lru_cache(maxsize=None)
def schema(name):
    """Return the schema of an operator as a dict."""
    return _C.schema(name)


def write_direct(name, w, **arguments):
    """Write the one node that an operator is."""
    return w.add(DIRECT[name], *w.promoted(*arguments.values()))


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
    return MAPPINGS.get(name) or (functools.partial(write_direct, name) if name in DIRECT else None)
