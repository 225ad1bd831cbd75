"""`tf.IndexedSlices`: some rows of a tensor and their places.

Gradients of look-ups are of this class, at once and within functions.
"""
from dragon.vm.shared.naming import known_as
from dragon.vm.shared.tensors.convert import convert_to_tensor
from dragon.vm.shared.tensors.dtypes import as_dtype, float32
from dragon.vm.shared.tensors.shape import TensorShape
from dragon.vm.shared.tensors.type_spec import TypeSpec


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

    """

    def __init__(self, shape=None, dtype=float32, indices_dtype="int64"):
        self._shape, self._dtype, self._indices = TensorShape(shape), as_dtype(dtype), as_dtype(indices_dtype)

    def _parts(self):
        return self._shape, self._dtype, self._indices

    value_type = property(lambda self: IndexedSlices, doc="type: the class of such values.")

    def __repr__(self):
        return (f"IndexedSlicesSpec(shape={self._shape}, dtype={self._dtype!r}, "
                f"indices_dtype={self._indices!r})")


def whole_all(grads):
    """Return gradients with slices as the whole tensors that they are."""
    return [grad._dense_tensor() if isinstance(grad, IndexedSlices) else grad for grad in grads]
