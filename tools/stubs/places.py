"""Which modules get a stub, what each of them shows, and in which stub every class stands."""
import importlib
import inspect
import pkgutil
import sys
import warnings
from types import ModuleType

from stubs.kinds import Kind

PACKAGE = "dragon"
# The doors, whose public modules get stubs; so does whatever module of ours they take a name from.
DOORS = ("dragon", "dragon.vm.torch", "dragon.vm.torchvision", "dragon.vm.keras", "dragon.vm.tensorflow")
WORKSHOPS = ("core", "_api", "_words")  # where names are that users do not ask for
# Names of a module that are Python's business.
PRIVATE = {"__all__", "__annotations__", "__builtins__", "__cached__", "__conditional_annotations__", "__doc__",
           "__file__", "__loader__", "__name__", "__package__", "__path__", "__spec__", "__warningregistry__"}


def import_or_none(name):
    """Return a module, or None if it cannot be had here, as where an optional package is missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except (ImportError, NotImplementedError):
        return None


def list_public():
    """Return the names of the public modules of the doors, and of modules that stand for what is absent."""
    found = []
    for door in DOORS:
        walk(door, found)
    absent = importlib.import_module("dragon.vm.torch.core.absent")
    found += [absent.ROOT + name for name in absent.MODULES if import_or_none(absent.ROOT + name)]
    return list(dict.fromkeys(found))


def list_workshops():
    """Return the names of all modules of the package that can be imported here."""
    found, waiting = [], [PACKAGE]
    while waiting:
        name = waiting.pop()
        module = import_or_none(name)
        if module is not None:
            found.append(name)
            waiting += [f"{name}.{item.name}" for item in pkgutil.iter_modules(getattr(module, "__path__", ()))
                        if item.name not in ("__main__", "_C")]
    return found


def is_stand_in(module):
    """Return whether a module has no file and stands for what is absent."""
    spec = getattr(sys.modules.get(module), "__spec__", None)
    return type(getattr(spec, "loader", None)).__module__ == "dragon.vm.torch.core.absent"


def walk(name, found):
    """Collect a module and those below it."""
    module = import_or_none(name)
    if module is None:
        return
    found.append(name)
    for item in pkgutil.iter_modules(getattr(module, "__path__", ())):
        if item.name in WORKSHOPS or item.name == "__main__" or name == "dragon" and item.name in ("vm", "command"):
            continue
        walk(f"{name}.{item.name}", found)


class Places:
    """The modules that get stubs, and the addresses of classes.

    Attributes
    ----------
    modules : Dict[str, Dict[str, Any]]
        What each module shows.
    classes : Dict[type, Tuple[str, str]]
        The module and the name of every class.

    """

    def __init__(self):
        self.modules, self.classes, self.by_name = {}, {}, {}
        self.public = set(list_public()) | {"dragon._C"}
        waiting = sorted(self.public) + list_workshops()
        while waiting:
            name = waiting.pop()
            if name in self.modules:
                continue
            self.modules[name] = shown = contents(sys.modules[name], name in self.public)
            for value in shown.values():
                waiting += [home for home in homes(value) if home not in self.modules]
        for name in self.modules:  # once more: asking for a name may bring others
            self.modules[name] = contents(sys.modules[name], name in self.public)
        for whole, part in sys.modules["dragon.vm.alias"].PARTS.items():  # `tensorflow.keras`
            package, _, name = ("dragon.vm." + whole).rpartition(".")
            self.modules[package][name] = sys.modules["dragon.vm." + part]
        self.modules = dict(sorted(self.modules.items()))
        self.settle()
        self.shown = {value for name in self.public for item, value in self.modules[name].items()
                      if isinstance(value, type) and not item.startswith("_")}

    def settle(self):
        """Give every class its address: its home, or the first place that shows it."""
        places = sorted(self.modules, key=lambda name: (name.count("."), name))
        for at_home in (True, False):
            for module in places:
                for name, value in self.modules[module].items():
                    if isinstance(value, type) and value not in self.classes and belongs(value):
                        if not at_home or value.__module__ == module and value.__name__ == name:
                            self.enter(value, module, name)
        for value in self.classes:
            door = door_of(self.classes[value][0])
            self.by_name.setdefault((door, value.__name__), []).append(value)

    def enter(self, value, module, name):
        """Note where a class stands, and the classes within it."""
        self.classes[value] = module, name
        for inner, item in vars(value).items():
            if isinstance(item, type) and item not in self.classes:
                if item.__qualname__ == f"{value.__qualname__}.{inner}":
                    self.enter(item, module, f"{name}.{inner}")

    def as_public(self, kind):
        """Return a kind whose class users know by name: the nearest above one of the workshop's."""
        if not isinstance(kind.head, type) or kind.head.__module__ == "builtins" or not kind.head.__mro__[1:-1]:
            return kind
        return next((Kind(base) for base in kind.head.__mro__[:-1] if base in self.shown), kind)

    def find_class(self, word, module):
        """Return the class that a docstring of a module means by a word, or None."""
        head, *rest = word.split(".")
        value = vars(sys.modules[module]).get(head)
        if value is None and head in ("numpy", "pathlib", "io", "datetime", "torch", "keras", "dragon"):
            value = sys.modules.get(head if head != "torch" and head != "keras" else f"dragon.vm.{head}")
        for name in rest:
            try:
                value = getattr(value, name, None)
            except ImportError:  # a module that is imported when it is asked, of a package that is not here
                value = None
        if isinstance(value, type):
            return value
        known = self.by_name.get((door_of(module), word.rpartition(".")[2]), [])
        known = [kind for kind in known if self.classes[kind][0] in self.public] or known
        return known[0] if len(known) == 1 else None


