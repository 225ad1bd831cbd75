"""What makes a module a guest's: a letter for what it lacks, names that are looked up late, and the loader of both.

`alias.py` says under which names a guest's modules are found; here is what every one of them can do. A module of the
guest's view needs no line for it: whoever asks for a name that it lacks reads which guest has no such name, the nearest
that there is, and where coverage is listed. A module that takes names from elsewhere when they are first asked for says
so by `__getattr__, __dir__ = lookup(globals(), {...})`. Packages know their modules; workshops (`core/`) are plain.
"""
import contextlib
import functools
import gc
import importlib
import inspect
import os
import pkgutil
from importlib.machinery import SourceFileLoader
from types import FunctionType

ROOM = "dragon.vm."
WORKSHOP = "core"
GENUINE = {"torch": "PyTorch", "torchvision": "torchvision", "keras": "Keras", "tensorflow": "TensorFlow",
           "dali": "DALI"}
COVERED = ("torch", "tensorflow", "keras", "dali")  # whose coverage has a page
STARRED = ("tensorflow", "keras", "torchvision")  # of which `from module import *` takes what is imported late, too
FINISHED = {}  # guests that have something to do with each module that has been read, and what it is


def name_of(module):
    """Return the guest's name of a module, such as "torch.nn", from the name that it carries."""
    return module.removeprefix(ROOM)


def explain(module, name, known):
    """Return the AttributeError for a name that a module of a guest lacks.

    Parameters
    ----------
    module : str
        The guest's name of the module, such as "torch.nn".
    name : str
        What was asked for.
    known : Callable[[], Iterable[str]]
        Tells what there is. The same one for each name, since what is said about a name is kept.

    Returns
    -------
    AttributeError
        To be raised.

    """
    return AttributeError(describe(module, name, known), name=name)


# Programs ask `hasattr` for one name again and again, and the nearest name takes milliseconds to find.
@functools.lru_cache(1024)
def describe(module, name, known):
    """Return what an AttributeError says: the nearest name, and where coverage is listed."""
    import difflib

    # Who asks for private names, as pytest does of all that a test file knows, has no slip of the pen.
    names = [] if name.startswith("_") else [item for item in known() if not item.startswith("_")]
    near = difflib.get_close_matches(name, names, 1, 0.6)
    guest = module.partition(".")[0]
    if not name.startswith("_") and module in genuine_names() and name not in genuine_names()[module]:
        hint = f"; did you mean '{module}.{near[0]}'?" if near else ""
        return f"module '{module}' has no attribute '{name}': {GENUINE[guest]} has no such name either{hint}"
    hint = f"; the nearest name is '{module}.{near[0]}'" if near else ""
    page = f"; what is covered is listed in docs/{guest}/coverage" if guest in COVERED else ""
    return f"module '{module}' has no attribute '{name}': Dragon does not have it (yet){hint}{page}"


@functools.cache
def genuine_names():
    """Return {module: names that the genuine one has and Dragon lacks}, of the modules that both have."""
    with open(os.path.join(os.path.dirname(__file__), "absent.txt"), encoding="utf-8") as file:
        return {module: frozenset(names) for module, *names in map(str.split, file)}


