"""Modules whose attributes are switches: `torch.backends.cudnn.benchmark = True`, and `with flags(...)` for a while."""

from dragon.core.scopes import contextmanager


def make_flags(namespace, changed=None, **defaults):
    """Return (set_flags, flags) for switches that are globals of a module.

    Parameters
    ----------
    namespace : dict
        The module's globals, where the switches stand.
    changed : Callable, optional
        Called without arguments after switches have changed.
    defaults : Any
        The switches and what they are within `with flags()`.

    Returns
    -------
    tuple
        A function that sets those it is given and returns all former ones, and a context that undoes it.

    """
    def set_flags(*args, **kwargs):
        given = dict(zip(defaults, args), **{name.lstrip("_"): value for name, value in kwargs.items()})
        unknown = set(given) - set(defaults)
        if unknown:
            raise TypeError(f"set_flags: got an unexpected keyword argument {unknown.pop()!r}, expected some of "
                            f"{', '.join(defaults)}")
        former = tuple(namespace[name] for name in defaults)
        namespace.update((name, value) for name, value in given.items() if value is not None)
        if changed is not None:
            changed()
        return former

    @contextmanager
    def flags(*args, **kwargs):
        given = dict(defaults, **dict(zip(defaults, args)))
        unknown = set(kwargs) - set(defaults)
        if unknown:
            raise TypeError(f"flags: got an unexpected keyword argument {unknown.pop()!r}, expected some of "
                            f"{', '.join(defaults)}")
        former = set_flags(**dict(given, **kwargs))
        try:
            yield
        finally:
            namespace.update(zip(defaults, former))
            if changed is not None:
                changed()
    set_flags.__doc__ = "Set switches; return what they all were."
    flags.__doc__ = "Set switches within a `with` block."
    return set_flags, flags