def door_of(module):
    """Return the guest of a module, or "dragon"."""
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["vm"] and len(parts) > 2 else PACKAGE


def belongs(value):
    """Return whether a class is one of ours: made here, not merely shown."""
    home = value.__module__
    return home.split(".")[0] in (PACKAGE, "torch") or home not in sys.modules


def homes(value):
    """Yield the modules of ours where a value, or a base of it, is told."""
    kinds = value.__mro__ if isinstance(value, type) else [value] if inspect.isroutine(value) or callable(value) else []
    for kind in kinds:
        home = getattr(kind, "__module__", None) or ""
        if isinstance(home, str) and home.startswith(PACKAGE + ".") and home in sys.modules:
            if getattr(sys.modules[home], getattr(kind, "__name__", ""), None) is kind:
                yield home


def contents(module, is_public):
    """Return {name: value} of what a module shows.

    A public module shows what its guest's users may ask for, names that are looked up late included; another one shows
    what it defines itself.
    """
    names = dict.fromkeys(vars(module))
    if is_public:
        names.update(dict.fromkeys([*dir(module), *late_names(module)]))
    shown = {}
    for name in names:
        if name in PRIVATE or not name.isidentifier() or name in ("__getattr__", "__dir__"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = getattr(module, name)
        except AttributeError:
            continue
        except Exception:  # what needs an absent package is there all the same
            shown[name] = None
            continue
        own = getattr(value, "__module__", None) == module.__name__ or name == "__version__"
        if name.startswith("_") and not (own or isinstance(value, ModuleType) and is_below(value, module)):
            continue
        if not is_public and not own and isinstance(value, ModuleType):
            continue
        if isinstance(value, ModuleType) and not value.__name__.startswith(PACKAGE):
            continue
        shown[name] = value
    return shown


def late_names(module):
    """Yield names that a module's `__getattr__` knows and its `__dir__` may not tell."""
    getter = vars(module).get("__getattr__")
    if inspect.isfunction(getter):
        yield from inspect.getclosurevars(getter).nonlocals.get("later", ())
        for constant in getter.__code__.co_consts:
            for word in constant if isinstance(constant, (tuple, frozenset)) else [constant]:
                if isinstance(word, str) and word.isidentifier():
                    yield word


def is_below(module, package):
    """Return whether a module is a direct part of a package."""
    return module.__name__.rpartition(".")[0] == package.__name__
