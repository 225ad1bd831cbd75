"""What is missing says so: an AttributeError with the name and the nearest that exists."""
import difflib
import importlib

COVERAGE = "docs/tensorflow/coverage"


def explain(module, name, known):
    """Return the AttributeError for a name that a module of the guest lacks.

    Parameters
    ----------
    module : str
        The guest's name of the module, such as "tensorflow.math".
    name : str
        What was asked for.
    known : Iterable[str]
        What there is.

    Returns
    -------
    AttributeError
        To be raised.

    """
    near = difflib.get_close_matches(name, [item for item in known if not item.startswith("_")], 1, 0.6)
    hint = f"; the nearest name is '{module}.{near[0]}'" if near else ""
    return AttributeError(f"module '{module}' has no attribute '{name}': Dragon does not have it (yet){hint}; "
                          f"what is covered is listed in {COVERAGE}", name=name)


def module_getattr(module, namespace, later=None, submodules=()):
    """Return a `__getattr__` for a module of the guest.

    Parameters
    ----------
    module : str
        The guest's name of the module.
    namespace : dict
        Its globals.
    later : dict, optional
        Names that are taken from other modules when first asked for: {name: "dotted.module" or "dotted.module:name"}.
    submodules : Sequence[str], optional, default=()
        Modules below it that are imported when first asked for.

    Returns
    -------
    Callable
        To be bound to `__getattr__`.

    """
    later = later or {}

    def find(name):
        place = later.get(name)
        if place is not None:
            source, _, attribute = place.partition(":")
            try:
                found = getattr(importlib.import_module(source), attribute or name)
            except ModuleNotFoundError as error:
                if error.name != source:
                    raise
            except AttributeError:
                pass
            else:
                return namespace.setdefault(name, found)
        if name in submodules:
            full = f"{namespace['__name__']}.{name}"
            try:
                return importlib.import_module(full)
            except ModuleNotFoundError as error:
                if error.name != full:
                    raise
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'", name=name)
        raise explain(module, name, [*namespace, *later, *submodules])
    return find
