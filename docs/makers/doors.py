"""Which names each door has, module by module: the guests' of those the genuine ones list, Dragon's own by looking."""
import collections
import dis
import functools
import importlib
import inspect
import pathlib
import sys
import types

from dragon.command.coverage import MISSING

DOCS = pathlib.Path(__file__).resolve().parents[1]
GUESTS = ("torch", "keras", "tensorflow", "dali")
TITLES = {"torch": "PyTorch", "keras": "Keras", "tensorflow": "TensorFlow", "dragon": "Dragon",
          "torchvision": "torchvision", "dali": "DALI"}
# Modules whose public names are what users of Dragon's own face, and of torchvision's, are meant to find.
LOOKED_AT = {
    "dragon": "dragon dragon.nn dragon.nn.module dragon.nn.layers dragon.optimizers dragon.random dragon.graph "
              "dragon.onnx dragon.io dragon.io.pictures dragon.io.records dragon.io.sources dragon.core.profile "
              "dragon.core.feeds".split(),
    "torchvision": "torchvision.transforms torchvision.transforms.functional torchvision.transforms.v2 "
                   "torchvision.models torchvision.datasets torchvision.ops torchvision.utils torchvision.io".split(),
}


@functools.lru_cache(None)
def find(path):
    """Return what a dotted name of a guest stands for here, or MISSING: there are names of None."""
    parent, _, last = path.rpartition(".")
    if not parent:
        return importlib.import_module(f"dragon.vm.{path}")
    found = find(parent)
    if found is MISSING:
        return MISSING
    try:
        return getattr(found, last)
    except (AttributeError, ImportError, NotImplementedError):
        pass
    try:
        return importlib.import_module(f"dragon.vm.{path}")
    except ImportError:
        return MISSING


def look_up(path):
    """Return what a dotted name of Dragon's own face stands for, or None."""
    words = path.split(".")
    for end in range(len(words), 0, -1):
        module = sys.modules.get(".".join(words[:end]))
        if module is not None:
            return functools.reduce(lambda value, word: getattr(value, word, None), words[end:], module)
    return None


def genuine_names(guest):
    """Return the public names of a guest, as the genuine framework lists them."""
    return (DOCS / guest / "names.txt").read_text(encoding="utf-8").split()


@functools.lru_cache(None)
def refusing_names(guest):
    """Return {name: [the error's class, arguments...]} of names that the genuine framework, too, has only to refuse."""
    path = DOCS / guest / "refusing.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {name: [kind, *args] for kind, name, *args in map(str.split, lines)}


def is_stand_in(path):
    """Return whether a name can only be imported: a class without instances, a function that never returns.

    What the genuine framework took away, and has only to say so, is as it should be.
    """
    value = find(path)
    if path in refusing_names(path.partition(".")[0]):
        return False
    makers = [vars(value).get(name) for name in ("__new__", "__init__")] if inspect.isclass(value) else [value]
    codes = [getattr(getattr(maker, "__func__", maker), "__code__", None) for maker in makers]
    return any(not any(step.opname.startswith("RETURN") for step in dis.get_instructions(code)) or
               pathlib.PurePath(code.co_filename).name == "absent.py" for code in codes if code)


def own_names(module, root):
    """Yield the public names of a module that its own package defines."""
    for name in sorted(dir(module)):
        value = getattr(module, name, None)
        if name.startswith("_") or value is None or isinstance(value, types.ModuleType):
            continue
        home = getattr(value, "__module__", None) or ""
        if (inspect.isclass(value) or inspect.isroutine(value)) and home.split(".")[0] in ("dragon", root):
            yield name, value


def list_door(door):
    """Return {module: {name: object}} of what a door has."""
    modules = collections.defaultdict(dict)
    if door in LOOKED_AT:
        for path in LOOKED_AT[door]:
            module = importlib.import_module(path if door == "dragon" else f"dragon.vm.{path}")
            modules[path].update(own_names(module, door))
        return modules
    for path in genuine_names(door):
        value = find(path)
        if value is not MISSING and not isinstance(value, types.ModuleType) and not is_stand_in(path):
            parent, _, name = path.rpartition(".")
            modules[parent][name] = value
    return modules
