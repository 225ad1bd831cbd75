"""Which function writes which operator: the table that the families' files fill."""
import functools

from dragon import _C

MAPPINGS = {}


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
    """Write the one node that the operator's schema names: all arguments are tensors of one dtype."""
    inputs = w.promoted(*arguments.values())
    return w.add(schema(name)["onnx"], *inputs)


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
    if name in MAPPINGS:
        return MAPPINGS[name]
    line = schema(name)
    plain = all(argument["type"] == "Tensor" and not argument["mutated"] for argument in line["arguments"])
    if line["onnx"] and plain and len(line["returns"]) == 1:
        return functools.partial(write_direct, name)
    return None
