"""Where a function stands in its file: the tree of its definition, with the lines that tracebacks name."""
import ast
import copy
import functools
import linecache
import types


class NoSource(Exception):
    """A function whose source cannot be read; says why."""


@functools.lru_cache(maxsize=64)
def _tree(text):
    """Return a file's tree and, for each definition, the names of the classes and functions around it."""
    tree = ast.parse(text)
    found = []

    def walk(node, around):
        for child in ast.iter_child_nodes(node):
            inner = around
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                found.append((child, around))
                inner = (*around, child)
            elif isinstance(child, ast.ClassDef):
                inner = (*around, child)
            walk(child, inner)
    walk(tree, ())
    return found


def _first_line(node):
    """Return the line that code calls its first: that of the uppermost decorator."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def _lines(code, module):
    lines = linecache.getlines(code.co_filename, module)
    if not lines:
        linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename, module)
    return lines


def _names_of(arguments):
    """Return the names of parameters in the order in which code has them."""
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return names + [argument.arg for argument in (arguments.vararg, arguments.kwarg) if argument is not None]


def _holds(node, code):
    """Return whether a lambda's code could have been made of a tree: the same parameters, and columns within it."""
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    if tuple(_names_of(node.args)) != code.co_varnames[:count]:
        return False
    if not hasattr(code, "co_positions"):
        return True
    spots = [(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None]
    spots = [spot for spot in spots if spot > (code.co_firstlineno, 0)]
    begin, end = (node.body.lineno, node.body.col_offset), (node.body.end_lineno, node.body.end_col_offset)
    return not spots or begin <= min(spots) and max(spots) <= end


def definition_of(function):
    """Return the tree of a function's definition, and the class that it stands in.

    Parameters
    ----------
    function : types.FunctionType
        A function or lambda.

    Returns
    -------
    Tuple[ast.AST, Optional[str]]
        A copy of the tree, whose lines are the file's; the name of the innermost class around it.

    """
    if not isinstance(function, types.FunctionType):
        raise NoSource(f"{function!r} is not written in Python")
    code = function.__code__
    lines = _lines(code, function.__globals__)
    if not lines:
        raise NoSource(f"the source of {function.__qualname__} is not available: {code.co_filename}")
    try:
        definitions = _tree("".join(lines))
    except (SyntaxError, ValueError) as error:
        raise NoSource(f"the source of {function.__qualname__} cannot be read: {error}") from None
    wanted = ast.Lambda if code.co_name == "<lambda>" else (ast.FunctionDef, ast.AsyncFunctionDef)
    here = [(node, around) for node, around in definitions
            if isinstance(node, wanted) and _first_line(node) == code.co_firstlineno
            and (wanted is not ast.Lambda and node.name == code.co_name or wanted is ast.Lambda and _holds(node, code))]
    if wanted is ast.Lambda and len(here) > 1:
        texts = {ast.dump(node) for node, _ in here}
        here = here[:1] if len(texts) == 1 else []
    if len(here) != 1:
        raise NoSource(f"the source of {function.__qualname__} is not found at {code.co_filename}:"
                       f"{code.co_firstlineno}")
    node, around = here[0]
    classes = [item.name for item in around if isinstance(item, ast.ClassDef)]
    return copy.deepcopy(node), classes[-1] if classes else None
