"""Where rows begin and end in a list of values, and shapes of tensors whose rows differ in length."""
from dragon.vm.shared.arrays.moving import take
from dragon.vm.shared.errors import invalid_argument
from dragon.vm.shared.ragged.tensor import RaggedTensor
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, int32, int64
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import ops

_INTEGERS = (int32, int64)
_INTERNAL = object()  # the key of the constructor, which the methods below have


def _vector(values, dtype, hint, what):
    """Return whole numbers as a tensor of one axis."""
    wanted = dtype if dtype is not None else hint if not hasattr(values, "dtype") else None
    x = take(values, as_dtype(wanted)) if wanted is not None else take(values)
    if not hasattr(values, "dtype") and wanted is None:
        x = ops.cast(x, int64) if x.dtype.is_integer or 0 in x.shape else x
    if x.ndim != 1:
        raise ValueError(f"RowPartition: got {what} of shape {tuple(x.shape)}, expected rank 1")
    if x.dtype not in _INTEGERS:
        raise ValueError(f"{what} must have dtype int32 or int64: got {x.dtype}")
    return x


def _require(holds, who, claim):
    if not holds:
        raise invalid_argument(f"Arguments to {who} do not form a valid RowPartition: {claim}")


class RowPartition:
    """Where the rows of a list of values begin and end; made by the methods whose names begin with `from`.

    Examples
    --------
    >>> rows = tf.experimental.RowPartition.from_row_lengths([2, 0, 3])
    >>> rows.value_rowids().numpy().tolist(), rows.row_starts().numpy().tolist()
    ([0, 0, 2, 2, 2], [0, 2, 2])

    """

    def __init__(self, row_splits, row_lengths=None, value_rowids=None, nrows=None, uniform_row_length=None, nvals=None,
                 internal=None):
        if internal is not _INTERNAL:
            raise ValueError("RowPartition constructor is private; please use one of the factory methods instead "
                             "(e.g., RowPartition.from_row_lengths())")
        # The splits tell lengths, numbers of rows and all else: what comes with them would be told twice.
        self._splits, self._uniform = row_splits, uniform_row_length

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """Return rows of which each ends where the next begins.

        Parameters
        ----------
        row_splits : Tensor
            Where rows begin, and the last one's end.
        validate : bool, optional, default=True
            Whether it is checked.
        dtype, dtype_hint : DType, optional
            int32 or int64, in any case, and where the argument has none.

        Returns
        -------
        RowPartition
            The rows.

        """
        splits = _vector(row_splits, dtype, dtype_hint, "row_splits")
        if not splits.shape[0]:
            raise ValueError("row_splits tensor may not be empty.")
        if validate:
            values = splits.numpy()
            _require(values[0] == 0, "from_row_splits", f"it begins with {values[0]}, and not with 0")
            _require((values[1:] >= values[:-1]).all(), "from_row_splits", "it does not ascend")
        return cls(splits, internal=_INTERNAL)

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """Return rows of these lengths; for the arguments see `from_row_splits`."""
        lengths = _vector(row_lengths, dtype, dtype_hint, "row_lengths")
        if validate:
            _require((lengths.numpy() >= 0).all(), "from_row_lengths", "a length is negative")
        begin = ops.zeros((1,), dtype=lengths.dtype)
        return cls(ops.cat([begin, ops.cumsum(lengths, 0, dtype=lengths.dtype)], 0), internal=_INTERNAL)

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """Return rows that begin at these places of `nvals` values; for the arguments see `from_row_splits`."""
        starts = _vector(row_starts, dtype, dtype_hint, "row_starts")
        last = ops.reshape(take(nvals, None if hasattr(nvals, "dtype") else starts.dtype), (1,))
        if validate and starts.shape[0]:
            values = starts.numpy()
            _require(values[0] == 0, "from_row_starts", f"it begins with {values[0]}, and not with 0")
            _require((values[1:] >= values[:-1]).all() and values[-1] <= int(last[0]), "from_row_starts",
                     "it does not ascend to the number of values")
        return cls(ops.cat([starts, ops.cast(last, starts.dtype)], 0), internal=_INTERNAL)

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """Return rows that end before these places; for the arguments see `from_row_splits`."""
        limits = _vector(row_limits, dtype, dtype_hint, "row_limits")
        if validate and limits.shape[0]:
            values = limits.numpy()
            _require(values[0] >= 0 and (values[1:] >= values[:-1]).all(), "from_row_limits", "it does not ascend")
        return cls(ops.cat([ops.zeros((1,), dtype=limits.dtype), limits], 0), internal=_INTERNAL)

    @classmethod
    def from_value_rowids(cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None):
        """Return rows by the number of the row of each value; for the arguments see `from_row_splits`."""
        ids = _vector(value_rowids, dtype, dtype_hint, "value_rowids")
        values = ids.numpy()
        count = (int(values[-1]) + 1 if len(values) else 0) if nrows is None else int(nrows)
        if count < 0:
            raise ValueError(f"Expected nrows >= 0; got {count}")
        if validate and len(values):
            _require((values[1:] >= values[:-1]).all() and values[0] >= 0, "from_value_rowids", "it does not ascend")
            if values[-1] >= count:
                raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]="
                                 f"{values[-1]}")
        lengths = ops.bincount(ids, None, count)
        return cls.from_row_lengths(ops.cast(lengths, ids.dtype))

    @classmethod
    def from_uniform_row_length(cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None,
                                dtype_hint=None):
        """Return rows of one length; how many follows from `nvals` values, or is `nrows`.

        Parameters
        ----------
        uniform_row_length : int
            The length.
        nvals, nrows : int, optional
            The number of values, and that of rows; one of them is needed.
        validate : bool, optional, default=True
            Whether it is checked.
        dtype, dtype_hint : DType, optional
            int32 or int64.

        Returns
        -------
        RowPartition
            The rows.

        """
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        given = (uniform_row_length, nvals, nrows)
        kind = as_dtype(dtype) if dtype is not None else next(
            (one.dtype for one in given if hasattr(one, "dtype")), as_dtype(dtype_hint or int64))
        length, values, rows = (None if one is None else int(one) for one in given)
        if length < 0:
            raise ValueError(f"uniform_row_length must be greater than or equal to 0: got {length}")
        if rows is None:
            rows = values // length if length else 0
        if values is None:
            values = rows * length
        if rows * length != values:
            raise ValueError(f"uniform_row_length={length} times nrows={rows} must equal nvals={values}")
        splits = ops.arange(0, rows + 1, dtype="int64") * length
        return cls(ops.cast(splits, kind), uniform_row_length=length, internal=_INTERNAL)

    dtype = property(lambda self: self._splits.dtype, doc="DType: int32 or int64.")
    static_nrows = property(lambda self: self._splits.shape[0] - 1, doc="int: how many rows there are.")
    static_uniform_row_length = property(lambda self: self._uniform, doc="Optional[int]: the one length of all rows.")

    @property
    def static_nvals(self):
        """Optional[int]: how many values there are, where it follows from the kind of rows."""
        return None if self._uniform is None else self.static_nrows * self._uniform

    def _number(self, value):
        return convert_to_tensor(value, self.dtype)

    def nrows(self):
        """Return how many rows there are."""
        return self._number(self.static_nrows)

    def nvals(self):
        """Return how many values there are."""
        return self._splits[-1]

    def row_splits(self):
        """Return where rows begin, and the last one's end."""
        return self._splits

    def row_starts(self):
        """Return where rows begin."""
        return self._splits[:-1]

    def row_limits(self):
        """Return where rows end."""
        return self._splits[1:]

    def row_lengths(self):
        """Return how long rows are."""
        return self._splits[1:] - self._splits[:-1]

    def value_rowids(self):
        """Return the number of the row of each value."""
        rows = ops.arange(0, self.static_nrows, dtype="int64")
        return ops.cast(ops.repeat_interleave(rows, ops.cast(self.row_lengths(), int64), 0), self.dtype)

    def offsets_in_rows(self):
        """Return the place of each value in its row."""
        places = ops.cast(ops.arange(0, int(self.nvals()), dtype="int64"), self.dtype)
        return places - ops.index_select(self._splits, 0, ops.cast(self.value_rowids(), int64))

    def uniform_row_length(self):
        """Return the one length of all rows, or None where they may differ."""
        return None if self._uniform is None else self._number(self._uniform)

    def is_uniform(self):
        """Return whether all rows are known to have one length."""
        return self._uniform is not None

    def with_dtype(self, dtype):
        """Return the same rows in int32 or int64."""
        dtype = as_dtype(dtype)
        if dtype not in _INTEGERS:
            raise ValueError(f"dtype must be int32 or int64: got {dtype}")
        return RowPartition(ops.cast(self._splits, dtype), uniform_row_length=self._uniform, internal=_INTERNAL)

    def __repr__(self):
        if self._uniform is not None:
            return f"tf.RowPartition(nrows={self.static_nrows}, uniform_row_length={self._uniform})"
        return f"tf.RowPartition(row_splits={self._splits.numpy()})"


