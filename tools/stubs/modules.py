"""How the stub of a module is written."""
import inspect
import typing
from types import GenericAlias, ModuleType, UnionType

from stubs import compiled, engine, members, returns
from stubs.callables import signature_of, write_def
from stubs.classes import kind_of_value, write_class
from stubs.kinds import ANY, Kind, write
from stubs.places import is_stand_in
from stubs.scope import Scope

# A class of a guest may override what is above it as its guest does, whatever a checker says.
HEAD = '''# mypy: ignore-errors
"""Written by `tools/make_stubs.py`: what editors and type checkers read of `{module}`."""'''
ALIASES = (UnionType, GenericAlias, type(typing.Union[int, str]), type(typing.List[int]),
           type(typing.Any), typing.NewType)


def write_stub(module, places):
    """Return the text of a module's stub.

    Parameters
    ----------
    module : str
        Its name.
    places : Places
        What every module shows.

    """
    returns.known.clear()  # what two functions tell of each other hangs on who was asked first: never on another stub
    scope = Scope(module, places)
    body = []
    shown = places.modules[module]
    for name, value in sorted(shown.items(), key=lambda item: order(item, module)):
        body += write_name(name, value, scope)
    if module in members.OPEN:
        body.append(f"def __getattr__(name: str) -> {write(ANY, scope)}: ...")
    imports = [text for text in scope.imports.values() if text.startswith(("import", "from"))]
    later = [text for text in scope.imports.values() if text not in imports]
    lines = [HEAD.format(module=module), *sorted(imports), *later, *body]
    return "\n".join(lines) + "\n"


def order(item, module):
    """Return what names are sorted by: imports, classes, functions, values."""
    name, value = item
    own = getattr(value, "__module__", None) == module
    return (0 if isinstance(value, ModuleType) else 1 if isinstance(value, type) and not own
            else 2 if isinstance(value, type) else 3, name)


def write_name(name, value, scope):
    """Return the lines of one name of a module."""
    module = scope.module
    if isinstance(value, ModuleType):
        return write_module(name, value, scope)
    if isinstance(value, type):
        return write_kind(name, value, scope)
    if isinstance(value, typing.TypeVar):
        how = "".join(f", {word}=True" for word in ("covariant", "contravariant") if getattr(value, f"__{word}__"))
        scope.imports["_TypeVar"] = "from typing_extensions import TypeVar as _TypeVar"
        return [f"{name} = _TypeVar({name!r}{how}, default={write(ANY, scope)})"]
    if isinstance(value, ALIASES) or getattr(value, "__module__", "") == "typing":
        return [f"{name}: {scope.name_typing('TypeAlias')} = {write(ANY, scope)}"]
    home = getattr(value, "__module__", None)
    if callable(value) and (inspect.isroutine(value) or engine.is_operator(value)
                            or type(value).__name__ == "Overridable"):
        if module == "dragon._C":
            return compiled.write_function(name, value, scope)
        if home != module and home in scope.places.modules and scope.places.modules[home].get(name) is value:
            return [f"from {home} import {name} as {name}"]
        if signature_of(value) is None or getattr(value, "__name__", "") == "<lambda>":
            return [f"{name}: {write(Kind('Callable'), scope)}"]
        told_in = home if home in scope.places.modules else module
        return write_def(name, value, told_in, scope)
    return [f"{name}: {write(kind_of_value(value, scope), scope)}"]


def write_module(name, value, scope):
    """Return the line that shows a module."""
    full = value.__name__
    if full not in scope.places.modules or is_stand_in(scope.module):
        return [f"{name}: {write(ANY, scope)}"]
    parent, _, tail = full.rpartition(".")
    if tail == name and parent:
        where = "." if parent == scope.module else parent
        return [f"from {where} import {name} as {name}"]
    alias = "_module_" + full.replace(".", "_")
    scope.imports[alias] = f"import {full} as {alias}"
    return [f"{name} = {alias}"]


def write_kind(name, value, scope):
    """Return the lines of a class: its definition at its address, elsewhere where it is."""
    place = scope.places.classes.get(value)
    if place == (scope.module, name):
        return (compiled.write_class if scope.module == "dragon._C" else write_class)(name, value, scope)
    if place and place[1] == name:
        return [f"from {place[0]} import {name} as {name}"]
    text = scope.name_class(value)
    if text.endswith("Any") or text == name:
        return [f"{name}: {scope.name_typing('TypeAlias')} = {write(ANY, scope)}"]
    return [f"{name} = {text}"]
