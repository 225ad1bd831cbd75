"""`tf.raw_ops`: TensorFlow's operators by their own names, for arguments by name.

`signatures.txt` has a line for each: its name, inputs and attributes. `*` marks a list of inputs, `~T` and `#N` name
the attributes that tell an input's dtype and how many there are, `@` marks dtypes, `^` shapes, `a>b` an attribute `b`
that is called `a`. Behind `:` stands the type of an attribute without default. In braces stand the dtypes, or values,
that are taken, or the least number. Behind `>` stand the names of results, behind `>*` that of a list of results, and
`>0` says that there are none.
"""
from dragon.vm.guest import lookup as _lookup
from dragon.vm.tensorflow.core.saved_model.signatures import lines as _lines

_find, _list_names = _lookup(globals())


def __getattr__(name):
    line = _lines().get(name)
    if line is None:
        return _find(name)
    from dragon.vm.tensorflow.core.saved_model.calling import make_caller
    return globals().setdefault(name, make_caller(name, line))


def __dir__():
    return sorted({*_list_names(), *_lines()})