class DynamicRaggedShape:
    """The shape of a tensor whose rows may differ in length: rows of rows, and then sizes.

    Parameters
    ----------
    row_partitions : Sequence[RowPartition]
        The rows of each of the first axes but the first.
    inner_shape : Sequence[int]
        The sizes of the values that the last of them leads to.
    dtype : DType, optional
        int32 or int64; that of the rows by default.
    validate : bool, optional, default=False
        Changes nothing: it is always checked.

    """

    __hash__ = None

    def __init__(self, row_partitions, inner_shape, dtype=None, validate=False, static_inner_shape=None):
        partitions = tuple(row_partitions)
        if not all(isinstance(one, RowPartition) for one in partitions):
            raise TypeError(f"row_partitions should be a list of row partitions. Received: {row_partitions!r}")
        kind = as_dtype(dtype) if dtype is not None else partitions[0].dtype if partitions else \
            inner_shape.dtype if hasattr(inner_shape, "dtype") else int64
        sizes = inner_shape.numpy().tolist() if hasattr(inner_shape, "numpy") else list(inner_shape)
        if any(size is None for size in sizes):
            raise ValueError(f"DynamicRaggedShape: got inner_shape={inner_shape!r}, expected known sizes")
        sizes = [int(size) for size in sizes]
        if static_inner_shape is not None and not TensorShape(static_inner_shape).is_compatible_with(sizes):
            raise ValueError(f"DynamicRaggedShape: got inner_shape={sizes} and static_inner_shape={static_inner_shape}")
        counts = [int(one.nvals()) for one in partitions]
        if partitions and not sizes:
            raise ValueError("DynamicRaggedShape: if there are row_partitions, inner_shape must have at least one axis")
        wanted = [one.static_nrows for one in partitions[1:]] + sizes[:1]
        if partitions and counts != wanted:
            raise invalid_argument(f"DynamicRaggedShape: got partitions of {counts} values, expected {wanted}")
        self._partitions, self._inner = tuple(one.with_dtype(kind) for one in partitions), sizes
        self._dtype = kind

    @classmethod
    def from_tensor(cls, t, dtype=None):
        """Return the shape of a tensor, ragged or not."""
        partitions = []
        while isinstance(t, RaggedTensor):
            length = t.uniform_row_length
            partitions.append(RowPartition(take(t.row_splits), internal=_INTERNAL,
                                           uniform_row_length=None if length is None else int(length)))
            t = t.values
        shape = tuple(t.shape if hasattr(t, "shape") else convert_to_tensor(t).shape)
        return cls(partitions, shape, dtype if dtype is not None or partitions else int32)

    @classmethod
    def from_lengths(cls, lengths, num_row_partitions=None, dtype=int64):
        """Return the shape of which each axis has a size, or the lengths of its rows.

        Parameters
        ----------
        lengths : Sequence[Union[int, Sequence[int]]]
            A number where all rows have one length, numbers where they differ.
        num_row_partitions : int, optional
            How many axes are of rows; as many as needed by default.
        dtype : DType, optional, default="int64"
            int32 or int64.

        Returns
        -------
        DynamicRaggedShape
            The shape.

        """
        if not isinstance(lengths, (list, tuple)):
            raise ValueError("lengths should be a list")
        ragged = [place for place, one in enumerate(lengths) if not isinstance(one, int)]
        if 0 in ragged:
            raise ValueError("The first entry of lengths must be a number")
        count = (ragged[-1] if ragged else 0) if num_row_partitions is None else num_row_partitions
        if ragged and not ragged[-1] <= count < max(len(lengths), 1) or not 0 <= count < max(len(lengths), 1):
            raise ValueError(f"num_row_partitions should be from {ragged[-1] if ragged else 0} to "
                             f"{len(lengths) - 1}: got {count}")
        partitions, rows = [], lengths[0] if lengths else 0
        for one in lengths[1:count + 1]:
            if isinstance(one, int):
                made = RowPartition.from_uniform_row_length(one, nrows=rows, dtype=dtype)
            elif len(one) != rows:
                raise ValueError("Shape not consistent.")
            else:
                made = RowPartition.from_row_lengths(list(one), dtype=dtype)
            partitions.append(made)
            rows = int(made.nvals())
        return cls(partitions, [rows, *lengths[count + 1:]] if lengths else [], dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype=None):
        """Return the shape of rows of single values."""
        partitions = list(row_partitions)
        if not partitions:
            raise ValueError("row_partitions cannot be empty")
        return cls(partitions, [int(partitions[-1].nvals())], dtype)

    dtype = property(lambda self: self._dtype, doc="DType: int32 or int64.")
    row_partitions = property(lambda self: self._partitions, doc="Tuple[RowPartition, ...]: the rows.")
    num_row_partitions = property(lambda self: len(self._partitions), doc="int: how many axes are of rows.")
    inner_shape = property(lambda self: convert_to_tensor(self._inner, self._dtype), doc="Tensor: sizes of the values.")
    inner_rank = property(lambda self: len(self._inner), doc="int: how many axes the values have.")
    rank = property(lambda self: len(self._inner) + len(self._partitions), doc="int: how many axes there are.")

    def is_uniform(self, axis):
        """Return whether all rows along an axis have one length."""
        if not 0 <= axis < self.rank:
            raise IndexError(f"DynamicRaggedShape: got axis {axis}, expected 0 to {self.rank - 1}")
        return not 0 < axis <= len(self._partitions) or self._partitions[axis - 1].is_uniform()

    def _sizes(self):
        """Return for each axis its size, or the lengths of its rows."""
        if not self._partitions:
            return list(self._inner)
        rows = [one.static_uniform_row_length if one.is_uniform() else tuple(one.row_lengths().numpy().tolist())
                for one in self._partitions]
        return [self._partitions[0].static_nrows, *rows, *self._inner[1:]]

    def static_lengths(self, ragged_lengths=True):
        """Return for each axis its size, or the lengths of its rows, which are None if they are not asked for."""
        return [one if isinstance(one, int) or ragged_lengths else None for one in self._sizes()]

    def with_dtype(self, dtype):
        """Return the same shape in int32 or int64."""
        return DynamicRaggedShape(self._partitions, self._inner, dtype)

    def __getitem__(self, index):
        """Return the size of an axis whose rows have one length, or the shape of the first axes."""
        if isinstance(index, slice):
            begin, end, step = index.indices(self.rank)
            if step != 1:
                raise IndexError("Cannot stride through a shape")
            if begin:
                if begin <= len(self._partitions):
                    raise NotImplementedError("DynamicRaggedShape: slices that begin after the first axis and before "
                                              "the values' own are not there")
                return DynamicRaggedShape([], self._inner[begin - len(self._partitions):end - len(self._partitions)],
                                          self._dtype)
            if not end:
                return DynamicRaggedShape([], [], self._dtype)
            return DynamicRaggedShape.from_lengths(self._sizes()[:end], min(end - 1, len(self._partitions)),
                                                   self._dtype)
        place = index + self.rank if index < 0 else index
        if not self.is_uniform(place):
            raise ValueError(f"Index {index} is not uniform")
        return convert_to_tensor(self._sizes()[place], self._dtype)

    def __eq__(self, other):
        if not isinstance(other, DynamicRaggedShape):
            return False
        return convert_to_tensor(self._as_rows() == other._as_rows())

    def _as_rows(self):
        return [one.row_splits().numpy().tolist() for one in self._partitions], self._inner

    def __repr__(self):
        shown = ", ".join(str(one) for one in self._sizes())
        return f"<DynamicRaggedShape lengths=[{shown}] num_row_partitions={self.num_row_partitions}>"
