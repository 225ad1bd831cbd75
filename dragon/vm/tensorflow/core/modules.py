"""Modules without a file: places where programs look for names whose home is elsewhere."""
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

from dragon.vm.guest import ROOM, lookup

ROOT = __name__.removesuffix(".core.modules")  # as the guest's modules carry it in this process


def enter(name, doc, places=None, members=None):
    """Make a module that imports find, and bind it in the module above it.

    Parameters
    ----------
    name : str
        Below the guest, such as "python.framework.ops"; the modules above it are there already.
    doc : str
        Its docstring.
    places : Dict[str, str], optional
        Names that are taken from other modules when first asked for; see `dragon.vm.guest.lookup`.
    members : Dict[str, Any], optional
        Names and what they stand for.

    Returns
    -------
    ModuleType
        The module.

    """
    own = f"{ROOT}.{name}"
    module = ModuleType(own, doc)
    module.__path__ = []
    module.__spec__ = ModuleSpec(own, None, is_package=True)
    vars(module).update(members or {})
    find, list_names = lookup(vars(module), places)
    vars(module).setdefault("__getattr__", find)
    vars(module).setdefault("__dir__", list_names)
    sys.modules[own] = sys.modules[f"{ROOM}tensorflow.{name}"] = module
    if sys.modules.get("tensorflow") is sys.modules[ROOT]:
        sys.modules[f"tensorflow.{name}"] = module
    above, _, tail = own.rpartition(".")
    setattr(sys.modules[above], tail, module)
    return module


def enter_table(root, text, doc, members, generated):
    """Make the modules of a table; those above them are made where the table names them only in passing.

    Parameters
    ----------
    root : str
        The module that all are below, which has a file.
    text : str
        Lines `module: place: names`; further lines that begin with blanks are `place: names` of the same module.
    doc : str
        How docstrings begin.
    members : Dict[str, dict]
        What further names of a module stand for.
    generated : Callable
        Returns the function of a name of a module of generated functions (`gen_...`), or None.

    """
    table, module = {}, None
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            module, _, line = line.partition(":")
            table.setdefault(module, {})
        place, _, names = line.strip().partition(":")
        if place:
            table[module][place] = f"{table[module].get(place, '')} {names}"
    known = set()
    for name in table:
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            one = ".".join(parts[:count])
            if one not in known:
                known.add(one)
                made = enter(f"{root}.{one}", f"{doc} `{root}.{one}`.", table.get(one), members.get(one))
                if one.rpartition(".")[2].startswith("gen_"):
                    _generate(made, generated)


def _generate(module, generated):
    """Have a module's further names be generated functions."""
    find = module.__getattr__

    def find_or_make(name):
        function = None if name.startswith("__") else generated(name)
        return find(name) if function is None else vars(module).setdefault(name, function)
    module.__getattr__ = find_or_make
