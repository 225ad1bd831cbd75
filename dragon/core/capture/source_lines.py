"""Lines of the user's code that are executing, for warnings and reports."""
import ast
import itertools
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


def call_under_way():
    """Return the user's innermost call.

    Returns
    -------
    Optional[Tuple[ast.Call, str, range]]
        The call, its file and its lines; None where it cannot be read, as under Python 3.10.

    """
    frame = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None or not hasattr(frame.f_code, "co_positions"):
        return None
    place = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    first, last, start, end = place
    if None in place:
        return None
    lines = [linecache.getline(frame.f_code.co_filename, line).encode() for line in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        call = ast.parse(b"".join(lines).decode(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    return (call, frame.f_code.co_filename, range(first, last + 1)) if isinstance(call, ast.Call) else None


def definition(function):
    """Return where a function was written, as "file:line"."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    code = code or getattr(getattr(type(function), "forward", None), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else "unknown line"
