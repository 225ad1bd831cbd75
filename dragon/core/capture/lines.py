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


def user_frame():
    """Return the innermost line of the user's, as tracebacks have it."""
    frame = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ""
    code, source = frame.f_code, linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f'  File "{code.co_filename}", line {frame.f_lineno}, in {code.co_name}\n' + f"    {source}\n" * bool(source)


def definition(function):
    """Return where a function was written, as "file:line"."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    code = code or getattr(getattr(type(function), "forward", None), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else "unknown line"
