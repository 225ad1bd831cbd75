"""Places in the user's code where something happens: for warnings that name a line."""
import linecache
import sys

from dragon.core.warnings import is_users


def user_line():
    """Return the innermost line of the user's, as "file:line: source"."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            source = linecache.getline(file, frame.f_lineno).strip()
            return f"{file}:{frame.f_lineno}" + (f": {source}" if source else "")
        frame = frame.f_back
    return "unknown line"


def definition(function):
    """Return where a function was written, as "file:line"."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    code = code or getattr(getattr(type(function), "forward", None), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else "unknown line"
