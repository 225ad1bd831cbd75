"""A program that runs once more to be written down says nothing a second time; that it wanted to is known."""
import contextlib
import logging
import sys
import threading

_local = threading.local()  # `hushed`: the innermost block of this thread
_lock = threading.Lock()
_installed = []  # per block that any thread is in: what takes it all away again, in the first


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


def _unwrapped(stream):
    """Return the stream below ours: whoever put another in the place of ours may have put ours back since."""
    while isinstance(stream, _Stream):
        stream = stream._stream
    return stream


def _install():
    """Put the quiet streams in place; return what takes them away, unless somebody has put others there meanwhile."""
    streams = {name: _Stream(name, _unwrapped(getattr(sys, name)))
               for name in ("stdout", "stderr") if getattr(sys, name) is not None}
    handle = logging.Logger.handle

    def keep_quiet(logger, record):
        return None if _is_quiet() else handle(logger, record)
    for name, stream in streams.items():
        setattr(sys, name, stream)
    logging.Logger.handle = keep_quiet

    def take_away():
        for name, stream in streams.items():
            if getattr(sys, name) is stream:
                setattr(sys, name, stream._stream)
        if logging.Logger.handle is keep_quiet:
            logging.Logger.handle = handle
    return take_away


class Hushed:
    """Within a `with` block, nothing that this thread says reaches the screen or a log; `wanted` tells of it.

    Parameters
    ----------
    said : List[str], optional
        Where to put what the thread prints. Then nothing else is held back.

    """

    def __init__(self, said=None):
        self.wanted, self.said = False, said

    def __enter__(self):
        with _lock:
            _installed.append(None if _installed else _install())
        self._outer, _local.hushed = getattr(_local, "hushed", None), self
        return self

    @contextlib.contextmanager
    def lifted(self):
        """Have a `with` block of this thread say what it wants, as if this were not there."""
        innermost, _local.hushed = getattr(_local, "hushed", None), self._outer
        try:
            yield
        finally:
            _local.hushed = innermost

    def __exit__(self, *_):
        _local.hushed = self._outer
        with _lock:
            take_away = _installed[0]
            _installed.pop()
            if not _installed:
                take_away()
