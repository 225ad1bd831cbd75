"""The names under which Keras's files know its classes, and where they are here."""
import importlib
import types

ROOT = __name__.removesuffix(".saving.public_names")
# Classes and functions that Keras has at its very top.
TOP = frozenset("""
    DTypePolicy FloatDTypePolicy Function Initializer Input InputSpec KerasTensor Layer Loss Metric Model Operation
    Optimizer Quantizer Regularizer RematScope Sequential StatelessScope SymbolicScope Variable
""".split())
# Folders whose names are public, the innermost first.
FAMILIES = ("optimizers.schedules", "layers", "losses", "metrics", "optimizers", "initializers", "regularizers",
            "constraints", "activations", "callbacks", "dtype_policies", "quantizers", "random", "models", "ops",
            "utils", "applications", "saving", "distillation")
# Where builtin functions that are named alone are looked for.
BUILTINS = ("activations", "initializers", "losses", "metrics", "constraints", "regularizers")


# Whose classes files may name, and, of some, whose functions: they compute. All else reads files, asks networks or
# changes how files are read.
OF_CLASSES = ("layers", "losses", "metrics", "optimizers", "initializers", "regularizers", "constraints", "activations",
              "dtype_policies", "core", "quantizers", "random", "models", "ops", "wrappers", "distillation",
              "utils.feature_space")
OF_FUNCTIONS = ("activations", "losses", "metrics", "initializers", "regularizers", "constraints", "random",
                "quantizers", "ops", "layers")
READERS = ("get", "deserialize", "serialize")
# Keras and the packages of its family: files name their classes by the modules that hold them.
PACKAGES = ("keras", "keras_hub", "keras_cv", "keras_nlp")


def _family(name):
    return importlib.import_module(f"{ROOT}.{name}")


def find_inner_module(thing):
    """Return where a class or function is within this package, as "layers.core.dense"; None for all others.

    A class says the name that its user imported it by, which is "keras..." where this is what `keras` stands for;
    genuine Keras's classes are all in "keras.src".
    """
    module = getattr(thing, "__module__", None) or ""
    for root in (ROOT + ".", "keras."):
        if module.startswith(root) and not module.startswith("keras.src."):
            return module[len(root):]
    return None


def find_public_name(thing):
    """Return the module and the name of a class or function in Keras, or None for what is not Keras's. ..."""
    inner, name = find_inner_module(thing), getattr(thing, "__name__", "")
    if inner is None:
        return None
    if name in TOP:
        return "keras", name
    if inner == "core.dtype_policies":
        inner = "dtype_policies"
    for family in FAMILIES:
        if inner == family or inner.startswith(family + "."):
            if getattr(_family(family), name, None) is thing:
                return f"keras.{family}", name
    if inner.startswith("random."):
        return "keras.random", name
    return None


def may_be_named(thing):
    """Return whether files that bring no code may name a class or function of Keras. ..."""
    inner = find_inner_module(thing)
    if inner is None:
        from dragon.vm.keras.core.operation import Operation
        return isinstance(thing, Operation) or isinstance(thing, type) and issubclass(thing, Operation)
    families = OF_CLASSES if isinstance(thing, type) else OF_FUNCTIONS
    return any(inner == family or inner.startswith(family + ".") for family in families) and (
        isinstance(thing, type) or thing.__name__ not in READERS)


def find_source_name(cls):
    """Return the module of a class that Keras does not export, as Keras's files name it."""
    inner = find_inner_module(cls)
    return cls.__module__ if inner is None else f"keras.src.{inner}"


def find_thing(module, name):
    """Return Keras's class or function of a module and a name, or None.

    Parameters
    ----------
    module : str
        "keras", "keras.layers", "keras.src.models.functional" ...
    name : str
        The name.

    """
    from dragon.vm.keras.core.operation import Operation, find_operation
    parts = module.split(".")[1:]
    if parts[:1] == ["src"]:
        parts = parts[1:]
        if parts[:1] == ["ops"]:
            found = find_operation(name, module)
            if found is not None:
                return found
        if name == "Functional":
            return importlib.import_module(f"{ROOT}.models.functional").Functional
    if parts[:1] == ["dtype_policies"]:
        return getattr(_family("core.dtype_policies"), name, None)
    for length in range(len(parts), 0, -1):
        try:
            found = getattr(_family(".".join(parts[:length])), name, None)
        except ModuleNotFoundError:
            continue
        if isinstance(found, (type, types.FunctionType)):
            return found
    if not parts or parts == ["ops"]:
        found = getattr(importlib.import_module(ROOT), name, None)
        return found if found is not None else find_operation(name)
    found = find_operation(name, module)
    return found if isinstance(found, type) and issubclass(found, Operation) else None


def find_held(module, name):
    """Return a class of layers or operations that a module of Keras's family holds itself, or None.

    Parameters
    ----------
    module : str
        Such as "keras_hub.src.layers.modeling.rms_normalization".
    name : str
        The class's name.

    Returns
    -------
    Optional[type]
        The class.

    """
    if module.partition(".")[0] == "keras":  # this package is meant; a genuine Keras beside it is not asked
        module = ROOT + module.removeprefix("keras")
    try:
        found = vars(importlib.import_module(module)).get(name)
    except ModuleNotFoundError:
        return None
    return found if isinstance(found, type) and may_be_named(found) else None
