"""All operators by name: `dragon.ops.<name>`; `dragon.ops.names()` lists them."""
from dragon import _C
from dragon.tensor import ops as _ops


def names():
    """Return the names of all registered operators, sorted."""
    return _C.op_names()


def schema(name):
    """Return what is told of an operator: its line, arguments, results and marks, as a dict."""
    return _C.schema(name)


def __getattr__(name):
    operator = getattr(_ops, name)
    globals()[name] = operator
    return operator


def __dir__():
    return sorted(set(globals()) | set(_C.op_names()))


def shelf(module, names):
    """Return (`__getattr__`, `__dir__`) for a module that shows some operators, fetched when first asked for.

    Parameters
    ----------
    module : str
        The module's name, for errors.
    names : Sequence[str]
        Which operators.

    Returns
    -------
    Tuple[Callable, Callable]
        What the module is to bind to these two names.

    """
    names = frozenset(names)

    def fetch(name):
        if name not in names:
            raise AttributeError(f"{module}: got '{name}', expected one of {', '.join(sorted(names))}")
        return getattr(_ops, name)
    return fetch, lambda: sorted(names)
