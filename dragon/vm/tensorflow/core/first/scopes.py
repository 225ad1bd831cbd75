"""Name scopes with the arguments of TensorFlow 1."""

from dragon.core.scopes import contextmanager
from dragon.vm.shared.tensors import variable as _variables


@contextmanager
def name_scope(name, default_name=None, values=None):
    """Put a name before those of variables made meanwhile.

    Parameters
    ----------
    name : Optional[str]
        The name.
    default_name : str, optional
        The name where that is None.
    values : Sequence[Tensor], optional
        Accepted: there is one graph at most.

    """
    chosen = default_name if name is None else name
    if chosen is not None and not isinstance(chosen, str):
        raise TypeError("`default_name` type ({}) is not a string type. You likely meant to pass this into the "
                        "`values` kwarg.".format(type(chosen).__name__))
    with _variables.open_scope(chosen or "") as scope:
        yield scope


def op_scope(values, name, default_name=None):
    """Do what `name_scope` does, with its arguments in another order."""
    return name_scope(name, default_name, values)
