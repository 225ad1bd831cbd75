"""The names and keyword arguments of a guest that Dragon has, and the nearest ones to those it lacks."""
import difflib
import functools
import importlib
import inspect
import os
import types

from dragon.vm.alias import NESTED

MISSING = object()


def home_of(name):
    """Return the name below `dragon.vm` of a guest's name: a guest may lie within a package that others share."""
    for whole, guest in NESTED.items():
        if f"{name}.".startswith(f"{whole}."):
            return guest + name[len(whole):]
    return name


@functools.lru_cache(None)
def resolve(name):
    """Return (object, None) for a dotted name, or (parent, the first part that is missing)."""
    first, *rest = home_of(name).split(".")
    try:
        found = importlib.import_module(f"dragon.vm.{first}")
    except ImportError:
        return None, first
    path = f"dragon.vm.{first}"
    for part in rest:
        child = look_up(found, part, path)
        if child is MISSING:
            return found, part
        # Beyond a class's attributes, what an object is like is known only when the program runs.
        if not isinstance(child, (types.ModuleType, type)):
            return child, None
        found, path = child, f"{path}.{part}"
    return found, None


def look_up(parent, name, path):
    """Return an attribute or submodule, or MISSING."""
    try:
        return inspect.getattr_static(parent, name) if isinstance(parent, type) else getattr(parent, name)
    except AttributeError:
        pass
    except Exception:  # a lazy submodule that fails is as good as missing
        return MISSING
    if isinstance(parent, types.ModuleType):
        try:
            return importlib.import_module(f"{path}.{name}")
        except ImportError:
            return MISSING
    return MISSING


def missing_part(name):
    """Return the dotted name up to its first part that is missing, or None if all of it is there."""
    parent, part = resolve(name)
    if part is None:
        return None
    parts = name.split(".")
    shared = len(parts) - len(home_of(name).split("."))  # parts before the guest's own
    for end in range(shared + 1, len(parts) + 1):
        if resolve(".".join(parts[:end]))[1] is not None:
            return ".".join(parts[:end])
    return name


def nearest_name(name):
    """Return the name that is most like a missing one, or None."""
    base, _, last = name.rpartition(".")
    parent = resolve(base)[0] if base else None
    known = [entry for entry in dir(parent) if not entry.startswith("_")] if parent is not None else []
    near = difflib.get_close_matches(last, known, 1, 0.6)
    return f"{base}.{near[0]}" if near else None


def schema_of(found):
    """Return the engine's schema of a function that is an operator as it stands, or None."""
    from dragon import _C
    if type(found).__name__ != "Op":
        return None
    name = found.__name__
    return _C.schema(name if name in _C.op_names() else name.rstrip("_"))


@functools.lru_cache(None)
def keywords_of(name):
    """Return the keyword arguments that a function or class takes, or None if any are taken or it is not known."""
    found = resolve(name)[0]
    if isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    if hasattr(found, "list_keywords"):
        return found.list_keywords()
    words = []
    schema = schema_of(found)
    if schema is not None and not name.startswith("torch"):
        return None  # which words another guest has for an operator's arguments is not told here
    if schema is not None:
        words = keywords_of_operator(found, schema)
        if not hasattr(found, "__wrapped__"):
            return words
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    try:
        parameters = inspect.signature(found).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return [*words, *(parameter.name for parameter in parameters)]


def keywords_of_operator(found, schema):
    """Return the guest's names of an operator's arguments, and NumPy's, which are taken as well, as PyTorch does."""
    names = [argument["name"] for argument in schema["arguments"]]
    return [*inspect.signature(found, follow_wrapped=False).parameters, "out",
            *(name for name in ("axis", "keepdims") if name in names), "input"]


@functools.lru_cache(None)
def tensor_names():
    """Return the public names of PyTorch's Tensor."""
    with open(os.path.join(os.path.dirname(__file__), "tensor_names.txt"), encoding="utf-8") as file:
        return frozenset(file.read().split())


@functools.lru_cache(None)
def gives_tensor(name):
    """Return whether a call of a dotted name surely gives a tensor: of functions of torch that compute."""
    from dragon import _C
    found, part = resolve(name)
    if part is not None or isinstance(found, type) or not name.startswith("torch"):
        return False
    if name in ("torch.tensor", "torch.as_tensor", "torch.from_numpy"):  # which are no operators
        return True
    schema = schema_of(found)
    if schema is None and name.rpartition(".")[0] in ("torch", "torch.Tensor"):
        last = name.rpartition(".")[2]
        schema = _C.schema(last) if last in _C.op_names() else None
    return schema is not None and schema["line"].endswith("-> Tensor")
