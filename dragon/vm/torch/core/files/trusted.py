"""The globals that a file may name, and those that it may call: nothing that neither a list nor the caller allows."""
import collections
import enum
import functools
import importlib
import inspect
import sys
import threading

from dragon.vm.torch import _tensor, _utils
from dragon.vm.torch._dynamo.decorators import _DimRange
from dragon.vm.torch.core.device import device
from dragon.vm.torch.core.dtypes import OBJECTS
from dragon.vm.torch.core.files import plain
from dragon.vm.torch.core.layout import _get_layout, memory_format, qscheme
from dragon.vm.torch.core.legacy import CLASSES as OLD_TENSORS
from dragon.vm.torch.core.size import Size
from dragon.vm.torch.core.tensor import Tensor, ops
from dragon.vm.torch.nested._internal import nested_tensor
from dragon.vm.torch.nn import parameter
from dragon.vm.torch.storage import CLASSES, TypedStorage, UntypedStorage

HERE = __name__.partition(".torch.")[0] + "." if ".torch." in __name__ else ""  # "dragon.vm." or, as a guest, ""
GUESTS = ("torch", "torchvision")
OPERATORS = type(ops.add), type(ops.overridable(len))
RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg", "torch.tensor": "torch._tensor",
           "numpy.core.multiarray": "numpy._core.multiarray"}
OLD_NAMES = {"long": "int", "unicode": "str", "xrange": "range"}  # of Python 2, as protocol 2 has them
_local = threading.local()


def encode(text, encoding):
    """Return bytes from text: how pickles of protocol 2 hold bytes."""
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise ValueError(f"encode: got {plain.tell(encoding)}, expected text in latin1")
    return text.encode("latin1")


def make_bytearray(data=b"", *encoding):
    """Return a bytearray of bytes, never of a mere size."""
    if encoding:
        data = encode(data, *encoding)
    if not isinstance(data, (bytes, bytearray)):
        raise ValueError(f"bytearray: got {type(data).__name__}, expected bytes")
    return bytearray(data)


def reconstruct(cls, base, state):
    """Return an instance of a class as protocols 0 and 1 make it, of plain classes only."""
    if base is not object or not isinstance(cls, type):
        raise ValueError(f"_reconstructor: got {plain.tell(cls)} on {plain.tell(base)}, expected a plain class")
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
                 "_rebuild_parameter_with_state", "_rebuild_meta_tensor_no_storage", "_rebuild_wrapper_subclass",
                 "_rebuild_sparse_tensor", "_rebuild_qtensor", "_rebuild_nested_tensor"):
        found[f"torch._utils {name}"] = getattr(_utils, name)
    for name in ("_rebuild_njt", "NestedTensor"):
        found[f"torch.nested._internal.nested_tensor {name}"] = getattr(nested_tensor, name)
    found["torch._dynamo.decorators _DimRange"] = _DimRange
    for kind in (parameter.Parameter, parameter.UninitializedParameter, parameter.UninitializedBuffer):
        found[f"torch.nn.parameter {kind.__name__}"] = kind
    found.update((f"torch {name}", value) for name, value in {**OBJECTS, **CLASSES}.items())
    for kind in (memory_format, qscheme):
        found.update((f"torch {value._name}", value) for value in kind._made.values() if isinstance(value, kind))
    found.update((f"torch {name}", value) for name, value in OLD_TENSORS.items())
    return found


# Rooms of the guests whose functions files may name: they compute, and touch neither files nor networks.
COMPUTING = ("torch.functional", "torch.nn", "torch.optim", "torch.special", "torch.fft", "torch.linalg",
             "torch.signal", "torch.distributions", "torch.utils.data", "torchvision.ops", "torchvision.transforms")
# Classes that files name to say what a storage or tensor is; they are made by functions of ours.
NAMED_ALONE = {"torch Tensor", "torch.nested._internal.nested_tensor NestedTensor",
               "torch.storage UntypedStorage", "torch.storage TypedStorage",
               *(f"torch {name}" for name in CLASSES), *(f"torch {name}" for name in OLD_TENSORS)}


