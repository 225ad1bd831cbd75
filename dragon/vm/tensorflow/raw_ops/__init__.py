"""`tf.raw_ops`: TensorFlow's operators by their own names, for arguments by name; the dialect has their lines."""
from dragon.dialects.tensorflow.signatures import lines as _lines
from dragon.vm.guest import lookup as _lookup

_find, _list_names = _lookup(globals())


def __getattr__(name):
    line = _lines().get(name)
    if line is None:
        return _find(name)
    from dragon.vm.tensorflow.core.saved_model.calling import make_caller
    return globals().setdefault(name, make_caller(name, line))


def __dir__():
    return sorted({*_list_names(), *_lines()})
