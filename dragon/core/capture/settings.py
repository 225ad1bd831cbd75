"""Settings of all captured functions: the level of optimisation, whether anything is captured at all."""
import os
import threading

from dragon.core import warnings
from dragon.core.scopes import scope


class _Local(threading.local):
    """What a thread has of its own; what stands here is there before anything is set, and read without an error."""

    eager = False
    captures = None


_local = _Local()


class CaptureWarning(UserWarning):
    """A function runs, but not as a graph; or what it does besides computing happens only while it is captured."""


class _Settings:
    """The process's settings; `epoch` counts their changes, so that graphs made under others are made again."""

    def __init__(self):
        self.epoch = 0
        self.enabled = True
        self.stance = "default"  # or "force_eager", "eager_on_recompile", "fail_on_recompile"
        self.level = _level(os.environ.get("DRAGON_GRAPH_LEVEL", "3"), "DRAGON_GRAPH_LEVEL")


def _level(value, who):
    try:
        level = int(value)
    except (TypeError, ValueError):
        level = -1
    if level not in (0, 1, 2, 3) or isinstance(value, (bool, float)):
        raise ValueError(f"{who}: got {value!r}, expected a level from 0 to 3")
    return level


settings = _Settings()


def check_level(value, who):
    """Return a level of optimisation, None for the process's, or raise a ValueError."""
    return None if value is None else _level(value, who)


def set_level(level):
    """Set how much graphs are optimised where a function does not say it itself.

    Parameters
    ----------
    level : int
        0: as captured; 1: nothing computed twice or for nobody; 2: in place; 3: one memory plan, fused operators.

    """
    settings.level = _level(level, "set_level")
    settings.epoch += 1


def get_level():
    """Return how much graphs are optimised where a function does not say it itself."""
    return settings.level


@scope
def eager(stack):
    """Run captured functions as plain Python within a `with` block, for this thread.

    Examples
    --------
    >>> with dragon.graph.eager():
    ...     step(x)  # breakpoints and prints work

    """
    stack.set(_local, "eager", True)


@scope
def without_captures(stack):
    """Have this thread be at no capture within a `with` block."""
    stack.set(_local, "captures", None)


@scope
def given_up(stack):
    """Have this thread be at no capture within a `with` block: those in progress have been given up."""
    stack.set(_local, "captures", None)
    stack.set(_local, "eager", True)


@scope
def every_loop(stack):
    """Have loops captured as loops whatever their length for a `with` block, in this thread: it may be any later."""
    stack.set(_local, "every_loop", True)


def stages_every_loop():
    """Return whether this thread captures loops as loops whatever their length."""
    return getattr(_local, "every_loop", False)


def is_eager():
    """Return whether this thread runs captured functions as plain Python."""
    return not settings.enabled or settings.stance == "force_eager" or _local.eager


def set_enabled(enabled):
    """Have captured functions run as graphs, or as plain Python; return what was."""
    previous, settings.enabled = settings.enabled, bool(enabled)
    return previous


def captures():
    """Return this thread's captures in progress, the innermost last."""
    if _local.captures is None:
        _local.captures = []
    return _local.captures


def begin_capture(stack, capture, trace):
    """Have a capture be in progress, and its trace write calls down, until an ExitStack ends."""
    stack.push(captures(), capture)
    stack.callback(trace.stop)
    trace.start()


def is_capturing():
    """Return whether this thread is capturing a function."""
    return bool(_local.captures)


def is_sketching():
    """Return whether this thread captures a function for a graph that stands for itself."""
    return any(getattr(capture, "is_trace", False) for capture in captures())


def is_exporting():
    """Return whether this thread captures a function for a model of another format."""
    return any(getattr(capture, "exports", False) for capture in captures())


def warn(message):
    """Say once that something does not run as a graph."""
    warnings.warn(message, CaptureWarning)
