"""Keras's API on Dragon's engine: the guest `keras`."""
from dragon.vm.docstrings import Words as _Words
from dragon.vm.guest import FINISHED as _FINISHED
from dragon.vm.guest import lookup
from dragon.vm.keras.core.above import hand_down as _hand_down
from dragon.vm.keras.core.examples_of_rows import EXAMPLES as _EXAMPLES
from dragon.vm.keras.core.words import WORDS as _WORDS

__version__ = "3.15.1"

# Where names at the top come from; all are imported when they are asked for, as modules are.
__getattr__, __dir__ = lookup(globals(), {
    ".core.dtype_policies": "DTypePolicy FloatDTypePolicy",
    ".core.function": "Function",
    ".initializers": "Initializer",
    ".layers": "Input InputSpec Layer",
    ".core.keras_tensor": "KerasTensor",
    ".losses": "Loss",
    ".metrics": "Metric",
    ".models": "Model Sequential",
    ".core.operation": "Operation",
    ".optimizers": "Optimizer",
    ".quantizers": "Quantizer",
    ".regularizers": "Regularizer",
    ".core.remat": "RematScope remat",
    ".core.scopes": "SymbolicScope name_scope",
    ".core.stateless": "StatelessScope",
    ".core.variable": "Variable",
    ".core.device": "device",
})
# What the workshop asks for besides `ops` and `initializers`: policies and configurations, and layers made of modules.
_hand_down(lookup({"__name__": __name__, "__path__": __path__}, {
    ".core.dtype_policies": "read_policy",
    ".layers.core.module_wrapper": "wrap_module",
    ".saving.serialization": "serialize_keras_object",
})[0])
_FINISHED["keras"] = _Words("keras", _WORDS, _EXAMPLES).finish


def version():
    """Return the version of Keras that is spoken."""
    return __version__
