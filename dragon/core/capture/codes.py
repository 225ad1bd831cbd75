"""What a piece of Python code names: globals, attributes, modules it imports."""
import builtins
import dis
import functools
import pathlib
import sys
import types
from typing import FrozenSet, NamedTuple

GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"))
ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM", "LOAD_SUPER_ATTR"))
# Who uses one of these may ask for attributes whose names stand nowhere.
DYNAMIC = frozenset(("getattr", "setattr", "hasattr", "delattr", "vars", "eval", "exec", "globals", "locals", "dir",
                     "__dict__", "__getattribute__", "__getattr__", "attrgetter"))
_PACKAGE = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = frozenset(sys.stdlib_module_names) | {"dragon", "numpy"}


class Names(NamedTuple):
    """The names in a function's code and in the functions inside of it."""

    globals: FrozenSet[str]
    attributes: FrozenSet[str]
    modules: FrozenSet[str]
    dynamic: bool


@functools.lru_cache(maxsize=8192)
def names_of(code):
    """Return the names that code uses.

    Parameters
    ----------
    code : types.CodeType
        Of a function.

    Returns
    -------
    Names
        What it names.

    """
    found = {"globals": set(), "attributes": set(), "modules": set()}
    dynamic = False
    for instruction in dis.get_instructions(code):
        if instruction.opname in GLOBALS:
            found["globals"].add(instruction.argval)
        elif instruction.opname in ATTRIBUTES:
            found["attributes"].add(instruction.argval)
        elif instruction.opname == "IMPORT_NAME":
            found["modules"].add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = names_of(constant)
            found = {kind: names | getattr(inner, kind) for kind, names in found.items()}
            dynamic = dynamic or inner.dynamic
    dynamic = dynamic or not DYNAMIC.isdisjoint(found["globals"] | found["attributes"])
    return Names(*map(frozenset, found.values()), dynamic)


def is_library(module):
    """Return whether a module's name is one of Dragon's, NumPy's or Python's own, whose code is taken as it is."""
    return isinstance(module, str) and (module.partition(".")[0] in LIBRARIES or is_own(module))


def is_own(module):
    """Return whether a module's name is one of Dragon's, by whatever name a script knows it."""
    return module.startswith("dragon.") or _is_guest(module.partition(".")[0])


@functools.lru_cache(maxsize=None)
def _is_guest(root):
    """Return whether a package lies within Dragon's own: `torch`, as a script under `dragon run` knows it."""
    file = getattr(sys.modules.get(root), "__file__", None)
    return bool(file) and pathlib.Path(file).resolve().is_relative_to(_PACKAGE)


def is_library_code(function):
    """Return whether a function was written in such a module, whatever it was renamed to since."""
    return is_library(function.__globals__.get("__name__"))


def is_builtin(name):
    """Return whether a name is Python's own."""
    return hasattr(builtins, name)
