"""What a function of the tests is made of, as plain values: its text, and what of the tests it calls and reads."""
import ast
import functools
import linecache
import os
import pathlib
import sys
import time
import types

from harness.answers import values

STARTED = time.time()
TESTS = str(pathlib.Path(__file__).resolve().parents[2])


class Changed(Exception):
    """A file was written since this process began, so that its lines are not those of the functions that run."""


@functools.lru_cache(maxsize=None)
def _texts(path):
    """Return {(first line, name): texts} of the functions of a file; a lambda's name is that of its code."""
    if os.stat(path).st_mtime > STARTED:
        raise Changed(path)
    text = "".join(linecache.getlines(path))
    lines, found = text.encode().splitlines(keepends=True), {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            cut = lines[node.lineno - 1:node.end_lineno]
            cut[-1] = cut[-1][:node.end_col_offset if len(cut) > 1 else None]
            if len(cut) == 1:
                cut = [cut[0][node.col_offset:node.end_col_offset]]
            else:
                cut[0] = cut[0][node.col_offset:]
            found.setdefault((first, getattr(node, "name", "<lambda>")), []).append(
                "".join(line.decode().strip() + "\n" for line in cut))
    return found


@functools.lru_cache(maxsize=None)
def text_of(code):
    """Return the text of a function's code; of lambdas on one line all texts, and what tells this one apart."""
    found = _texts(code.co_filename).get((code.co_firstlineno, code.co_name))
    if found is None:
        raise ValueError(f"answers: got a function whose source is not found: {code}")
    if len(set(found)) == 1:
        return found[0]
    constants = [constant for constant in code.co_consts if not isinstance(constant, types.CodeType)]
    return "".join([*found, code.co_code.hex(), repr((constants, code.co_names))])


def of_tests(path):
    """Whether a file is one of the tests'."""
    return path.startswith(TESTS)


def _names(code):
    """Yield the names that a function's code, and that of functions within it, looks up in its module."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def plain(value, known=()):
    """Return a tree with each function of the tests as its text, and what it reads of its module and its closure.

    What is not of the tests is known by its name: the versions of packages belong to a room, not to a key.
    """
    if isinstance(value, functools.partial):
        return ["partial", *(plain(part, known) for part in (value.func, value.args, value.keywords))]
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item, known) for item in value) if type(value) in (list, tuple) else (
            [plain(item, known) for item in value])
    if isinstance(value, dict):
        return {key: plain(item, known) for key, item in value.items()}
    if isinstance(value, (set, frozenset)):
        return ["set", *sorted(value, key=repr)]
    if isinstance(value, types.ModuleType):
        return _module(value)
    if isinstance(value, types.MethodType):
        return ["method", plain(value.__func__, known), plain(value.__self__, known)]
    if isinstance(value, types.FunctionType):
        return _function(value, known)
    if isinstance(value, type):
        return _class(value)
    if isinstance(value, types.BuiltinFunctionType):
        return ["builtin", value.__name__]
    return value


def _module(module):
    path = getattr(module, "__file__", None) or ""
    return ["module", module.__name__, *([pathlib.Path(path).read_text(encoding="utf-8")] if of_tests(path) else [])]


def _class(kind):
    module = sys.modules.get(kind.__module__)
    path = getattr(module, "__file__", None) or ""
    text = "".join(linecache.getlines(path)) if of_tests(path) else ""
    return ["class", f"{kind.__module__}.{kind.__qualname__}".removeprefix("tests."), text]


def _read(value, known):
    """Return what a function reads as a plain value; objects of classes that are none by how they show themselves."""
    value = plain(value, known)
    try:
        values.encode(value)
    except TypeError:
        return ["object", type(value).__name__, values.ADDRESS.sub("", repr(value))]
    return value


def _function(function, known):
    code = function.__code__
    if not of_tests(code.co_filename):
        return ["function", f"{function.__module__}.{function.__qualname__}"]
    if code in known:
        return ["again", code.co_name]
    known = (*known, code)
    read = {}
    for name in sorted(set(_names(code)) & set(function.__globals__)):
        read[name] = _read(function.__globals__[name], known)
    for name, cell in zip(code.co_freevars, function.__closure__ or ()):
        read[name] = _read(cell.cell_contents, known)
    return ["function", text_of(code), read, plain(function.__defaults__, known), plain(function.__kwdefaults__, known)]
