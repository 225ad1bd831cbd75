"""Marks on functions that AutoGraph leaves as they are."""
import functools

_MARK = "_autograph_left_alone"


def mark(function):
    """Return something that calls a function and is marked."""
    @functools.wraps(function, updated=())
    def call(*args, **kwargs):
        return function(*args, **kwargs)
    setattr(call, _MARK, True)
    return call


def is_marked(function):
    """Return whether AutoGraph leaves a callable as it is."""
    return getattr(getattr(function, "__func__", function), _MARK, False) is True
