"""What functions and nodes are called in graphs and in the code that graphs write: PyTorch's names.

Dragon's functions live in files of its own, and several names may be one object. Graphs print the name under which
PyTorch has the function, so that graphs, and programs that look at them, read alike.
"""
import builtins
import functools
import keyword
import math
import re
import sys
from types import ModuleType

from dragon.vm.guest import name_of
from dragon.vm.torch.core.register import FUNCTIONS

# Functions of `torch.functional` that PyTorch takes from elsewhere.
ELSEWHERE = ("istft", "pca_lowrank", "svd_lowrank")
# Those of layers that are, here alone, functions of `torch`, too.
OF_LAYERS = (*(f"max_pool{axes}d" for axes in (1, 2, 3)), "rms_norm")
ROOMS = {"linalg": "_C._linalg.linalg_", "fft": "_C._fft.fft_", "special": "_C._special.special_"}


def torch_module():
    """Return the module that generated code calls `torch`."""
    from dragon.vm import torch
    return torch


@functools.cache
def _places():
    """Return {id: (function, name)} of the functions of the API."""
    torch = torch_module()
    found = {}

    def enter(value, name):
        if callable(value) and not isinstance(value, (type, ModuleType)):
            found.setdefault(id(value), (value, name))
    for name in OF_LAYERS:
        enter(vars(torch.nn.functional).get(name), f"torch.nn.functional.{name}")

    def is_other(row):
        """Return whether a name of a function is not its own: PyTorch's shortest is that of what divides."""
        name, value = row
        return getattr(value, "__name__", name) != name or name == "divide"
    for name, value in sorted(FUNCTIONS.items(), key=is_other):
        is_python = name in vars(torch.functional) and name not in ELSEWHERE
        enter(value, f"torch.functional.{name}" if is_python else f"torch.{name}")
    compiled = {id(value): name for name, value in vars(torch._C._nn).items()}
    compiled[id(torch.nn.functional.scaled_dot_product_attention)] = "scaled_dot_product_attention"  # Python's here
    for name, value in vars(torch.nn.functional).items():
        if not name.startswith("_"):
            enter(value, f"torch._C._nn.{compiled[id(value)]}" if id(value) in compiled
                  else f"torch.nn.functional.{name}")
    for room, prefix in ROOMS.items():
        for name, value in vars(getattr(torch, room)).items():
            if not name.startswith("_"):
                enter(value, f"torch.{prefix}{name}")
    return found


def place_of(target):
    """Return the dotted name of a function of the API, None for other things."""
    try:
        value, name = _places().get(id(target), (None, None))
    except TypeError:
        return None
    return name if value is target and target is not None else None


def plain_name(target):
    """Return what a function is called, without its place."""
    place = place_of(target)
    return place.rpartition(".")[2] if place else getattr(target, "__name__", type(target).__name__)


def module_name(value):
    """Return the guest's name of the module that has a thing, None where it does not say."""
    module = getattr(value, "__module__", None)
    return name_of(module) if isinstance(module, str) else None


def qualified_name(func):
    """Return the dotted name by which generated code finds a function or class.

    Parameters
    ----------
    func : Callable
        The function or class.

    Returns
    -------
    str
        Such as "torch.relu" or "math.sqrt"; names of builtins have no module.

    Raises
    ------
    RuntimeError
        The function does not tell its name and place.

    """
    place = place_of(func)
    if place:
        return place
    name = getattr(func, "__name__", None)
    if isinstance(name, str) and getattr(builtins, name, None) is func:
        return name
    if isinstance(name, str) and isinstance(func, (type(list.append), type(list.__add__))):
        owner = getattr(func, "__objclass__", None)
        if owner is not None:
            return f"{name_of(owner.__module__)}.{owner.__name__}.{name}"
    if not isinstance(name, str):
        name = getattr(func, "__qualname__", None) or type(func).__name__
    if name == "<lambda>":
        name = "_lambda_"
    module = module_name(func)
    if module is None:
        raise RuntimeError(f"torch.fx: got {func!r}, expected a function that says its module and name")
    if module.startswith("torch._ops"):
        module = module.replace("torch._ops", "torch.ops", 1)
    return f"{module}.{name}"


