"""`tf.types`: names for annotations."""
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr

__getattr__ = _module_getattr("tensorflow.types", globals(), submodules=("experimental",))
