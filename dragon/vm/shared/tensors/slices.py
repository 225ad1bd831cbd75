"""`tf.IndexedSlices`: some rows of a tensor and their places.

Gradients of look-ups are of this class, at once and within functions.
"""
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, float32
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.type_spec import TensorSpec, TypeSpec


@known_as("tensorflow")
class IndexedSlices:
    """Rows of a tensor and their places in it; rows at one place add up.

    Parameters
    ----------
    values : Tensor
        The rows.
    indices : Tensor
        Their places in the first axis.
    dense_shape : Tensor, optional
        The shape of the whole tensor.

    """

    def __init__(self, values, indices, dense_shape=None):
        self._values, self._indices = convert_to_tensor(values), convert_to_tensor(indices)
        self._dense_shape = None if dense_shape is None else convert_to_tensor(dense_shape)

    values = property(lambda self: self._values, doc="Tensor: the rows.")
    indices = property(lambda self: self._indices, doc="Tensor: their places.")
    dense_shape = property(lambda self: self._dense_shape, doc="Optional[Tensor]: the shape of the whole tensor.")
    dtype = property(lambda self: self._values.dtype, doc="DType: the rows' dtype.")
    device = property(lambda self: self._values.device, doc="Device: where the rows are.")

    @property
    def shape(self):
        """TensorShape: the shape of the whole tensor, as far as it is known."""
        if self._dense_shape is not None:
            return TensorShape(self._dense_shape.numpy().tolist())
        return TensorShape([None, *self._values.shape[1:]])

    @property
    def _type_spec(self):
        whole = None if self._dense_shape is None else self._dense_shape.dtype
        return IndexedSlicesSpec(self.shape, self.dtype, self._indices.dtype, whole, self._indices.shape)

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __repr__(self):
        return (f"IndexedSlices(indices={self._indices!r}, values={self._values!r}, "
                f"dense_shape={self._dense_shape!r})")

    def _dense_tensor(self):
        """Return the whole tensor, with zeros where there are no rows."""
        if self._dense_shape is None:
            raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {self!r}")
        from dragon.vm.shared.arrays.reducing import unsorted_segment_sum
        return unsorted_segment_sum(self._values, self._indices, self._dense_shape[0])

    def _component_tensors(self):
        parts = [self._values, self._indices]
        return parts if self._dense_shape is None else [*parts, self._dense_shape]

    def _from_components(self, parts):
        return IndexedSlices(*parts)


@known_as("tensorflow")
class IndexedSlicesSpec(TypeSpec):
    """The description of rows of a tensor; see `tf.IndexedSlices`.

    Parameters
    ----------
    shape : TensorShape, optional
        Of the whole tensor.
    dtype : DType, optional, default=float32
        Of the rows.
    indices_dtype : DType, optional, default=int64
        Of the rows' places.
    dense_shape_dtype : DType, optional
        Of the whole tensor's shape; None where it is not told.
    indices_shape : TensorShape, optional
        Of the rows' places, as far as it is known.

    """

    def __init__(self, shape=None, dtype=float32, indices_dtype="int64", dense_shape_dtype=None, indices_shape=None):
        self._shape, self._dtype, self._indices = TensorShape(shape), as_dtype(dtype), as_dtype(indices_dtype)
        self._whole = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._places = TensorShape(indices_shape).with_rank(1)

    def _parts(self):
        return self._shape, self._dtype, self._indices, self._whole, self._places

    @property
    def _component_specs(self):
        """tuple: the specs of the rows, of their places and, where it is told, of the whole tensor's shape."""
        rows = TensorSpec(self._places.concatenate(self._shape[1:]), self._dtype)
        parts = rows, TensorSpec(self._places, self._indices)
        return parts if self._whole is None else (*parts, TensorSpec([self._shape.rank], self._whole))

    def is_compatible_with(self, spec_or_value):
        """Return whether rows of a tensor, or such ones that another spec describes, may be such ones."""
        other = spec_or_value
        if isinstance(other, IndexedSlices):
            other = other._type_spec
        return (type(other) is type(self) and (self._dtype, self._indices, self._whole)
                == (other._dtype, other._indices, other._whole) and self._shape.is_compatible_with(other._shape)
                and self._places.is_compatible_with(other._places))

    value_type = property(lambda self: IndexedSlices, doc="type: the class of such values.")

    def __repr__(self):
        return f"IndexedSlicesSpec({', '.join(map(repr, self._parts()))})"


def whole_all(grads):
    """Return gradients with slices as the whole tensors that they are."""
    return [grad._dense_tensor() if isinstance(grad, IndexedSlices) else grad for grad in grads]
