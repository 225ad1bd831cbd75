"""Keras's API on Dragon's engine: the guest `keras`, upon the guest `tensorflow`."""
import importlib

__version__ = "3.15.1"

# The modules that users see, and where names at the top come from; all are imported when they are asked for.
_MODULES = frozenset("""
    activations applications backend callbacks config constraints datasets distillation distribution dtype_policies
    export initializers layers legacy losses metrics mixed_precision models ops optimizers preprocessing quantizers
    random regularizers saving tree utils visualization wrappers
""".split())
_NAMES = {
    "DTypePolicy": "core.dtype_policies", "FloatDTypePolicy": "core.dtype_policies", "Function": "core.function",
    "Initializer": "initializers", "Input": "layers", "InputSpec": "layers", "KerasTensor": "core.keras_tensor",
    "Layer": "layers", "Loss": "losses", "Metric": "metrics", "Model": "models", "Operation": "core.operation",
    "Optimizer": "optimizers", "Quantizer": "quantizers", "Regularizer": "regularizers", "RematScope": "core.remat",
    "Sequential": "models", "StatelessScope": "core.scopes", "SymbolicScope": "core.scopes",
    "Variable": "core.variable", "device": "core.device", "name_scope": "core.scopes", "remat": "core.remat",
}


def version():
    """Return the version of Keras that is spoken."""
    return __version__


def __getattr__(name):
    if name in _MODULES:
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
            raise AttributeError(f"keras.{name} is not there yet in Dragon") from None
    if name in _NAMES:
        value = getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*_MODULES, *_NAMES, "version", "__version__"})