def lookup(namespace, places=None):
    """Return the `__getattr__` and the `__dir__` of a module; modules below it are imported when first asked for.

    Parameters
    ----------
    namespace : dict
        The module's globals.
    places : Dict[str, str], optional
        Names that are taken from other modules when first asked for: {module: "name name ..."}, "name=other" where a
        name is another one there. ".module" is below this one, "module" in this guest, "dragon.vm.module" anywhere.

    Returns
    -------
    Tuple[Callable, Callable]
        To be bound to `__getattr__, __dir__`.

    """
    later, absent = {}, set()
    for place, words in (places or {}).items():
        for word in words.split():
            name, _, other = word.partition("=")
            later[name] = place, other or name

    def __getattr__(name):
        guest = name_of(namespace["__name__"])
        if name == "__all__" and guest.partition(".")[0] in STARRED:
            return [known for known in list_names() if not known.startswith("_") and known != WORKSHOP
                    and getattr(namespace.get(known), "__module__", None) != __name__]
        if name in later:
            place, other = later[name]
            module = import_or_none(full_name(place, namespace["__name__"]))
            if hasattr(module, other):
                return namespace.setdefault(name, getattr(module, other))
        if "__path__" in namespace and name.isidentifier() and name not in absent:  # a point: of no attribute
            module = import_or_none(f"{namespace['__name__']}.{name}")
            if module is not None:
                return module
        if name.startswith("__"):  # asked by Python itself, again and again: it is looked for once
            absent.add(name)
            raise AttributeError(f"module '{guest}' has no attribute '{name}'", name=name)
        raise explain(guest, name, list_names)

    def list_names():
        modules = {module.name for module in pkgutil.iter_modules(namespace.get("__path__", ()))} - {WORKSHOP}
        return sorted({*namespace, *later, *modules})
    return __getattr__, list_names


def gather(namespace, *modules):
    """Give a package every function of its modules: what a family's file defines without a mark is its guest's.

    Parameters
    ----------
    namespace : dict
        The package's globals.
    modules : module
        Files, whose own functions are meant, or packages, which have gathered theirs.

    """
    for module in modules:
        is_package = hasattr(module, "__path__")
        for name, value in vars(module).items():
            if not name.startswith("_") and isinstance(value, FunctionType):
                if is_package or inspect.unwrap(value).__module__ == module.__name__:
                    namespace[name] = value


def named(function, name, doc):
    """Give a function of a table's row, which has one line, its name and its docstring."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def full_name(place, module):
    """Return the name of the module that a row of a module's places means."""
    if place.startswith("."):
        return module + place
    if place.startswith("dragon."):
        return place
    return f"{module[:len(module) - len(name_of(module))]}{name_of(module).partition('.')[0]}.{place}"


def import_or_none(name):
    """Return a module, or None if there is none; what fails inside it is told."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name and not name.startswith(f"{error.name}."):  # nor is there one that it is in
            raise
    return None


@contextlib.contextmanager
def uncollected():
    """Look for no garbage within a `with` block: an import makes next to none, and looking for it takes time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class GuestLoader(SourceFileLoader):
    """Run a module's file; a module of the guest's view that says nothing else looks its names up plainly."""

    def exec_module(self, module):
        """Run the file."""
        with uncollected():
            super().exec_module(module)
        guest, *rooms = name_of(module.__name__).split(".")
        if guest in FINISHED:
            FINISHED[guest](module)
        if rooms[:1] != [WORKSHOP]:
            find, list_names = lookup(vars(module))
            vars(module).setdefault("__getattr__", find)
            vars(module).setdefault("__dir__", list_names)


class Row:
    """A row of a guest's table: one name, and what of the engine it stands for.

    A line reads `name=operator(x=input axis=dim) -> tuple(field field) ~ Step  place place`. All but the name may be
    missing: the operator where it has the same name, the words where the guest's general ones do, and the tuple's name
    where it is the operator's. The places follow two spaces.

    Parameters
    ----------
    line : str
        The line.

    """

    __slots__ = ("name", "operator", "words", "fields", "step", "places")

    def __init__(self, line):
        told, _, places = line.partition("  ")
        told, _, self.step = told.partition(" ~ ")
        told, _, results = told.partition(" -> ")
        head, _, words = told.rstrip(")").partition("(")
        self.name, _, operator = head.partition("=")
        self.operator = operator or self.name
        self.words = dict(word.split("=") for word in words.split())
        name, _, fields = results.rstrip(")").partition("(")
        self.fields = (name or self.operator, fields.split()) if fields else None
        self.places = places.split()


def read_rows(text):
    """Return the rows of a table, one for each line; `place place: name name` are several, of names alone."""
    rows = []
    for line in text.strip().split("\n"):
        places, several, names = line.partition(": ")
        rows += [Row(f"{name}  {places}") for name in names.split()] if several else [Row(line)]
    return rows
