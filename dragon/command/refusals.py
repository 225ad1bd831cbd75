"""Names that a guest has and that raise whenever they are used, read from their source: what they say is the reason."""
import ast
import functools
import inspect
import textwrap
import types

from dragon.command import coverage

ENTRANCES = ("__new__", "__init__", "__enter__")  # of a class; who enters it comes by all of them, as far as there are
LONGEST = 200  # characters of a reason
# What lacks nothing but a device is judged by calls for devices.
DEVICES = tuple(f"torch.{device}." for device in ("cuda", "xpu", "mps", "mtia", "accelerator"))


@functools.lru_cache(None)
def reason_of(name):
    """Return why a use of a dotted name raises whatever it is given, or None if it may work.

    Parameters
    ----------
    name : str
        Such as "torch.nested.nested_tensor". Of methods only those of tensors are read: others may be there to be
        overridden.

    Returns
    -------
    str or None
        What it says, on one line.

    """
    found, part = coverage.resolve(name)
    if part is not None or name.startswith(DEVICES):
        return None
    found = plain(found)
    if isinstance(found, type):
        entrances = (plain(inspect.getattr_static(found, entrance, None)) for entrance in ENTRANCES)
        refusing = next((entrance for entrance in entrances if refuses(entrance)), None)
        return refusing and words_of(refusing)
    owner = coverage.resolve(name.rpartition(".")[0])[0]
    if isinstance(owner, type) and not name.startswith("torch.Tensor."):
        return None
    return words_of(found) if refuses(found) else None


def plain(found):
    """Return the function that a static method or a wrapper holds, or what came."""
    return inspect.unwrap(found.__func__ if isinstance(found, (staticmethod, classmethod)) else found)


def refuses(function):
    """Return whether the first thing that a function does is to raise."""
    if not isinstance(function, types.FunctionType):
        return False
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError, TypeError):
        return False
    first = tree.body[0]
    if not isinstance(first, ast.FunctionDef):
        return False
    body = first.body[1:] if ast.get_docstring(first) is not None else first.body
    # With nothing behind the word it is a method that a subclass defines.
    return bool(body) and isinstance(body[0], ast.Raise) and isinstance(body[0].exc, ast.Call)


def words_of(function):
    """Return what a function that raises says; it is called for that, since it does nothing else."""
    given, named = [], {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is parameter.empty and parameter.kind in (parameter.POSITIONAL_ONLY,
                                                                       parameter.POSITIONAL_OR_KEYWORD):
            given.append(None)
        elif parameter.default is parameter.empty and parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = None
    try:
        function(*given, **named)
    except Exception as error:
        text = " ".join(str(error).partition(" Received:")[0].split())
        return text if len(text) <= LONGEST else text[:LONGEST - 3] + "..."
    return None
