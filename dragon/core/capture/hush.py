"""A program that runs once more to be written down says nothing a second time; that it wanted to is known."""
import logging
import sys
import threading


class _Stream:
    """A stream that keeps quiet on one thread and is what it was on all others."""

    def __init__(self, stream, hushed):
        self._stream, self._hushed = stream, hushed

    def write(self, text):
        """Write a text, or note that somebody wanted to."""
        if self._hushed.is_here():
            self._hushed.wanted = True
            return len(text)
        return self._stream.write(text)

    def __getattr__(self, name):
        return getattr(self._stream, name)


class Hushed:
    """Within a `with` block, nothing that this thread says reaches the screen or a log; `wanted` tells of it."""

    def __init__(self):
        self.wanted = False
        self._thread = threading.get_ident()

    def is_here(self):
        """Return whether the running thread is the one that is to be quiet."""
        return threading.get_ident() == self._thread

    def __enter__(self):
        self._before = sys.stdout, sys.stderr, logging.Logger.handle
        handle = logging.Logger.handle

        def keep_quiet(logger, record):
            if self.is_here():
                self.wanted = True
                return None
            return handle(logger, record)
        sys.stdout, sys.stderr = (stream and _Stream(stream, self) for stream in self._before[:2])
        logging.Logger.handle = keep_quiet
        return self

    def __exit__(self, *_):
        sys.stdout, sys.stderr, logging.Logger.handle = self._before
