"""What runs along the edges of a graph: tensors, small integers that stay on the host, resources, lists of tensors.

Shapes are cut, joined and multiplied by nodes like all else. They are kept as Python's numbers, so that reading one
costs nothing, and so that a captured program follows a batch whose size is not known yet.
"""
from dragon import _C
from dragon.core.capture.settings import is_capturing
from dragon.vm.shared.data.rows import over_strings
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.files.tensor_proto import read_array
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, string
from dragon.vm.shared.tensors.tensor import ops

LARGEST = 64  # integers that are kept on the host
MOST_KEPT = 1 << 16  # numbers of a constant that a graph takes over


class Host:
    """Integers or truth values of a vector or scalar on the host.

    Parameters
    ----------
    numbers : Union[int, bool, list]
        The numbers.
    dtype : DType
        What they are as a tensor.

    """

    __slots__ = ("numbers", "dtype", "_tensor")

    def __init__(self, numbers, dtype):
        self.numbers, self.dtype, self._tensor = numbers, dtype, None

    shape = property(lambda self: (len(self.numbers),) if isinstance(self.numbers, list) else (),
                     doc="tuple: the sizes of the axes.")
    ndim = property(lambda self: len(self.shape), doc="int: the number of axes.")

    def tensor(self):
        """Return the numbers as a tensor."""
        if self._tensor is not None and not is_capturing():
            return self._tensor
        numbers = self.numbers if isinstance(self.numbers, list) else [self.numbers]
        if is_capturing() and any(type(number) not in (int, bool) for number in numbers):
            from dragon.vm.shared.tensors.sizes import captured_shape
            made = captured_shape(numbers, self.dtype)
            return made if isinstance(self.numbers, list) else made[0]
        made = convert_to_tensor(self.numbers, self.dtype) if self.numbers != [] else ops.zeros((0,), dtype=self.dtype)
        if not is_capturing():
            self._tensor = made
        return made


def tensor(value):
    """Return a value as an operand of the engine, or as the tensor of strings that it is."""
    if type(value) is Host:
        return value.tensor()
    if getattr(value, "is_undefined", False):
        raise invalid_argument("A value that was never set is used.")
    return value


def numbers(value):
    """Return integers as nested lists or an int."""
    if type(value) is Host:
        return value.numbers
    sizes, kept = getattr(value, "_sizes", None), getattr(value, "_numbers", None)
    if sizes is not None:
        return list(sizes) if isinstance(sizes, tuple) else sizes
    if kept is not None:
        return kept
    return value.tolist() if isinstance(value, _C.Tensor) else value.numpy().tolist()


def number(value):
    """Return a scalar as a Python number."""
    found = numbers(value)
    if isinstance(found, list):
        if len(found) != 1:
            raise invalid_argument(f"Expected a single number. Received: {found[:8]}")
        found = found[0]
    return found


def host(value, dtype=None):
    """Return integers as a value on the host."""
    return Host(value, as_dtype(dtype or "int32"))


def text(value):
    """Return a scalar of strings as bytes."""
    found = value.numpy() if hasattr(value, "numpy") else value
    if not isinstance(found, bytes):
        found = found.reshape(-1)[0] if getattr(found, "size", 0) == 1 else found
    if not isinstance(found, bytes):
        raise invalid_argument(f"Expected a single string. Received: {value!r}")
    return found


def dtype_of(value):
    """Return a value's dtype."""
    return value.dtype if type(value) is Host else as_dtype(getattr(value, "dtype", string))


def shape_of(value):
    """Return a value's sizes as a tuple."""
    return tuple(value.shape)


class Constant:
    """A tensor of a file.

    Parameters
    ----------
    proto : TensorProto
        As it is in the file.

    """

    __slots__ = ("array", "dtype", "_tensor", "_host")

    def __init__(self, proto):
        self.array, self.dtype, self._tensor, self._host = read_array(proto), as_dtype(proto.dtype), None, None
        if self.dtype.name in ("int32", "int64") and self.array.ndim < 2 and self.array.size <= LARGEST:
            self._host = Host(self.array.tolist(), self.dtype)

    def value(self):
        """Return the tensor, or integers on the host."""
        if self._host is not None:
            return self._host
        if is_capturing() and self.array.dtype != object and self.array.size <= MOST_KEPT:
            # A graph cannot watch what this file holds, so it keeps numbers of its own.
            made = ops.reshape(convert_to_tensor(self.array.reshape(-1).tolist(), self.dtype), self.array.shape)
        elif self._tensor is None:
            made = self._tensor = over_strings(self.array) if self.array.dtype == object else convert_to_tensor(
                self.array)
        else:
            return self._tensor
        if self.dtype.is_integer and self.array.size <= LARGEST:  # such as paddings
            made._numbers = self.array.tolist()
        return made


class TensorList:
    """Tensors by number, as loops gather them; a changed list is another list.

    Parameters
    ----------
    items : list
        The tensors, None where there is none yet.
    dtype : DType
        Of the tensors.
    shape : Optional[list]
        What is known of their shapes.

    """

    __slots__ = ("items", "dtype", "element_shape")

    def __init__(self, items, dtype, shape=None):
        self.items, self.dtype, self.element_shape = items, dtype, shape

    def but(self, items):
        """Return a list of other items of the same kind."""
        return TensorList(items, self.dtype, self.element_shape)

    shape = property(lambda self: (), doc="tuple: a list is a scalar.")


class Optional:
    """A value that may be missing."""

    __slots__ = ("values",)

    def __init__(self, values=None):
        self.values = values

    shape = property(lambda self: (), doc="tuple: it is a scalar.")


class RaggedVariant:
    """Rows of a ragged tensor, in one value.

    Parameters
    ----------
    splits : list
        Where rows end, from the outermost axis.
    values : Tensor
        The flat values.

    """

    __slots__ = ("splits", "values")

    def __init__(self, splits, values):
        self.splits, self.values = splits, values

    shape = property(lambda self: (), doc="tuple: it is a scalar.")


class RaggedRows:
    """Several rows of ragged tensors, each one value.

    Parameters
    ----------
    items : list
        The rows.

    """

    __slots__ = ("items",)

    def __init__(self, items):
        self.items = items

    shape = property(lambda self: (len(self.items),), doc="tuple: how many there are.")


class Undefined:
    """What a branch returns in the place of a value that nobody asks for."""

    is_undefined = True
