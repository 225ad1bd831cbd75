"""Errors as items: a stage passes them on, and goes on with what follows.

A generator that raises has ended. So a stage that is one yields failures in the place of raising them, and `raised`,
which goes on after an error as `map` and `filter` do, stands around it.
"""
from dragon.io.failure import no_end

END = object()


class Failed:
    """An error on its way to whoever asks for the item.

    Parameters
    ----------
    error : BaseException
        The error.

    """

    def __init__(self, error):
        self.error = error


def next_of(items, kinds=Exception):
    """Return the next item, END, or the error that came in its place."""
    try:
        return next(items, END)
    except kinds as error:
        return Failed(error)


def raised(items):
    """Return an iterator over the same items that raises those that are failures, and goes on."""
    return map(_raise, items)


def _raise(item):
    if type(item) is Failed:
        raise no_end(item.error, "a stage") if isinstance(item.error, StopIteration) else item.error
    return item