class Refused(Exception):
    """A global that nobody vouches for."""


class Trust:
    """The names that one file may use and call.

    Parameters
    ----------
    weights_only : bool
        Whether only the lists hold; otherwise classes and functions that the program has imported may be named too,
        and instances of them made, but no constructor or function of theirs runs.

    """

    def __init__(self, weights_only):
        self.weights_only = weights_only
        # By identity: (what is named, the function that makes its instances).
        self.makers, self.user, self.named = {}, {}, {}
        for name, value in default_globals().items():
            if name not in NAMED_ALONE:
                self.allow(value, plain.MAKERS.get(tuple(name.split(" "))) or value)
        for entry in set_safe_globals():
            value, name = entry if isinstance(entry, tuple) else (entry, guest_name(entry))
            self.user[name] = value
            self.allow(value, plain.MAKERS.get(tuple(name.rsplit(".", 1))) or value)

    def allow(self, value, maker):
        """Let a file call something; the maker is what runs."""
        self.makers[id(value)] = value, maker

    def find(self, module, name):
        """Return what a global's name stands for, or raise Refused."""
        if module == "__builtin__":
            name = OLD_NAMES.get(name, name)
        module = RENAMED.get(module, module)
        dotted = f"{module}.{name}"
        if dotted in self.user:
            found = self.user[dotted]
        elif f"{module} {name}" in default_globals():
            found = default_globals()[f"{module} {name}"]
        elif dotted in ("torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer"):
            found = getattr(importlib.import_module(HERE + "torch.nn.parameter"), name)
            self.allow(found, found)
        elif not self.weights_only:
            found = self.find_imported(module, name)
        else:
            raise Refused(dotted)
        self.named[id(found)] = found
        return found

    def find_imported(self, module, name):
        """Return a class or function of the guest, of `__main__` or of a module that the program has imported."""
        found, maker = plain.find_plain(module, name)
        if found is not plain.NOTHING:
            if maker is not None:
                self.allow(found, maker)
            return found
        if (module, name) == ("copyreg", "_reconstructor"):
            self.allow(reconstruct, reconstruct)
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
        if not is_own or not (isinstance(found, type) or inspect.isfunction(found) and may_compute(place, root)):
            raise Refused(f"{module}.{name}")
        if isinstance(found, type) and issubclass(found, enum.Enum):
            self.allow(found, functools.partial(member_of, found))
        elif is_named_result(found):
            self.allow(found, found)
        return found

    def may_call(self, value):
        """Return whether a file may call an object."""
        return id(value) in self.makers and self.makers[id(value)][0] is value

    def maker_of(self, function, arguments):
        """Return what runs if a file calls a function with these arguments, or raise Refused.

        Whatever runs looks at its arguments, calls `keys` or `numel` say: nothing may be handed to it whose attributes
        the file has chosen, a namespace say.
        """
        if not isinstance(arguments, tuple) or not self.may_call(function):
            raise Refused(f"{describe(function)} (called)")
        maker = self.makers[id(function)][1]
        if any(function is value for value in self.user.values()):
            return maker
        if function is functools.partial:
            self.check_partial(arguments[:1], arguments[1:])
        elif function in REBUILDERS:
            if len(arguments) < 3 or type(arguments[2]) is not tuple:
                raise Refused(f"{describe(function)} (called with something else)")
            self.maker_of(arguments[0], arguments[2])
            self.check_plain(function, arguments[3:])
        elif function is not collections.defaultdict:  # it may have a partial, and looks at that
            self.check_plain(function, arguments)
        return maker

    def check_plain(self, function, arguments):
        """Raise Refused unless a function may look at its arguments."""
        for value in arguments:
            if not plain.is_plain(value) and not (id(value) in self.named and self.named[id(value)] is value):
                raise Refused(f"{describe(function)} (called with an instance of {describe(type(value))})")

    def check_partial(self, function, arguments):
        """Raise Refused unless a file may give a function arguments: those that compute, and modules' classes."""
        for value in function:
            place = guest_module(getattr(value, "__module__", None) or "")
            is_computing = isinstance(value, OPERATORS) or place.startswith(COMPUTING)
            if value is type or not (id(value) in self.named and (is_computing or self.may_call(value))):
                raise Refused(f"{describe(value)} (given arguments)")
        if not function:
            raise Refused("functools.partial (of nothing)")

    def make(self, cls, arguments, named):
        """Return a bare instance of a class, made by the `__new__` of a plain type alone, or raise Refused."""
        if not isinstance(cls, type) or cls is type or not isinstance(arguments, tuple):
            raise Refused(f"{describe(cls)} (made)")
        if any(cls is value for value in self.user.values()):
            return cls.__new__(cls, *arguments, **named)
        if self.may_call(cls) and not named:
            maker = self.maker_of(cls, arguments)
            return cls.__new__(cls, *arguments) if maker is cls else maker(*arguments)
        # What cleans up after itself would clean up what the file names.
        if self.weights_only or id(cls) not in self.named or hasattr(cls, "__del__"):
            raise Refused(f"{describe(cls)} (made)")
        self.check_plain(cls, arguments)
        new = cls.__new__
        if issubclass(cls, tuple) and hasattr(cls, "_fields") and len(arguments) == len(cls._fields):
            return tuple.__new__(cls, arguments)
        for kind in MADE_BARE:
            if new is kind.__new__ and not named:
                if kind is tuple and arguments and type(arguments[0]) not in (tuple, list):
                    break
                if kind in (bytes, str) and arguments and type(arguments[0]) is not kind:
                    break
                return new(cls, *arguments)
        if not arguments and not named and issubclass(cls, object) and is_of_python(cls):
            return object.__new__(cls)
        raise Refused(f"{describe(cls)} (made with arguments)")

    def may_fill(self, instance):
        """Return whether a file may give an object its attributes."""
        kind = type(instance)
        if kind in (collections.OrderedDict, Tensor, _DimRange) or issubclass(kind, Tensor):
            return True
        if isinstance(instance, type) or inspect.isroutine(instance) or inspect.ismodule(instance):
            return False
        return id(kind) in self.named if not self.weights_only else any(kind is value for value in self.user.values())

    def check_state(self, instance, names, values):
        """Raise Refused unless attributes may have these names: a method's would be found before the method."""
        kind = type(instance)
        if any(kind is value for value in self.user.values()):
            return
        for name, value in zip(names, values):
            if type(name) is str and name == "__orig_class__" and plain.is_type(value):  # typing notes it
                continue
            if type(name) is not str or name.startswith("__") and name.endswith("__"):
                raise Refused(f"{describe(kind)} (given the attribute {plain.tell(name)})")
            if callable(value) and not isinstance(value, Tensor) and callable(getattr(kind, name, None)):
                raise Refused(f"{describe(kind)} (given the method {name})")


def may_compute(place, root):
    """Return whether the functions of a module may be named: of the guests', those that only compute."""
    return root not in GUESTS or place in ("torch",) or place.startswith(COMPUTING)


def member_of(cls, *values):
    """Return a member of an enumeration by its value."""
    if len(values) != 1:
        raise ValueError(f"{cls.__name__}: got {len(values)} values, expected one")
    return cls(values[0])


def is_of_python(cls):
    """Return whether a class's instances have no layout of their own, which only its own `__new__` could fill."""
    return cls.__basicsize__ <= object.__basicsize__ + 8 * (2 + sum(
        len([kind.__slots__] if isinstance(kind.__slots__, str) else kind.__slots__)
        for kind in cls.__mro__ if "__slots__" in vars(kind)))


def describe(value):
    """Return a global's name as files have it."""
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str):
        return repr(type(value).__name__)
    return f"{guest_module(str(getattr(value, '__module__', '') or ''))}.{name}"


# Types whose `__new__` takes what has come and does nothing else.
MADE_BARE = object, dict, list, set, frozenset, tuple, int, float, complex, str, bytes, collections.OrderedDict
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
