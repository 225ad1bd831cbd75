"""Calls beneath all who answer for operators, and what modes have in common."""

from dragon.core.scopes import contextmanager
from dragon.vm.torch.core.dispatching.mode_stack import asking_nobody


@contextmanager
def no_dispatch():
    """Ask neither classes nor modes for operators within a `with` block."""
    with asking_nobody():
        yield


def all_same_mode(modes):
    """Return whether all of some modes are one object."""
    return all(mode is modes[0] for mode in modes)


def all_same_mode_scope(modes, cur_mode):
    """Return whether all of some modes are one object, or stand above it."""
    return all(mode is cur_mode or mode in getattr(cur_mode, "ancestors", ()) for mode in modes)