def pretty_name(target):
    """Return a target as printed graphs show it."""
    if isinstance(target, str):
        return target
    module = getattr(target, "__module__", None)
    if place_of(target) is None and module in ("_operator", "builtins") and hasattr(target, "__name__"):
        return f"{'operator' if module == '_operator' else module}.{target.__name__}"
    try:
        return qualified_name(target)
    except RuntimeError:
        return repr(target)


def is_of_torch(value):
    """Return whether generated code finds a thing by its name below `torch`."""
    if place_of(value):
        return True
    module = module_name(value)
    if module is None or module.partition(".")[0] != "torch":
        return False
    found = torch_module()
    for word in qualified_name(value).split(".")[1:]:
        found = getattr(found, word, None)
    return found is not None


def is_magic(name):
    """Return whether a name is one of Python's own, as `__add__`."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def snake_case(words):
    """Return a name in small letters, with underscores where capitals began words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", words).lower()


def words_of_target(target):
    """Return the words from which a node that calls a target is named."""
    name = target if isinstance(target, str) else plain_name(target)
    return snake_case(name[2:-2] if is_magic(name) else name)


class Namespace:
    """Names that are taken, and a new one for every thing that asks.

    A name ends in `_` and a number where the words alone are taken, or mean something to Python.

    """

    def __init__(self):
        self._of_object = {}
        self._used_names = set()
        self._base_count = {}

    def create_name(self, candidate, obj):
        """Return a free name that is like another, and remember it for an object if there is one.

        Parameters
        ----------
        candidate : str
            The name that is wished for.
        obj : Any, optional
            What is named; asked for again, it has the same name.

        Returns
        -------
        str
            An identifier that nothing else has.

        """
        if obj is not None and id(obj) in self._of_object:
            return self._of_object[id(obj)]
        words = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if words[0].isdigit():
            words = f"_{words}"
        base, number = words, None
        numbered = re.fullmatch(r"(.*)_(\d+)", words)
        if numbered:
            base, number = numbered[1], int(numbered[2])
        name = words
        if name in self._used_names or self._is_illegal(name, obj):
            number = max(number or 0, self._base_count.get(base, 0))
            while name in self._used_names or self._is_illegal(name, obj):
                number += 1
                name = f"{base}_{number}"
        self._used_names.add(name)
        self._base_count[base] = number or 0
        if obj is not None:
            self._of_object[id(obj)] = name
        return name

    def associate_name_with_obj(self, name, obj):
        """Remember that an object has a name."""
        self._of_object.setdefault(id(obj), name)

    def _rename_object(self, obj, name):
        self._of_object[id(obj)] = name
        self._used_names.add(name)

    @staticmethod
    def _is_illegal(name, obj):
        if name in keyword.kwlist:
            return True
        if name in vars(builtins):
            return vars(builtins)[name] is not obj
        return name in PRESENT and obj is not PRESENT[name]()


# Names that every generated module has, and what they mean there.
PRESENT = {
    "inf": lambda: math.inf, "nan": lambda: math.nan, "NoneType": lambda: type(None),
    "torch": torch_module, "device": lambda: torch_module().device,
    "fx_pytree": lambda: _module(".fx._pytree"), "pytree": lambda: _module(".utils._pytree"),
}
IMPORTS = {
    "inf": "from math import inf", "nan": "from math import nan", "NoneType": "NoneType = type(None)",
    "torch": "import torch", "device": "from torch import device",
    "fx_pytree": "import torch.fx._pytree as fx_pytree", "pytree": "import torch.utils._pytree as pytree",
}


def _module(place):
    torch = torch_module()
    words = place.split(".")[1:]
    for word in words:
        torch = getattr(torch, word)
    return sys.modules[torch.__name__]


def compiled_names(room, prefix):
    """Return the functions of a module by the names under which PyTorch's compiled module has them."""
    return {f"{prefix}{name}": value for name, value in vars(room).items()
            if not name.startswith("_") and callable(value) and not isinstance(value, (type, ModuleType))}
