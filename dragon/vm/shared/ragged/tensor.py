"""`tf.RaggedTensor`: rows of different lengths, held as the values of all rows and the places where rows end."""
from dragon.vm.shared.data.rows import array_of, wrap_array
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.ragged import later, making as ragged_make
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.tensor import Tensor, ops
from dragon.vm.shared.tensors.type_spec import TensorSpec, TypeSpec


def axis_within(axis, rank):
    """Return an axis counted from the front, or raise."""
    axis = int(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    return axis % rank


@known_as("tensorflow")
class RaggedTensorSpec(TypeSpec):
    """The description of a ragged tensor.

    Parameters
    ----------
    shape : Sequence[Optional[int]], optional
        The sizes; None where rows differ.
    dtype : DType, optional, default=float32
        The dtype of the values.
    ragged_rank : int, optional
        How many axes are ragged; all but one by default.
    row_splits_dtype : DType, optional, default=int64
        The dtype of the places where rows end.
    flat_values_spec : TypeSpec, optional
        What is known of the values.

    """

    def __init__(self, shape=None, dtype="float32", ragged_rank=None, row_splits_dtype="int64", flat_values_spec=None):
        self._shape, self._dtype = TensorShape(shape), as_dtype(dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("RaggedTensorSpec: ragged_rank is needed where the shape is not known. "
                                 f"Received: shape={shape!r}")
            ragged_rank = rank - 1
        if rank is not None and ragged_rank >= max(rank, 1):
            raise ValueError(f"RaggedTensorSpec: ragged_rank ({ragged_rank}) must be less than rank ({rank}).")
        self._ragged_rank, self._splits_dtype = ragged_rank, as_dtype(row_splits_dtype)
        self._flat_values_spec = flat_values_spec

    shape = property(lambda self: self._shape, doc="TensorShape: the sizes.")
    dtype = property(lambda self: self._dtype, doc="DType: the dtype of the values.")
    ragged_rank = property(lambda self: self._ragged_rank, doc="int: how many axes are ragged.")
    row_splits_dtype = property(lambda self: self._splits_dtype, doc="DType: the dtype of the places.")
    flat_values_spec = property(lambda self: self._flat_values_spec, doc="TypeSpec: what is known of the values.")
    value_type = property(lambda self: RaggedTensor, doc="type: the class of such values.")

    @classmethod
    def from_value(cls, value):
        """Return the spec of a ragged tensor."""
        return value._type_spec

    def is_compatible_with(self, spec_or_value):
        """Return whether a value, or one that another spec describes, may be such a one."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else getattr(spec_or_value, "_type_spec", None)
        return (type(other) is type(self) and self._dtype == other._dtype and self._ragged_rank == other._ragged_rank
                and self._shape.is_compatible_with(other._shape))

    def _parts(self):
        return self._shape, self._dtype, self._ragged_rank, self._splits_dtype

    def __hash__(self):
        return hash((type(self), self._parts()))

    def __repr__(self):
        return (f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank}, {self._splits_dtype!r})")

    def _relaxed(self):
        """Return the spec without sizes."""
        return RaggedTensorSpec(None if self._shape.rank is None else [None] * self._shape.rank, self._dtype,
                                self._ragged_rank, self._splits_dtype)

    def _batch(self, size):
        return RaggedTensorSpec([size, *self._shape], self._dtype, self._ragged_rank + 1, self._splits_dtype)

    def _unbatch(self):
        if self._ragged_rank == 0:
            return TensorSpec(list(self._shape)[1:], self._dtype)
        return RaggedTensorSpec(list(self._shape)[1:], self._dtype, self._ragged_rank - 1, self._splits_dtype)


def _written(value):
    """Return an array, or an item of one, as text; arrays within arrays are written likewise."""
    if not hasattr(value, "tolist") or not value.shape:
        return str(value)
    import numpy as np
    return np.array2string(value, separator=", ") if value.size else repr(value.tolist())


@known_as("tensorflow")
class RaggedTensor:
    """Rows of different lengths; made by `tf.ragged.constant` and the methods `from_...`."""

    kept_in_parts = True  # known by it to who does not read this file for it
    __array_priority__ = 100
    __hash__ = None

    def __init__(self, values, row_partition, internal=False):
        if not internal:
            raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead "
                             "(e.g., RaggedTensor.from_row_lengths())")
        if not isinstance(values, (Tensor, RaggedTensor)):
            raise TypeError(f"type(values) must be one of: Tensor, RaggedTensor, got {values}.")
        if not hasattr(row_partition, "uniform_row_length"):
            raise TypeError(f"Argument `row_partition` must be a RowPartition. Received {row_partition}.")
        self._put(values, row_partition.row_splits().numpy(), row_partition.dtype,
                  row_partition.static_uniform_row_length)

    def _put(self, values, splits, splits_dtype, uniform):
        self._values, self._splits = values, splits
        self._splits_dtype, self._uniform = splits_dtype, uniform

    @classmethod
    def _of(cls, values, splits, splits_dtype, uniform=None):
        """Return values in rows that begin and end where an array of NumPy tells."""
        made = object.__new__(cls)
        made._put(values, splits, splits_dtype, uniform)
        return made

    from_row_splits = staticmethod(ragged_make.from_row_splits)
    from_row_lengths = staticmethod(ragged_make.from_row_lengths)
    from_row_starts = staticmethod(ragged_make.from_row_starts)
    from_row_limits = staticmethod(ragged_make.from_row_limits)
    from_value_rowids = staticmethod(ragged_make.from_value_rowids)
    from_uniform_row_length = staticmethod(ragged_make.from_uniform_row_length)
    from_nested_row_splits = staticmethod(ragged_make.from_nested_row_splits)
    from_nested_row_lengths = staticmethod(ragged_make.from_nested_row_lengths)
    from_nested_value_rowids = staticmethod(ragged_make.from_nested_value_rowids)
    from_tensor = staticmethod(ragged_make.from_tensor)
    from_sparse = staticmethod(ragged_make.from_sparse)
    _stack = staticmethod(ragged_make.stack_rows)
    _stack_dense = staticmethod(ragged_make.stack_dense)

    # What it is made of.

    values = property(lambda self: self._values, doc="Union[Tensor, RaggedTensor]: the rows one after the other.")

    @property
    def flat_values(self):
        """Tensor: the values within all ragged axes."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    dtype = property(lambda self: self.flat_values.dtype, doc="DType: the dtype of the values.")
    row_splits = property(lambda self: wrap_array(self._splits.astype(self._splits_dtype.as_numpy_dtype)),
                          doc="Tensor: where rows begin and end.")

    @property
    def nested_row_splits(self):
        """tuple: the row splits of all ragged axes."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    ragged_rank = property(lambda self: 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0),
                           doc="int: how many axes are ragged.")

    @property
    def uniform_row_length(self):
        """Optional[Tensor]: the length that all rows are known to have."""
        return None if self._uniform is None else convert_to_tensor(self._uniform, dtype=self._splits_dtype)

    shape = property(lambda self: TensorShape([len(self._splits) - 1, self._uniform, *list(self._values.shape)[1:]]),
                     doc="TensorShape: the sizes; None for the axes whose rows differ.")
    ndim = property(lambda self: len(self.shape), doc="int: the number of axes.")
    device = property(lambda self: self.flat_values.device, doc="Device: where the values are.")

    @property
    def _type_spec(self):
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._splits_dtype)

    def _component_tensors(self):
        return [self.flat_values, *self.nested_row_splits]

    def _from_components(self, parts):
        """Return such rows of other values and splits; splits that are None, as gradients are, stay what they are."""
        values, splits = parts[0], parts[1:]
        if values is None:
            return None
        if isinstance(self._values, RaggedTensor):
            values = self._values._from_components([values, *splits[1:]])
        own = self._splits if splits[0] is None else array_of(splits[0]).astype(self._splits.dtype)
        return RaggedTensor._of(values, own, self._splits_dtype, self._uniform)

    def get_shape(self):
        """Return the shape."""
        return self.shape

    def _lengths(self):
        return self._splits[1:] - self._splits[:-1]

    def _number(self, array):
        return wrap_array(array.astype(self._splits_dtype.as_numpy_dtype))

    def row_lengths(self, axis=1, name=None):
        """Return the lengths of the rows."""
        axis = self._axis(axis)
        if axis == 0:
            return convert_to_tensor(len(self._splits) - 1, dtype=self._splits_dtype)
        if axis == 1:
            return self._number(self._lengths())
        if not isinstance(self._values, RaggedTensor):
            import numpy as np
            return self.with_values(self._number(np.full(len(self._values), self._values.shape[axis - 1])))
        return self.with_values(self._values.row_lengths(axis - 1))

    def _axis(self, axis):
        """Return an axis counted from the front, or raise."""
        return axis_within(axis, self.ndim)

    def nrows(self, out_type=None, name=None):
        """Return the number of rows."""
        return convert_to_tensor(len(self._splits) - 1, dtype=out_type or self._splits_dtype)

    def row_starts(self, name=None):
        """Return where rows begin."""
        return self._number(self._splits[:-1])

    def row_limits(self, name=None):
        """Return where rows end."""
        return self._number(self._splits[1:])

    def _row_ids(self):
        import numpy as np
        return np.repeat(np.arange(len(self._splits) - 1), self._lengths())

    def value_rowids(self, name=None):
        """Return the number of the row of each value."""
        return self._number(self._row_ids())

    def nested_row_lengths(self, name=None):
        """Return the row lengths of all ragged axes."""
        inner = self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ()
        return (self.row_lengths(), *inner)

    def nested_value_rowids(self, name=None):
        """Return the row numbers of all ragged axes."""
        inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
        return (self.value_rowids(), *inner)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """Return the sizes of the smallest box that holds all rows, or one of them."""
        sizes = [len(self._splits) - 1, int(self._lengths().max(initial=0))]
        if isinstance(self._values, RaggedTensor):
            sizes += self._values.bounding_shape().numpy().tolist()[1:]
        else:
            sizes += list(self._values.shape)[1:]
        found = convert_to_tensor(sizes, dtype=out_type or self._splits_dtype)
        return found if axis is None else ops.take(found, convert_to_tensor(axis, dtype="int64"))

    # The same rows otherwise.

    def with_values(self, new_values):
        """Return rows of the same lengths with other values."""
        new_values = new_values if isinstance(new_values, RaggedTensor) else convert_to_tensor(new_values)
        if int(new_values.shape[0]) != int(self._values.shape[0]):
            raise ValueError(f"with_values: expected {self._values.shape[0]} values. "
                             f"Received: values of shape {new_values.shape}")
        return RaggedTensor._of(new_values, self._splits, self._splits_dtype, self._uniform)

    def with_flat_values(self, new_values):
        """Return rows of the same lengths with other values within all ragged axes."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        """Return the same rows with places of another dtype."""
        values = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        return RaggedTensor._of(values, self._splits, as_dtype(dtype), self._uniform)

    def merge_dims(self, outer_axis, inner_axis):
        """Return the same values with several axes as one."""
        outer, inner = self._axis(outer_axis), self._axis(inner_axis)
        if outer > inner:
            raise ValueError("merge_dims: outer_axis must not be beyond inner_axis. "
                             f"Received: {outer_axis}, {inner_axis}")
        if outer == inner:
            return self
        if outer > 0:
            merged = ragged_make.merge_inner(self._values, outer - 1, inner - 1)
            return self.with_values(merged)
        if inner == 1:
            return self._values
        return ragged_make.merge_inner(self._values, 0, inner - 1)

    def to_tensor(self, default_value=None, name=None, shape=None):
        """Return a dense tensor, short rows filled up with a default value."""
        return ragged_make.to_dense(self, default_value, shape)

    def to_sparse(self, name=None):
        """Return a sparse tensor of the same values."""
        from dragon.vm.shared.sparse.tensor import SparseTensor
        places = ragged_make.places_of(self)
        return SparseTensor(wrap_array(places), ragged_make.merge_all(self), self.bounding_shape(out_type="int64"))

    def to_list(self):
        """Return nested lists of Python's numbers or bytes."""
        values = self._values.to_list() if isinstance(self._values, RaggedTensor) else array_of(self._values).tolist()
        return [values[start:stop] for start, stop in zip(self._splits[:-1].tolist(), self._splits[1:].tolist())]

    def numpy(self):
        """Return an array; an array of arrays where rows differ in length."""
        import numpy as np
        values = self._values.numpy() if isinstance(self._values, RaggedTensor) else array_of(self._values)
        rows = [values[start:stop] for start, stop in zip(self._splits[:-1], self._splits[1:])]
        if len({len(row) for row in rows}) == 1:
            return np.array(rows, values.dtype)
        array = np.empty(len(rows), object)
        for number, row in enumerate(rows):
            array[number] = row.copy()
        return array

    def _as_numpy_component(self):
        return self.numpy()

    def consumers(self):
        """Return nothing: tensors do not know who uses them."""
        return []

    def __repr__(self):
        import numpy as np
        with np.printoptions(formatter={"all": _written}):
            return f"<tf.RaggedTensor {_written(self.numpy())}>"

    __str__ = __repr__

    def __len__(self):
        return len(self._splits) - 1

    def __iter__(self):
        return (self[number] for number in range(len(self)))

    def __getitem__(self, key):
        return ragged_make.get_item(self, key)

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")


# Operators are added to the class by the module of its arithmetic; TensorFlow's functions are told of it.
later.compute[0]()
