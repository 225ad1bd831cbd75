"""Whether a `tf.function` is being traced, and what its user may not do meanwhile."""
import os
import sys
import threading

from dragon.core.capture.control import is_open
from dragon.core.capture.settings import captures, is_capturing
from dragon.core.modes import is_phantom
from dragon.core.scopes import contextmanager
from dragon.core.warnings import is_users
from dragon.vm.shared import errors

_local = threading.local()
_REWRITTEN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "autograph") + os.sep


class Trace:
    """A `tf.function` in progress.

    Parameters
    ----------
    autograph : bool
        Whether its branches and loops over tensors are rewritten.
    names : dict
        By the ids of the arguments' tensors, how they are called, and what is known of their shapes, if not all.
    has_open_sizes : bool, optional, default=False
        Whether the function is traced for arguments of several sizes.

    """

    def __init__(self, autograph, names, has_open_sizes=False):
        self.autograph, self.names, self.has_open_sizes = autograph, names, has_open_sizes


@contextmanager
def tracing(trace):
    """Be the trace in progress for a `with` block."""
    before = getattr(_local, "trace", None)
    _local.trace = trace
    try:
        yield
    finally:
        _local.trace = before


def current():
    """Return the trace in progress, or None."""
    return getattr(_local, "trace", None) if is_capturing() else None


def makes_graph():
    """Return whether a `tf.function` is traced, over tensors with or without numbers."""
    return getattr(_local, "trace", None) is not None


errors.makes_graph[0] = makes_graph


def is_tracing_shapes():
    """Return whether a `tf.function` is traced over tensors without numbers."""
    if getattr(_local, "trace", None) is None:
        return False
    return is_phantom()


def is_shape_open():
    """Return whether TensorFlow, for the function that is traced, may not know the shapes that are known here."""
    trace = current()
    if trace is None:
        return False
    # Whoever makes a tensor of a size that a tensor tells has looked at that tensor.
    return trace.has_open_sizes or bool(getattr(getattr(captures()[0], "trace", None), "first_look", ""))


def _is_asked_by_user():
    """Return whether whoever looks at a tensor now is the user's code, rewritten or not."""
    frame = sys._getframe(3)
    while frame is not None and frame.f_code.co_filename.startswith(_REWRITTEN):
        frame = frame.f_back
    return frame is not None and is_users(frame.f_code.co_filename)


def refuse(tensor, what, kind):
    """Raise, while a `tf.function` is traced, if the user's code does with a tensor what graphs cannot.

    Parameters
    ----------
    tensor : Base
        What the code looks at.
    what : str
        What it does.
    kind : type
        The class of the error.

    """
    trace = current()
    if trace is None or not is_open(tensor) or not _is_asked_by_user():
        return
    because = "AutoGraph is disabled in this function. Try decorating it directly with @tf.function."
    if trace.autograph:
        because = ("AutoGraph did convert this function, or could not read its source. This might indicate you are "
                   "trying to use an unsupported feature.")
    raise kind(f"{what} is not allowed: {because}")


def name_of(tensor):
    """Return what a tensor is called while a `tf.function` is traced."""
    trace = getattr(_local, "trace", None)
    return "Identity" if trace is None else trace.names.get(id(tensor), ("Identity",))[0]


def symbolic_text(tensor, is_repr):
    """Return how a tensor is shown while a graph is traced that it is part of; None where its numbers are known."""
    trace = current()
    if is_tracing_shapes():
        trace = _local.trace
    elif trace is None or not is_open(tensor):
        return None
    name, shape = trace.names.get(id(tensor), ("Identity", None))
    shape = tensor.shape if shape is None else shape
    if is_repr:
        return f"<tf.Tensor '{name}:0' shape={shape} dtype={tensor.dtype.name}>"
    return f"Tensor(\"{name}:0\", shape={shape}, dtype={tensor.dtype.name})"
