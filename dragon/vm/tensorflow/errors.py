"""`tf.errors`: the classes of trouble and their numbers."""
from dragon.vm.tensorflow.core import errors as _errors
from dragon.vm.tensorflow.core.missing import module_getattr as _module_getattr

globals().update((_name, _value) for _name, _value in vars(_errors).items()
                 if _name.endswith("Error") or _name.isupper() and isinstance(_value, int))
__getattr__ = _module_getattr("tensorflow.errors", globals())
