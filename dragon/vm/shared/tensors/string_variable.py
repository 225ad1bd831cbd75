"""Variables of strings: `tf.Variable(["a"])` makes one of these, whose strings are in the host's memory."""
from dragon.core.capture.settings import captures
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.strings import StringTensor

UNGRAPHED = "it has a variable of strings, which graphs do not have"


class StringVariable(StringTensor):
    """Strings that a program keeps and replaces.

    Functions that read or write one run as plain Python.

    Parameters
    ----------
    value : StringTensor
        What it holds first.
    trainable : bool
        Kept for who asks: strings have no gradients.
    name : str
        Its name.
    shape : TensorShape, optional
        Which shapes it may take on; by default that of the value.
    synchronization, aggregation : Any, optional
        Kept for who asks.

    """

    is_string_variable = True
    constraint = None

    def __init__(self, value, trainable, name, shape=None, synchronization=None, aggregation=None):
        self._strings, self._trainable, self._name, self._declared = value._array.copy(), trainable, name, shape
        self.synchronization, self.aggregation = synchronization, aggregation

    @property
    def _array(self):
        """numpy.ndarray: the strings; an array that is never written into."""
        _leave_graphs()
        return self._strings

    name = property(lambda self: f"{self._name}:0", doc='str: the name, followed by ":0".')
    trainable = property(lambda self: self._trainable, doc="bool: what the program said; there are no gradients.")
    handle = property(lambda self: self, doc="StringVariable: the variable itself, which stands for its memory.")
    _shared_name = property(lambda self: self._name)

    @property
    def shape(self):
        """TensorShape: the sizes of the axes, None for those that may change."""
        return TensorShape(self._strings.shape) if self._declared is None else self._declared

    def value(self):
        """Return the strings as a tensor that later writes do not reach."""
        made = StringTensor.__new__(StringTensor)
        made._array = self._array
        return made

    read_value = value

    def is_initialized(self, name=None):
        """Return True: a variable holds a value from the beginning."""
        return convert_to_tensor(True)

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Replace the strings; returns the variable."""
        incoming = convert_to_tensor(value, self.dtype)
        if not self.shape.is_compatible_with(incoming.shape):
            raise ValueError(f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable shape "
                             f"{self.shape}, and the assigned value shape {incoming.shape} are incompatible.")
        return self._replaced(incoming._array.copy(), read_value)

    def _replaced(self, array, read_value=True):
        _leave_graphs()
        self._strings = array
        return self if read_value else None

    def _refuse_sum(self, verb):
        raise invalid_argument(f"{verb}: got a variable of strings, '{self.name}', expected one of numbers; assign "
                               "takes other strings")

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Refuse: strings have no sums in place."""
        self._refuse_sum("assign_add")

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Refuse: strings have no differences."""
        self._refuse_sum("assign_sub")

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Replace the rows that slices name; returns the variable."""
        array = self._array.copy()
        array[sparse_delta.indices.numpy()] = sparse_delta.values._array
        return self._replaced(array)

    def scatter_nd_update(self, indices, updates, name=None):
        """Replace the strings at some places; returns the variable."""
        array = self._array.copy()
        places = convert_to_tensor(indices).numpy()
        array[tuple(places[..., axis] for axis in range(places.shape[-1]))] = convert_to_tensor(updates)._array
        return self._replaced(array)

    def __repr__(self):
        return (f"<tf.Variable '{self.name}' shape={self.shape} dtype=string, "
                f"numpy={self.numpy()!r}>")

    __str__ = __repr__

    def __hash__(self):
        raise TypeError("Variable is unhashable. Instead, use variable.ref() as the key. (Variable: "
                        f"{self!r})")

    def __deepcopy__(self, memo):
        return StringVariable(self.value(), self._trainable, self._name, self._declared)

    def __reduce__(self):
        return StringVariable, (self.value(), self._trainable, self._name, self._declared)


def _leave_graphs():
    """Have the functions that are being captured run as plain Python: a graph would keep today's strings."""
    for capture in captures():
        capture.failure = getattr(capture, "failure", None) or UNGRAPHED
