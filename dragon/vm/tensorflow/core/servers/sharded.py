"""Variables whose rows several servers share."""
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, string
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.variable import Variable


def first_value(value, dtype):
    """Return the first value of a variable as a tensor; strings stay as they are."""
    value = value() if callable(value) else value
    if value is None or dtype is not None and as_dtype(dtype) is string:
        return value
    return convert_to_tensor(value, dtype)


class ShardedVariable(Variable):
    """A variable whose rows lie on several servers; to functions it is one, of all its rows.

    Checkpoints hold it as a whole, so that it may be cut otherwise when it is restored.
    """

    @property
    def variables(self):
        """List[Part]: the parts, by the order of their rows."""
        copies = self._copies
        return [Part(self, number, shard) for number, shard in enumerate(copies.all[copies.number_of(self)].shards)]

    _copies = None  # those of the process; who enters the variable there says so


class Part:
    """Some rows of a variable that servers share.

    Parameters
    ----------
    whole : ShardedVariable
        The variable.
    number : int
        Which part.
    shard : Shard
        Its rows, and who keeps them.

    """

    def __init__(self, whole, number, shard):
        self._whole, self._number, self._shard = whole, number, shard

    name = property(lambda self: f"{self._whole._name}/part_{self._number}:0", doc="str: the name.")
    dtype = property(lambda self: self._whole.dtype, doc="DType: the dtype.")
    device = property(lambda self: f"/job:ps/replica:0/task:{self._shard.task}/device:CPU:0",
                      doc="str: who keeps it.")
    trainable = property(lambda self: self._whole.trainable, doc="bool: whether tapes watch it.")

    @property
    def shape(self):
        """TensorShape: the shape."""
        return TensorShape([self._shard.last - self._shard.first, *self._whole.shape[1:]])

    def value(self):
        """Return the numbers as a tensor."""
        return convert_to_tensor(self._whole)[self._shard.rows]

    read_value = value

    def numpy(self):
        """Return the numbers as an array."""
        return self.value().numpy()

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def assign(self, value):
        """Replace the numbers; returns the part."""
        value = convert_to_tensor(value, self.dtype)
        if tuple(value.shape) != tuple(self.shape):
            raise ValueError(f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable shape "
                             f"{self.shape}, and the assigned value shape {value.shape} are incompatible.")
        import numpy
        whole = self._whole.numpy().copy()
        whole[self._shard.rows] = numpy.asarray(value)
        self._whole.assign(whole)
        return self

    def __repr__(self):
        return f"<Part '{self.name}' shape={tuple(self.shape)} dtype={self.dtype.name} of {self.device}>"
