"""`tf.autodiff`: the tape."""
from dragon.vm.tensorflow.core.forward import ForwardAccumulator  # noqa: F401
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr
from dragon.vm.tensorflow.core.tape import GradientTape  # noqa: F401

__getattr__ = _module_getattr("tensorflow.autodiff", globals())
