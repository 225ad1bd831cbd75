"""The traces of a `tf.function`: which arguments share one, by TensorFlow's rules, and what each has done in Python."""
import weakref

from dragon import _C
from dragon.vm.shared import nest
from dragon.vm.shared.recording.signatures import canonical
from dragon.vm.shared.tensors.tensor import Base, Tensor
from dragon.vm.shared.tensors.type_spec import TensorSpec, TypeSpec

LITERALS = (bool, int, float, complex, str, bytes, type(None))


def is_text(value):
    """Return whether a value is a tensor of strings, which the engine's graphs do not have."""
    return getattr(type(value), "is_string_tensor", False) is True


class _Thing:
    """An object that stands for itself, for as long as it lives."""

    def __init__(self, value):
        if type(value).__hash__ is None:
            raise TypeError(f"Could not generate a generic TraceType for {value!r}. Please verify that it is immutable/"
                            "hashable. Otherwise, consider implementing the Tracing Protocol for it.")
        self._number = id(value)
        try:
            self._value = weakref.ref(value)
        except TypeError:
            self._value = lambda: value

    def __eq__(self, other):
        return type(other) is _Thing and self._value() is not None and self._value() is other._value()

    def __hash__(self):
        return self._number


def _leaf(value, known):
    """Return (kind, shape) of an argument; kinds of arguments that share a trace are equal, whatever their sizes."""
    if isinstance(value, LITERALS):
        return value, None
    if isinstance(value, TensorSpec):
        return ("tensor", value.dtype), value.shape
    if isinstance(value, TypeSpec):
        return value, None
    if is_text(value):
        return ("tensor", value.dtype), value.shape
    if isinstance(value, _C.Tensor) or isinstance(value, Base) and not hasattr(value, "_type_spec"):
        plain = type(value) is Tensor
        number = None if plain else known.setdefault(id(value), len(known))  # which variables are the same one
        shape = value.shape if hasattr(value.shape, "rank") else TensorSpec(tuple(value.shape)).shape
        return ("tensor" if plain else type(value), value.dtype, *(() if plain else (number,))), shape
    spec = getattr(value, "_type_spec", None)
    return (spec if isinstance(spec, TypeSpec) else _Thing(value)), None


def _structure(value):
    """Return the form of a structure as something that can be compared."""
    if not nest.is_nested(value):
        return None
    return type(value), tuple((key, _structure(item)) for key, item in nest.children(value))


def _covers(wide, narrow):
    """Return whether each of some shapes lies within another."""
    return all(one is None or one.rank is None or other.rank == one.rank and all(
        size is None or size == given for size, given in zip(one, other)) for one, other in zip(wide, narrow))


class Trace:
    """One trace: the kind of its arguments, and what takes back what it has done in Python.

    Parameters
    ----------
    kind : tuple
        What arguments share it.
    shapes : List[Optional[TensorShape]]
        The shapes of the tensors among its arguments.
    arguments : tuple
        (args, kwargs) that it was made for.

    """

    rollback = None  # a `Rollback`, once the trace has been made

    def __init__(self, kind, shapes, arguments):
        self.kind, self.shapes = kind, shapes
        self.literals = [value if isinstance(value, LITERALS) else None for value in nest.flatten(arguments)]


class Traces(list):
    """The traces of a function, in the order in which they were made.

    Parameters
    ----------
    function : Callable
        The Python function.
    by_kind : bool
        Whether there is one for each kind of arguments: without a signature.
    relaxes : bool
        Whether later ones serve several shapes.

    """

    def __init__(self, function, by_kind=True, relaxes=False):
        super().__init__()
        self._function, self._by_kind, self._relaxes = function, by_kind, relaxes

    def find(self, args, kwargs):
        """Return the trace for arguments: one that is among these, or one that is not yet.

        Parameters
        ----------
        args : tuple
            Tensors, specs of them, and Python values.
        kwargs : dict
            The same by name.

        """
        if not self._by_kind:
            return self[0] if self else Trace((), (), ())
        arguments = canonical(self._function, args, kwargs)
        known = {}
        leaves = [_leaf(value, known) for value in nest.flatten(arguments)]
        kind, shapes = (_structure(arguments), tuple(one for one, _ in leaves)), [shape for _, shape in leaves]
        alike = [trace for trace in self if trace.kind == kind]
        fitting = [trace for trace in alike if _covers(trace.shapes, shapes)]
        if fitting:  # the one that knows most of the shapes
            return max(fitting, key=lambda trace: sum(_known_sizes(shape) for shape in trace.shapes))
        if self._relaxes:
            for trace in alike:
                shapes = [one if one is None else _common(one, other) for one, other in zip(shapes, trace.shapes)]
        return Trace(kind, shapes, arguments)

    def stand_ins(self, trace, args, kwargs):
        """Return arguments with the numbers that a trace was made for: True is served by what was traced for 1."""
        if not self._by_kind or trace not in self:
            return args, kwargs
        arguments = canonical(self._function, args, kwargs)
        leaves = nest.flatten(arguments)
        if all(not isinstance(one, LITERALS) or type(one) is type(other) for one, other in zip(leaves, trace.literals)):
            return args, kwargs
        return nest.pack_sequence_as(arguments, [other if isinstance(one, LITERALS) else one
                                                 for one, other in zip(leaves, trace.literals)])


def _known_sizes(shape):
    return 0 if shape is None or shape.rank is None else 1 + sum(size is not None for size in shape)


def _common(one, other):
    """Return a shape that holds two."""
    if one.rank is None or one.rank != other.rank:
        return TensorSpec(None).shape
    return TensorSpec([size if size == another else None for size, another in zip(one, other)]).shape
