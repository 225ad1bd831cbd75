"""Keras's API on Dragon's engine: the guest `keras`, upon the guest `tensorflow`."""
from dragon.vm.guest import lookup

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
    ".core.scopes": "StatelessScope SymbolicScope name_scope",
    ".core.variable": "Variable",
    ".core.device": "device",
})


def version():
    """Return the version of Keras that is spoken."""
    return __version__
