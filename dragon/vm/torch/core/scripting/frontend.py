"""Sources of functions and classes as syntax trees, and what of Python's syntax no script may have."""
import ast
import functools
import inspect
import textwrap
import weakref

from dragon.vm.torch.core.scripting.failures import Place, Source, refuse


class FrontendError(Exception):
    """Python code that the script compiler cannot read."""


class NotSupportedError(FrontendError, RuntimeError):
    """The same, with its place."""


STATEMENTS = {
    ast.Try: "try blocks", ast.Global: "global variables", ast.Nonlocal: "nonlocal variables",
    ast.ClassDef: "class definitions", ast.FunctionDef: "function definitions", ast.AsyncFunctionDef: "async",
    ast.Import: "import statements", ast.ImportFrom: "import statements", ast.AsyncFor: "async for loops",
    ast.AsyncWith: "async with statements", ast.Match: "match statements"}
EXPRESSIONS = {
    ast.Lambda: "Lambda", ast.Set: "Set", ast.SetComp: "SetComp", ast.GeneratorExp: "GeneratorExp",
    ast.Await: "Await", ast.Yield: "Yield", ast.YieldFrom: "YieldFrom", ast.NamedExpr: "NamedExpr"}


def check_syntax(source, body):
    """Raise NotSupportedError for the first thing that no script may have."""
    for statement in body:
        for node in ast.walk(statement):
            if type(node) in STATEMENTS:
                refuse(f"{STATEMENTS[type(node)]} aren't supported" if type(node) is not ast.Try else
                       "Compiled functions can't use try blocks", Place(source, node), NotSupportedError)
            if type(node) in EXPRESSIONS and not isinstance(node, ast.GeneratorExp):
                refuse(f"{EXPRESSIONS[type(node)]} aren't supported", Place(source, node), NotSupportedError)


GENERATED = weakref.WeakKeyDictionary()  # functions that no file has -> (their texts, what the texts name)


@functools.lru_cache(512)
def _parsed(code_owner):
    if code_owner in GENERATED:
        return GENERATED[code_owner][0], 1, "<dataclass>"
    lines, first = inspect.getsourcelines(code_owner)
    text = textwrap.dedent("".join(lines))
    return text, first, inspect.getsourcefile(code_owner) or "<string>"


def read_function(function):
    """Return (source, syntax tree) of a Python function."""
    function = inspect.unwrap(function)
    name = getattr(function, "__name__", "function")
    try:
        text, first, file = _parsed(function)
        tree = ast.parse(text)
    except (OSError, TypeError) as error:
        raise OSError(f"Can't get source for {function!r}. TorchScript requires source access in order to carry out "
                      "compilation, make sure original .py files are available.") from error
    except (SyntaxError, IndentationError) as error:
        raise FrontendError(f"torch.jit.script: got {name}, whose source cannot be read by itself ({error}), expected "
                            "a function defined with def") from error
    source = Source(text, file, first, name)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return source, node
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            refuse("Expected a single top-level function: lambdas aren't supported", Place(source, node),
                   NotSupportedError)
    refuse(f"torch.jit.script: got {name}, expected a single top-level function", Place(source, tree.body[0]),
           FrontendError)


def names_of(function, around=None):
    """Return a function from names to what they stand for inside a Python function; LookupError if to nothing.

    `around` has names that stand for something where a class was scripted, its own among them.
    """
    function = inspect.unwrap(function)
    closed = {}
    if getattr(function, "__closure__", None):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__):
            try:
                closed[name] = cell.cell_contents
            except ValueError:
                continue
    if function in GENERATED:
        closed.update(GENERATED[function][1])
    known = getattr(function, "__globals__", {})
    import builtins

    def find(name):
        if name in closed:
            return closed[name]
        if name in known:
            return known[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        if around and name in around:
            return around[name]
        raise LookupError(name)
    return find
