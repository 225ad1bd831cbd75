"""Modules of `keras.src`: libraries import from Keras's source tree, whose files are others than ours.

Each is made when it is asked for and holds nothing: its names are those of the modules that `source_places` lists.
"""
import functools
import importlib.util
import sys
from importlib.machinery import ModuleSpec

from dragon.vm.guest import explain, import_or_none, name_of
from dragon.vm.keras.core.source_places import PLACES

ROOM = __name__.removesuffix(".core.source_tree")
TREE = ROOM + ".src"
WORKSHOP = "core"


@functools.cache
def read_places():
    """Return {path below `keras.src`: the places that know its names}; folders without a line are those of the path."""
    places = {}
    for line in PLACES.strip().split("\n"):
        told, _, known = line.partition(" < ")
        place, several, names = told.rpartition(": ")
        for name in names.split():
            places[f"{place}.{name}" if several else name] = known.split() or [place]
    return places


def places_of(path):
    """Return the places that know the names of a module of the tree, or None where Keras has no such module here.

    Parameters
    ----------
    path : str
        Below `keras.src`, such as "layers.core.dense".

    Returns
    -------
    Optional[List[str]]
        Modules of this guest, and single names as "name=place.other".

    """
    places = read_places()
    if path in places:
        return places[path]
    if path.split(".")[0] not in (WORKSHOP, "src", "_tf_keras") and _exists(path):
        return [path]
    return [] if any(known.startswith(path + ".") for known in places) else None


def _exists(path):
    try:
        return importlib.util.find_spec(f"{ROOM}.{path}") is not None
    except ModuleNotFoundError:
        return False


class Branch:
    """Finder and loader of the tree's modules.

    Parameters
    ----------
    path : str, optional
        Below `keras.src`: what the loader makes.

    """

    def __init__(self, path=None):
        self.path = path

    def find_spec(self, name, path=None, target=None):
        """Return the spec of a module of the tree; None for all others."""
        if not name.startswith(TREE + "."):
            return None
        below = name[len(TREE) + 1:]
        if places_of(below) is None:
            return None
        spec = ModuleSpec(name, Branch(below), is_package=True)
        spec.submodule_search_locations.append(name)  # where nothing is: what is below is found here, not in folders
        return spec

    def create_module(self, spec):
        """Have Python make the module."""

    def exec_module(self, module):
        """Have the module look its names up where they are."""
        module.__getattr__, module.__dir__ = look_up(module.__name__, places_of(self.path))
        module.__doc__ = f"Names of Keras's source file {self.path.replace('.', '/')}."


def look_up(module, places):
    """Return the `__getattr__` and the `__dir__` of a module of the tree.

    Parameters
    ----------
    module : str
        The module's name.
    places : Sequence[str]
        Who knows its names.

    Returns
    -------
    Tuple[Callable, Callable]
        To be bound to `__getattr__, __dir__`.

    """
    renamed = dict(place.split("=") for place in places if "=" in place)

    def modules():
        return [importlib.import_module(f"{ROOM}.{place}") if place != "keras" else sys.modules[ROOM]
                for place in places if "=" not in place]

    def __getattr__(name):
        if name == "__all__":  # asked by `import *`, which would find nothing in a module that holds nothing
            return [known for known in list_names() if not known.startswith("_")]
        if name.startswith("__") and name != "__version__":  # asked by Python itself
            raise AttributeError(f"module '{module}' has no attribute '{name}'", name=name)
        below = import_or_none(f"{module}.{name}") if name.isidentifier() else None
        if below is not None:
            return below
        if name in renamed:
            place, _, other = renamed[name].rpartition(".")
            return getattr(importlib.import_module(f"{ROOM}.{place}"), other)
        for place in modules():
            if hasattr(place, name):
                return getattr(place, name)
        raise explain(name_of(module), name, list_names)

    def list_names():
        return sorted({*renamed, *(name for place in modules() for name in dir(place) if not name.startswith("__"))})
    return __getattr__, list_names


def plant():
    """Have `import keras.src.layers` and all below it find the tree."""
    if not any(isinstance(finder, Branch) for finder in sys.meta_path):
        sys.meta_path.append(Branch())
