"""An exception on its way home from a worker: its class and its traceback as text."""
import pickle
import sys
import traceback


class KeyErrorMessage(str):
    """Text that a KeyError shows as it is: the class would show its repr."""

    __slots__ = ()

    def __repr__(self):
        return str(self)


class Failure:
    """An error that was raised, to be raised again in another process.

    Parameters
    ----------
    exc_info : tuple, optional
        As of `sys.exc_info()`; the exception being handled by default.
    where : str, optional, default="in background"
        Where it happened, for the message.

    """

    def __init__(self, exc_info=None, where="in background"):
        exc_info = exc_info or sys.exc_info()
        self.exc_type = exc_info[0]
        self.exc_msg = "".join(traceback.format_exception(*exc_info))
        self.where = where

    def __reduce__(self):
        kind = self.exc_type
        try:
            pickle.dumps(kind)
        except Exception:
            kind = RuntimeError  # a class that only the worker knows
        return _restore, (type(self), kind, self.exc_msg, self.where)

    def reraise(self):
        """Raise the exception in its class, with the traceback in its message."""
        message = f"Caught {self.exc_type.__name__} {self.where}.\nOriginal {self.exc_msg}"
        if self.exc_type is KeyError:
            message = KeyErrorMessage(message)
        elif getattr(self.exc_type, "message", None):
            raise self.exc_type(message=message)
        try:
            error = self.exc_type(message)
        except Exception:
            # Some classes take no text alone.
            raise RuntimeError(message) from None
        raise error


def _restore(kind, exc_type, message, where):
    made = object.__new__(kind)
    made.exc_type, made.exc_msg, made.where = exc_type, message, where
    return made


def no_end(error, where):
    """Return an error in place of a StopIteration of a user's, which iterators would take for the end of all."""
    return RuntimeError(f"got a StopIteration from {where} ({error}), expected a result or another error")
