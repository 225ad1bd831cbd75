"""Tracebacks that show the user's frames only."""
import functools
import os
import traceback
import types

_PACKAGE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))


class _State:
    filtering = True


def enable_traceback_filtering():
    """Hide the framework's own frames in tracebacks, as is the default."""
    _State.filtering = True


def disable_traceback_filtering():
    """Show the framework's own frames in tracebacks."""
    _State.filtering = False


def is_traceback_filtering_enabled():
    """Return whether tracebacks hide the framework's own frames.

    Returns
    -------
    bool
        Whether they do.

    """
    return _State.filtering


def _filtered(trace):
    """Return a traceback without the package's frames; if nothing is left, its innermost frame."""
    frames = list(traceback.walk_tb(trace))
    kept = [(frame, line) for frame, line in frames if not frame.f_code.co_filename.startswith(_PACKAGE)]
    result = None
    for frame, line in reversed(kept or frames[-1:]):
        result = types.TracebackType(result, frame, frame.f_lasti, line)
    return result


def filter_traceback(function):
    """Return a function whose exceptions show the user's frames only."""
    @functools.wraps(function)
    def caller(*args, **kwargs):
        if not _State.filtering:
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise error.with_traceback(_filtered(error.__traceback__))
    return caller
