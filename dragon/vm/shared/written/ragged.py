"""Rows of strings or numbers that come when a file's function runs."""
from dragon.core.capture.host_calls import free_size
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import int64, string
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.written.nodes import kind_of, node


def row_splits_of(rows, count):
    """Return where rows end, of the ascending numbers of the rows that values belong to.

    Parameters
    ----------
    rows : Tensor
        The number of the row of each value.
    count : int
        How many rows there are.

    """
    # A row ends behind all values of rows up to it.
    numbers = ops.arange(count + 1, dtype="int64")
    found = node("LowerBound", [ops.reshape(rows, (1, -1)), ops.reshape(numbers, (1, -1))],
                 [("output", int64, (1, count + 1))], T=int64, out_type=int64)[0]
    return ops.reshape(found, (-1,))


class WrittenRagged:
    """A ragged tensor of one ragged axis, whose rows come when a file's function runs.

    Parameters
    ----------
    values : Union[Tensor, WrittenStrings]
        What all rows hold.
    splits : Tensor
        Where rows end.

    """

    def __init__(self, values, splits):
        self.flat_values, self.row_splits = values, splits

    values = property(lambda self: self.flat_values, doc="Tensor: what all rows hold.")
    nested_row_splits = property(lambda self: (self.row_splits,), doc="tuple: where rows end.")
    ragged_rank = 1
    dtype = property(lambda self: kind_of(self.flat_values), doc="DType: of the values.")
    shape = property(lambda self: TensorShape([self.nrows(), None, *self.flat_values.shape[1:]]),
                     doc="TensorShape: the sizes; None where rows differ.")
    ndim = property(lambda self: 1 + self.flat_values.ndim, doc="int: the number of axes.")

    def nrows(self, out_type=None, name=None):
        """Return how many rows there are."""
        return self.row_splits.shape[0] - 1

    def row_lengths(self, axis=1, name=None):
        """Return how long rows are."""
        return ops.sub(self.row_splits[1:], self.row_splits[:-1])

    def row_starts(self, name=None):
        """Return where rows begin."""
        return self.row_splits[:-1]

    def with_flat_values(self, values):
        """Return the same rows of other values."""
        return WrittenRagged(values, self.row_splits)

    with_values = with_flat_values

    def to_tensor(self, default_value=None, name=None, shape=None):
        """Return a dense tensor, short rows filled up and long ones cut."""
        kind = self.dtype
        filler = convert_to_tensor("") if kind is string else ops.zeros((), dtype=kind.name)
        filler = filler if default_value is None else convert_to_tensor(default_value, kind)
        sizes = [None, None] if shape is None else list(shape)[:2]
        inner = list(self.flat_values.shape[1:])
        wanted = [-1 if size is None else int(size) for size in (*sizes, *([None] * len(inner)))]
        width = free_size() if sizes[1] is None else int(sizes[1])
        height = self.nrows() if sizes[0] is None else int(sizes[0])
        return node("RaggedTensorToTensor",
                    [convert_to_tensor(wanted, "int64"), self.flat_values, filler, self.row_splits],
                    [("result", kind, (height, width, *inner))], T=kind, Tindex=int64, Tshape=int64,
                    num_row_partition_tensors=1, row_partition_types=["ROW_SPLITS"])[0]
