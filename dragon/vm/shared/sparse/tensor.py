"""`tf.SparseTensor`: the values that are not zero, and their places."""
from dragon.vm.shared.data.rows import array_of, over_strings, wrap_array
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.ragged import later
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.strings import StringTensor
from dragon.vm.shared.tensors.tensor import ops
from dragon.vm.shared.tensors.type_spec import TypeSpec


@known_as("tensorflow")
class SparseTensorSpec(TypeSpec):
    """The description of a sparse tensor.

    Parameters
    ----------
    shape : Sequence[Optional[int]], optional
        The sizes.
    dtype : DType, optional, default=float32
        The dtype of the values.

    """

    def __init__(self, shape=None, dtype="float32"):
        self._shape, self._dtype = TensorShape(shape), as_dtype(dtype)

    shape = property(lambda self: self._shape, doc="TensorShape: the sizes.")
    dtype = property(lambda self: self._dtype, doc="DType: the dtype of the values.")
    value_type = property(lambda self: SparseTensor, doc="type: the class of such values.")

    @classmethod
    def from_value(cls, value):
        """Return the spec of a sparse tensor."""
        return cls(value.shape, value.dtype)

    def is_compatible_with(self, spec_or_value):
        """Return whether a value, or one that another spec describes, may be such a one."""
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else getattr(spec_or_value, "_type_spec", None)
        return (type(other) is type(self) and self._dtype == other._dtype
                and self._shape.is_compatible_with(other._shape))

    def _parts(self):
        return self._shape, self._dtype

    def __hash__(self):
        return hash((type(self), self._parts()))

    def __repr__(self):
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"

    def _relaxed(self):
        """Return the spec without sizes."""
        return SparseTensorSpec(None if self._shape.rank is None else [None] * self._shape.rank, self._dtype)

    def _batch(self, size):
        return SparseTensorSpec(None if self._shape.rank is None else [size, *self._shape], self._dtype)

    def _unbatch(self):
        return SparseTensorSpec(None if self._shape.rank is None else list(self._shape)[1:], self._dtype)


@known_as("tensorflow")
class SparseTensor:
    """Values and their places in a box of zeros.

    Parameters
    ----------
    indices : Tensor
        The subscripts of each value, int64 of shape [values, axes].
    values : Tensor
        The values.
    dense_shape : Tensor
        The sizes of the box.

    """

    kept_in_parts = True  # known by it to who does not read this file for it
    __array_priority__ = 100
    __hash__ = None
    __iter__ = None  # Python would ask for one subscript after the other otherwise

    def __init__(self, indices, values, dense_shape):
        self._indices = convert_to_tensor(indices, dtype="int64")
        self._values = convert_to_tensor(values)
        if hasattr(dense_shape, "numpy"):
            sizes = dense_shape.numpy().tolist()
        else:
            sizes = [int(size) for size in dense_shape]
        self._sizes = sizes
        count = len(self._values.shape) == 1 and int(self._values.shape[0])
        if not int(self._indices.shape[0]) and len(self._indices.shape) == 1:
            self._indices = ops.reshape(self._indices, [0, len(sizes)])
        if len(self._indices.shape) != 2 or tuple(self._indices.shape) != (count, len(sizes)):
            raise ValueError("SparseTensor: expected indices of shape [values, axes], values of shape [values] and a "
                             f"dense_shape of [axes]. Received: {tuple(self._indices.shape)}, "
                             f"{tuple(self._values.shape)}, [{len(sizes)}]")

    indices = property(lambda self: self._indices, doc="Tensor: the subscripts of the values.")
    values = property(lambda self: self._values, doc="Tensor: the values.")
    dtype = property(lambda self: self._values.dtype, doc="DType: the dtype of the values.")
    shape = property(lambda self: TensorShape(self._sizes), doc="TensorShape: the sizes of the box.")
    device = property(lambda self: self._values.device, doc="Device: where the values are.")
    ndim = property(lambda self: len(self._sizes), doc="int: the number of axes.")

    def _component_tensors(self):
        return [self._indices, self._values, self.dense_shape]

    def _from_components(self, parts):
        """Return such a tensor of other parts; those but the values that are None, as gradients are, stay."""
        if parts[1] is None:
            return None
        return SparseTensor(*(own if part is None else part for own, part in zip(self._component_tensors(), parts)))

    dense_shape = property(lambda self: convert_to_tensor(self._sizes, dtype="int64"),
                           doc="Tensor: the sizes of the box as an int64 tensor.")

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """Return a sparse tensor of what has indices, values and a dense_shape."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if not hasattr(sparse_tensor_value, "dense_shape"):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {sparse_tensor_value}.")
        return cls(sparse_tensor_value.indices, sparse_tensor_value.values, sparse_tensor_value.dense_shape)

    @property
    def _type_spec(self):
        return SparseTensorSpec(self._sizes, self.dtype)

    def get_shape(self):
        """Return the sizes of the box."""
        return self.shape

    def set_shape(self, shape):
        """Say what the sizes are; they must agree with those there are."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Shapes {self.shape} and {TensorShape(shape)} are incompatible.")

    def with_values(self, new_values):
        """Return other values at the same places."""
        return SparseTensor(self._indices, new_values, self._sizes)

    def _places(self):
        """Return the subscripts as an array."""
        return array_of(self._indices)

    def _flat(self):
        """Return the places of the values in the box as if it had one axis."""
        import numpy as np
        strides = np.cumprod([1] + self._sizes[:0:-1])[::-1].astype(np.int64)
        return self._places() @ strides if self._sizes else np.zeros(int(self._values.shape[0]), np.int64)

    def _take(self, order):
        """Return the values, and their places, at the numbers in an array."""
        return SparseTensor(wrap_array(self._places()[order]), take(self._values, order), self._sizes)

    @staticmethod
    def _stack(tensors):
        sparse_math = later.sparse_math[0]()
        return sparse_math.concat([sparse_math.expand_dims(tensor, 0) for tensor in tensors], 0)

    def __getitem__(self, key):
        sparse_math = later.sparse_math[0]()
        return sparse_math.get_item(self, key)

    def _as_numpy_component(self):
        from collections import namedtuple
        kind = namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])
        return kind(self._indices.numpy(), self._values.numpy(), self.dense_shape.numpy())

    def __repr__(self):
        # Said by !s: a tensor that is formatted is its numbers alone.
        return f"SparseTensor(indices={self._indices!s}, values={self._values!s}, dense_shape={self.dense_shape!s})"

    __str__ = __repr__

    def _elementwise(self, other, operate):
        sparse_math = later.sparse_math[0]()
        return sparse_math.with_dense(self, other, operate)

    def __mul__(self, other):
        return self._elementwise(other, ops.mul)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._elementwise(other, lambda x, y: x / y)

    def __neg__(self):
        return self.with_values(-self._values)

    def __abs__(self):
        return self.with_values(abs(self._values))


def take(values, order):
    """Return a tensor's rows at the numbers in an array."""
    import numpy as np
    if isinstance(values, StringTensor):
        return over_strings(values._array[order])
    return ops.index_select(values, 0, wrap_array(np.asarray(order, np.int64)))


# TensorFlow's functions are told of the class.
later.compute[0]()
