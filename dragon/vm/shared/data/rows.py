"""A table whose rows are elements: shuffles handle row numbers, and a batch is gathered at once."""
import functools

from dragon import _C
from dragon.vm.shared.data.structure import flatten, is_nested, map_structure
from dragon.vm.shared.tensors.host import host_array
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.tensor import Tensor


def over_strings(array):
    """Return an object array of bytes as a tensor over the same memory; the bytes are not looked at."""
    made = StringTensor.__new__(StringTensor)
    made._array = array
    return made


def string_scalar(value):
    """Return bytes as a tensor without axes."""
    import numpy as np
    box = np.empty((), object)
    box[()] = value
    return over_strings(box)


def wrap_array(array):
    """Return a NumPy array that nobody else writes into as a tensor over the same memory."""
    if array.dtype == object:
        return over_strings(array)
    if array.dtype.kind == "V":  # bfloat16, as NumPy sees it
        from dragon.vm.shared.tensors.convert import convert_to_tensor
        return convert_to_tensor(array)
    return _C.from_buffer(array, Tensor)


def array_of(tensor):
    """Return a component's NumPy array, over the same memory where that is possible; only to be read."""
    return tensor._array if isinstance(tensor, StringTensor) else host_array(tensor)


class Column:
    """One component of all elements: a tensor whose first axis counts them."""

    def __init__(self, tensor):
        self.tensor = tensor
        # A view for NumPy, whose `take` of a few rows is quick.
        self.array = array_of(tensor) if tensor.device.type == "cpu" else None

    def gather(self, positions):
        """Return the rows at a list of positions as one tensor."""
        if self.array is None:
            from dragon.vm.shared.tensors.tensor import ops
            return ops.index_select(self.tensor, 0, ops.to_device(_C.tensor(positions, None, None, Tensor),
                                                                  self.tensor.device))
        return wrap_array(self.array.take(positions, 0))


def item_of(tensor):
    """Return the quickest function from a position to a row of a tensor."""
    if not isinstance(tensor, StringTensor):
        # The engine's own subscript: a position is an integer, so TensorFlow's rules need not be looked up.
        return functools.partial(_C.Tensor.__getitem__, tensor)
    import numpy as np
    array = tensor._array
    if array.ndim > 1:
        return lambda position: over_strings(array[position])

    def scalar(position):
        box = np.empty((), object)
        box[()] = array[position]
        return over_strings(box)
    return scalar


class Rows:
    """Elements of a structure, held as columns."""

    def __init__(self, structure):
        self.structure = structure
        self.tensors = flatten(structure)
        self.size = int(self.tensors[0].shape[0])
        self._columns = None
        self.item = self._choose_item()

    def _choose_item(self):
        """Return the quickest function from a position to an element."""
        if not is_nested(self.structure):
            return item_of(self.structure)
        items = map_structure(item_of, self.structure)
        if type(self.structure) is tuple and not any(map(is_nested, self.structure)):
            if len(items) == 2:
                first, second = items
                return lambda position: (first(position), second(position))
            return lambda position: tuple([item(position) for item in items])
        return lambda position: map_structure(lambda item: item(position), items)

    def span(self, start, stop):
        """Return the rows from one position up to another as a batch that shares the table's memory."""
        return map_structure(lambda tensor: over_strings(tensor._array[start:stop])
                             if isinstance(tensor, StringTensor) else tensor[start:stop], self.structure)

    def gather(self, positions):
        """Return the rows at these positions as a batch."""
        if self._columns is None:
            self._columns = map_structure(Column, self.structure)
        return map_structure(lambda column: column.gather(positions), self._columns)
