"""Stand-ins for the packages of extras while stubs are written: stubs are the same whichever of them are installed.

What needs such a package can be read without it; and what its own classes say, which ours inherit, is not written down.
"""
import importlib
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

# By package, which of its names are modules; other names are classes.
PACKAGES = {"PIL": str.isidentifier, "onnx": str.islower, "ml_dtypes": str.isspace, "sklearn": str.isspace}


class _Kind(type):
    """The class of stand-ins for classes: they have whatever is asked of them."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = _make_class(name, cls.__module__, f"{cls.__qualname__}.{name}")
        setattr(cls, name, made)
        return made


def _make_class(name, module, qualname):
    return _Kind(name, (), {"__module__": module, "__qualname__": qualname})


class _Room(ModuleType):
    """A stand-in for a module."""

    __version__ = "0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if PACKAGES.get(self.__name__, str.isspace)(name):
            return importlib.import_module(f"{self.__name__}.{name}")
        made = _make_class(name, self.__name__, name)
        setattr(self, name, made)
        return made


class _Finder:
    """Finds stand-ins, as a finder and as a loader."""

    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self, is_package=True) if name.partition(".")[0] in PACKAGES else None

    def create_module(self, spec):
        return _Room(spec.name)

    def exec_module(self, module):
        """There is nothing to run."""


def stand_in():
    """Have the packages stood in for, from here on."""
    sys.meta_path.insert(0, _Finder())
