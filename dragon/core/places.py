"""Packages that load what is asked for: a table tells in which module each name stands."""
import importlib


def look_up(names, places):
    """Return (`__getattr__`, `__dir__`) of a package.

    Parameters
    ----------
    names : dict
        The package's `globals()`; what was found once is kept there.
    places : Dict[str, str]
        The names that stand in a module, by the module's full name, or by that below the package.

    Returns
    -------
    tuple of Callable
        Both functions.

    """
    package = names["__name__"]
    homes = {name: module if "." in module else f"{package}.{module}"
             for module, its in places.items() for name in its.split()}

    def find(name):
        if name not in homes:
            raise AttributeError(f"{package}: got {name!r}, expected one of {sorted(homes)}")
        value = names[name] = getattr(importlib.import_module(homes[name]), name)
        return value

    def list_names():
        return sorted({*names, *homes})
    return find, list_names
