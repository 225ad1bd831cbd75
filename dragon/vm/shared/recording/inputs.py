"""The lists and dictionaries that a traced function is given: what it changes in them, no later call would."""
import inspect

from dragon.vm.shared import nest


class Inputs:
    """The arguments of a function while it is traced.

    Parameters
    ----------
    function : Callable
        What is called.
    args : tuple
        The arguments.
    kwargs : dict
        Those by name.

    """

    def __init__(self, function, args, kwargs):
        self.args, self.kwargs, self._function, self._nested = args, kwargs, function, {}
        try:
            self._signature = inspect.signature(function)
            bound = self._signature.bind(*args, **kwargs)
        except (TypeError, ValueError):  # the function itself says what it misses
            return
        for name, parameter in self._signature.parameters.items():
            if name not in bound.arguments and nest.is_nested(parameter.default):  # a default is every call's: a copy
                bound.arguments[name] = nest.map_structure(lambda leaf: leaf, parameter.default)
                self.args, self.kwargs = bound.args, bound.kwargs
        self._nested = {name: (value, _contents(value)) for name, value in bound.arguments.items()
                        if nest.is_nested(value)}

    def require_unchanged(self):
        """Raise a ValueError if an argument does not hold what it did."""
        changed = [name for name, (value, before) in self._nested.items() if not _is_same(before, _contents(value))]
        if changed:
            name = getattr(self._function, "__qualname__", type(self._function).__name__)
            raise ValueError(f"{name}{self._signature} should not modify its Python input arguments. Modifying a copy "
                             f"is allowed. The following parameter(s) were modified: {', '.join(changed)}")


def _contents(structure):
    """Return the form of a structure, which is a tuple, and its leaves, which stay what they are."""
    if not nest.is_nested(structure):
        return structure
    return _Form((type(structure), tuple((key, _contents(value)) for key, value in nest.children(structure))))


class _Form(tuple):
    """(class, what is in it)."""


def _is_same(one, other):
    if not isinstance(one, _Form) or not isinstance(other, _Form):
        return one is other
    return one[0] is other[0] and len(one[1]) == len(other[1]) and all(
        key == another and _is_same(value, now) for (key, value), (another, now) in zip(one[1], other[1]))
