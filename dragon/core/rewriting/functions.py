"""A function's twin: compiled from its source as the rewriter left it, over the same globals and closures."""
import ast
import copy
import types

from dragon.core.rewriting.control import is_generator, rewritten_body
from dragon.core.rewriting.sources import NoSource, definition_of

LIBRARY = "ag__"
_codes = {}  # (id of code, features): (code, what it became)
_made = {}  # id of code that was made: the code


def is_rewritten(function):
    """Return whether a function's code has come from here."""
    code = getattr(function, "__code__", None)
    return code is not None and _made.get(id(code)) is code


def _mangled(tree, owner):
    """Give names such as `__x` the form that they have within a class."""
    if owner is None:
        return tree
    prefix = f"_{owner.lstrip('_')}"
    for part in ast.walk(tree):
        field = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg"}.get(type(part))
        name = field and getattr(part, field)
        if name and name.startswith("__") and not name.endswith("__") and prefix != "_":
            setattr(part, field, prefix + name)
    return tree


def rewritten_tree(function, features=()):
    """Return a function's definition as it is rewritten.

    Parameters
    ----------
    function : types.FunctionType
        The function.
    features : Container[str], optional, default=()
        What is rewritten besides; see `rewritten_body`.

    Returns
    -------
    ast.FunctionDef
        Without decorators, defaults and annotations.

    """
    tree, owner = definition_of(function)
    if isinstance(tree, ast.AsyncFunctionDef) or not isinstance(tree, ast.Lambda) and is_generator(tree):
        raise NoSource(f"{function.__qualname__} is a generator or coroutine")
    tree = _mangled(tree, owner)
    arguments = copy.deepcopy(tree.args)
    arguments.defaults, arguments.kw_defaults = [], [None] * len(arguments.kwonlyargs)
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    name = "lam" if isinstance(tree, ast.Lambda) else tree.name
    made = ast.FunctionDef(f"tf__{name}", arguments, rewritten_body(tree, LIBRARY, features), [], None)
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []
    for part in ast.walk(made):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == LIBRARY:
            for piece in (part, part.value):  # tracebacks name the line on which a method's name ends
                piece.end_lineno, piece.end_col_offset = piece.lineno, piece.col_offset
    return ast.fix_missing_locations(ast.copy_location(made, tree))


def _note(code):
    _made[id(code)] = code
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            _note(part)


def _find(code, name):
    for part in code.co_consts:
        if isinstance(part, types.CodeType) and part.co_name == name:
            return part
    raise NoSource(f"{name} was not compiled")


def _compiled(function, features):
    tree = rewritten_tree(function, features)
    free = function.__code__.co_freevars
    outer = ast.parse(f"def outer__({LIBRARY}, {', '.join(free)}):\n    pass")
    outer.body[0].body = [tree]
    ast.copy_location(outer.body[0], tree)
    made = compile(ast.fix_missing_locations(outer), function.__code__.co_filename, "exec", dont_inherit=True,
                   flags=function.__code__.co_flags & 0x1000000)  # postponed annotations
    code = _find(_find(made, "outer__"), tree.name)
    changes = {"co_name": function.__code__.co_name}
    if hasattr(code, "co_qualname"):
        changes["co_qualname"] = function.__code__.co_qualname
    code = code.replace(**changes)
    _note(code)
    return code


def rewrite(function, library, features=()):
    """Return a function that does what another one does, and asks a library at its branches, loops and calls.

    Parameters
    ----------
    function : types.FunctionType
        A function or lambda; `NoSource` where its source cannot be read, or it is a generator or coroutine.
    library : Any
        What has `if_stmt`, `while_stmt`, `for_stmt`, `converted_call` and so on.
    features : Container[str], optional, default=()
        What is rewritten besides; see `rewritten_body`.

    Returns
    -------
    types.FunctionType
        With the same globals, closures, defaults and attributes; its lines are those of the user's file.

    """
    key = id(function.__code__), tuple(sorted(features))
    if key not in _codes:
        _codes[key] = function.__code__, _compiled(function, features)
    code = _codes[key][1]
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    cells[LIBRARY] = types.CellType(library)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__,
                              tuple(cells[name] for name in code.co_freevars))
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    made.__doc__, made.__module__, made.__qualname__ = function.__doc__, function.__module__, function.__qualname__
    return made


def source_of(function, features=()):
    """Return the source of what `rewrite` compiles."""
    return ast.unparse(rewritten_tree(function, features)) + "\n"
