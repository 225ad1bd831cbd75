"""Which globals a file may name, and which of them it may call: nothing that neither a list nor the caller allows."""
import collections
import enum
import functools
import importlib
import inspect
import sys
import threading

from dragon.vm.torch import _tensor, _utils
from dragon.vm.torch.core.device import device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.layout import layout, memory_format, qscheme
from dragon.vm.torch.core.legacy import CLASSES as OLD_TENSORS
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.nn import parameter
from dragon.vm.torch.storage import CLASSES, TypedStorage, UntypedStorage

HERE = __name__.partition(".torch.")[0] + "." if ".torch." in __name__ else ""  # "dragon.vm." or, as a guest, ""
GUESTS = ("torch", "torchvision")
OPERATORS = type(ops.add), type(ops.overridable(len))
RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg", "torch.tensor": "torch._tensor",
           "numpy.core.multiarray": "numpy._core.multiarray"}
_local = threading.local()


def encode(text, encoding):
    """Return bytes from text: how pickles of protocol 2 hold bytes."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise ValueError(f"encode: got {encoding!r}, expected text in latin1")
    return text.encode("latin1")


def make_bytearray(data=b"", *encoding):
    """Return a bytearray of bytes, never of a mere size."""
    if encoding:
        data = encode(data, *encoding)
    if not isinstance(data, (bytes, bytearray)):
        raise ValueError(f"bytearray: got {type(data).__name__}, expected bytes")
    return bytearray(data)


def _get_layout(name):
    """Return a layout by its name."""
    made = layout._made.get((layout, name.removeprefix("torch.")))
    if made is None:
        raise ValueError(f"layout: got {name!r}, expected one that torch has")
    return made


# Files say where PyTorch has it.
_get_layout.__module__ = HERE + "torch.serialization"


def reconstruct(cls, base, state):
    """Return an instance of a class as protocols 0 and 1 make it, of plain classes only."""
    if base is not object or not isinstance(cls, type):
        raise ValueError(f"_reconstructor: got {cls!r} on {base!r}, expected a plain class")
    return object.__new__(cls)


def set_safe_globals():
    """Return this thread's list of what `add_safe_globals` was given."""
    if not hasattr(_local, "safe"):
        _local.safe = []
    return _local.safe


@functools.lru_cache(None)
def default_globals():
    """Return what every file may name and call: {"module name": object}."""
    found = {"collections OrderedDict": collections.OrderedDict, "collections Counter": collections.Counter,
             "torch Size": Size, "torch Tensor": Tensor, "torch device": device, "_codecs encode": encode,
             "builtins bytearray": make_bytearray, "builtins set": set, "builtins complex": complex,
             "torch.serialization _get_layout": _get_layout, "torch.storage UntypedStorage": UntypedStorage,
             "torch.storage TypedStorage": TypedStorage,
             "torch._tensor _rebuild_from_type_v2": _tensor._rebuild_from_type_v2,
             "torch._tensor _rebuild_from_type": _tensor._rebuild_from_type}
    for name in ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter",
                 "_rebuild_parameter_with_state", "_rebuild_meta_tensor_no_storage", "_rebuild_sparse_tensor",
                 "_rebuild_qtensor", "_rebuild_nested_tensor"):
        found[f"torch._utils {name}"] = getattr(_utils, name)
    for kind in (parameter.Parameter, parameter.UninitializedParameter, parameter.UninitializedBuffer):
        found[f"torch.nn.parameter {kind.__name__}"] = kind
    found.update((f"torch {name}", value) for name, value in {**OBJECTS, **CLASSES}.items())
    for kind in (memory_format, qscheme):
        found.update((f"torch {value._name}", value) for value in kind._made.values() if isinstance(value, kind))
    found.update((f"torch {name}", value) for name, value in OLD_TENSORS.items())
    return found


# Only with weights_only=False: harmless values of the standard library, by module.
PLAIN_VALUES = {
    "builtins": "list dict tuple frozenset slice range object int float bool str bytes",
    "collections": "defaultdict deque",
    "datetime": "date datetime time timedelta timezone",
    "decimal": "Decimal",
    "fractions": "Fraction",
    "functools": "partial",
    "argparse": "Namespace",
    "types": "SimpleNamespace",
    "pathlib": "Path PosixPath PurePath PurePosixPath WindowsPath PureWindowsPath",
    "uuid": "UUID",
    "numpy": "dtype ndarray",
    "numpy._core.multiarray": "_reconstruct scalar",
}
# Of them, what may be made of a size would let few bytes take all memory.
NOT_CALLED = ("builtins bytes", "builtins str", "builtins int", "builtins object")
# Classes that files name to say what a storage or tensor is; they are made by functions of ours.
NAMED_ALONE = {"torch Tensor", "torch.storage UntypedStorage", "torch.storage TypedStorage",
               *(f"torch {name}" for name in CLASSES), *(f"torch {name}" for name in OLD_TENSORS)}


