"""`tf.errors`: the classes of trouble and their numbers."""
from dragon.vm.shared import errors as _errors

globals().update((_name, _value) for _name, _value in vars(_errors).items()
                 if _name.endswith("Error") or _name.isupper() and isinstance(_value, int))
