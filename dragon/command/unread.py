"""The package `dragon` unread: files of it can be imported without the engine, as `dragon verify` does.

Importing `dragon.command` imports `dragon`, and that is the engine, which has no place in a process of PyTorch's. So
this file is run by its path, and the package stands in `sys.modules` unread until its first name is asked for.
"""
import importlib.util
import sys
import types


class Closed(types.ModuleType):
    """The package `dragon`, of which nothing has been read but what lies in its folder."""

    def __getattr__(self, name):
        if name.startswith("__") and name != "__version__":  # Python's own questions about a module
            raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'", name=name)
        self.__class__ = types.ModuleType
        try:
            self.__spec__.loader.exec_module(self)
        except BaseException:
            self.__class__ = Closed
            raise
        return getattr(self, name)


def close(file):
    """Put the package `dragon`, whose `__init__.py` is named, into `sys.modules` unread."""
    if "dragon" not in sys.modules:
        spec = importlib.util.spec_from_file_location("dragon", file)
        closed = Closed("dragon", "")
        closed.__spec__, closed.__path__, closed.__file__ = spec, spec.submodule_search_locations, spec.origin
        closed.__package__, closed.__loader__ = "dragon", spec.loader
        sys.modules["dragon"] = closed
