"""`tf.autograph`: Python's branches and loops over tensors, made into parts of graphs by rewriting functions."""
import functools as _functools
import inspect as _inspect
import sys as _sys

from dragon.core.rewriting.functions import source_of as _source_of
from dragon.core.rewriting.sources import NoSource as _NoSource
from dragon.vm.shared.autograph import calls as _calls, library as _library, status as _status

assert _library


def set_verbosity(level, alsologtostdout=False):
    """Have the rewriting told of.

    Parameters
    ----------
    level : int
        0: nothing is told; from 1 on, which functions are rewritten. The environment variable `AUTOGRAPH_VERBOSITY`
        sets it as well.
    alsologtostdout : bool, optional, default=False
        Whether it is printed.

    """
    _status.verbosity[:] = int(level), bool(alsologtostdout)


def trace(*args):
    """Print values while a function is traced: once for each trace, not when the graph runs.

    Parameters
    ----------
    *args : Any
        What is printed.

    """
    print(*args, file=_sys.stdout)


def _plain(entity):
    """Return the Python function of a `tf.function`."""
    return getattr(entity, "python_function", entity)


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """Return a function that is rewritten: its branches and loops over tensors become parts of graphs.

    Parameters
    ----------
    entity : Callable
        A function, method or object with `__call__`.
    recursive : bool, optional, default=True
        Whether functions that it calls are rewritten too.
    experimental_optional_features : Union[Feature, Sequence[Feature]], optional
        What is rewritten besides.

    Returns
    -------
    Callable
        Called as `entity` is.

    Examples
    --------
    >>> def sign(x):
    ...     if x > 0:
    ...         return 1
    ...     return -1
    >>> tf.autograph.to_graph(sign)(tf.constant(3))
    1

    """
    made = _convert(_plain(entity), recursive, _status.features_of(experimental_optional_features))
    if _calls.rewritten(_plain(entity), (), True) is None:
        raise ValueError(f"to_graph: got {entity!r}, expected a function written in Python whose source is there")
    return made


def to_code(entity, recursive=True, experimental_optional_features=None):
    """Return the source of what `to_graph` makes of a function.

    Parameters
    ----------
    entity : Callable
        A function or method.
    recursive : bool, optional, default=True
        Accepted: the source is that of one function.
    experimental_optional_features : Union[Feature, Sequence[Feature]], optional
        What is rewritten besides.

    Returns
    -------
    str
        In it, `ag__` stands for the functions that decide where Python goes on and where a graph.

    """
    features = _status.features_of(experimental_optional_features)
    function = _inspect.unwrap(getattr(_plain(entity), "__func__", _plain(entity)))
    try:
        return _source_of(function, features)
    except _NoSource as error:
        raise ValueError(f"to_code: {error}") from None


def _convert(function, recursive, features):
    """Return a function that calls another one, rewritten."""
    @_functools.wraps(function, updated=())
    def call(*args, **kwargs):
        made = _calls.rewritten(function, features, True) or function
        with _status.within(_status.Status(True, features, recursive)):
            return made(*args, **kwargs)
    return call
