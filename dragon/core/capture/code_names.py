"""Names that a code object reads: globals, attributes and imported modules."""
import dis
import functools
import pathlib
import sys
import types
import weakref
from typing import FrozenSet, NamedTuple

GLOBALS = frozenset(("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"))
ATTRIBUTES = frozenset(("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR", "IMPORT_FROM", "LOAD_SUPER_ATTR"))
# Who uses one of these may ask for attributes whose names stand nowhere.
DYNAMIC = frozenset(("getattr", "setattr", "hasattr", "delattr", "vars", "eval", "exec", "globals", "locals", "dir",
                     "__dict__", "__getattribute__", "__getattr__", "attrgetter", "asdict", "astuple"))
ASKING = frozenset(("getattr", "setattr", "hasattr", "delattr"))  # whose second argument may be a name as it stands
LOADING = frozenset(("modules", "import_module", "__import__"))  # who names one of these finds modules by texts
# How many bits below the number of a name an instruction keeps for other things, in the bytecode that is known here.
SHIFTS = {"LOAD_GLOBAL": int(sys.version_info >= (3, 11)), "LOAD_ATTR": int(sys.version_info >= (3, 12)),
          "LOAD_SUPER_ATTR": 2}
CALL = {10: "CALL_FUNCTION", 11: "PRECALL"}.get(sys.version_info[1], "CALL")
SILENT = frozenset(("CACHE", "EXTENDED_ARG", "NOP"))
READABLE = sys.version_info < (3, 14)
_PACKAGE = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = frozenset(sys.stdlib_module_names) | {"dragon", "numpy"}
# Their objects are watched as others are, their code is not: there is much of it, and a name in code that never runs
# leads to all of it.
LARGE = frozenset(("jinja2", "matplotlib", "networkx", "pandas", "scipy", "sklearn"))


class Names(NamedTuple):
    """The names in a function's code and in the functions inside of it."""

    globals: FrozenSet[str]
    attributes: FrozenSet[str]
    modules: FrozenSet[str]
    asked: FrozenSet[str]  # attributes that it may do without
    asked_of_self: FrozenSet[str]  # those of them that it asks its first argument for, and nobody else
    pairs: FrozenSet[tuple]  # (name, attribute) where nothing else is named between the two, as in `math.sqrt`
    texts: FrozenSet[str]  # that may be names of modules
    dynamic: bool


_known = weakref.WeakKeyDictionary()  # a large program has more functions than a cache of any fixed size


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
    names = _known.get(code)
    if names is None:
        names = _known[code] = _read(code)
    return names


def _instructions(code):
    """Return (operation, name) of all instructions that name something; `dis` is fifty times slower."""
    if not READABLE:
        return [(item.opname, item.argval) for item in dis.get_instructions(code) if item.opcode in dis.hasname]
    found, upper, bytecode = [], 0, code.co_code
    for operation, argument in zip(bytecode[::2], bytecode[1::2]):
        argument |= upper
        upper = argument << 8 if operation == dis.EXTENDED_ARG else 0
        if operation in _NAMING:
            name = dis.opname[operation]
            found.append((name, code.co_names[argument >> SHIFTS.get(name, 0)]))
    return found


_NAMING = frozenset(dis.hasname)


def _asked_names(code):
    """Return the names that `getattr` and its like are given as they stand, those that are asked of others than the
    function's first argument, and whether some name is computed.
    """
    asked, of_others, is_computed = set(), set(), False
    instructions = list(dis.get_instructions(code))
    for start, instruction in enumerate(instructions):
        if instruction.opname in GLOBALS and instruction.argval in ASKING:
            first, second = _arguments(instructions[start + 1:])
            if not isinstance(_constant(second), str):
                is_computed = True
                continue
            asked.add(_constant(second))
            if not code.co_argcount or len(first) != 1 or first[0].argval != code.co_varnames[0]:
                of_others.add(_constant(second))
    return asked, of_others, is_computed


def _constant(instructions):
    """Return the constant that an argument is as it stands, or None."""
    is_constant = len(instructions) == 1 and instructions[0].opname == "LOAD_CONST"
    return instructions[0].argval if is_constant else None


def _arguments(instructions):
    """Return the instructions of a call's first and second argument; the function was loaded just before."""
    depth, pushed = 0, []  # pushed: where each argument began
    for place, instruction in enumerate(instructions):
        if depth in (2, 3) and instruction.opname == CALL and instruction.arg == depth:
            ends = [*pushed[1:], place]
            return [[item for item in instructions[start:end] if item.opname not in SILENT]
                    for start, end in zip(pushed[:2], ends)]
        if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            break
        before = depth
        depth += dis.stack_effect(instruction.opcode, instruction.arg)
        if depth < 0:
            break
        if instruction.opname not in SILENT:
            del pushed[depth:]
            pushed += [place] * (depth - len(pushed)) if depth > before else []
    return [], []


def _read(code):
    found = {"globals": set(), "attributes": set(), "modules": set(), "asked": set(), "asked_of_self": set(),
             "pairs": set(), "texts": set()}
    before = None
    for operation, name in _instructions(code):
        if operation in ATTRIBUTES and before is not None:
            found["pairs"].add((before, name))
        before = name
        if operation in GLOBALS:
            found["globals"].add(name)
        elif operation in ATTRIBUTES:
            found["attributes"].add(name)
        elif operation == "IMPORT_NAME":
            found["modules"].add(name)
    if not LOADING.isdisjoint(found["globals"] | found["attributes"]):
        found["texts"].update(constant for constant in code.co_consts if isinstance(constant, str))
    asking = not ASKING.isdisjoint(found["globals"])
    asked, of_others, is_computed = _asked_names(code) if asking else (set(), set(), False)
    if "AttributeError" in found["globals"]:  # whatever it names may be missing
        asked = of_others = asked | found["attributes"]
    dynamic = is_computed or not (DYNAMIC - ASKING).isdisjoint(found["globals"] | found["attributes"])
    found["attributes"].update(asked)
    found["asked"].update(asked)
    found["asked_of_self"].update(asked - of_others)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = names_of(constant)
            found = {kind: names | getattr(inner, kind) for kind, names in found.items()}
            dynamic = dynamic or inner.dynamic
            found["asked_of_self"] -= inner.asked  # another function's first argument is another object
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
    known = sys.modules.get(root)
    file = vars(known).get("__file__") if known is not None else None  # a module's own `__getattr__` is not asked
    return bool(file) and pathlib.Path(file).resolve().is_relative_to(_PACKAGE)


def is_library_code(function):
    """Return whether a function was written in such a module or a large library, whatever it was renamed to since."""
    module = getattr(function, "__globals__", {}).get("__name__")  # of a method: any callable may be bound
    return is_library(module) or isinstance(module, str) and module.partition(".")[0] in LARGE
