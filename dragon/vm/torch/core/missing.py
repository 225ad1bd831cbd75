"""What is missing says so: an AttributeError with the name, the nearest that exists, and where coverage is listed."""
import difflib
import importlib

COVERAGE = "docs/torch/coverage"


def explain(module, name, known):
    """Return the AttributeError for a name that a module of the guest lacks.

    Parameters
    ----------
    module : str
        The guest's name of the module, such as "torch.nn".
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


def module_getattr(module, namespace, submodules=(), later=None):
    """Return a `__getattr__` for a module of the guest.

    Parameters
    ----------
    module : str
        The guest's name of the module.
    namespace : dict
        Its globals.
    submodules : Sequence[str], optional, default=()
        Modules below it that are imported when first asked for.
    later : dict, optional
        Names that are taken from submodules when first asked for: {name: submodule}.

    Returns
    -------
    Callable
        To be bound to `__getattr__`.

    """
    def find(name):
        if name in submodules:
            full = f"{namespace['__name__']}.{name}"
            try:
                return importlib.import_module(full)
            except ModuleNotFoundError as error:
                if error.name != full:
                    raise
        if later and name in later:
            found = getattr(importlib.import_module(f"{namespace['__name__']}.{later[name]}"), name)
            return namespace.setdefault(name, found)
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'", name=name)
        raise explain(module, name, namespace)
    return find
