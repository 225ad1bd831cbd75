"""Tensors that a trace leaves behind in Python: outside of their function they are names of what no longer is."""
from dragon import _C
from dragon.core.capture.untraced_call import unnoticed
from dragon.core.capture.control import is_open
from dragon.core.capture.recording import Recording
from dragon.core.capture.rollback import Rollback
from dragon.core.capture.settings import captures
from dragon.core.python_operators import ARITHMETIC, COMPARISONS
from dragon.vm.shared.errors import OperatorNotAllowedInGraphError
from dragon.vm.shared.tensors.tensor import Tensor
from dragon.vm.shared.tensors.tracing import name_of

_OPERATORS = (*ARITHMETIC, "matmul", "and", "or", "xor")
_OTHERS = (*COMPARISONS, "neg", "abs", "invert", "getitem", "float", "int", "index", "len", "array")


class SymbolicTensor:
    """In the place of a tensor that a `tf.function` has put into a list, dictionary, attribute or name while traced.

    Parameters
    ----------
    name : str
        What it is called.
    shape : TensorShape
        Its shape.
    dtype : DType
        Its dtype.
    function : str
        What the function is called.

    """

    def __init__(self, name, shape, dtype, function):
        self.name, self.shape, self.dtype, self._function = f"{name}:0", shape, dtype, function

    def get_shape(self):
        """Return the shape."""
        return self.shape

    def _refuse(self, *_, **__):
        raise TypeError(f"{self!r} is out of scope and cannot be used here: it was made while the tf.function "
                        f"'{self._function}' was traced, and has no value outside of it. Return it from the function, "
                        "or keep it in a tf.Variable or tf.TensorArray.")

    def __bool__(self):
        raise OperatorNotAllowedInGraphError(f"Using {self!r} as a Python `bool` is not allowed: it is symbolic, "
                                             f"of the tf.function '{self._function}'.")

    def __iter__(self):
        raise OperatorNotAllowedInGraphError(f"Iterating over {self!r} is not allowed: it is symbolic, of the "
                                             f"tf.function '{self._function}'.")

    def __repr__(self):
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self):
        return f"Tensor(\"{self.name}\", shape={self.shape}, dtype={self.dtype.name})"


for _name in (*_OTHERS, *_OPERATORS, *(f"r{name}" for name in _OPERATORS), *(f"i{name}" for name in _OPERATORS)):
    setattr(SymbolicTensor, f"__{_name}__", SymbolicTensor._refuse)


def keep_values():
    """Let all that is in Python now stay what it is when the trace in progress ends: it has been made aside."""
    running = captures()[-1] if captures() else None
    if isinstance(running, Recording):
        found = []
        _replace(running, lambda value: found.append(value) or value)
        running.lasting = [*getattr(running, "lasting", ()), *found]


def _replace(running, function):
    """Put what a function makes of it in the place of all that the call in progress has put into the user's objects."""
    places = running.guards.places
    with unnoticed():  # to tell what has changed is to print it
        changes = running.guards.changes()
    changes = [change for change in changes
               if change.place is not None and not places[change.place].is_library]
    if changes:
        Rollback(running.guards, changes).replace(function)
    for place in places:
        if place.present is not None and not place.is_library:
            for name in place.container.keys() - place.present:
                place.container[name] = function(place.container[name])


def mark_leaks(function):
    """Put such names in the place of all tensors that the trace in progress, which is at its end, has left in Python.

    Parameters
    ----------
    function : str
        What is being traced.

    """
    running = captures()[-1] if captures() else None
    if isinstance(running, Recording):
        lasting = set(map(id, getattr(running, "lasting", ())))
        _replace(running, lambda value: value if id(value) in lasting else _marked(value, function))


def _marked(value, function):
    """Return a value with names in the place of tensors that depend on what may be another at the next call."""
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        made = [_marked(item, function) for item in value]
        return value if all(one is other for one, other in zip(made, value)) else type(value)(made)
    if type(value) is dict:
        made = {key: _marked(item, function) for key, item in value.items()}
        return value if all(made[key] is item for key, item in value.items()) else made
    if type(value) is not Tensor or not isinstance(value, _C.Tensor) or not is_open(value):
        return value
    return SymbolicTensor(name_of(value), value.shape, value.dtype, function)
