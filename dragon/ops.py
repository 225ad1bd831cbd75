"""All operators by name: `dragon.ops.<name>`; `dragon.ops.names()` lists them."""
import functools

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


def shown_in(namespace):
    """Return a function that lists the operators which a namespace shows, such as "math"."""
    def names():
        from dragon.dialects.native.table import operators_of
        return operators_of()[namespace]
    return names


def shelf(module, list_names):
    """Return (`__getattr__`, `__dir__`) for a module that shows some operators, fetched when first asked for.

    Parameters
    ----------
    module : str
        The module's name, for errors.
    list_names : Callable[[], Iterable[str]]
        Which operators; called when the first of them is asked for.

    Returns
    -------
    Tuple[Callable, Callable]
        What the module is to bind to these two names.

    """
    names = functools.cache(lambda: frozenset(list_names()))

    def fetch(name):
        if name not in names():
            raise AttributeError(f"{module}: got '{name}', expected one of {', '.join(sorted(names()))}")
        return getattr(_ops, name)
    return fetch, lambda: sorted(names())
