"""Suppress what a program prints or logs while it runs again to be recorded, and note that it wanted to."""
import logging
import sys
import threading

from dragon.core.scopes import Scope, scope

_local = threading.local()  # `hushed`: the innermost block of this thread
_lock = threading.Lock()
_installed = []  # the blocks that any thread is in; while there are any, the streams below are in place
_STREAMS = ("stdout", "stderr")


def _is_quiet(name=None, text=""):
    """Return whether this thread is to be quiet, and note that it wanted to say something, and what.

    Parameters
    ----------
    name : str, optional
        The stream, or None for a log.
    text : str, optional, default=""
        What it wanted to write there.

    """
    hushed = getattr(_local, "hushed", None)
    if hushed is None or hushed.said is not None and name != "stdout":
        return False
    hushed.wanted = True
    if hushed.said is not None:
        hushed.said.append(text)
    return True


class _Stream:
    """A stream that keeps quiet on threads that are to, and is what it was on all others."""

    def __init__(self, name, stream):
        self._name, self._stream = name, stream

    def write(self, text):
        """Write a text, or note that somebody wanted to."""
        return len(text) if _is_quiet(self._name, text) else self._stream.write(text)

    def __getattr__(self, name):
        return getattr(self._stream, name)


def _keep_quiet(handle):
    """Return what stands in the place of `logging.Logger.handle`."""
    def keep_quiet(logger, record):
        return None if _is_quiet() else handle(logger, record)
    keep_quiet.plain = handle
    return keep_quiet


# Both may be called again after an interrupt: what is there already, or is gone already, stays so.

def _install():
    """Put the quiet streams in place."""
    for name in _STREAMS:
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, _Stream):
            setattr(sys, name, _Stream(name, stream))
    if not hasattr(logging.Logger.handle, "plain"):
        logging.Logger.handle = _keep_quiet(logging.Logger.handle)


def _take_away():
    """Put back what was there, unless somebody has put others there meanwhile."""
    for name in _STREAMS:
        stream = getattr(sys, name)
        if isinstance(stream, _Stream):
            setattr(sys, name, stream._stream)
    if hasattr(logging.Logger.handle, "plain"):
        logging.Logger.handle = logging.Logger.handle.plain


class SuppressOutput(Scope):
    """Within a `with` block, nothing that this thread says reaches the screen or a log; `wanted` tells of it.

    Parameters
    ----------
    said : List[str], optional
        Where to put what the thread prints. Then nothing else is held back.

    """

    def __init__(self, said=None):
        self.wanted, self.said = False, said

    def _enter_scope(self, exits):
        """Be quiet from now on."""
        exits.callback(self._let_go)
        with _lock:
            _installed.append(self)
            _install()
        self._outer = exits.set(_local, "hushed", self)
        return self

    def _let_go(self):
        with _lock:
            _installed[:] = [block for block in _installed if block is not self]
            if not _installed:
                _take_away()

    def lifted(self):
        """Have a `with` block of this thread say what it wants, as if this were not there."""
        return _lifted(self._outer)


@scope
def _lifted(stack, outer):
    stack.set(_local, "hushed", outer)