class Refused(Exception):
    """A global that nobody vouches for."""


class Trust:
    """What one file may name and call.

    Parameters
    ----------
    weights_only : bool
        Whether only the lists hold; otherwise classes and functions that the program has imported may be named too,
        and instances of them made, but no constructor or function of theirs runs.

    """

    def __init__(self, weights_only):
        self.weights_only = weights_only
        self.callable = {id(value): value for name, value in default_globals().items() if name not in NAMED_ALONE}
        self.user = {}
        for entry in set_safe_globals():
            value, name = entry if isinstance(entry, tuple) else (entry, guest_name(entry))
            self.user[name] = self.callable[id(value)] = value
        self.named = {}

    def find(self, module, name):
        """Return what a global's name stands for, or raise Refused."""
        module = RENAMED.get(module, module)
        dotted = f"{module}.{name}"
        if dotted in self.user:
            found = self.user[dotted]
        elif f"{module} {name}" in default_globals():
            found = default_globals()[f"{module} {name}"]
        elif dotted in ("torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer"):
            found = getattr(importlib.import_module(HERE + "torch.nn.parameter"), name)
            self.callable[id(found)] = found
        elif not self.weights_only:
            found = self.find_imported(module, name)
        else:
            raise Refused(dotted)
        self.named[id(found)] = found
        return found

    def find_imported(self, module, name):
        """Return a class or function of the guest, of `__main__` or of a module that the program has imported."""
        if name in PLAIN_VALUES.get(module, "").split():
            found = getattr(importlib.import_module(module), name)
            if f"{module} {name}" not in NOT_CALLED:
                self.callable[id(found)] = found
            return found
        if (module, name) == ("copyreg", "_reconstructor"):
            self.callable[id(reconstruct)] = reconstruct
            return reconstruct
        root = module.partition(".")[0]
        if root in GUESTS:
            try:
                home = importlib.import_module(HERE + module)
            except ImportError:
                raise Refused(f"{module}.{name}") from None
        elif root in sys.stdlib_module_names and module != "__main__":
            raise Refused(f"{module}.{name}")
        else:
            home = sys.modules.get(module)
        found = home
        for part in name.split("."):
            found = getattr(found, part, None)
        # Modules hold what they import, `os.system` say: only what a module itself defines is found there.
        place = guest_module(getattr(found, "__module__", None) or "")
        is_own = place.partition(".")[0] == root if root in GUESTS else place == module
        if isinstance(found, OPERATORS):
            return found
        if not is_own or not (isinstance(found, type) or inspect.isfunction(found)):
            raise Refused(f"{module}.{name}")
        if isinstance(found, type) and issubclass(found, enum.Enum) or is_named_result(found):
            self.callable[id(found)] = found
        return found

    def may_call(self, value):
        """Return whether a file may call an object."""
        return id(value) in self.callable and self.callable[id(value)] is value

    def may_hand(self, function, arguments):
        """Return whether a function may get these arguments: some call the function that they are given."""
        return function not in REBUILDERS or bool(arguments) and self.may_call(arguments[0])

    def may_make(self, cls):
        """Return whether a file may make bare instances of a class, by its `__new__` alone."""
        if not isinstance(cls, type):
            return False
        return self.may_call(cls) or not self.weights_only and id(cls) in self.named

    def may_fill(self, instance):
        """Return whether a file may give an object its attributes."""
        kind = type(instance)
        if kind in (collections.OrderedDict, Tensor) or issubclass(kind, Tensor):
            return True
        if isinstance(instance, type) or inspect.isroutine(instance) or inspect.ismodule(instance):
            return False
        return id(kind) in self.named if not self.weights_only else any(kind is value for value in self.user.values())


REBUILDERS = (_tensor._rebuild_from_type, _tensor._rebuild_from_type_v2)


def is_named_result(found):
    """Return whether a class is one of the named tuples that functions return."""
    return isinstance(found, type) and issubclass(found, tuple) and found.__module__.endswith("return_types")


def guest_module(name):
    """Return the name that a module has for the guest: files never say `dragon.vm`."""
    return name.removeprefix("dragon.vm.")


def guest_name(value):
    """Return "module.name" of a class or function as files have it."""
    return f"{guest_module(value.__module__)}.{value.__qualname__}"
